"""A text about a trial as a `Trial`: our own headed text, or any other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .sections.fields import read_bullets, read_design, read_intervention, read_outcome
from .sections.headed import Section, is_headed_text, read_headed_text, unescape
from .sections.headings import heading_key
from .sections.labels import CRITERIA
from .sections.parse import parse_sections
from .sections.patterns import strip_mark
from .sections.text import clean_line, clean_text
from .trial import Arm, Design, Enrollment, Intervention, Outcome, Trial
from .values import (
    constant,
    parse_age,
    parse_bool,
    parse_count,
    parse_phases,
    parse_sex,
    parse_study_type,
    split_type,
)

_ID_LINE = re.compile(r"^(.*?)\b(NCT\d{8})\W*$", re.IGNORECASE | re.MULTILINE)
_ID_WITHIN = 1000
# As `heading_key` writes them.
_ID_HEADINGS = frozenset(
    ("nct id", "nct no", "nct number", "clinicaltrials.gov", "clinicaltrials.gov id")
    + ("clinicaltrials.gov identifier", "clinicaltrials.gov number")
    + ("clinicaltrials.gov registration number", "trial registration number")
    + ("trial registration", "registration number", "registry number")
)
_ROLES = ("primary", "secondary", "other")
_TIME_FRAME = re.compile(r"\[?\s*Time Frame\s*:\s*(.*?)\]?\s*$", re.IGNORECASE)
_ARM = re.compile(
    r"(?:experimental|(?:(?:active|placebo|sham) )?comparator|no intervention|other)"
    r"\b[^:]*:",
    re.IGNORECASE,
)
# Cells of the registry's tables that are names of columns.
_OUTCOME_COLUMNS = ("outcome measure", "measure description", "time frame")
_COLUMNS = frozenset(
    (*_OUTCOME_COLUMNS, "arms", "phase", "assigned interventions")
    + ("participant group/arm", "participant group / arm")
    + ("intervention/treatment", "intervention / treatment")
)
_AGE_WORDS = re.compile(r"\d+(?:\.\d+)?\s*(?:year|month|week|day|hour|minute)s?", re.I)
_KIND_OF_COUNT = re.compile(r"actual|estimated")
_ONLY_UPPER = re.compile(r"^\s*(?:up to|child|≤|<=)", re.IGNORECASE)


def parse_trial(text: str, nct_id: str = "") -> Trial:
    """The record a text describes; the inverse of `Trial.to_text` for our own text.

    nct_id (str): The id, if known. By default the one that another text than our own
        names as its own in its first 1,000 characters, else "".
    """
    text = text.replace("\r\n", "\n")
    if is_headed_text(text):
        values = _headed_fields(text, read_headed_text(text))
    else:
        nct_id = nct_id or _own_id(text[:_ID_WITHIN])
        values = _free_fields(text, parse_sections(text))
    return Trial(nct_id, source="text", **values)


def _own_id(text: str) -> str:
    """The id in a line of its own or after a heading for it. An id elsewhere, or one
    of several, is that of a trial the text refers to."""
    found = {
        nct_id.upper()
        for words, nct_id in _ID_LINE.findall(text)
        if not words.strip() or heading_key(words) in _ID_HEADINGS
    }
    return found.pop() if len(found) == 1 else ""


def _headed_fields(text: str, sections: Iterable[Section]) -> dict[str, Any]:
    """What `Trial.to_text` wrote, exactly."""
    bodies = {section.heading: unescape(section.body(text)) for section in sections}

    def items(heading: str) -> list[tuple[str, list[str]]]:
        return read_bullets(bodies.get(heading, ""))

    facts = read_design(bodies.get("Design", ""))
    planned = facts.pop("planned_enrollment")
    design = facts.pop("design")
    return {
        "title": bodies.get("Title"),
        "official_title": bodies.get("Official Title"),
        "acronym": bodies.get("Acronym"),
        "brief_summary": bodies.get("Brief Summary"),
        "detailed_description": bodies.get("Detailed Description"),
        "conditions": tuple(head for head, _ in items("Conditions")),
        "keywords": tuple(head for head, _ in items("Keywords")),
        "interventions": tuple(
            Intervention(**read_intervention(*item)) for item in items("Interventions")
        ),
        "arms": tuple(Arm(head) for head, _ in items("Arms")),
        "outcomes": tuple(
            Outcome(role=role, **read_outcome(*item))
            for role in _ROLES
            for item in items(f"{role.capitalize()} Outcomes")
        ),
        "eligibility": bodies.get("Eligibility"),
        "design": Design(**design) if design else None,
        "enrollment": None if planned is None else Enrollment(planned, actual=False),
        **facts,
    }


def _free_fields(text: str, sections: list[Section]) -> dict[str, Any]:
    """What can be told from any other text: nothing is guessed beyond its headings."""
    bodies: dict[str, list[tuple[str, str]]] = {}
    for section in sections:
        if body := clean_text(section.body(text)):
            key = heading_key(section.heading)
            if key == "enrollment":
                key = " ".join([*_KIND_OF_COUNT.findall(section.heading.lower()), key])
            bodies.setdefault(section.label, []).append((key, body))

    def prose(label: str) -> str | None:
        return "\n\n".join(body for _, body in bodies.get(label, ())) or None

    def names(label: str) -> tuple[str, ...]:
        found = (n for _, body in bodies.get(label, ()) for n in _names(body))
        return tuple(dict.fromkeys(found))

    others = dict(bodies.get("other", ()))
    return {
        "title": clean_line(next((b for _, b in bodies.get("title", ())), None)),
        "official_title": clean_line(others.get("official title")),
        "acronym": clean_line(others.get("acronym")),
        "brief_summary": prose("summary"),
        "detailed_description": prose("description"),
        "conditions": names("condition"),
        "keywords": names("keyword"),
        "interventions": _interventions(bodies.get("intervention", ())),
        "outcomes": _outcomes(bodies.get("outcome", ())),
        "eligibility": _criteria(text, sections),
        **_facts(dict(bodies.get("design", ()))),
    }


def _names(body: str) -> list[str]:
    """Names given one a line, or in one line between semicolons."""
    lines = [strip_mark(line) for line in body.split("\n") if line.strip()]
    if len(lines) == 1:
        lines = lines[0].split(";")
    cells = [cell.strip(" ,") for line in lines for cell in line.split("\t")]
    return [cell for cell in cells if cell and cell.lower() not in _COLUMNS]


def _interventions(bodies: Iterable[tuple[str, str]]) -> tuple[Intervention, ...]:
    """Names with a type ("Drug: X") where there are any, else all names."""
    found = [n for _, body in bodies for n in _names(body) if not _ARM.match(n)]
    typed = [(kind, name) for kind, name in map(split_type, found) if kind]
    pairs: list[tuple[str | None, str]] = [*typed]
    pairs = pairs or [(None, name) for name in found]
    return tuple(Intervention(name, kind) for kind, name in dict.fromkeys(pairs))


def _outcomes(bodies: Iterable[tuple[str, str]]) -> tuple[Outcome, ...]:
    outcomes = []
    for heading, body in bodies:
        role = next((r for r in ("secondary", "other") if r in heading), "primary")
        role = "other" if "explor" in heading else role
        for name, frame in _measures(body):
            outcomes.append(Outcome(name, role, frame or None))
    return tuple(outcomes)


def _measures(body: str) -> Iterator[tuple[str, str]]:
    """(measure, time frame) of an outcome list; the registry's table has three cells
    a row, each in a line of its own when it was pasted."""
    cells = _names(body)
    table = all(column in body.lower() for column in _OUTCOME_COLUMNS)
    if table and len(cells) % 3 == 0:
        yield from zip(cells[::3], cells[2::3], strict=True)
        return
    for cell in cells:
        found = _TIME_FRAME.search(cell)
        name = cell[: found.start()].strip() if found else cell
        if name:
            yield name, found[1].strip() if found else ""


def _criteria(text: str, sections: Iterable[Section]) -> str | None:
    """The eligibility text with its own headings, without that of the whole part."""
    parts = []
    for section in sections:
        if section.label in CRITERIA:
            start = max(section.body_start, section.start)
            if section.label != "eligibility" and section.heading:
                start = text.rindex(section.heading, section.start, start)
            parts.append(text[start : section.end])
    return clean_text("".join(parts))


def _facts(lines: dict[str, str]) -> dict[str, Any]:
    """Registration facts; "Allocation: Randomized" may be a heading or a line."""
    for body in list(lines.values()):
        for line in body.split("\n"):
            key, colon, value = line.partition(":")
            if colon and value.strip():
                lines.setdefault(heading_key(key), value.strip())

    def first(*keys: str) -> str | None:
        return next((lines[key] for key in keys if key in lines), None)

    model = first("intervention model", "interventional model")
    planned = first("planned enrollment", "estimated enrollment", "target sample size")
    actual = first("actual enrollment")
    count = actual or planned or first("enrollment")
    design = Design(
        allocation=constant(first("allocation")),
        intervention_model=constant(model),
        observational_model=constant(first("observational model")),
        time_perspective=constant(first("time perspective")),
        masking=constant(first("masking")),
        primary_purpose=constant(first("primary purpose")),
    )
    ages = first("ages eligible for study", "age limits", "ages", "age") or ""
    low, high = _ages(ages)
    people = parse_count((count or "").split(" ")[0] or None)
    kind = True if actual else False if planned else None
    sex = first("sexes eligible for study", "sex/gender", "sex", "gender")
    healthy = first("accepts healthy volunteers", "healthy volunteers")
    return {
        "study_type": parse_study_type(first("study type", "type of study")),
        "phases": parse_phases(first("phase", "study phase", "phases", "trial phase")),
        "design": design if any(vars(design).values()) else None,
        "sex": parse_sex(sex or first("genders eligible for study")),
        "min_age": parse_age(first("minimum age")) if first("minimum age") else low,
        "max_age": parse_age(first("maximum age")) if first("maximum age") else high,
        "healthy_volunteers": parse_bool(healthy),
        "enrollment": None if people is None else Enrollment(people, kind),
    }


def _ages(words: str) -> tuple[float | None, float | None]:
    """Limits of "18 Years to 65 Years", "18 Years and older", "up to 12 Years"."""
    found = [parse_age(age) for age in _AGE_WORDS.findall(words.split("(")[0])]
    if not found:
        return None, None
    if len(found) > 1:
        return found[0], found[1]
    return (None, found[0]) if _ONLY_UPPER.match(words) else (found[0], None)
