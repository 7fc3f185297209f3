"""Names that are concepts of some base but everyday words in the text of a trial."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).parent / "data" / "general_names.txt"
GENERAL_NAMES = frozenset(
    line
    for line in _FILE.read_text(encoding="utf8").splitlines()
    if not line.startswith("#")
)
# Roots whose narrower concepts say how a disease is, not which one it is.
GENERAL_ROOTS = frozenset(("MONDO:0021125",))
