"""Rows of CSV and TSV files, refused one by one when they do not fit the header."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import BytesIO, StringIO
from typing import BinaryIO

from .report import ReadReport
from .source import Source, decode, is_wide

# Lists of sites in one cell can be far longer than the 128 KiB that csv allows.
FIELD_LIMIT = 1 << 26


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
        header = next(csv.reader([first], delimiter=_delimiter(first)), [])
        if not header:
            report.refuse(source.name, "line 1", "the file is empty")
            return
        reader = csv.reader(lines, delimiter=_delimiter(first))
        where = ""
        while True:
            # A row starts after the one before it; the header is line 1.
            where = f"line {reader.line_num + 2}"
            try:
                row = next(reader, None)
            except csv.Error as err:
                report.refuse(source.name, where, f"the row cannot be read: {err}")
                continue
            if row is None:
                break
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                reason = f"{len(row)} columns where the header has {len(header)}"
                report.refuse(source.name, where, reason)
                continue
            yield where, dict(zip(header, row, strict=True))
        if where == "line 2":
            report.refuse(source.name, "line 1", "a header and no rows")


def _delimiter(line: str) -> str:
    return "\t" if line.count("\t") > line.count(",") else ","
