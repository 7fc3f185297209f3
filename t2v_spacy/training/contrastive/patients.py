"""What a trial's criteria say of a patient, as near as they come to a patient's notes:
the sentences that describe, without the name of the disease."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...kb.general_names import GENERAL_NAMES
from ...kb.normalise import fold, words
from ...kb.semantic_groups import groups
from ...search.trial_words import trial_words, weight
from ...trial import Trial

if TYPE_CHECKING:
    from ...kb.knowledge_base import KnowledgeBase

_READ = 20  # criteria looked at
_MOST = 4  # sentences taken
_SHORTEST = 8  # words of all sentences together
_LONGEST = 60  # words of a sentence; longer ones are lists run together
_FIGURES = 0.2  # share of a sentence's words that may hold digits
_STEM = 5
_NAME = 4  # words of a medical name that is looked for
# What is asked of every patient, or of the site, and describes none.
_FORMAL = re.compile(
    r"consent|contracept|birth control|childbearing|child-bearing|pregnan|willing|"
    r"\bagree|\bable to\b|ability to|comply|complian|performance status|\becog\b|"
    r"karnofsky|life expectancy|\bsign(?:ed)?\b|\bread\b|speak|english|language|"
    r"insur|telephone|available|availability|reside|follow-up visit|protocol|"
    r"investigator|sponsor|\bstudy\b|\btrial\b|randomi|enrol|screening|adequate|"
    r"measurable|recist|informed|guardian|volunteer|healthy|hemoglobin|haemoglobin|"
    r"platelet|neutrophil|creatinine|bilirubin|\bast\b|\balt\b|\bsgot\b|\bsgpt\b|"
    r"upper limit|washout|wash-out|half-li|concurrent|eligible|"
    r"registered|cooperat|outpatient|submission|submitted|biopsy material|archiv|"
    r"specimen|\bsamples?\b|fit for|in the opinion|judge?ment|leukocytes|leucocytes|"
    r"\bwbc\b|\binr\b|\bbmi\b|body mass|body weight|ejection fraction|"
    r"social security|cohort|\barms? [a-d1-4]\b|\bparts? [a-d1-4]\b|organ function|"
    r"tolerat|visits?\b|caregiver|parents?\b|legal",
    re.I,
)
_NOT = re.compile(
    r"(?:if|no|not|none|without|absence|must not|exclu\w*|unless|patients? with(?:out|"
    r" no)|free of|age|aged|ages|gender|sex)\b",
    re.I,
)
_AGE = re.compile(r"\byears?(?: of age|[- ]old)?\b|\bage[ds]?\b|≥ ?\d\d ?y", re.I)
_LOOSE = re.compile(
    r"^[-\s;,.)]*(?:(?:and|or|and/or)\b,?\s+)?|[-\s;,]*(?:[;,\s](?:and|or|and/or)\b\W*)?$",
    re.I,
)
_REQUIRED = re.compile(
    r"(?:(?:the )?(?:patients?|participants?|subjects?|individuals?|volunteers?|those)"
    r" )?(?:(?:who|that) )?(?:must|should|need to|are required to|is required to)"
    r" (?:have|be)(?: (?:a|an))? ",
    re.I,
)
# Words of names of diseases that tell nothing of which disease.
_CLINICAL = frozenset(("DISO", "ANAT", "CHEM", "PROC"))
_GENERAL = frozenset(
    (
        *("acute", "advanced", "adult", "cancer", "carcinoma", "cell", "chronic"),
        *("condition", "disease", "disorder", "failure", "infection", "injury"),
        *("malignant", "metastatic", "neoplasm", "patient", "primary", "recurrent"),
        *("severe", "stage", "syndrome", "treatment", "tumor", "type", "unspecified"),
    )
)


def patient_text(trial: Trial, kb: KnowledgeBase) -> str | None:
    """Up to four sentences of the inclusion criteria that describe who is meant, after
    sex and age from the record's own fields.

    Sentences that name a condition of the trial, by one of its names in the base or
    by a telling word of one, are passed over; if that leaves none, those that only
    share a word are taken. None if there are no conditions, or no such sentences.
    """
    if not trial.conditions or trial.healthy_volunteers:
        return None
    names = [name for c in trial.conditions for name in names_of(c, kb)]
    folded = [f" {fold(name)} " for name in names if fold(name)]
    stems = _stems(names)
    found = [
        text
        for text in sentences(trial)
        if not any(name in f" {fold(text)} " for name in folded)
    ]
    silent = [text for text in found if not stems & _stems([text])]
    for texts in (silent, found):
        said = [(text, kinds) for text in texts if (kinds := medical(text, kb))]
        said = said[:_MOST]
        long_enough = sum(len(text.split()) for text, _ in said) >= _SHORTEST
        if long_enough and any("DISO" in kinds for _, kinds in said):
            chosen = [_closed(text) for text, _ in said]
            return " ".join(filter(None, [patient_line(trial), *chosen]))
    return None


def sentences(trial: Trial) -> list[str]:
    """Inclusion criteria that say something of a patient and of no formality."""
    items = trial.criteria.inclusion or trial.criteria.unspecified
    found = []
    for item in items[:_READ]:
        text = _LOOSE.sub("", " ".join(item.split()))
        parts = text.split()
        if not 3 <= len(parts) <= _LONGEST or text.endswith(":"):
            continue
        figures = sum(any(map(str.isdigit, part)) for part in parts)
        if figures > _FIGURES * len(parts):
            continue
        if _FORMAL.search(text) or _NOT.match(text) or _AGE.search(text):
            continue
        text = _REQUIRED.sub("", text, count=1)
        if text:
            found.append(text[0].upper() + text[1:])
    return list(dict.fromkeys(found))


def medical(text: str, kb: KnowledgeBase) -> frozenset[str]:
    """Semantic groups of what a text names, everyday words aside."""
    said = [word.folded for word in words(text)]
    found: set[str] = set()
    for start in range(len(said)):
        for end in range(start + 1, min(start + _NAME, len(said)) + 1):
            name = " ".join(said[start:end])
            if len(name) < 4 or name in GENERAL_NAMES:
                continue
            for concept_id in kb.lookup_folded(name)[:1]:
                found |= groups(kb.types(concept_id))
    return frozenset(found & _CLINICAL)


def patient_line(trial: Trial) -> str:
    """Sex and age in the words of a note, or "" where the record says neither."""
    low, high = trial.min_age, trial.max_age
    child = high is not None and high < 18
    grown = low is not None and low >= 18
    names = {"FEMALE": ("Girls", "Women", "Females"), "MALE": ("Boys", "Men", "Males")}
    young, old, any_ = names.get(trial.sex or "", ("Children", "Adults", "Patients"))
    who = young if child else old if grown else any_
    if low and high:
        return f"{who} aged {low:g} to {high:g} years."
    if low or high:
        edge = f"{low:g} years or older" if low else f"up to {high:g} years"
        return f"{who} aged {edge}."
    return f"{who}." if trial.sex in names else ""


def names_of(condition: str, kb: KnowledgeBase) -> list[str]:
    """A condition as the record has it, and the names of what the base has for it."""
    found = [condition]
    for concept_id in (kb.lookup(condition) or kb.lookup_norm(condition))[:1]:
        concept = kb[concept_id]
        found += [concept.canonical_name, *concept.aliases]
    return found


def _stems(texts: Iterable[str]) -> set[str]:
    keys = {word.key for text in texts for word in trial_words(text)}
    return {
        key[:_STEM] for key in keys - _GENERAL if len(key) > 2 and weight(key) > 0.3
    }


def _closed(text: str) -> str:
    return text if text[-1] in ".!?" else f"{text}."
