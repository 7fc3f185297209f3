"""Names that are concepts of some base but everyday words in the text of a trial."""

from __future__ import annotations

GENERAL_NAMES: frozenset[str] = frozenset(
    """
disease diseases disorder disorders syndrome patient patients treatment therapy
therapeutics intervention control
""".split()
)
