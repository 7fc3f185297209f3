"""From scores to probabilities that mean what they say, and to a decision.

Both are fitted on the development part only, and kept with the model.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ..errors import Errors, error
from .measures import Gold, Probabilities, brier, checked

_HOTTEST = 100.0  # temperature; hotter ones say the same of every trial
_STEPS = 100
_CLOSE = 1e-10


def calibrated(
    logits: Sequence[float] | np.ndarray, temperature: float = 1.0, bias: float = 0.0
) -> np.ndarray:
    """Probabilities of TERMINATED, float64: sigmoid(logits / temperature + bias).

    logits: Log-odds of TERMINATED; of a softmax over two classes, the logit of
        TERMINATED minus that of COMPLETED.
    """
    z = np.asarray(logits, dtype="float64") / temperature + bias
    return np.exp(-np.logaddexp(0, -z))


def fit_temperature(
    logits: Sequence[float] | np.ndarray, gold: Gold
) -> tuple[float, float]:
    """Temperature and bias for `calibrated` (Platt 1999, with his softened targets, so
    that classes which can be told apart do not make the model certain).

    The temperature is positive and at most 100: the order of the trials stays. (1, 0),
    which changes nothing, if that has no higher Brier score on these trials; with a
    warning (T148) if they are all of one class.
    RAISES (T2VError): T145 for other lengths and logits that are no numbers.
    """
    scores = np.asarray(logits, dtype="float64")
    if not np.isfinite(scores).all():
        raise error(Errors.T145, reason="a logit is not a finite number")
    labels, plain = checked(gold, calibrated(scores))
    positive = int(labels.sum())
    if positive in (0, len(labels)):
        _warn("a temperature of 1 is used")
        return 1.0, 0.0
    high = (positive + 1) / (positive + 2)
    low = 1 / (len(labels) - positive + 2)
    targets = np.where(labels, high, low)
    # Where logits are large all curvature is lost to rounding: they are fitted as ones
    # of unit size.
    scale = float(scores.std()) or 1.0
    slope, bias = _newton(scores / scale, targets, slope=None)
    if slope < scale / _HOTTEST:
        slope, bias = _newton(scores / scale, targets, slope=scale / _HOTTEST)
    slope /= scale
    before = brier(labels, plain)
    after = brier(labels, calibrated(scores, 1 / slope, bias))
    assert before is not None and after is not None  # there are trials
    return (1 / slope, bias) if after < before else (1.0, 0.0)


def choose_threshold(gold: Gold, probabilities: Probabilities) -> float:
    """The probability from which on a trial is called terminated: that with the highest
    F1 of TERMINATED on these trials; of several, the highest, which calls the fewest.

    It lies halfway to the next lower probability, so that rounding decides nothing.
    0.5, with a warning (T148), if the trials are all of one class.
    RAISES (T2VError): T145 as `termination_scores`.
    """
    labels, p = checked(gold, probabilities)
    if labels.all() or not labels.any():
        _warn("a threshold of 0.5 is used")
        return 0.5
    order = np.argsort(-p, kind="stable")
    cuts = np.append(np.flatnonzero(np.diff(p[order])), len(p) - 1)
    hits = np.cumsum(labels[order])[cuts]
    f = 2 * hits / (cuts + 1 + labels.sum())
    best = int(f.argmax())  # the first one, which is the highest
    value = p[order][cuts[best]]
    below = p[order][cuts[best] + 1] if cuts[best] + 1 < len(p) else 0.0
    middle = (value + below) / 2
    return float(middle if middle > below else value)


def _newton(
    scores: np.ndarray, targets: np.ndarray, slope: float | None
) -> tuple[float, float]:
    """Slope and bias of the least log loss; the slope is held if it is given. The loss
    is convex: each step is halved until it goes down."""
    rows = np.stack([scores, np.ones_like(scores)], axis=1)
    free = rows if slope is None else rows[:, 1:]
    at = np.array([1.0 if slope is None else slope, 0.0])
    places = slice(0, 2) if slope is None else slice(1, 2)

    def loss(weights: np.ndarray) -> float:
        z = rows @ weights
        return float((np.logaddexp(0, z) - targets * z).mean())

    for _ in range(_STEPS):
        p = calibrated(rows @ at)
        gradient = free.T @ (p - targets) / len(p)
        curve = (free * (p * (1 - p))[:, None]).T @ free / len(p)
        step = np.zeros(2)
        # Equal logits leave the slope open: the least of the steps is taken.
        step[places] = np.linalg.lstsq(curve, gradient, rcond=None)[0]
        size, now = 1.0, loss(at)
        while loss(at - size * step) > now and size > _CLOSE:
            size /= 2
        at = at - size * step
        if np.abs(gradient).max() < _CLOSE or size <= _CLOSE:
            break
    return float(at[0]), float(at[1])


def _warn(action: str) -> None:
    warnings.warn(str(error(Errors.T148, action=action)), stacklevel=3)
