"""How far a mean over queries can be trusted: intervals and tests by resampling.

Queries that share a cluster (the trials of one review, say) are no independent
evidence; they are drawn, or change their sign, together. Without clusters each query
stands for itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

Values = Sequence[float] | np.ndarray
Clusters = Sequence[Hashable] | None
_LEVEL = (0.025, 0.975)
_CELLS = 1 << 22  # numbers drawn at a time
# Sums of the same numbers in another order differ by less.
_SAME = 1e-12


@dataclass(frozen=True)
class PairedTest:
    """difference: mean of first minus second; (low, high): its 95 % interval; p: chance
    of a difference at least as far from 0, on either side, if there were none."""

    difference: float
    low: float
    high: float
    p: float


def bootstrap_interval(
    values: Values, *, rounds: int = 2000, seed: int = 0, clusters: Clusters = None
) -> tuple[float, float]:
    """95 % interval of the mean over queries, by resampling queries (or clusters)."""
    low, high = np.quantile(_resampled(values, clusters, rounds, seed), _LEVEL)
    return float(low), float(high)


def paired_bootstrap(
    first: Values,
    second: Values,
    *,
    rounds: int = 10_000,
    seed: int = 0,
    clusters: Clusters = None,
) -> PairedTest:
    """Compare two systems by resampling the differences over the same queries. p is
    twice the share of samples on the far side of 0, and at least 2 / (rounds + 1)."""
    differences = _differences(first, second)
    means = _resampled(differences, clusters, rounds, seed)
    low, high = np.quantile(means, _LEVEL)
    side = 1 + min((means <= _SAME).sum(), (means >= -_SAME).sum())
    p = min(1.0, 2 * side / (rounds + 1))
    return PairedTest(float(differences.mean()), float(low), float(high), float(p))


def sign_flip_test(
    first: Values,
    second: Values,
    *,
    rounds: int = 10_000,
    seed: int = 0,
    clusters: Clusters = None,
) -> float:
    """Two-sided p of a permutation test that swaps the two systems query by query.
    With few queries all 2**n ways are gone through, else `rounds` random ones."""
    sums, _ = _by_cluster(_differences(first, second), clusters)
    far = abs(sums.sum()) - _SAME
    n = len(sums)
    if 2**n <= rounds:
        ways = np.arange(2**n)[:, None] >> np.arange(n) & 1
        return float((abs((1 - 2 * ways) @ sums) >= far).mean())
    rng = np.random.default_rng(seed)
    hits = 0
    for size in _chunks(rounds, n):
        ways = rng.integers(0, 2, (size, n), dtype="int8")
        hits += (abs((1 - 2 * ways) @ sums) >= far).sum()
    return float((1 + hits) / (1 + rounds))


def _resampled(
    values: Values, clusters: Clusters, rounds: int, seed: int
) -> np.ndarray:
    """Means (rounds,) of samples of the clusters, drawn with replacement."""
    sums, sizes = _by_cluster(np.asarray(values, dtype="float64"), clusters)
    rng = np.random.default_rng(seed)
    means = []
    for size in _chunks(rounds, len(sums)):
        drawn = rng.integers(0, len(sums), (size, len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(means)


def _chunks(rounds: int, width: int) -> list[int]:
    step = max(1, _CELLS // width)
    return [min(step, rounds - start) for start in range(0, rounds, step)]


def _differences(first: Values, second: Values) -> np.ndarray:
    pair = np.asarray(first, dtype="float64"), np.asarray(second, dtype="float64")
    if pair[0].shape != pair[1].shape:
        raise ValueError("both systems need a value for the same queries")
    return pair[0] - pair[1]


def _by_cluster(values: np.ndarray, clusters: Clusters) -> tuple[np.ndarray, ...]:
    """Sum and size of each cluster. RAISES (ValueError): If there is no value."""
    if not len(values):
        raise ValueError("there is no query to draw from")
    if clusters is None:
        return values, np.ones(len(values))
    if len(clusters) != len(values):
        raise ValueError("every query needs one cluster")
    position = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    places = [position[name] for name in clusters]
    return np.bincount(places, values), np.bincount(places).astype("float64")
