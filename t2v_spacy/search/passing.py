"""The trials of an index that pass filters, all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .filters import Filters
from .vectors import Array

if TYPE_CHECKING:
    from .trial_index import TrialIndex

Given = Filters | Mapping[str, Any] | None


def passing_ids(index: TrialIndex, filters: Given = None) -> list[str]:
    """Main ids, in the order of the index. RAISES (T160, T161, T162): as in
    `TrialIndex.search`."""
    ids, chosen = index.ids(), Filters.of(filters)
    if not chosen:
        return ids
    ranks = np.searchsorted(passing_places(index), passing_places(index, chosen))
    return [ids[rank] for rank in ranks.tolist()]


def passing_places(index: TrialIndex, filters: Given = None) -> Array:
    """int64, ascending: their places. RAISES as `passing_ids`."""
    chosen = Filters.of(filters)
    corpus = index._corpus
    return np.flatnonzero(corpus.select(chosen).rows if chosen else corpus.live())
