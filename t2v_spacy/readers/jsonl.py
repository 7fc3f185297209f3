"""JSON lines: our own layout (`Trial.to_dict`), and the flat layout of merged copies.

The flat layout has one object a record with text values, "" for absent, dates and
numbers as their source had them, and `primary_outcomes` and the like as lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..sections.text import clean_line, clean_text, unescape_markdown, unwrap
from ..trial import Arm, Enrollment, Intervention, Outcome, Reference, Trial
from ..values import (
    constant,
    parse_age,
    parse_bool,
    parse_count,
    parse_date,
    parse_id,
    parse_phases,
    parse_sex,
    parse_status,
    parse_study_type,
    split_type,
)
from .json_values import as_list, as_text, iter_json
from .report import ReadReport
from .source import Source

FORMAT = "jsonl"
# Keys that only the flat layout has.
_FLAT = frozenset(
    [
        "phase",
        "primary_outcomes",
        "secondary_outcomes",
        "other_outcomes",
        "arm_groups",
        "lead_sponsor",
        "registered",
        "level",
    ]
)
_MISFIT = (AttributeError, KeyError, TypeError, ValueError)
# Few values come again and again; what is made of them never changes.
_date = lru_cache(maxsize=1 << 13)(parse_date)
_status = lru_cache(maxsize=1 << 10)(parse_status)
_bool = lru_cache(maxsize=1 << 10)(parse_bool)
_ROLES = (
    ("primary", "primary_outcomes"),
    ("secondary", "secondary_outcomes"),
    ("other", "other_outcomes"),
)


def sniff(head: bytes, name: str) -> bool:
    return head.lstrip()[:1] in (b"{", b"[") and b'"nct_id"' in head


def read(source: Source, report: ReadReport) -> Iterator[Trial]:
    """Trials of a source, in either layout; a file may also hold one list of them."""
    for where, value in iter_json(source, report):
        for number, record in enumerate(value if isinstance(value, list) else [value]):
            place = f"record {number + 1}" if isinstance(value, list) else where
            try:
                trial = trial_from_record(record)
            except ValueError as err:
                report.refuse(source.name, place, str(err))
            else:
                yield trial


def trial_from_record(record: Any) -> Trial:
    """Trial of an object in one of the two layouts. RAISES (ValueError)."""
    if not isinstance(record, dict) or not record.get("nct_id"):
        raise ValueError("no NCT id (field nct_id)")
    nct_id, kind = parse_id(str(record["nct_id"]))
    if kind != "nct":
        raise ValueError(f"'{record['nct_id']}' is not an NCT id")
    if _FLAT.isdisjoint(record):
        return Trial.from_dict({**record, "nct_id": nct_id})
    try:
        return _flat(record, nct_id)
    except _MISFIT as err:
        raise ValueError(_misfit(record)) from err


def _misfit(record: dict[str, Any]) -> str:
    """Which field of a flat record cannot be read: the one that fails alone too."""
    for name, value in record.items():
        try:
            _flat({name: value}, "")
        except _MISFIT:
            return f"field '{name}' is of the wrong kind: {repr(value)[:60]}"
    return "a field is of the wrong kind"


def _flat(record: dict[str, Any], nct_id: str) -> Trial:
    get = record.get
    count = parse_count(get("enrollment"))
    return Trial(
        nct_id=nct_id,
        title=clean_line(get("title")),
        official_title=clean_line(get("official_title")),
        acronym=clean_line(get("acronym")),
        brief_summary=_text(get("brief_summary")),
        detailed_description=_text(get("detailed_description")),
        conditions=_lines(get("conditions")),
        keywords=_lines(get("keywords")),
        interventions=_interventions(get("interventions")),
        arms=_arms(get("arm_groups")),
        outcomes=_outcomes(record),
        eligibility=_text(get("eligibility")),
        sex=parse_sex(get("sex")),
        min_age=parse_age(get("min_age")),
        max_age=parse_age(get("max_age")),
        healthy_volunteers=_bool(get("healthy_volunteers")),
        phases=parse_phases(get("phase")),
        study_type=parse_study_type(get("study_type")),
        status=_status(get("status")),
        why_stopped=_text(get("why_stopped")),
        start_date=_date(get("start_date")),
        completion_date=_date(get("completion_date")),
        first_posted=_date(get("registered")),
        enrollment=None if count is None else Enrollment(count),
        sponsor=clean_line(get("lead_sponsor")),
        condition_mesh=_lines(get("condition_mesh")),
        intervention_mesh=_lines(get("intervention_mesh")),
        references=tuple(
            Reference(pmid=pmid)
            for item in as_list(get("references"))
            if (pmid := as_text(item))
        ),
        source=FORMAT,
        snapshot=_date(get("snapshot")),
    )


def _interventions(items: list[dict[str, Any]] | None) -> tuple[Intervention, ...]:
    if not items:
        return ()
    found = []
    for item in items:
        name = clean_line(item.get("name"))
        if name:
            kind = constant(item.get("type"))
            prefix, bare = split_type(name) if ":" in name else (None, name)
            found.append(
                Intervention(
                    name=bare if prefix and kind in (None, prefix) else name,
                    type=kind or prefix,
                    other_names=_lines(item.get("other_names")),
                    description=_text(item.get("description")),
                )
            )
    return tuple(found)


def _arms(items: list[dict[str, Any]] | None) -> tuple[Arm, ...]:
    if not items:
        return ()
    return tuple(
        Arm(label, constant(item.get("type")), _text(item.get("description")))
        for item in items
        if (label := clean_line(item.get("label")))
    )


def _outcomes(record: dict[str, Any]) -> tuple[Outcome, ...]:
    found = []
    for role, key in _ROLES:
        for item in record.get(key) or ():
            measure = clean_line(item.get("measure"))
            if measure:
                time_frame = clean_line(item.get("time_frame"))
                description = _text(item.get("description"))
                found.append(Outcome(measure, role, time_frame, description))
    return tuple(found)


def _lines(items: list[str] | None) -> tuple[str, ...]:
    if not items:
        return ()
    if not isinstance(items, list):
        raise TypeError("not a list")
    return tuple(line for item in items if (line := clean_line(item)))


def _text(text: str | None) -> str | None:
    """Text of unknown origin: it may be escaped for markdown and hard-wrapped."""
    if not text:
        return None
    cleaned = clean_text(unescape_markdown(text) if "\\" in text else text)
    return unwrap(cleaned) if cleaned and "\n" in cleaned else cleaned
