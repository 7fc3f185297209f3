"""Ranking measures of one query. Each takes the grades of documents in ranked order.

missed are the grades of judged documents that the system did not rank: they count as
never found. A measure that compares with what there is to find is None where there is
nothing to find, so that no mean is taken over a division by zero.

A thin layer of our own rather than trec_eval's code: that breaks ties by document id,
counts a query without a relevant document as 0 and needs a compiled extension. Over the
same order of documents both give the same values (there is a test of it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Grades = Sequence[int] | np.ndarray

# Gain of a grade: the exponential one is usual for graded labels, trec_eval's linear.
GAINS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": lambda grades: 2.0**grades - 1,
    "linear": lambda grades: grades.astype("float64"),
}


def rank(
    scores: Sequence[float] | np.ndarray, grades: Grades, rng: np.random.Generator
) -> np.ndarray:
    """Grades by falling score, ties in random order.

    RAISES (ValueError): If a score is NaN or the lengths differ.
    """
    values = np.asarray(scores, dtype="float64")
    if np.isnan(values).any() or len(values) != len(grades):
        raise ValueError("every candidate needs one score that is a number")
    order = np.lexsort((rng.random(len(values)), -values))
    return np.asarray(grades)[order]


def precision(ranked: Grades, k: int, *, relevant: int = 1) -> float:
    """Share of the first k that have the grade `relevant` or above; out of k, also
    where fewer than k are ranked."""
    return float((np.asarray(ranked[:k]) >= relevant).sum() / k)


def recall(
    ranked: Grades, k: int, *, relevant: int = 1, missed: Grades = ()
) -> float | None:
    """Share of the relevant documents that are among the first k. It is out of those
    judged: with a list of ten candidates it says nothing of trials outside it."""
    hits = np.asarray(ranked) >= relevant
    there = hits.sum() + (np.asarray(missed) >= relevant).sum()
    return float(hits[:k].sum() / there) if there else None


def ndcg(
    ranked: Grades, k: int, *, gain: str = "exponential", missed: Grades = ()
) -> float | None:
    """nDCG at k, gain one of GAINS; None if no grade is above 0. Grades of 0 and 1
    give the binary form, where both gains are the same."""
    gains = GAINS[gain](np.asarray(ranked))
    every = np.concatenate([gains, GAINS[gain](np.asarray(missed, dtype="int64"))])
    ideal = np.sort(every)[::-1][:k]
    if not ideal.sum():
        return None
    discount = 1 / np.log2(np.arange(2, k + 2))
    found = gains[:k]
    best = (ideal * discount[: len(ideal)]).sum()
    return float((found * discount[: len(found)]).sum() / best)


def average_precision(
    ranked: Grades, relevant: int, *, missed: Grades = ()
) -> float | None:
    """Mean of the precision at each relevant document, 0 for one that is missed; None
    if there are none."""
    hits = np.asarray(ranked) >= relevant
    there = hits.sum() + (np.asarray(missed) >= relevant).sum()
    if not there:
        return None
    found = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(found[hits].sum() / there)


def reciprocal_rank(
    ranked: Grades, relevant: int, *, missed: Grades = ()
) -> float | None:
    """1 / rank of the first relevant document, 0 if all are missed; None if there are
    none."""
    hits = np.asarray(ranked) >= relevant
    if hits.any():
        return float(1 / (1 + hits.argmax()))
    return 0.0 if (np.asarray(missed) >= relevant).any() else None
