"""Ranking measures over graded candidates. Each takes the grades in ranked order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def rank(
    scores: Sequence[float], grades: Sequence[int], rng: np.random.Generator
) -> np.ndarray:
    """Grades by falling score, ties in random order.

    RAISES (ValueError): If a score is NaN or the lengths differ.
    """
    values = np.asarray(scores, dtype="float64")
    if np.isnan(values).any() or len(values) != len(grades):
        raise ValueError("every candidate needs one score that is a number")
    order = np.lexsort((rng.random(len(values)), -values))
    return np.asarray(grades)[order]


def ndcg(ranked: Sequence[int], k: int) -> float | None:
    """nDCG at k with gain 2^grade - 1; None if no candidate has a grade above 0."""
    gains = 2.0 ** np.asarray(ranked) - 1
    ideal = np.sort(gains)[::-1][:k]
    if not ideal.sum():
        return None
    discount = 1 / np.log2(np.arange(2, k + 2))
    found = gains[:k]
    best = (ideal * discount[: len(ideal)]).sum()
    return float((found * discount[: len(found)]).sum() / best)


def average_precision(ranked: Sequence[int], relevant: int) -> float | None:
    """Average precision over the candidates, those of grade `relevant` or above being
    relevant; None if there are none."""
    hits = np.asarray(ranked) >= relevant
    if not hits.any():
        return None
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())


def bootstrap_interval(
    values: Sequence[float], *, rounds: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """95 % interval of the mean over queries, by resampling queries."""
    rng = np.random.default_rng(seed)
    data = np.asarray(values, dtype="float64")
    means = data[rng.integers(0, len(data), (rounds, len(data)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
