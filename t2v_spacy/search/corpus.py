"""The trials of an opened index: its files, and the changes beside them.

A place is a number of a trial: below n a position in the files, from n on an added one.
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors, error
from ..trial import Trial
from .annoy_store import AnnoyStore
from .build import IndexEntry, check_width, refusal
from .facet_values import Concepts
from .facets import FACETS, Facets, FacetWriter
from .filters import Filters
from .pending import Pending
from .records import RECORDS, RecordStore, alias_ids, normal_id
from .section_vectors import SectionVectors
from .selection import Selection, select
from .vectors import Array, defect, exact_nearest, unit


class Corpus:
    """RAISES (T041): files that are damaged or do not fit each other. (T046): another
    metric than angular."""

    def __init__(self, folder: Path, meta: Mapping[str, Any]) -> None:
        self.pending = Pending()
        self.folder = folder
        self._has_facets = FACETS in meta["files"]
        self._selected: tuple[Filters, Selection] | None = None
        self.width: int = meta["width"]
        self.n: int = meta["n_items"]
        self.store = AnnoyStore.load(
            folder, meta["store"], exact_below=meta["exact_below"]
        )
        self.sections = SectionVectors(folder, meta["sections"], self.n, self.width)
        try:
            self.records = RecordStore(folder / RECORDS)
        except sqlite3.Error as err:
            reason = f"{RECORDS} cannot be read ({err})"
            raise error(Errors.T041, path=folder, reason=reason) from err
        if not len(self.store) == len(self.records) == self.n:
            reason = f"{len(self.store)} vectors but {len(self.records)} records"
            raise error(Errors.T041, path=folder, reason=reason)

    # reading

    def __len__(self) -> int:
        return self.n - len(self.pending.removed) + len(self.pending.added)

    def find(self, raw: str) -> int | None:
        """Place of an id or alias, whatever its case and outer blanks."""
        nct_id = normal_id(raw)
        added = self.pending.find(nct_id)
        if added is not None:
            return self.n + added
        position = self.records.position(nct_id)
        return None if position in self.pending.removed else position

    def main_id(self, raw: str) -> str | None:
        """Main id of an id or alias, None if it is not there."""
        place = self.find(raw)
        return None if place is None else self.heads([place])[place][0]

    def heads(self, places: Iterable[int]) -> dict[int, tuple[str, str | None]]:
        """(nct_id, title) of each place."""
        places = [int(place) for place in places]
        found = self.records.heads([place for place in places if place < self.n])
        added = list(self.pending.added.items())
        for place in places:
            if place >= self.n:
                nct_id, entry = added[place - self.n]
                found[place] = (nct_id, entry.trial.title)
        return found

    def ids(self) -> list[str]:
        base = enumerate(self.records.ids())
        kept = [nct_id for i, nct_id in base if i not in self.pending.removed]
        return kept + list(self.pending.added)

    def trial(self, place: int) -> Trial:
        if place < self.n:
            return self.records.trial(place)
        return self.pending.entries[place - self.n].trial

    def vector(self, place: int) -> Array:
        if place < self.n:
            return np.array(self.store.vectors[place])
        return np.array(self.pending.matrix[place - self.n])

    def section_vectors(self, place: int) -> dict[str, Array]:
        if place < self.n:
            return self.sections.of(place)
        sections = self.pending.entries[place - self.n].section_vectors
        return {k: unit(v) for k, v in sections.items() if not defect(v)}

    def entries(self) -> Iterator[IndexEntry]:
        """Everything an index like this one is built from, in order."""
        for place in range(self.n):
            if place not in self.pending.removed:
                yield IndexEntry(
                    self.trial(place),
                    self.vector(place),
                    self.section_vectors(place),
                    self._concepts(place),
                )
        yield from self.pending.entries

    def _concepts(self, place: int) -> Concepts | None:
        return self.facets.concepts(place) if self._has_facets else None

    # filtering

    @cached_property
    def facets(self) -> Facets:
        """What filters ask of the trials in the files."""
        if self._has_facets:
            facets = Facets.open(self.folder)
            if facets.n != self.n:
                reason = f"{FACETS} is of {facets.n} trials instead of {self.n}"
                raise error(Errors.T041, path=self.folder, reason=reason)
            return facets
        _warn(error(Errors.T163, path=self.folder))
        writer = FacetWriter()
        for trial in self.records.trials():
            writer.append(trial)
        return Facets(writer.columns())

    def select(self, filters: Filters) -> Selection:
        """The places that pass, kept for the next search. RAISES (T161): a filter by
        concepts in an index without."""
        if self._selected is None or self._selected[0] != filters:
            there = np.ones(self.n + len(self.pending.added), bool)
            there[list(self.pending.removed)] = False
            parts = (self.facets, self.pending.facets)
            self._selected = filters, select(parts, there, filters)
        return self._selected[1]

    # comparing

    def nearest(
        self,
        vector: Array,
        k: int,
        skip: set[int],
        method: str,
        search_k: int | None,
        among: Array | None = None,
    ) -> tuple[Array, Array]:
        """(places, cosines) of the k nearest that are not in `skip`.

        among: bool (places,), True for the only ones to find.
        """
        base = skip | self.pending.removed
        places, cosines = self.store.nearest(
            vector,
            k,
            search_k=search_k,
            method=method,
            skip={place for place in base if place < self.n},
            among=None if among is None else among[: self.n],
        )
        if not self.pending.added:
            return places, cosines
        wanted = np.ones(len(self.pending.added), bool)
        if among is not None:
            wanted = among[self.n :].copy()
        wanted[[place - self.n for place in skip if place >= self.n]] = False
        rows = np.flatnonzero(wanted)
        more, scores = exact_nearest(self.pending.matrix, vector, k, rows=rows)
        places = np.concatenate([places, more + self.n])
        cosines = np.concatenate([cosines, scores])
        order = np.lexsort((places, -cosines))[:k]
        return places[order], cosines[order]

    def section_scores(self, parts: Mapping[str, Array]) -> Array:
        """Mean cosine over the parts for every place; an absent section counts 0, and
        a trial with none of them is NaN."""
        columns = [
            np.concatenate(
                [
                    self.sections.all_cosines(label, vector, self.n),
                    self.pending.cosines(label, vector),
                ]
            )
            for label, vector in parts.items()
        ]
        table = np.stack(columns)
        scores = np.nansum(table, axis=0) / len(parts)
        scores[np.isnan(table).all(axis=0)] = np.nan
        scores[list(self.pending.removed)] = np.nan
        return np.clip(scores, -1, 1)

    def section_cosines(self, label: str, vector: Array, places: Array) -> Array:
        """Cosine of one section with each of some places, NaN where it is absent."""
        scores = np.full(len(places), np.nan, np.float32)
        base = places < self.n
        scores[base] = self.sections.cosines(label, vector, places[base])
        if not base.all():
            added = self.pending.cosines(label, vector)
            scores[~base] = added[places[~base] - self.n]
        return np.clip(scores, -1, 1)

    # changing

    def add(self, entries: Iterable[IndexEntry]) -> dict[str, int]:
        """See TrialIndex.add."""
        counts = {"added": 0, "replaced": 0, "left_out": 0}
        for entry in entries:
            counts[self._add(entry)] += 1
        return counts

    def _add(self, entry: IndexEntry) -> str:
        self._selected = None
        nct_id = normal_id(entry.trial.nct_id)
        if reason := refusal(entry):
            _warn(error(Errors.T044, nct_id=nct_id, reason=reason))
            return "left_out"
        check_width(entry, self.width)
        main = self.main_id(nct_id)
        if main not in (None, nct_id):
            _warn_twice(nct_id, f"it is an alias of {main}, whose record is kept")
            return "left_out"
        for alias in sorted(alias_ids(entry.trial)):
            if self.main_id(alias) == alias:
                _warn_twice(alias, f"it is an alias of {nct_id}, whose record is kept")
                self._drop(alias)
        if main:
            _warn_twice(nct_id, "the new record takes the place of the old one")
            self._drop(nct_id)
        self.pending.put(entry)
        return "replaced" if main else "added"

    def remove(self, places: Iterable[int]) -> int:
        """Remove trials; returns how many."""
        self._selected = None
        names = {nct_id for nct_id, _ in self.heads(places).values()}
        for nct_id in names:
            self._drop(nct_id)
        return len(names)

    def _drop(self, main: str) -> None:
        position = self.records.position(main)
        if not self.pending.discard(main) and position is not None:
            self.pending.removed.add(position)


def _warn_twice(nct_id: str, action: str) -> None:
    _warn(error(Errors.T045, nct_id=nct_id, action=action))


def _warn(message: Exception) -> None:
    warnings.warn(str(message), stacklevel=5)
