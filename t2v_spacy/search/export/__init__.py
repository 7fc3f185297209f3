"""Results of a search, or trials, as a file for another program."""

from __future__ import annotations

from .columns import COLUMNS, TRIAL_COLUMNS
from .write import FORMATS, Export, export_hits, export_trials

__all__ = [
    "COLUMNS",
    "FORMATS",
    "TRIAL_COLUMNS",
    "Export",
    "export_hits",
    "export_trials",
]
