"""Search among trials: `TrialIndex` and what makes one."""

from __future__ import annotations

from .composed import Composed
from .encode import build_index, encode_corpus
from .filters import Filters
from .fingerprint import pipeline_fingerprint
from .hit import Hit
from .selection import FilterCount, FilterReport
from .trial_index import IndexEntry, TrialIndex

__all__ = [
    "Composed",
    "FilterCount",
    "FilterReport",
    "Filters",
    "Hit",
    "IndexEntry",
    "TrialIndex",
    "build_index",
    "encode_corpus",
    "pipeline_fingerprint",
]
