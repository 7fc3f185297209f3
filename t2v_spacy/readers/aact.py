"""AACT: a folder or zip of pipe-delimited tables, or one such table."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from ..sections.text import clean_line
from ..trial import Arm, Enrollment, Intervention, Location, Outcome, Reference, Trial
from ..values import (
    PartialDate,
    constant,
    parse_age,
    parse_bool,
    parse_count,
    parse_date,
    parse_phases,
    parse_sex,
    parse_status,
    parse_study_type,
)
from .aact_tables import SIDE, STUDIES, table_of
from .arms import link_arms
from .pipe_rows import iter_rows, read_header
from .report import ReadReport
from .source import Source
from .terms import (
    make_design,
    parse_actual,
    parse_class,
    read_snapshot,
    read_tilde_block,
)

FORMAT = "aact"
_REFERENCE_TYPES = {"REFERENCE": None, "RESULTS_REFERENCE": "RESULT"}
Row = Mapping[str, str]


def sniff(head: bytes, name: str) -> bool:
    """Whether the header is that of a table read here."""
    return table_of(read_header(head), name) is not None


def read(source: Source, report: ReadReport) -> Iterator[Trial]:
    """Trials with the fields that one table has."""
    with source.open() as stream:
        table = table_of(read_header(stream.readline()), source.name)
    if table is None:
        report.refuse(source.name, "line 1", "not the header of a known AACT table")
        return
    yield from read_tables({table: source}, report)


def read_tables(tables: dict[str, Source], report: ReadReport) -> Iterator[Trial]:
    """Trials of the tables of a unit, the side tables joined to studies.txt.

    The side tables are put in a temporary sqlite file first, so memory stays small. A
    missing table leaves its fields empty; without studies.txt there is a Trial for each
    id in the others.
    """
    with tempfile.TemporaryDirectory(prefix="t2v-aact-") as folder:
        file = str(Path(folder) / "side.sqlite")
        with closing(sqlite3.connect(file)) as db:
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            side = {name: tables[name] for name in SIDE if name in tables}
            for name, source in side.items():
                _load(db, name, source, report)
            studies: Iterable[Row]
            if STUDIES in tables:
                studies = iter_rows(tables[STUDIES], report)
            else:
                studies = _ids(db, side)
            for study in studies:
                yield _trial(study, _Side(db, side, study["nct_id"]))


def _load(
    db: sqlite3.Connection, name: str, source: Source, report: ReadReport
) -> None:
    columns = ("nct_id", *SIDE[name])
    db.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
    db.executemany(
        f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})",
        ([row.get(c, "") for c in columns] for row in iter_rows(source, report)),
    )
    db.execute(f"CREATE INDEX {name}_by_id ON {name} (nct_id)")


def _ids(db: sqlite3.Connection, names: Iterable[str]) -> Iterator[Row]:
    db.execute("CREATE TABLE ids (nct_id PRIMARY KEY)")
    for name in names:
        db.execute(
            f"INSERT OR IGNORE INTO ids SELECT nct_id FROM {name} ORDER BY rowid"
        )
    for (nct_id,) in db.execute("SELECT nct_id FROM ids ORDER BY rowid"):
        yield {"nct_id": nct_id}


class _Side:
    """The rows of one trial in the side tables."""

    def __init__(
        self, db: sqlite3.Connection, tables: Mapping[str, Source], nct_id: str
    ) -> None:
        self._db = db
        self._tables = tables
        self._id = nct_id

    def all(self, name: str) -> list[Row]:
        if name not in self._tables:
            return []
        columns = SIDE[name]
        found = self._db.execute(
            f"SELECT {', '.join(columns)} FROM {name} WHERE nct_id = ? ORDER BY rowid",
            (self._id,),
        )
        return [dict(zip(columns, values, strict=True)) for values in found]

    def first(self, name: str) -> Row:
        return next(iter(self.all(name)), {})

    def lines(self, name: str, column: str = "name") -> tuple[str, ...]:
        rows = self.all(name)
        return tuple(line for row in rows if (line := clean_line(row[column])))


def _trial(study: Row, side: _Side) -> Trial:
    who = side.first("eligibilities")
    interventions, arms = _arms(side)
    sponsors = side.all("sponsors")
    leads = [s for s in sponsors if s["lead_or_collaborator"].lower() == "lead"]
    others = [s for s in sponsors if s["lead_or_collaborator"].lower() != "lead"]
    lead = leads[0] if leads else {}
    count = parse_count(study.get("enrollment"))
    kind = parse_actual(study.get("enrollment_type"))
    ids = side.all("id_information")
    return Trial(
        nct_id=study["nct_id"],
        aliases=_ids_of(ids, "nct_alias"),
        org_study_id=next(iter(_ids_of(ids, "org_study_id")), None),
        title=clean_line(study.get("brief_title")),
        official_title=clean_line(study.get("official_title")),
        acronym=clean_line(study.get("acronym")),
        brief_summary=_text(side.first("brief_summaries")),
        detailed_description=_text(side.first("detailed_descriptions")),
        conditions=side.lines("conditions"),
        keywords=side.lines("keywords"),
        interventions=interventions,
        arms=arms,
        outcomes=tuple(_outcomes(side)),
        eligibility=read_tilde_block(who.get("criteria")),
        sex=parse_sex(who.get("gender")),
        min_age=parse_age(who.get("minimum_age")),
        max_age=parse_age(who.get("maximum_age")),
        healthy_volunteers=parse_bool(who.get("healthy_volunteers")),
        phases=parse_phases(study.get("phase")),
        study_type=parse_study_type(study.get("study_type")),
        design=make_design(side.first("designs")),
        status=parse_status(study.get("overall_status")),
        why_stopped=clean_line(study.get("why_stopped")),
        start_date=_date(study, "start"),
        primary_completion_date=_date(study, "primary_completion"),
        completion_date=_date(study, "completion"),
        first_posted=parse_date(study.get("study_first_posted_date")),
        last_updated=parse_date(study.get("last_update_posted_date")),
        enrollment=None if count is None else Enrollment(count, kind),
        sponsor=clean_line(lead.get("name")),
        sponsor_class=parse_class(lead.get("agency_class")),
        collaborators=tuple(n for s in others if (n := clean_line(s["name"]))),
        locations=tuple(_locations(side)),
        condition_mesh=_mesh(side, "browse_conditions"),
        intervention_mesh=_mesh(side, "browse_interventions"),
        references=tuple(_references(side)),
        has_results=_has_results(study, side),
        source=FORMAT,
        snapshot=read_snapshot(study.get("nlm_download_date_description")),
    )


def _text(row: Row) -> str | None:
    return read_tilde_block(row.get("description"))


def _arms(side: _Side) -> tuple[tuple[Intervention, ...], tuple[Arm, ...]]:
    groups = {g["id"]: g for g in side.all("design_groups")}
    labels = {key: clean_line(g["title"]) for key, g in groups.items()}
    links: dict[str, list[str]] = {}
    for link in side.all("design_group_interventions"):
        if label := labels.get(link["design_group_id"]):
            links.setdefault(link["intervention_id"], []).append(label)
    names: dict[str, list[str]] = {}
    for other in side.all("intervention_other_names"):
        if name := clean_line(other["name"]):
            names.setdefault(other["intervention_id"], []).append(name)
    return link_arms(
        [
            Intervention(
                name,
                constant(row["intervention_type"]),
                tuple(names.get(row["id"], ())),
                tuple(links.get(row["id"], ())),
                _text(row),
            )
            for row in side.all("interventions")
            if (name := clean_line(row["name"]))
        ],
        [
            Arm(label, constant(group["group_type"]), _text(group))
            for key, group in groups.items()
            if (label := labels[key])
        ],
    )


def _outcomes(side: _Side) -> Iterator[Outcome]:
    rows = side.all("design_outcomes")
    for role in ("primary", "secondary", "other"):
        for row in rows:
            measure = clean_line(row["measure"])
            if measure and (row["outcome_type"].lower() or "primary") == role:
                yield Outcome(measure, role, clean_line(row["time_frame"]), _text(row))


def _locations(side: _Side) -> Iterator[Location]:
    facilities = side.all("facilities")
    for row in facilities:
        location = Location(*map(clean_line, row.values()))
        if location != Location():
            yield location
    for row in [] if facilities else side.all("countries"):
        if not parse_bool(row["removed"]) and (name := clean_line(row["name"])):
            yield Location(country=name)


def _mesh(side: _Side, name: str) -> tuple[str, ...]:
    """Terms given to the trial itself, without those above them in the tree."""
    return tuple(
        term
        for row in side.all(name)
        if row["mesh_type"] in ("", "mesh-list")
        and (term := clean_line(row["mesh_term"]))
    )


def _references(side: _Side) -> Iterator[Reference]:
    for row in side.all("study_references"):
        kind = constant(row["reference_type"])
        pmid, citation = clean_line(row["pmid"]), clean_line(row["citation"])
        if pmid or citation:
            yield Reference(pmid, _REFERENCE_TYPES.get(kind or "", kind), citation)


def _ids_of(rows: list[Row], kind: str) -> tuple[str, ...]:
    return tuple(
        value
        for row in rows
        if kind in (row["id_type"], row["id_source"])
        and (value := clean_line(row["id_value"]))
    )


def _has_results(study: Row, side: _Side) -> bool | None:
    said = parse_bool(
        side.first("calculated_values").get("were_results_reported") or None
    )
    return True if study.get("results_first_posted_date") else said


def _date(study: Row, name: str) -> PartialDate | None:
    # The date column invents the last day of a month; the text beside it does not.
    raw = study.get(f"{name}_month_year") or study.get(f"{name}_date")
    return parse_date(raw, parse_actual(study.get(f"{name}_date_type")))
