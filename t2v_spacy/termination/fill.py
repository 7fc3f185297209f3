"""Which fields of a record are filled: a leak of its own in merged collections.

Copies of a registry that were made for different ends hold different fields, and one of
trials with a reason for stopping holds hardly any completed trial. Where a collection
is merged from such copies, an absent field tells the copy, and the copy the label. So
look at `fill_by_label`, and train on records whose view is complete (`is_complete`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..trial import Trial
from .measures import Gold
from .registration import KNOWN

# What every registered trial has; a record without one of them was cut by its copy.
REQUIRED = (
    *("title", "brief_summary", "conditions", "interventions", "outcomes"),
    *("eligibility", "study_type", "sponsor"),
)
FILL_FIELDS = tuple(name for name in KNOWN if name != "nct_id")
_EMPTY: tuple[object, ...] = (None, (), frozenset())


def is_complete(view: Trial) -> bool:
    """Whether a registration view, which is what a model reads, has all fields that a
    registration must have."""
    return all(getattr(view, name) not in _EMPTY for name in REQUIRED)


def fill_vectors(views: Sequence[Trial]) -> np.ndarray:
    """float32 (views, len(FILL_FIELDS)): 1 where a registration view has the field.
    A model of these alone should predict no better than chance; see `evaluation`."""
    rows = [
        [getattr(view, name) not in _EMPTY for name in FILL_FIELDS] for view in views
    ]
    return np.array(rows, dtype="float32").reshape(len(views), len(FILL_FIELDS))


def fill_by_label(filled: np.ndarray, gold: Gold) -> dict[str, tuple[float, float]]:
    """Field -> share of the terminated and of the completed trials that have it.

    filled: (trials, len(FILL_FIELDS)), of `fill_vectors`. gold: With both labels.
    """
    labels = np.asarray(gold, bool)
    ended, completed = (filled[which].mean(axis=0) for which in (labels, ~labels))
    pairs = zip(ended.tolist(), completed.tolist(), strict=True)
    return dict(zip(FILL_FIELDS, pairs, strict=True))
