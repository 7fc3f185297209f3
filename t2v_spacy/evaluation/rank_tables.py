"""Judgments in a table, one query a row: its id, rank_1 … rank_n and their labels.

TrialSim as its authors publish it (xlsx; labels in columns 1 … 10) and the lists of
SECRET (CSV; truth_1 … truth_10) are such tables.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import Errors, error
from ..readers.report import ReadReport
from ..readers.rows import read_rows
from ..readers.source import Source
from .benchmark import Judged, LoadReport
from .json_labels import Documents, judged

_QUERY = ("target", "target_trial", "nct_id", "query", "query_id")
_RANK = re.compile(r"rank_?(\d+)")
_LABEL = re.compile(r"(?:truth_?|label_?|relevance_?)?(\d+)")
_FORMAT = "a table of ranked trials"
_ZIP = b"PK\x03\x04"


def read_rank_table(
    path: Path, report: LoadReport
) -> tuple[Iterator[Judged], Documents | None]:
    """Queries of an xlsx workbook (its first sheet), a CSV or a TSV file.

    RAISES (T100): No workbook, or a column is lacking. (T103): openpyxl is needed.
    """
    with path.open("rb") as file:
        is_book = file.read(4) == _ZIP
    rows = list(_sheet(path) if is_book else _text(path, report))
    columns = _columns(path, rows[0][1] if rows else {})
    return _judged(path, rows, columns, report), None


def _text(path: Path, report: LoadReport) -> Iterator[tuple[str, dict[str, str]]]:
    found = ReadReport()
    for where, row in read_rows(Source(str(path), lambda: path.open("rb")), found):
        yield where, {name.strip().lower(): cell.strip() for name, cell in row.items()}
    report.refused += found.refused


def _sheet(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    try:
        import openpyxl
    except ImportError as err:
        raise error(Errors.T103, path=path) from err
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as err:
        reason = f"it is no xlsx workbook ({err})"
        raise error(Errors.T100, path=path, format=_FORMAT, reason=reason) from err
    try:
        header: list[str] = []
        sheet = book.worksheets[0].iter_rows(values_only=True)
        for number, cells in enumerate(sheet, 1):
            texts = list(map(_cell, cells))
            if not any(texts):
                continue
            if header:
                yield f"row {number}", dict(zip(header, texts, strict=False))
            header = header or [text.lower() for text in texts]
    finally:
        book.close()


def _cell(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def _columns(path: Path, row: dict[str, str]) -> tuple[str, list[tuple[str, str]]]:
    """The query's column, and (candidate, label) columns by rank."""
    query = next((name for name in _QUERY if name in row), None)
    ranks = {int(m[1]): name for name in row if (m := _RANK.fullmatch(name))}
    labels = {int(m[1]): name for name in row if (m := _LABEL.fullmatch(name))}
    if query is None or not ranks or set(ranks) - set(labels):
        reason = (
            "it needs a row of names with 'target' or 'nct_id', rank_1, rank_2, … and "
            "a label column for each rank (1, 2, … or truth_1, truth_2, …); it has: "
            f"{', '.join(filter(None, row)) or 'nothing'}"
        )
        raise error(Errors.T100, path=path, format=_FORMAT, reason=reason)
    return query, [(ranks[n], labels[n]) for n in ranks]


def _judged(
    path: Path,
    rows: list[tuple[str, dict[str, str]]],
    columns: tuple[str, list[tuple[str, str]]],
    report: LoadReport,
) -> Iterator[Judged]:
    query, pairs = columns
    for where, row in rows:
        if not row.get(query):
            report.refuse(path, where, "no query")
            continue
        cells = [(row.get(doc, ""), row.get(label, "")) for doc, label in pairs]
        grades = [(doc, _grade(label)) for doc, label in cells if doc]
        yield judged(path, row[query], f"{where}, {row[query]}", grades, report)


def _grade(label: str) -> int | str:
    """The number a cell shows; what is none stays text and is refused."""
    try:
        number = float(label)
    except ValueError:
        return label
    return int(number) if number.is_integer() else label
