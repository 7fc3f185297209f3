"""Trials added to an index in memory, read in the same way as those in files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..trial import Trial
from .annoy_store import AnnoyStore
from .build import IndexEntry
from .facet_values import Concepts
from .facets import Facets, FacetWriter
from .lexical import Lexical
from .records import alias_ids, normal_id
from .stamps import content_hash, snapshot_range, stamps_of
from .vectors import Array, all_cosines, defect, unit


class Pending:
    """Entries by position, in the order they were added. One that is replaced or
    removed keeps its position: whoever holds this knows which are gone."""

    def __init__(self, width: int, words: Lexical | None = None) -> None:
        self.width = width
        self._words = words  # of the index, with which these compare
        self.entries: list[IndexEntry] = []
        self._positions: dict[str, int] = {}
        self._aliases: dict[str, int] = {}
        self._forget_computed()

    def _forget_computed(self) -> None:
        self._store: AnnoyStore | None = None
        self._sections: PendingSections | None = None
        self._facets: Facets | None = None
        self._lexical: Lexical | None = None

    @property
    def n(self) -> int:
        return len(self.entries)

    def put(self, entry: IndexEntry) -> None:
        self._forget_computed()
        self._positions[normal_id(entry.trial.nct_id)] = self.n
        for alias in alias_ids(entry.trial):
            self._aliases.setdefault(alias, self.n)
        self.entries.append(entry)

    def drop(self, position: int) -> None:
        """Find a trial no more."""
        trial = self.trial(position)
        for ids, own in (
            (self._positions, {normal_id(trial.nct_id)}),
            (self._aliases, alias_ids(trial)),
        ):
            for nct_id in own:
                if ids.get(nct_id) == position:
                    del ids[nct_id]

    def position(self, nct_id: str) -> int | None:
        """Of an id or alias."""
        return self._positions.get(nct_id, self._aliases.get(nct_id))

    def heads(self, positions: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(nct_id, title) of each position."""
        trials = {position: self.trial(position) for position in positions}
        return {k: (normal_id(t.nct_id), t.title) for k, t in trials.items()}

    def ids(self) -> list[str]:
        return [normal_id(entry.trial.nct_id) for entry in self.entries]

    def trial(self, position: int) -> Trial:
        return self.entries[position].trial

    def concepts(self, position: int) -> Concepts | None:
        return self.entries[position].concepts

    @property
    def store(self) -> AnnoyStore:
        if self._store is None:
            rows = [unit(e.vector) for e in self.entries if e.vector is not None]
            matrix = np.array(rows, np.float32).reshape(-1, self.width)
            self._store = AnnoyStore(matrix, exact_below=self.n)
        return self._store

    @property
    def sections(self) -> PendingSections:
        if self._sections is None:
            self._sections = PendingSections(self.entries, self.width)
        return self._sections

    @property
    def facets(self) -> Facets:
        """What filters ask."""
        if self._facets is None:
            writer = FacetWriter()
            for entry in self.entries:
                writer.append(entry.trial, entry.concepts)
            self._facets = Facets(writer.columns())
        return self._facets

    @property
    def lexical(self) -> Lexical | None:
        if self._lexical is None and self._words is not None:
            self._lexical = self._words.beside(e.trial for e in self.entries)
        return self._lexical

    def content_hash(self, position: int) -> int:
        """Of the record."""
        return content_hash(self.trial(position))

    def snapshots(self, live: Array) -> list[str] | None:
        trials = [self.trial(position) for position in np.flatnonzero(live)]
        return snapshot_range(stamps_of(trials)["snapshot"])


class PendingSections:
    """Section vectors of entries as `SectionVectors` has them: rounded to float16."""

    def __init__(self, entries: Sequence[IndexEntry], width: int) -> None:
        self._entries = list(entries)
        self._width = width
        self._labels: dict[str, tuple[list[int], Array]] = {}

    def of(self, position: int) -> dict[str, Array]:
        """Label -> float32 (width,) of the sections that a trial has."""
        sections = self._entries[position].section_vectors
        return {k: unit(_rounded(v)) for k, v in sections.items() if not defect(v)}

    def cosines(self, label: str, vector: Array, positions: Array) -> Array:
        """float32 (len(positions),): cosine of a section, NaN where there is none."""
        return self.all_cosines(label, vector, len(self._entries))[positions]

    def all_cosines(self, label: str, vector: Array, n: int) -> Array:
        """`cosines` for all n trials."""
        if label not in self._labels:
            own = [entry.section_vectors.get(label) for entry in self._entries]
            there = {i: v for i, v in enumerate(own) if v is not None and not defect(v)}
            rows = [_rounded(v) for v in there.values()]
            matrix = np.array(rows, np.float16).reshape(-1, self._width)
            self._labels[label] = list(there), matrix
        positions, matrix = self._labels[label]
        scores = np.full(n, np.nan, np.float32)
        scores[positions] = all_cosines(matrix, vector)
        return scores


def _rounded(vector: Array) -> Array:
    return unit(vector).astype(np.float16)
