"""Rows of the pipe-delimited files of AACT, which are almost CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO

from .report import ReadReport
from .rows import FIELD_LIMIT, decode_lines
from .source import Source

Row = Mapping[str, str]
# No text has more lines; past this the lines belong to no row.
_MAX_LINES = 5000


def read_header(head: bytes) -> list[str]:
    """Column names in the first line of `head`; none if it has no bar."""
    return _names(next(decode_lines(BytesIO(head))))


def _names(line: str) -> list[str]:
    names = [name.strip().strip('"').lower() for name in line.split("|")]
    return names if len(names) > 1 else []


def iter_rows(source: Source, report: ReadReport) -> Iterator[Row]:
    """Rows of one table, nct_id in normal form; what fits no row is refused by line.

    The files are almost CSV: the exporter has written line ends as "~" and taken out
    doubled quotes, so a quote may have no partner, yet other exports are proper CSV
    with line ends in quotes. A row therefore begins where a line has an id in the id
    column, and quotes are looked at only in rows that do not fit otherwise.
    """
    with source.open() as stream:
        lines = decode_lines(stream)
        header = _names(next(lines))
        if "nct_id" not in header:
            report.refuse(source.name, "line 1", "there is no column 'nct_id'")
            return
        at = header.index("nct_id")
        begins = re.compile(rf'(?:[^|]*\|){{{at}}}"?\s*NCT\d{{8}}\s*"?(?:\||$)', re.I)
        for number, group in _groups(lines, begins):
            rest = group[1:]
            cells = _split("".join(group), len(header))
            if cells is None and rest:
                cells = _split(group[0], len(header))
            else:
                rest = []
            if cells is None or not begins.match(group[0]):
                reason = f"not a row of {len(header)} columns with an NCT id"
                report.refuse(source.name, f"line {number}", reason)
            else:
                cells[at] = cells[at].strip().upper()
                yield dict(zip(header, cells, strict=True))
            for extra, line in enumerate(rest, number + 1):
                if line.strip():
                    reason = "neither a row with an NCT id nor part of the one above"
                    report.refuse(source.name, f"line {extra}", reason)


def _groups(
    lines: Iterable[str], begins: re.Pattern[str]
) -> Iterator[tuple[int, list[str]]]:
    """(number of the first line, lines) of each row."""
    group: list[str] = []
    start = 2
    for number, line in enumerate(lines, 2):
        if group and (begins.match(line) or len(group) >= _MAX_LINES):
            yield start, group
            group = []
        if group or line.strip():
            start = start if group else number
            group.append(line)
    if group:
        yield start, group


def _split(text: str, width: int) -> list[str] | None:
    text = text.rstrip("\r\n")
    cells = text.split("|")
    if len(cells) == width:
        return [_unquote(cell) for cell in cells]
    csv.field_size_limit(FIELD_LIMIT)
    try:
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter="|"))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 and len(rows[0]) == width else None


def _unquote(cell: str) -> str:
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"':
        return cell
    inner = cell[1:-1].replace('""', "\0")
    # A lone quote inside means that the outer two are no pair: '"A" or "B"'.
    return cell if '"' in inner else inner.replace("\0", '"')
