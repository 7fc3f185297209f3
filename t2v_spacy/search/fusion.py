"""One ranking of several: reciprocal ranks, added up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import Errors, error
from .vectors import Array, highest

VECTORS, WORDS, CONCEPTS = "vectors", "words", "concepts"
# Shared concepts explain: as a ranking they lowered what was measured.
HYBRID = {VECTORS: 1.0, WORDS: 1.0}
K0 = 60  # the higher, the less a first place counts against several good ones
DEPTH = 1000


@dataclass(frozen=True)
class Fused:
    """places: int64 (m,), best first. scores: float64 (m,), at most 1. ranks: by name
    of the ranking, int64 (m,): 1 for its best, equal scores alike, 0 if unranked."""

    places: Array
    scores: Array
    ranks: dict[str, Array]


def fuse(
    scores: Mapping[str, Array],
    weights: Mapping[str, float],
    k: int,
    *,
    k0: float = K0,
    among: Array | None = None,
    first: Array | None = None,
    depth: int = DEPTH,
) -> Fused:
    """The k best places by the weighted mean of (k0 + 1) / (k0 + rank), so that who is
    first everywhere scores 1. The mean is over the rankings that know the place.

    A rank is among all places that pass; equal scores share the mean of their ranks, so
    that of many trials that one ranking cannot tell apart none gains by its place.
    Equal results come by place.

    scores (Mapping): Name -> float (n,), higher is better; NaN where the ranking cannot
        say, which counts neither for nor against, -inf where it looked no further,
        which is last.
    weights (Mapping): Name -> weight, 0 or more; a ranking of weight 0 only explains.
    among: Bool (n,), the only places to find; None is all.
    first: Whole numbers (n,); a place with a higher one goes before all with a lower.
    depth: Places that each ranking puts forward, k if that is more; the ranks of what
        is put forward are exact in all rankings but among scores of -inf.
    RAISES (T149): Arrays of different lengths, or weights that do not fit.
    """
    n = _check(scores, weights)
    passes = np.ones(n, bool) if among is None else np.asarray(among)
    used = {name: scores[name] for name, weight in weights.items() if weight > 0}
    places = _put_forward(used, passes, first, max(k, depth))
    total, weight = np.zeros(len(places)), np.zeros(len(places))
    ranks = {}
    for name, values in scores.items():
        rank, mean = _ranks(values, passes, places)
        ranks[name] = rank
        if name in used:
            total += np.where(rank > 0, weights[name] * (k0 + 1) / (k0 + mean), 0)
            weight += np.where(rank > 0, weights[name], 0)
    total /= weight
    tier = np.zeros(len(places)) if first is None else -np.asarray(first, int)[places]
    order = np.lexsort((places, -total, tier))[:k]
    ranks = {name: rank[order] for name, rank in ranks.items()}
    return Fused(places[order], total[order], ranks)


def _check(scores: Mapping[str, Array], weights: Mapping[str, float]) -> int:
    sizes = {len(values) for values in scores.values()}
    reason = ""
    if len(sizes) != 1:
        reason = f"they are of {sorted(sizes)} trials" if sizes else "there is none"
    elif set(weights) != set(scores):
        reason = f"weights are for {sorted(weights)}, scores for {sorted(scores)}"
    elif not all(0 <= w < np.inf for w in weights.values()) or not any(
        weights.values()
    ):
        reason = f"weights are 0 or more, one of them more than 0, not {dict(weights)}"
    if reason:
        raise error(Errors.T149, reason=reason)
    return sizes.pop()


def _put_forward(
    scores: Mapping[str, Array], passes: Array, first: Array | None, depth: int
) -> Array:
    """Places in the first `depth` of any ranking, of those that go first and of all."""
    groups = [passes]
    if first is not None:
        groups.append(passes & (first > 0))
    found = [
        highest(np.where(group, values, np.nan), depth)
        for group in groups
        for values in scores.values()
    ]
    return np.unique(np.concatenate(found))


def _ranks(values: Array, passes: Array, places: Array) -> tuple[Array, Array]:
    """Rank of some places among all that pass, and the mean rank of their equals."""
    there = np.sort(values[passes & ~np.isnan(values)])
    own = values[places]
    above = len(there) - np.searchsorted(there, own, side="right")
    equal = len(there) - above - np.searchsorted(there, own, side="left")
    ranked = ~np.isnan(own)
    return np.where(ranked, above + 1, 0), above + (equal + 1) / 2
