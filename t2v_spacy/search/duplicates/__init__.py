"""Records of an index that belong together: one study twice, or one after another."""

from __future__ import annotations

from .classes import DUPLICATE, EXTENSION, KINDS, REREGISTRATION, SISTER
from .find import Pair, find_duplicates, same_study_groups

__all__ = [
    "DUPLICATE",
    "EXTENSION",
    "KINDS",
    "REREGISTRATION",
    "SISTER",
    "Pair",
    "find_duplicates",
    "same_study_groups",
]
