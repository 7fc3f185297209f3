"""Rows of CSV and TSV files, refused one by one when they do not fit the header."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from typing import BinaryIO

from .report import ReadReport
from .source import Source, decode, is_wide

# Lists of sites in one cell can be far longer than the 128 KiB that csv allows.
FIELD_LIMIT = 1 << 26
# The id column of the tables read here; one of them gives it no name.
_IDS = ("nct id", "nctid", "nct number", "")


def decode_lines(stream: BinaryIO) -> Iterator[str]:
    """Lines as text, each decoded by itself: one odd byte spoils one line at most.

    Spreadsheet programs save exports as UTF-16 or in the local code page.
    """
    first = stream.readline()
    if is_wide(first):
        yield from StringIO(decode(first + stream.read()), newline="")
        return
    yield decode(first)
    for line in stream:
        yield decode(line)


def read_header(head: bytes) -> list[str]:
    """Column names in the first line of `head`."""
    line = next(decode_lines(BytesIO(head)))
    return next(csv.reader([line], delimiter=_delimiter(line)), [])


def read_rows(source: Source, report: ReadReport) -> Iterator[tuple[str, dict]]:
    """("line 7", {column: cell}) of each row; blank rows are passed over."""
    csv.field_size_limit(FIELD_LIMIT)
    with source.open() as stream:
        lines = decode_lines(stream)
        first = next(lines, "")
        mark = _delimiter(first)
        header = next(csv.reader([first], delimiter=mark), [])
        if not header:
            report.refuse(source.name, "line 1", "the file is empty")
            return
        after = 2  # the header is line 1
        for row, count in _split(lines, mark, header):
            number, after = after, after + count
            if isinstance(row, list) and len(row) == len(header):
                yield f"line {number}", dict(zip(header, row, strict=True))
            elif row:
                wrong = f"{len(row)} columns where the header has {len(header)}"
                where = f"line {number}"
                if count > 1:
                    where = f"lines {number}-{after - 1}"
                reason = row if isinstance(row, str) else wrong
                report.refuse(source.name, where, reason)
        if after == 2:
            report.refuse(source.name, "line 1", "a header and no rows")


def _split(
    lines: Iterator[str], mark: str, header: list[str]
) -> Iterator[tuple[list[str] | str, int]]:
    """(cells, or why there are none; number of lines) of each row, [] for a blank one.

    A quote without a partner takes in the rows that follow. A row of several lines that
    is not well formed therefore ends where a line begins with an id.
    """
    begins = _beginning(header, mark)
    taken: list[str] = []
    again: deque[str] = deque()

    def recorded() -> Iterator[str]:
        while (line := again.popleft() if again else next(lines, None)) is not None:
            taken.append(line)
            yield line

    reader = csv.reader(recorded(), delimiter=mark)
    while True:
        row: list[str] | str | None
        try:
            row = next(reader, None)
        except csv.Error as err:
            row = f"the row cannot be read: {err}"
        if row is None:
            return
        if isinstance(row, list) and not any(map(str.strip, row)):
            row = []
        inner = next((n for n, line in enumerate(taken) if n and begins(line)), 0)
        if inner and not _is_proper(row, taken, mark, len(header)):
            row = "a quote in it has no partner"
            again.extendleft(reversed(taken[inner:]))
            del taken[inner:]
            # A new one, since the old one may have come to the end.
            reader = csv.reader(recorded(), delimiter=mark)
        yield row, len(taken)
        taken.clear()


def _beginning(header: list[str], mark: str) -> Callable[[str], object]:
    """Whether a line begins a row: its id column holds an NCT id."""
    names = [name.strip().lower().replace("_", " ") for name in header]
    at = next((n for n, name in enumerate(names) if name in _IDS), 0)
    cell = rf'(?:"(?:[^"]|"")*"|[^{mark}"]*){mark}'
    begin = rf'(?:{cell}){{{at}}}"?\s*NCT\d{{8}}\s*"?(?:{mark}|\s*$)'
    return re.compile(begin, re.IGNORECASE).match


def _is_proper(row: list[str] | str, lines: list[str], mark: str, width: int) -> bool:
    """Whether a row of several lines is one, though a line in it begins with an id."""
    if isinstance(row, str) or len(row) != width:
        return False
    try:
        return len(list(csv.reader(lines, delimiter=mark, strict=True))) == 1
    except csv.Error:
        return False


def _delimiter(line: str) -> str:
    return "\t" if line.count("\t") > line.count(",") else ","
