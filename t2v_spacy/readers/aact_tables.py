"""Which files of a folder or zip are tables of one AACT database."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from .pipe_rows import read_header
from .report import ReadReport
from .source import HEAD_BYTES, Source, open_member, why_skipped

STUDIES = "studies"
# The side tables and the columns read of each.
SIDE: dict[str, tuple[str, ...]] = {
    "eligibilities": (
        "gender",
        "minimum_age",
        "maximum_age",
        "healthy_volunteers",
        "criteria",
    ),
    "brief_summaries": ("description",),
    "detailed_descriptions": ("description",),
    "conditions": ("name",),
    "keywords": ("name",),
    "interventions": ("id", "intervention_type", "name", "description"),
    "intervention_other_names": ("intervention_id", "name"),
    "design_groups": ("id", "group_type", "title", "description"),
    "design_group_interventions": ("design_group_id", "intervention_id"),
    "design_outcomes": ("outcome_type", "measure", "time_frame", "description"),
    "designs": (
        "allocation",
        "intervention_model",
        "observational_model",
        "time_perspective",
        "masking",
        "primary_purpose",
    ),
    "browse_conditions": ("mesh_term", "mesh_type"),
    "browse_interventions": ("mesh_term", "mesh_type"),
    "sponsors": ("name", "agency_class", "lead_or_collaborator"),
    "facilities": ("name", "city", "state", "country"),
    "countries": ("name", "removed"),
    "calculated_values": ("were_results_reported",),
    "study_references": ("pmid", "reference_type", "citation"),
    "id_information": ("id_type", "id_source", "id_value"),
}


@dataclass(frozen=True)
class Unit:
    """Tables of one database. names are those of all its files, also of tables that
    hold nothing read here."""

    tables: dict[str, Source]
    names: frozenset[str]


def find_units(path: Path, report: ReadReport) -> list[Unit]:
    """Tables in a folder, or in each folder of a zip; none for anything else."""
    units = []
    try:
        folders: dict[str, list[Source]] = {}
        for folder, source in _members(path):
            folders.setdefault(folder, []).append(source)
        for sources in folders.values():
            if unit := _unit(sources, report):
                units.append(unit)
    except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return []  # Whoever opens the file next says what is wrong with it.
    return units


def _unit(sources: list[Source], report: ReadReport) -> Unit | None:
    tables: dict[str, Source] = {}
    for source in sources:
        stem = PurePosixPath(source.name).stem.lower()
        known = stem == STUDIES or stem in SIDE
        if known and stem not in tables and "nct_id" in _header(source):
            tables[stem] = source
    if not tables:
        return None
    names = {source.name for source in tables.values()}
    for source in sources:
        if source.name in names:
            continue
        header = _header(source)
        if "id" in header and table_of(header, source.name) is None:
            names.add(source.name)
            report.skip(source.name, "a table that holds nothing read here")
    return Unit(tables, frozenset(names))


def _header(source: Source) -> list[str]:
    with source.open() as stream:
        return read_header(stream.readline(HEAD_BYTES))


def _members(path: Path) -> Iterator[tuple[str, Source]]:
    """(folder, source) of each text file in a folder or zip."""
    if path.is_dir():
        for file in sorted(path.glob("*.txt")):
            if not why_skipped(file.name) and file.is_file():
                yield "", Source(str(file), partial(_open, file))
    elif path.is_file() and zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        for info in archive.infolist():
            member = PurePosixPath(info.filename)
            if member.suffix == ".txt" and not any(map(why_skipped, member.parts)):
                source = Source(
                    f"{path}/{info.filename}", partial(open_member, archive, info)
                )
                yield str(member.parent), source


def _open(path: Path) -> BinaryIO:
    return path.open("rb")


def table_of(header: list[str], name: str) -> str | None:
    """The table a file is: by its name, else by the columns that only it has."""
    if "nct_id" not in header:
        return None
    stem = PurePosixPath(name).name.lower().split(".")[0]
    if named := [table for table in (STUDIES, *SIDE) if stem.endswith(table)]:
        return max(named, key=len)
    if "overall_status" in header:
        return STUDIES
    return "eligibilities" if "criteria" in header else None
