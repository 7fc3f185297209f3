"""Benchmark tables: Trial2Vec and PyTrial, HINT, and TrialBench CSV files."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..sections.text import clean_line
from ..trial import Enrollment, Intervention, Location, Outcome, Reference, Trial
from ..values import (
    parse_age,
    parse_bool,
    parse_count,
    parse_phases,
    parse_sex,
    parse_status,
    parse_study_type,
)
from .report import ReadReport
from .rows import read_header, read_rows
from .source import Source
from .terms import make_design, parse_class, read_block, read_id, read_tilde_block

FORMAT = "trial2vec-table"
Row = dict[str, str]
_MASKING = {0: "NONE", 1: "SINGLE", 2: "DOUBLE", 3: "TRIPLE", 4: "QUADRUPLE"}
_DESIGN = (
    "allocation",
    "intervention_model",
    "observational_model",
    "time_perspective",
    "primary_purpose",
)


def sniff(head: bytes, name: str) -> bool:
    """Whether the header is that of one of the three tables."""
    return _kind(read_header(head)) is not None


def read(source: Source, report: ReadReport) -> Iterator[Trial]:
    """Trials of one table. Only an empty cell is absent: "nan" and "none" are text."""
    for where, row in read_rows(source, report):
        kind = _kind(list(row))
        if kind is None:
            report.refuse(source.name, "line 1", "not the header of a known table")
            return
        column, make = kind
        nct_id, reason = read_id(row[column])
        if reason:
            report.refuse(source.name, where, reason)
        else:
            yield make(nct_id, row)


def _kind(header: list[str]) -> tuple[str, Callable[[str, Row], Trial]] | None:
    """The id column and the function that reads a row."""
    names = set(header)
    if "nct_id" in names and names & {
        "intervention_name",
        "disease",
        "outcome_measure",
    }:
        return "nct_id", _from_trial2vec
    if {"nctid", "diseases", "drugs"} <= names:
        return "nctid", _from_hint
    if {"", "brief_title", "eligibility/criteria/textblock"} <= names:
        return "", _from_trialbench
    return None


def _from_trial2vec(nct_id: str, row: Row) -> Trial:
    # Lists were joined by ", ", which names hold too: "Gout, chronic" stays whole.
    def one(name: str) -> str | None:
        return clean_line(row.get(name))

    condition, keyword, name = one("disease"), one("keyword"), one("intervention_name")
    measure, citation = one("outcome_measure"), one("reference")
    return Trial(
        nct_id=nct_id,
        title=one("title"),
        brief_summary=read_tilde_block(row.get("description")),
        conditions=(condition,) if condition else (),
        keywords=(keyword,) if keyword else (),
        interventions=(Intervention(name),) if name else (),
        outcomes=(Outcome(measure),) if measure else (),
        eligibility=read_tilde_block(row.get("criteria")),
        status=parse_status(row.get("overall_status")),
        references=(Reference(citation=citation),) if citation else (),
        source=FORMAT,
    )


def _from_hint(nct_id: str, row: Row) -> Trial:
    return Trial(
        nct_id=nct_id,
        conditions=_list(row["diseases"]),
        interventions=tuple(map(Intervention, _list(row["drugs"]))),
        eligibility=read_block(row.get("criteria")),
        phases=parse_phases(row.get("phase")),
        status=parse_status(row.get("status")),
        why_stopped=clean_line(row.get("why_stop")),
        source=FORMAT,
    )


def _from_trialbench(nct_id: str, row: Row) -> Trial:
    get = row.get
    count = parse_count(get("enrollment"))
    masked = parse_count(get("study_design_info/masking_num"))
    design = {name: get(f"study_design_info/{name}") for name in _DESIGN}
    design["masking"] = None if masked is None else _MASKING.get(masked)
    cities = _list(get("location/facility/address/city"))
    return Trial(
        nct_id=nct_id,
        title=clean_line(get("brief_title")),
        brief_summary=read_block(get("brief_summary/textblock")),
        conditions=_list(get("condition")),
        keywords=_list(get("keyword")),
        interventions=tuple(_described(row)),
        eligibility=read_block(get("eligibility/criteria/textblock")),
        sex=parse_sex(get("eligibility/gender")),
        min_age=parse_age(get("eligibility/minimum_age")),
        max_age=parse_age(get("eligibility/maximum_age")),
        healthy_volunteers=parse_bool(get("eligibility/healthy_volunteers")),
        phases=parse_phases(get("phase")),
        study_type=parse_study_type(get("study_type")),
        design=make_design(design),
        enrollment=None if count is None else Enrollment(count),
        sponsor_class=parse_class(get("sponsors/lead_sponsor/agency_class")),
        locations=tuple(Location(city=city) for city in cities),
        condition_mesh=_list(get("condition_browse/mesh_term")),
        intervention_mesh=_list(get("intervention_browse/mesh_term")),
        source=FORMAT,
    )


def _described(row: Row) -> Iterator[Intervention]:
    names = _list(row.get("intervention/intervention_name"))
    texts = _strings(row.get("intervention/description"))
    if len(texts) != len(names):
        # Blank descriptions were left out, so nobody can say whose these are.
        texts = [""] * len(names)
    for name, text in zip(names, texts, strict=True):
        yield Intervention(name, description=read_block(text))


def _list(cell: str | None) -> tuple[str, ...]:
    return tuple(line for text in _strings(cell) if (line := clean_line(text)))


def _strings(cell: str | None) -> list[str]:
    """Members of a cell: a Python list as text, or one plain value."""
    text = (cell or "").strip()
    if text.startswith("[") and text.endswith("]"):
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [text]
        if isinstance(value, list):
            return [item for item in value if isinstance(item, str)]
    return [text] if text else []
