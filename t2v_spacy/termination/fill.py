"""Which fields of a record are filled: a leak of its own in merged collections.

Copies of a registry that were made for different ends hold different fields, and one of
trials with a reason for stopping holds hardly any completed trial. Where a collection
is merged from such copies, an absent field tells the copy, and the copy the label. So
look at `fill_by_label` before training, and train on records that are `is_complete`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

import numpy as np

from ..trial import Trial
from .labels import termination_label
from .registration import KNOWN, registration_view

# What every registered trial has; a record without one of them was cut by its copy.
REQUIRED = (
    *("title", "brief_summary", "conditions", "interventions", "outcomes"),
    *("eligibility", "study_type", "sponsor"),
)
FILL_FIELDS = tuple(name for name in KNOWN if name != "nct_id")
_EMPTY: tuple[object, ...] = (None, (), frozenset())


def is_complete(trial: Trial) -> bool:
    """Whether the record has all fields that a registration must have."""
    return all(getattr(trial, name) not in _EMPTY for name in REQUIRED)


def fill_vectors(trials: Sequence[Trial]) -> np.ndarray:
    """float32 (trials, len(FILL_FIELDS)): 1 where the registration view has the field.
    A model of these alone should predict no better than chance; see `evaluation`."""
    rows = [
        [getattr(view, name) not in _EMPTY for name in FILL_FIELDS]
        for view in map(registration_view, trials)
    ]
    return np.array(rows, dtype="float32").reshape(len(trials), len(FILL_FIELDS))


def fill_by_label(trials: Iterable[Trial]) -> dict[str, tuple[float, float]]:
    """Field -> share of the terminated and of the completed trials that have it, for
    every field of a record. Trials without a label are passed over.
    RAISES (ValueError): If there is no trial of one of the labels."""
    names = [member.name for member in fields(Trial)]
    filled: dict[bool, list[list[bool]]] = {True: [], False: []}
    for trial in trials:
        label = termination_label(trial.status)
        if label is not None:
            row = [getattr(trial, name) not in _EMPTY for name in names]
            filled[label].append(row)
    if not all(filled.values()):
        raise ValueError("terminated and completed trials are needed")
    shares = [np.mean(filled[label], axis=0) for label in (True, False)]
    return {
        name: (float(ended), float(completed))
        for name, ended, completed in zip(names, *shares, strict=True)
    }
