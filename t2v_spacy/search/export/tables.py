"""Rows as CSV and as JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from ...values import PartialDate
from .columns import Row, Value

SEPARATOR = "; "
# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_csv(file: TextIO, names: Sequence[str], rows: Iterable[Row]) -> None:
    """RFC 4180: a comma between cells, a quote round those that need it, CRLF after a
    line. A text that a spreadsheet would run as a formula gets a ' before it.

    file (TextIO): Opened with newline="".
    """
    writer = csv.writer(file)
    writer.writerow(names)
    writer.writerows([_cell(row[name]) for name in names] for row in rows)


def write_jsonl(file: TextIO, names: Sequence[str], rows: Iterable[Row]) -> None:
    """One object a line, with every column; lists stay lists, dates are texts."""
    for row in rows:
        plain = {name: _plain(row[name]) for name in names}
        file.write(json.dumps(plain, ensure_ascii=False) + "\n")


def text_of(value: Value) -> str:
    """A cell without a type of its own."""
    if isinstance(value, tuple):
        return SEPARATOR.join(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _cell(value: Value) -> str:
    text = text_of(value)
    if isinstance(value, int | float) or not text.startswith(_FORMULA):
        return text
    return f"'{text}"


def _plain(value: Value) -> Any:
    return str(value) if isinstance(value, PartialDate) else value
