"""Simpler forms of a written mention: without brackets, modifiers or dose, or in parts.

Registries write "Recurrent Adult Soft Tissue Sarcoma" and "Metformin 500 mg tablets"
where a vocabulary has "Soft Tissue Sarcoma" and "Metformin". All functions return
places in the string, so a link can point at what it is about.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class Part(NamedTuple):
    """text == mention[start:end]."""

    text: str
    start: int
    end: int


_STAGE = r"stages?\s+(?:[0-9ivx]+[a-d]?\d?(?:\s*(?:[-/,&]|and|or|to)\s*)?)+"
_GRADE = r"grade\s+(?:[0-9iv]+(?:\s*(?:[-/,&]|and|or|to)\s*)?)+"
_MARKER = (
    r"(?:[\w/+]+[- ])?(?:receptor[- ])?"
    r"(?:positive|negative|mutant|mutated|mutation[- ]positive|amplified|rearranged)"
)
# What may stand before a condition without changing which one it is.
_BEFORE_CONDITION = (
    r"recurrent|(?:non)?contiguous|nonmetastatic|invasive|refractory|relapsed(?:\s*(?:/|or|and)\s*refractory)?|relapsing|r/r|"
    r"metastatic|oligometastatic|(?:locally|borderline)?[- ]?advanced|inoperable|"
    r"(?:un|non-?|potentially )?resectable|resected|localized|localised|disseminated|"
    r"newly[- ]diagnosed|previously[- ](?:un)?treated|"
    r"(?:treatment|drug|chemo)[- ]naive|"
    r"untreated|de novo|adults?|children(?:'s)?|childhood|pediatric|paediatric|"
    r"adolescent|elderly|geriatric|aids[- ]related|"
    r"(?:mild|moderate|severe|very severe)(?:\s*(?:,|/|-|or|and|to|–)+\s*"
    r"(?:mild|moderate|severe|very severe))*|early|late|end|"
    r"(?:early|late|advanced|limited|extensive|end)[- ]stage|"
    r"(?:very )?(?:high|low|intermediate|standard)[- ]risk|(?:high|low)[- ]grade|"
    r"progressive|stable|active|symptomatic|asymptomatic|suspected|confirmed|probable|"
    r"uncontrolled|poorly controlled|resistant|persistent|chronic|acute|subacute|"
    r"recent|ongoing|new[- ]onset|early[- ]onset|late[- ]onset|unspecified|"
    r"(?:treatment|therapy|drug|platinum|castration|castrate|hormone|steroid|"
    r"endocrine)[- ](?:resistant|refractory|sensitive)|"
    r"(?:history|risk|prevention|treatment|diagnosis|complications?|management|"
    r"prophylaxis) (?:of|for)|at risk (?:of|for)|(?:patients?|women|men|adults|"
    r"children|subjects|people|persons) with|histologically confirmed|"
    + "|".join((_STAGE, _GRADE, _MARKER))
)
_AFTER_CONDITION = (
    r"in (?:complete |partial |first |second |molecular )*(?:remission|relapse)|"
    r"ajcc v\d+|ajcc|infections?|disease|nos|"
    r"not otherwise specified|unspecified|recurrent|"
    r"refractory|metastatic|adult|childhood|pediatric|stage|(?:un)?resectable|"
    r"(?:without|due to|following|after|secondary to|associated with|caused by|"
    r"undergoing|treated with|requiring|in|among|during) .+|patients?|subjects?|"
    r"prevention|prophylaxis|diagnosis|treatment|recurrence|(?:mild|moderate|severe|"
    r"acute|chronic|active)(?:\s*(?:/|-|or|and|to|–)+\s*(?:mild|moderate|severe))*|"
    + "|".join((_STAGE, _GRADE))
)
_NUMBER = r"\d+(?:[.,]\d+)*"
_UNIT = (
    r"(?:mg|mcg|ug|µg|μg|g|kg|ml|l|iu|ui|u|units?|mmol|meq|mci|gy|cgy|ppm|%|cc|"
    r"milligrams?|grams?|micrograms?)"
)
_DOSE = (
    rf"{_NUMBER}(?:\s*(?:-|to|/)\s*{_NUMBER})*\s*{_UNIT}"
    rf"(?:\s*/\s*(?:{_NUMBER}\s*)?(?:kg|m2|m²|ml|l|day|d|dose|h|hr|hour|week|\w+))*"
)
_TIMES = (
    r"(?:once|twice|three times|thrice|two times)(?:[ -](?:a|per|every))?[ -]?"
    r"(?:daily|day|weekly|week|monthly)?|daily|weekly|monthly|every .+|q\d+\w*|qd|bid|"
    r"tid|qid|b\.i\.d\.?|per day|a day|for \d+ .+|day \d.*|dose \d.*|cohort \d.*|"
    r"(?:over|at|on) .+"
)
_FORM = (
    r"(?:film[- ]coated |soft |hard |chewable |effervescent |vaginal |rectal |"
    r"sublingual |orally disintegrating )?"
    r"(?:tablets?|capsules?|caplets?|pills?|injections?|injectable|solution|suspension|"
    r"syrup|drops?|eye ?drops?|creams?|gels?|ointments?|lotions?|infusions?|sprays?|"
    r"inhalers?|inhalation|patch(?:es)?|powder|suppositor(?:y|ies)|vials?|granules|"
    r"lozenges?|mouthwash|enema|products?|formulations?|oral|dose|supplements?|"
    r"supplementation)"
)
_ROUTE = (
    r"oral(?:ly)?|intravenous(?:ly)?|i\.?v\.?|subcutaneous(?:ly)?|s\.?c\.?|topical(?:ly)?|"
    r"intramuscular(?:ly)?|i\.?m\.?|intranasal|nasal|intrathecal|inhaled|nebuli[sz]ed|"
    r"sublingual|rectal|vaginal|ophthalmic|transdermal|intravitreal|intraperitoneal|"
    r"perioperative|preoperative|postoperative|intraoperative|prophylactic|"
    r"systemic|parenteral|enteral|epidural|local"
)
_RELEASE = (
    r"(?:extended|sustained|immediate|modified|controlled|delayed|prolonged)"
    r"[- ]release|"
    r"er|xr|sr|cr|ir|la|depot"
)
_BEFORE_INTERVENTION = (
    r"(?:very )?(?:low|high|standard|medium|intermediate|reduced|full|single|multiple|"
    r"fixed|loading)[- ]dose(?:d|s)?(?: of)?|"
    r"dose[- ](?:escalation|escalated|dense)(?: of)?|"
    r"generic|active|experimental|investigational|conventional|standard|routine|"
    r"adjuvant|neo-?adjuvant|maintenance|induction|consolidation|concurrent|"
    r"concomitant|recombinant|liposomal|pegylated|treatment with|therapy with|"
    r"administration of|use of|continuous|intermittent|early|delayed|immediate|"
    r"addition of|add-on|adjunctive|additional|daily|weekly|usual|electronic|online|"
    r"web-based|internet-based|self-administered|structured|"
    + "|".join((_DOSE, _ROUTE, _RELEASE, _FORM + " of"))
)
_AFTER_INTERVENTION = (
    r"(?:treatment|therapy|monotherapy|administration|group|arm|regimen|alone|only|"
    r"interventions?|program(?:me)?s?|protocol|procedures?|sessions?|use|maintenance|"
    r"assess?ments?)|"
    r"(?:hydrochloride|hcl|sodium|sulfate|sulphate|acetate|citrate|phosphate|mesylate|"
    r"maleate|tartrate|succinate|fumarate|besylate|bromide|chloride|potassium|"
    r"calcium)|(?:low|high|standard|medium) dose|(?:in|for|during|after|before|prior "
    r"to|followed by|via|through|by|using|versus|vs\.?|or placebo) .+|"
    + "|".join((_DOSE, _TIMES, _FORM, _ROUTE, _RELEASE))
)
_EDGE = r"[\s,;:./+–-]"
_STRIP = {
    role: (
        re.compile(rf"(?:{before})(?:{_EDGE}+|$)", re.I),
        re.compile(rf"(?:^|{_EDGE}+)(?:{after}){_EDGE}*$", re.I),
    )
    for role, before, after in (
        ("condition", _BEFORE_CONDITION, _AFTER_CONDITION),
        ("intervention", _BEFORE_INTERVENTION, _AFTER_INTERVENTION),
    )
}
_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]?\s*")
_SPLIT = re.compile(
    r"\s*(?:[;|]|\s\+|\+\s|,\s|\s&\s|\s/\s?|(?<=[a-z)]{3})/(?=[A-Za-z]{3})|"
    r"\s(?:and/or|and|or|plus|with|versus|vs\.?|followed by|combined with|"
    r"in combination with|associated with|added to|then)\s)\s*",
    re.I,
)
CONTROL = re.compile(r"\b(?:placebos?|sham)\b", re.I)
_MOST_STRIPS = 6
_MARKS = " \t\r\n-–*•,;:.'\""


def trim(text: str, start: int = 0) -> Part:
    """A text without the blanks and marks around it, or a bracket that has no other."""
    right = text.rstrip(_MARKS)
    if right.endswith(")") and "(" not in right:
        right = right[:-1].rstrip(_MARKS)
    left = right.lstrip(_MARKS)
    if left.startswith("(") and ")" not in left:
        left = left[1:].lstrip(_MARKS)
    at = start + len(right) - len(left)
    return Part(left, at, at + len(left))


def without_brackets(text: str) -> tuple[Part, list[Part]]:
    """The part before the first bracket (or, if there is none, after it), and what the
    brackets hold. The first is empty if there are no brackets."""
    if "(" not in text and "[" not in text:
        return Part("", 0, 0), []
    found = list(_BRACKETS.finditer(text))
    if not found:
        return Part("", 0, 0), []
    inner = [trim(match[1], match.start(1)) for match in found]
    outer = trim(text[: found[0].start()])
    if not outer.text:
        outer = trim(text[found[0].end() :], found[0].end())
    return outer, [part for part in inner if part.text]


@lru_cache(maxsize=1 << 12)
def stripped(text: str, role: str) -> tuple[Part, ...]:
    """Shorter forms without what stands before or after, the longest first.

    role (str): "condition" or "intervention".
    """
    before, after = _STRIP[role]
    starts, ends = [0], [len(text)]
    while len(starts) <= _MOST_STRIPS and (match := before.match(text, starts[-1])):
        starts.append(match.end())
    while len(ends) <= _MOST_STRIPS and (match := after.search(text[: ends[-1]])):
        ends.append(match.start())
    if len(starts) + len(ends) == 2:
        return ()
    spans = [(s, e) for s in starts for e in ends if s < e][1:]
    parts = (trim(text[s:e], s) for s, e in spans)
    kept = dict.fromkeys(p for p in parts if p.text)
    return tuple(sorted(kept, key=lambda p: p.start - p.end))


def split(text: str) -> list[Part]:
    """The members of a combination ("A + B", "A and B"); [] if it is not one."""
    parts, at = [], 0
    for match in _SPLIT.finditer(text):
        parts.append(trim(text[at : match.start()], at))
        at = match.end()
    if not at:
        return []
    return [p for p in (*parts, trim(text[at:], at)) if p.text]
