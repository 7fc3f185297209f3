"""Hard negatives: near the anchor by the backbone, and of another pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy

from ...errors import Errors, error
from .pairs import Pair
from .texts import plain

Encode = Callable[[list[str]], numpy.ndarray]  # texts -> float32 (texts, width)
_ROWS = 512  # anchors compared at a time
_SLACK = 16  # candidates looked at before all are


@dataclass(frozen=True)
class MiningSettings:
    """margin: How much less like the anchor than its positive a negative must be, as
        a share of that cosine: what is nearer may be right as well.
    max_score, min_score: Cosines between which a negative may lie.
    skip: Nearest of the candidates that are passed over, for sources with many texts
        that are right and not marked so.
    """

    margin: float = 0.05
    max_score: float = 0.9
    min_score: float = -1.0
    skip: int = 0

    def __post_init__(self) -> None:
        """RAISES (T026): a setting is out of range."""
        self._check("margin", 0 <= self.margin <= 1, "0 to 1")
        self._check("max_score", -1 <= self.max_score <= 1, "-1 to 1")
        below = -1 <= self.min_score <= self.max_score
        self._check("min_score", below, "-1 to max_score")
        self._check("skip", self.skip >= 0, "at least 0")

    def _check(self, name: str, good: bool, reason: str) -> None:
        if not good:
            value = getattr(self, name)
            raise error(Errors.T026, setting=name, value=value, reason=reason)


def mine_negatives(
    pairs: Sequence[Pair], encode: Encode, settings: MiningSettings | None = None
) -> list[Pair]:
    """The pairs, each with the hardest negative there is for it, if there is one.

    Candidates are the positives of the source. Never taken is a positive of the same
    anchor, the anchor itself, a positive that shares a group with one of the anchor's
    pairs (texts but for case and punctuation), or one outside the limits of the
    settings. A pair that has negatives keeps them. Exact search; memory is that of the
    vectors and of 512 rows of cosines.
    encode: Need not normalise.
    """
    settings = settings or MiningSettings()
    texts: dict[str, str] = {}
    right: dict[str, set[str]] = defaultdict(set)  # of an anchor: its positives
    wanted: dict[str, set[str]] = defaultdict(set)  # of an anchor: its groups
    about: dict[str, set[str]] = defaultdict(set)  # of a positive: its groups
    keys = [(plain(pair.anchor), plain(pair.positive)) for pair in pairs]
    for pair, (anchor, positive) in zip(pairs, keys, strict=True):
        texts.setdefault(positive, pair.positive)
        right[anchor] |= {anchor, positive}
        wanted[anchor].update(pair.groups)
        about[positive].update(pair.groups)
    if not pairs:
        return []
    candidates = list(texts)
    row_of = {key: row for row, key in enumerate(candidates)}
    vectors = _unit(encode(list(texts.values())))
    found = []
    for start in range(0, len(pairs), _ROWS):
        part = slice(start, start + _ROWS)
        anchors = _unit(encode([pair.anchor for pair in pairs[part]]))
        cosines = anchors @ vectors.T
        for pair, (anchor, own), row in zip(
            pairs[part], keys[part], cosines, strict=True
        ):
            if pair.negatives:
                found.append(pair)
                continue
            score = float(row[row_of[own]])
            limit = min(settings.max_score, score - abs(score) * settings.margin)
            fit = _nearest(row, settings.min_score, limit)
            allowed = (
                texts[candidates[i]]
                for i in fit
                if candidates[i] not in right[anchor]
                and about[candidates[i]].isdisjoint(wanted[anchor])
            )
            chosen = next(islice(allowed, settings.skip, None), None)
            found.append(pair if chosen is None else replace(pair, negatives=(chosen,)))
    return found


def _nearest(row: numpy.ndarray, low: float, high: float) -> Iterable[int]:
    """Columns whose value lies within the limits, greatest first; a few are sorted
    before all are, since one of the first is nearly always taken."""
    within = numpy.flatnonzero((row <= high) & (row >= low))
    few = min(_SLACK, len(within))
    if few < len(within):
        first = within[numpy.argpartition(-row[within], few)[:few]]
        edge = row[first].min()
        first = within[row[within] >= edge]
        yield from first[numpy.argsort(-row[first], kind="stable")].tolist()
        within = within[row[within] < edge]
    yield from within[numpy.argsort(-row[within], kind="stable")].tolist()


def _unit(vectors: numpy.ndarray) -> numpy.ndarray:
    vectors = numpy.asarray(vectors, dtype="float32")
    length = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / numpy.maximum(length, 1e-12)
