"""The k nearest of every trial of an index, exactly, in blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Errors, error
from .filters import Filters, Given
from .vectors import Array

if TYPE_CHECKING:
    from .trial_index import TrialIndex

BATCH = 1024  # trials asked about at a time
_BLOCK = 8192  # trials they are compared with at a time
_PAIRS = 8192  # compared in float64 at a time
_SLACK = 1e-5  # of a cosine in float32


@dataclass(frozen=True)
class Neighbors:
    """The trials nearest to one: their ids, the best first, and their cosines."""

    nct_id: str
    ids: tuple[str, ...]
    scores: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; cosines with six decimals."""
        near = zip(self.ids, self.scores, strict=True)
        found = [{"nct_id": one, "score": round(score, 6)} for one, score in near]
        return {"nct_id": self.nct_id, "neighbors": found}


def neighbors(
    index: TrialIndex,
    k: int = 10,
    *,
    filters: Given = None,
    ids: Iterable[str] | None = None,
    batch: int = BATCH,
) -> Iterator[Neighbors]:
    """The k nearest of every trial, in the order of the index, as an exact search for
    each would find them; never the trial itself.

    All n x n cosines are computed, in blocks: beside the ids of the index and its
    vectors, which stay on the disk, it needs about 80 KB of memory for each trial of a
    batch. The index must not be changed meanwhile.

    filters: only trials that pass are found; every trial is asked about.
    ids: ask about these only, in this order.
    batch: trials asked about at a time.
    RAISES (T026): batch below 1. (T043): an id that is not there. (T047): k below 1.
    (T160, T161, T162): as in `TrialIndex.search`.
    """
    return NeighborRun(index, k, filters=filters, ids=ids, batch=batch).run()


class NeighborRun:
    """Some trials of an index, and those they are compared with. RAISES as `neighbors`.

    asked (ndarray): int64, the places of the former, in order.
    """

    def __init__(
        self,
        index: TrialIndex,
        k: int,
        *,
        filters: Given = None,
        ids: Iterable[str] | None = None,
        batch: int = BATCH,
    ) -> None:
        if k < 1:
            raise error(Errors.T047, k=k)
        if batch < 1:
            reason = "it is at least 1"
            raise error(Errors.T026, setting="batch", value=batch, reason=reason)
        self.k, self.batch = k, batch
        self._corpus = index._corpus
        self._there, self._ids = self._corpus.passing(Filters()), index.ids()
        self._among = self._corpus.passing(Filters.of(filters))
        self.asked = self._there
        if ids is not None:
            self.asked = np.array([index._place(one) for one in ids], np.int64)

    def run(self, start: int = 0) -> Iterator[Neighbors]:
        """From the `start`th of the trials asked about on."""
        for at in range(start, len(self.asked), self.batch):
            asked = self.asked[at : at + self.batch]
            owners, found, scores = self._nearest(asked)
            bounds = np.searchsorted(owners, np.arange(len(asked) + 1)).tolist()
            ids, values = self._names(found), scores.tolist()
            for row, name in enumerate(self._names(asked)):
                part = slice(bounds[row], bounds[row + 1])
                yield Neighbors(name, tuple(ids[part]), tuple(values[part]))

    def stamp(self) -> str:
        """sha256 of all that the result depends on."""
        found = hashlib.sha256(f"{self.k} {len(self.asked)} ".encode())
        for places in (self.asked, self._among):
            for block in _blocks(places):
                found.update("\n".join(self._names(block)).encode())
                found.update(self._corpus.vectors(block).tobytes())
        return found.hexdigest()

    def _names(self, places: Array) -> list[str]:
        return [self._ids[i] for i in np.searchsorted(self._there, places).tolist()]

    def _nearest(self, asked: Array) -> tuple[Array, Array, Array]:
        """(rows of `asked`, places, cosines), by row, then the best first.

        float32 proposes, with the slack by which it may be wrong, and float64 decides.
        """
        queries = self._corpus.vectors(asked)
        best = _Best(len(asked), self.k)
        for block in _blocks(self._among):
            rows = self._corpus.vectors(block)
            cosines = queries @ rows.T
            owners, columns = np.nonzero(cosines >= best.least(cosines)[:, None])
            other = asked[owners] != block[columns]
            owners, columns = owners[other], columns[other]
            exact = _cosines(queries, rows, owners, columns)
            best.add(owners, block[columns], exact)
        return best.owners, best.places, best.cosines


class _Best:
    """The k best places of each query so far; equal cosines by the lower place."""

    def __init__(self, n: int, k: int) -> None:
        self.k = k
        self.owners = np.zeros(0, np.int64)
        self.places = np.zeros(0, np.int64)
        self.cosines = np.zeros(0, np.float32)
        self._least = np.full(n, -np.inf, np.float32)

    def least(self, cosines: Array) -> Array:
        """What a place of the next block must at least have, for each query."""
        bounds = self._least
        # One more than k: the query itself may be among them.
        at = cosines.shape[1] - self.k - 1
        if at >= 0 and np.isinf(bounds).any():
            bounds = np.maximum(bounds, np.partition(cosines, at, axis=1)[:, at])
        return bounds - np.float32(_SLACK)

    def add(self, owners: Array, places: Array, cosines: Array) -> None:
        owners = np.concatenate([self.owners, owners])
        places = np.concatenate([self.places, places])
        cosines = np.concatenate([self.cosines, cosines])
        order = np.lexsort((places, -cosines, owners))
        owners = owners[order]
        rank = np.arange(len(owners)) - np.searchsorted(owners, owners)
        kept = rank < self.k
        order = order[kept]
        self.owners, self.places = owners[kept], places[order]
        self.cosines = cosines[order]
        last = rank[kept] == self.k - 1
        self._least[self.owners[last]] = self.cosines[last]


def _cosines(queries: Array, rows: Array, owners: Array, columns: Array) -> Array:
    """float32: the cosine of each pair, computed in float64."""
    found = np.empty(len(owners), np.float32)
    for start in range(0, len(owners), _PAIRS):
        part = slice(start, start + _PAIRS)
        left = queries[owners[part]].astype(np.float64)
        right = rows[columns[part]].astype(np.float64)
        found[part] = np.clip(np.einsum("ij,ij->i", left, right), -1, 1)
    return found


def _blocks(places: Array) -> Iterator[Array]:
    for start in range(0, len(places), _BLOCK):
        yield places[start : start + _BLOCK]
