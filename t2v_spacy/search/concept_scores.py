"""How many concepts trials share, and how telling these are."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import cached_property

import numpy as np

from .facet_values import CONCEPT_LISTS, Concepts
from .vectors import Array


class ConceptScores:
    """The concepts of n trials.

    Two concepts are as alike as what they have in common is telling (Lin's measure):
    with I(c) = log((1 + trials) / (1 + mentions of c or a narrower one)) and a the most
    telling concept that is, or is broader than, both, 2 I(a) / (I(one) + I(other)). So
    the same concept counts 1, a broader or narrower one less, a sibling less again, and
    two that share no more than "disease" nearly nothing.

    columns (Mapping): Those of `Facets`.
    base (ConceptScores | None): Its trials, not these, say how telling a concept is.
    ignored (Collection[str]): Ids that count for nothing.
    """

    def __init__(
        self,
        columns: Mapping[str, Array],
        *,
        base: ConceptScores | None = None,
        ignored: Collection[str] = (),
    ) -> None:
        self._columns = columns
        self._base = base or self
        self._ignored: frozenset[str] = base._ignored if base else frozenset(ignored)
        self._known: dict[str, Array] = {}
        self.n = int(columns["n"])

    def scores(self, concepts: Concepts) -> Array:
        """float32 (n,), 0 to 1: the mean over conditions and interventions, as far as
        the query has them. Each is the mean of how well the trial covers the query's
        concepts and the query the trial's, telling concepts counting more. NaN where
        nothing can be said: the trial has no concept of these kinds.

        concepts: As `ConceptReader` makes them of a Doc, or `Facets.concepts`.
        """
        parts = []
        known = np.zeros(self.n, bool)
        for label, name in CONCEPT_LISTS.items():
            linked = concepts.get(label, {})
            asked = {i: linked[i] for i in linked if i not in self._ignored}
            if asked:
                parts.append(self._cover(name, asked))
                known |= np.diff(self._columns[f"{name}.offsets"]) > 0
        if not parts:
            return np.full(self.n, np.nan, np.float32)
        return np.where(known, np.mean(parts, axis=0), np.float32(np.nan))

    def _cover(self, name: str, asked: Mapping[str, tuple[str, ...]]) -> Array:
        offsets, codes = (
            self._columns[f"{name}.offsets"],
            self._columns[f"{name}.codes"],
        )
        filled = np.flatnonzero(np.diff(offsets) > 0)
        found = np.zeros(self.n, np.float32)
        total = sum(self._worth(name, i) for i in asked)
        if not len(filled) or not total:
            return found
        starts, own = offsets[filled], self._worths(name)
        best = np.zeros(len(own), np.float32)  # of each concept here
        covered = np.zeros(len(filled), np.float32)
        for concept_id, above in asked.items():
            alike = self._alike(name, concept_id, above)
            best = np.maximum(best, alike)
            share = np.float32(self._worth(name, concept_id) / total)
            covered += share * np.maximum.reduceat(alike[codes], starts)
        weight = np.add.reduceat(own[codes], starts)
        shared = np.add.reduceat((own * best)[codes], starts)
        back = np.divide(shared, weight, out=np.zeros_like(shared), where=weight > 0)
        found[filled] = (covered + back) / 2
        return found

    def _alike(self, name: str, concept_id: str, above: tuple[str, ...]) -> Array:
        """float32 (concepts,): how alike each concept here is to one of a query."""
        mine, own = self._worth(name, concept_id), self._worths(name)
        common = np.zeros(len(own), np.float32)
        for one in (concept_id, *above):
            if one in self._codes:
                common[self._codes[one]] = self._worth(name, one)
        offsets = self._columns["broader.offsets"]
        has = np.flatnonzero(np.diff(offsets) > 0)
        if len(has):
            shared = common[self._columns["broader.codes"]]
            best = np.maximum.reduceat(shared, offsets[has])
            common[has] = np.maximum(common[has], best)
        # An ignored concept is worth 0, whatever is broader than it.
        common = np.minimum(common, own)
        return np.divide(2 * common, mine + own, out=common, where=mine + own > 0)

    def _worth(self, name: str, concept_id: str) -> float:
        base = self._base
        if concept_id in base._ignored:
            return 0.0
        code = base._codes.get(concept_id)
        if code is None:
            return math.log(1 + base.n)
        return float(base._worths(name)[code])

    def _worths(self, name: str) -> Array:
        """float32 (concepts,): how telling each concept here is."""
        if name not in self._known:
            if self._base is self:
                self._known[name] = self._measure(name)
            else:
                values = [self._worth(name, concept_id) for concept_id in self._codes]
                self._known[name] = np.array(values, np.float32)
        return self._known[name]

    def _measure(self, name: str) -> Array:
        offsets = self._columns["broader.offsets"]
        own = np.bincount(self._columns[f"{name}.codes"], minlength=len(self._codes))
        mentions = own.astype(np.float64)
        narrower = np.repeat(own, np.diff(offsets))
        np.add.at(mentions, self._columns["broader.codes"], narrower)
        worth = np.maximum(np.log((1 + self.n) / (1 + mentions)), 0).astype(np.float32)
        worth[[self._codes[i] for i in self._ignored if i in self._codes]] = 0
        return worth

    @cached_property
    def _codes(self) -> dict[str, int]:
        ids = self._columns["concept.values"].tolist()
        return {concept_id: code for code, concept_id in enumerate(ids)}
