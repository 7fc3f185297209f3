"""Two views of each trial for the global loss: which sections each of them shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy

from ..errors import Errors, error
from ..sections.labels import CRITERIA, KEY_ATTRIBUTES, SECTION_LABELS

# present (docs, labels) of 0 and 1, rng -> two such arrays, each a part of `present`.
ViewMaker = Callable[
    [numpy.ndarray, numpy.random.Generator], tuple[numpy.ndarray, numpy.ndarray]
]
_ATTRIBUTES = numpy.array([label in KEY_ATTRIBUTES for label in SECTION_LABELS])
_CRITERIA = numpy.array([label in CRITERIA for label in SECTION_LABELS])
_ELIGIBILITY = SECTION_LABELS.index("eligibility")


def dropout_views(rate: float = 0.3) -> ViewMaker:
    """Views `t2v.DropoutViews.v1`, the paper's: the whole trial, and the trial without
    some key attributes (never without all). Both show the same section vectors.

    rate (float): Chance of an attribute to be left out. Defaults to 0.3.
    RAISES (T2VError T026): If the rate is not above 0 and below 1.
    """
    _check_rate(rate)
    return partial(_drop, rate=rate)


def split_views(rate: float = 0.5) -> ViewMaker:
    """Views `t2v.SplitViews.v1`: the sections of a trial dealt at random to one of two
    views that share none, so that no vector is compared with itself.

    rate (float): Chance of a section to be in the first view. Defaults to 0.5.
    RAISES (T2VError T026): If the rate is not above 0 and below 1.
    """
    _check_rate(rate)
    return partial(_split, rate=rate)


def context_views() -> ViewMaker:
    """Views `t2v.ContextViews.v1`: the key attributes against the context."""
    return _part


def _drop(
    present: numpy.ndarray, rng: numpy.random.Generator, *, rate: float
) -> tuple[numpy.ndarray, numpy.ndarray]:
    chance = rng.random(present.shape)
    dropped = (chance < rate) & _ATTRIBUTES
    # The attribute with the highest draw stays, if no other one does.
    there = numpy.where((present > 0) & _ATTRIBUTES, chance, -1.0)
    dropped[numpy.arange(len(present)), there.argmax(1)] = False
    return present, present * ~dropped


def _split(
    present: numpy.ndarray, rng: numpy.random.Generator, *, rate: float
) -> tuple[numpy.ndarray, numpy.ndarray]:
    first = rng.random(present.shape) < rate
    # The criteria and their parts are one text.
    first[:, _CRITERIA] = first[:, [_ELIGIBILITY]]
    return present * first, present * ~first


def _part(
    present: numpy.ndarray, rng: numpy.random.Generator
) -> tuple[numpy.ndarray, numpy.ndarray]:
    return present * _ATTRIBUTES, present * ~_ATTRIBUTES


def _check_rate(rate: float) -> None:
    if not 0 < rate < 1:
        reason = "above 0 and below 1"
        raise error(Errors.T026, setting="rate", value=rate, reason=reason)
