"""Rows as an Excel workbook, through openpyxl."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import Errors, error
from ...values import PartialDate
from .columns import Row, Value
from .tables import text_of

if TYPE_CHECKING:
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

LONGEST = 32_767  # characters in a cell
MOST_ROWS = 1_048_575  # below the header
_FIRST_YEAR = 1900
_WIDTHS = {"title": 60, "conditions": 30, "interventions": 30, "primary_outcomes": 40}


def write_excel(
    path: Path, names: Sequence[str], rows: Iterable[Row]
) -> list[tuple[int, str]]:
    """Write a workbook of one sheet; returns (its row, column) of cells that were too
    long and were cut.

    Numbers, dates known to the day and yes/no are typed, all else is text, never a
    formula. Rows are not held in memory.
    RAISES (T183): openpyxl is missing.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.utils import get_column_letter
    except ImportError as err:
        raise error(Errors.T183, format="xlsx", library="openpyxl") from err
    book = Workbook(write_only=True)
    sheet = book.create_sheet("trials")
    sheet.freeze_panes = "A2"
    letters = [get_column_letter(i) for i in range(1, len(names) + 1)]
    for letter, name in zip(letters, names, strict=True):
        sheet.column_dimensions[letter].width = _WIDTHS.get(name, 14)
    sheet.append([_header(sheet, name) for name in names])
    cut = []
    number = 1
    try:
        for number, row in enumerate(rows, start=2):
            cut += [(number, n) for n in names if len(text_of(row[n])) > LONGEST]
            sheet.append([_cell(sheet, row[name]) for name in names])
        sheet.auto_filter.ref = f"A1:{letters[-1]}{number}"
    finally:
        sheet.close()  # or openpyxl complains of what it has begun
    with path.open("wb") as file:
        book.save(file)
    return cut


def _header(sheet: WriteOnlyWorksheet, name: str) -> Any:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    cell = WriteOnlyCell(sheet, value=name)
    cell.font = Font(bold=True)
    return cell


def _cell(sheet: WriteOnlyWorksheet, value: Value) -> Any:
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, int | float):
        return value
    if isinstance(value, PartialDate) and (day := _day(value)):
        cell = WriteOnlyCell(sheet, value=day)
        cell.number_format = "yyyy-mm-dd"
        return cell
    text = _legal(text_of(value))
    if not text:
        return None
    cell = WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"  # also of what begins with "="
    return cell


def _day(value: PartialDate) -> date | None:
    """Excel knows no month without a day, and no day before 1900."""
    if value.precision != "day" or int(value.value[:4]) < _FIRST_YEAR:
        return None
    return date.fromisoformat(value.value)


def _legal(text: str) -> str:
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    legal = ILLEGAL_CHARACTERS_RE.sub("", text).encode("utf8", "replace").decode()
    return legal if len(legal) <= LONGEST else f"{legal[: LONGEST - 1]}…"
