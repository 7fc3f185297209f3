"""Tables of a report in markdown, and texts that are safe in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SIGNS = re.compile(r"([\\`*_{}\[\]<>|#~$&])")
_LONGEST = 90


def safe(text: str | None, longest: int = _LONGEST) -> str:
    """A text of a record or a file as it stands, on one line: no markup, no link, no
    table cell of its own."""
    flat = " ".join((text or "").split())
    if len(flat) > longest:
        flat = f"{flat[: longest - 1].rstrip()}…"
    return _SIGNS.sub(r"\\\1", flat)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; columns after the first are set to the right if all of their
    cells start with a digit or a sign, as figures do."""
    rows = [list(row) for row in rows]
    marks = []
    for number in range(len(head)):
        cells = [row[number] for row in rows]
        figures = number and cells and all(re.match(r"[-+.\d–]", c) for c in cells)
        marks.append("---:" if figures else "---")
    return [_line(head), f"|{'|'.join(marks)}|", *map(_line, rows), ""]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def interval(
    mean: float | None, low: float | None, high: float | None, *, sign: bool = False
) -> str:
    """ "0.894 (0.858 to 0.929)"; "–" where there is no figure."""
    if mean is None or low is None or high is None:
        return "–"
    form = "+.3f" if sign else ".3f"
    return f"{mean:{form}} ({low:{form}} to {high:{form}})"


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.0f} min"
