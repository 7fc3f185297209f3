"""How far the areas and the Brier score of one test part can be trusted, by bootstrap.

Trials are drawn with replacement; two systems are compared on the same draws. A draw
without a trial of each class has no area and is left out.
"""

from __future__ import annotations

import numpy as np

from ...errors import Errors, error
from ...termination.measures import Gold, Probabilities, areas, checked
from ..significance import PairedTest

MEASURES = ("roc_auc", "pr_auc", "brier")
_LEVEL = (0.025, 0.975)
_CELLS = 1 << 22  # numbers held at a time


def bootstrap(
    gold: Gold, probabilities: Probabilities, *, rounds: int = 1000, seed: int = 0
) -> dict[str, tuple[float, float] | None]:
    """95 % interval of each of MEASURES; None where the measure has no value.
    RAISES (T2VError): T145 as `termination_scores`."""
    labels, p = checked(gold, probabilities)
    drawn = _drawn(labels, [p], rounds, seed)[0]
    return {name: _interval(drawn[name]) for name in MEASURES}


def paired_difference(
    gold: Gold,
    first: Probabilities,
    second: Probabilities,
    *,
    rounds: int = 1000,
    seed: int = 0,
) -> dict[str, PairedTest | None]:
    """First minus second, for each of MEASURES, over the same trials; None where the
    measure has no value. A lower Brier score is the better one. p is twice the share of
    draws on the far side of 0, and at least 2 / (rounds + 1).
    RAISES (T2VError): T145 as `termination_scores`."""
    labels, one = checked(gold, first)
    _, other = checked(gold, second)
    drawn = _drawn(labels, [one, other], rounds, seed)
    whole = _measured(labels, [one, other], np.ones((1, len(labels))))
    return {
        name: _test(
            float(whole[0][name][0] - whole[1][name][0]),
            drawn[0][name] - drawn[1][name],
        )
        for name in MEASURES
    }


def _interval(values: np.ndarray) -> tuple[float, float] | None:
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.quantile(values, _LEVEL)
    return float(low), float(high)


def _test(difference: float, drawn: np.ndarray) -> PairedTest | None:
    drawn = drawn[~np.isnan(drawn)]
    interval = _interval(drawn)
    if interval is None or np.isnan(difference):
        return None
    side = 1 + min((drawn <= 0).sum(), (drawn >= 0).sum())
    return PairedTest(
        difference, *interval, float(min(1.0, 2 * side / (len(drawn) + 1)))
    )


def _drawn(
    labels: np.ndarray, systems: list[np.ndarray], rounds: int, seed: int
) -> list[dict[str, np.ndarray]]:
    """For each system, the measures (rounds,) of the same draws."""
    if rounds < 1:
        raise error(Errors.T026, setting="rounds", value=rounds, reason="at least one")
    n = len(labels)
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // max(n, 1))
    chunks = []
    for start in range(0, rounds, step):
        size = min(step, rounds - start)
        if n:
            weights = rng.multinomial(n, np.full(n, 1 / n), size=size)
        else:
            weights = np.zeros((size, 0), dtype="int64")
        chunks.append(_measured(labels, systems, weights))
    return [
        {
            name: np.concatenate([chunk[i][name] for chunk in chunks])
            for name in MEASURES
        }
        for i in range(len(systems))
    ]


def _measured(
    labels: np.ndarray, systems: list[np.ndarray], weights: np.ndarray
) -> list[dict[str, np.ndarray]]:
    found = []
    for p in systems:
        roc, precision = areas(labels, p, weights)
        with np.errstate(invalid="ignore"):
            distance = weights @ (p - labels) ** 2 / weights.sum(axis=1)
        found.append({"roc_auc": roc, "pr_auc": precision, "brier": distance})
    return found
