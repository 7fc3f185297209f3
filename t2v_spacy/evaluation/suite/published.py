"""Published figures, from a file of the user's: none are shipped."""

from __future__ import annotations

import csv
from pathlib import Path

from ...errors import Errors, T2VError, error
from .jsonl import read_lines
from .tasks import find_tasks


def read_published(path: Path) -> dict[str, dict[str, float]]:
    """{model: {task: figure}} of a CSV file with the column "task" and one a model. An
    empty cell is a figure that is not known.

    RAISES (T001): No such file. (T200): A row of no task, such as an average. (T204):
    Another form, or a figure that is no fraction of 1.
    """
    lines = [line for _, line in read_lines(path)]
    rows = csv.reader(lines)
    header = next(rows, [])
    if len(header) < 2 or header[0].strip().lower() != "task":
        raise _bad(path, "the first column is not 'task'", 1)
    table: dict[str, dict[str, float]] = {name.strip(): {} for name in header[1:]}
    for row in rows:
        if len(row) != len(header):
            reason = f"{len(row)} cells where the header has {len(header)}"
            raise _bad(path, reason, rows.line_num)
        (task,) = find_tasks(row[:1])
        for name, cell in zip(table, row[1:], strict=True):
            if cell.strip():
                table[name][task.name] = _figure(path, cell, rows.line_num)
    return table


def _figure(path: Path, cell: str, line: int) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise _bad(path, f"'{cell}' is no number", line) from None
    if not -1 <= value <= 1:
        raise _bad(path, f"{cell} is no fraction of 1", line)
    return value


def _bad(path: Path, reason: str, line: int) -> T2VError:
    return error(Errors.T204, path=path, where=f", line {line},", reason=reason)
