"""The trials of an opened index, in parts: its files, the changes saved beside them,
and what was added in memory since.

A place is a number of a trial, counted through all parts. One that was removed keeps
its place and is found no more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors, T2VError, error
from ..trial import Trial
from .annoy_store import AnnoyStore
from .build import TWICE, IndexEntry, check_width, refusal
from .countries import country_key
from .facet_values import Concepts
from .filters import Filters
from .part import Part
from .pending import Pending
from .records import alias_ids, normal_id
from .saved import Saved
from .selection import Selection, select
from .vectors import Array


class Corpus:
    """Opens the parts that meta.json names, and keeps what is changed since.

    RAISES (T041): files that are damaged or do not fit each other. (T046): another
    metric than angular.
    """

    def __init__(self, folder: Path, meta: Mapping[str, Any]) -> None:
        base = Saved(folder, meta, meta["exact_below"])
        changes = meta.get("changes") or {"folder": None, "removed": [], "sections": {}}
        saved = [base]
        if changes["folder"]:
            saved.append(Saved(folder / changes["folder"], changes, beside=base))
        self.width = base.width
        self.pending = Pending(base.width, base.lexical)
        self.parts: list[Part] = [*saved, self.pending]
        self._starts = [0, *accumulate(part.n for part in saved)]
        self._gone: list[set[int]] = [set() for _ in self.parts]
        self._gone[0].update(changes["removed"])
        if any(not 0 <= position < base.n for position in self._gone[0]):
            reason = "a trial was removed that it never had"
            raise error(Errors.T041, path=folder, reason=reason)
        self._listed = {k: dict.fromkeys(v) for k, v in meta["not_indexed"].items()}
        self._section_counts = Counter(meta["sections"])
        self._section_counts.update(changes["sections"])
        self._selected: tuple[Filters, Selection] | None = None
        self.unsaved = False

    @property
    def store(self) -> AnnoyStore:
        """The vectors and trees of the index itself."""
        return self.parts[0].store

    # what was changed

    @property
    def added(self) -> int:
        """Trials that are not in the files of the index itself."""
        return len(self) - self.parts[0].n + self.removed

    @property
    def removed(self) -> int:
        """Trials of these files that are found no more."""
        return len(self._gone[0])

    @property
    def changed(self) -> bool:
        return bool(self.added or self.removed or self.unsaved)

    def removed_positions(self) -> list[int]:
        """In the files of the index itself."""
        return sorted(self._gone[0])

    def not_indexed(self) -> dict[str, list[str]]:
        """Reason -> ids that were given and left out, and are not here since."""
        found = {
            reason: [i for i in ids if reason == TWICE or self.find(i) is None]
            for reason, ids in self._listed.items()
        }
        return {reason: ids for reason, ids in found.items() if ids}

    def section_counts(self) -> dict[str, int]:
        """Section label -> trials that have it."""
        counts = Counter(self._section_counts)
        for _, part, gone in self._parts():
            if part is self.pending:
                for position in set(range(part.n)) - gone:
                    counts.update(part.sections.of(position).keys())
            else:
                for position in gone:
                    counts.subtract(part.sections.of(position).keys())
        return {label: n for label, n in sorted(counts.items()) if n}

    def snapshots(self) -> list[str] | None:
        """First and last day the records were taken."""
        found = [
            part.snapshots(self.live()[start : start + part.n])
            for start, part, _ in self._parts()
        ]
        days = [day for pair in found for day in pair or ()]
        return [min(days), max(days)] if days else None

    # reading

    def __len__(self) -> int:
        return sum(part.n - len(gone) for _, part, gone in self._parts())

    def live(self) -> Array:
        """bool (places,): False for those that are found no more."""
        live = np.ones(self._starts[-1] + self.parts[-1].n, bool)
        for start, _, gone in self._parts():
            live[[start + position for position in gone]] = False
        return live

    def find(self, raw: str) -> int | None:
        """Place of an id or alias, whatever its case and outer blanks."""
        nct_id = normal_id(raw)
        for start, part, gone in self._parts():
            position = part.position(nct_id)
            if position is not None and position not in gone:
                return start + position
        return None

    def main_id(self, raw: str) -> str | None:
        """Main id of an id or alias, None if it is not there."""
        place = self.find(raw)
        return None if place is None else self.heads([place])[place][0]

    def heads(self, places: Iterable[int]) -> dict[int, tuple[str, str | None]]:
        """(nct_id, title) of each place."""
        rows = np.array([int(place) for place in places], np.int64)
        found = {}
        for start, part, inside in self._split(rows):
            heads = part.heads((rows[inside] - start).tolist())
            found.update({start + i: head for i, head in heads.items()})
        return found

    def ids(self) -> list[str]:
        return [
            nct_id
            for _, part, gone in self._parts()
            for i, nct_id in enumerate(part.ids())
            if i not in gone
        ]

    def trial(self, place: int) -> Trial:
        part, position = self._at(place)
        return part.trial(position)

    def vector(self, place: int) -> Array:
        part, position = self._at(place)
        return np.array(part.store.vectors[position])

    def vectors(self, places: Array) -> Array:
        """float32 (len(places), width)."""
        rows = np.empty((len(places), self.width), np.float32)
        for start, part, inside in self._split(places):
            rows[inside] = part.store.vectors[places[inside] - start]
        return rows

    def section_vectors(self, place: int) -> dict[str, Array]:
        part, position = self._at(place)
        return part.sections.of(position)

    def content_hash(self, place: int) -> int:
        """Of the record, see `stamps.content_hash`."""
        part, position = self._at(place)
        return part.content_hash(position)

    def entry(self, place: int) -> IndexEntry:
        part, position = self._at(place)
        return IndexEntry(
            part.trial(position),
            self.vector(place),
            part.sections.of(position),
            part.concepts(position),
        )

    def entries(self, first: int = 0) -> Iterator[IndexEntry]:
        """Everything an index like this one is built from, in order; of the places from
        `first` on."""
        for place in (np.flatnonzero(self.live()[first:]) + first).tolist():
            yield self.entry(place)

    def added_entries(self) -> Iterator[IndexEntry]:
        """Those that are not in the files of the index itself."""
        return self.entries(first=self.parts[0].n)

    def concepts(self, place: int) -> Concepts | None:
        """Those linked in a trial, None if none were looked for."""
        part, position = self._at(place)
        return part.concepts(position)

    # its parts

    @property
    def has_words(self) -> bool:
        """Whether all parts have a lexical index."""
        return all(part.lexical is not None for part in self.parts)

    def over_parts(self, ask: Callable[[Part], Array]) -> Array:
        """(places,): what each part answers."""
        return np.concatenate([ask(part) for part in self.parts])

    def _parts(self) -> Iterator[tuple[int, Part, set[int]]]:
        """First place, part, positions of it that are gone."""
        return zip(self._starts, self.parts, self._gone, strict=True)

    def _at(self, place: int) -> tuple[Part, int]:
        number = bisect_right(self._starts, place) - 1
        return self.parts[number], place - self._starts[number]

    def _split(self, places: Array) -> Iterator[tuple[int, Part, Array]]:
        """First place, part, bool (places,): which of the places are in it."""
        for start, part, _ in self._parts():
            inside = (places >= start) & (places < start + part.n)
            if inside.any():
                yield start, part, inside

    # filtering

    def countries(self) -> list[str]:
        """See TrialIndex.countries."""
        names = {name for part in self.parts for name in part.facets.countries}
        return sorted({country_key(name): name for name in sorted(names)}.values())

    def passing(self, filters: Filters) -> Array:
        """int64, ascending: the places that pass. RAISES as `select`."""
        return np.flatnonzero(self.select(filters).rows if filters else self.live())

    def select(self, filters: Filters) -> Selection:
        """The places that pass, kept for the next search. RAISES (T161): a filter by
        concepts in an index without."""
        kept = self._selected  # another thread may put its own there
        if kept is None or kept[0] != filters:
            facets = [part.facets for part in self.parts]
            kept = self._selected = filters, select(facets, self.live(), filters)
        return kept[1]

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
        places, cosines = [], []
        for start, part, gone in self._parts():
            own = {p - start for p in skip if start <= p < start + part.n}
            found, scores = part.store.nearest(
                vector,
                k,
                search_k=search_k,
                method=method,
                skip=gone | own if own else gone,
                among=None if among is None else among[start : start + part.n],
            )
            places.append(found + start)
            cosines.append(scores)
        rows, scores = np.concatenate(places), np.concatenate(cosines)
        order = np.lexsort((rows, -scores))[:k]
        return rows[order], scores[order]

    def section_scores(
        self, parts: Mapping[str, Array], weights: Mapping[str, float]
    ) -> Array:
        """Mean cosine over the parts for every place; an absent section counts 0, and
        a trial with none of them is NaN. weights: label -> weight, 1 where absent."""
        columns = [
            np.concatenate(
                [p.sections.all_cosines(label, vector, p.n) for p in self.parts]
            )
            for label, vector in parts.items()
        ]
        table = np.stack(columns)
        counts = [weights.get(label, 1.0) for label in parts]
        scores = np.average(np.nan_to_num(table), axis=0, weights=counts)
        scores[np.isnan(table).all(axis=0)] = np.nan
        scores[~self.live()] = np.nan
        return np.clip(scores, -1, 1)

    def section_cosines(self, label: str, vector: Array, places: Array) -> Array:
        """Cosine of one section with each of some places, NaN where it is absent."""
        scores = np.full(len(places), np.nan, np.float32)
        for start, part, inside in self._split(places):
            positions = places[inside] - start
            scores[inside] = part.sections.cosines(label, vector, positions)
        return np.clip(scores, -1, 1)

    # changing

    def add(
        self,
        entries: Iterable[IndexEntry],
        notes: list[T2VError],
        quiet: bool = False,
    ) -> dict[str, int]:
        """See TrialIndex.add. What is to be said goes to `notes`.

        quiet: say nothing of records that take the place of older ones.
        """
        counts = {"added": 0, "replaced": 0, "left_out": 0}
        for entry in entries:
            counts[self._add(entry, notes, quiet)] += 1
        return counts

    def _add(self, entry: IndexEntry, notes: list[T2VError], quiet: bool) -> str:
        nct_id = normal_id(entry.trial.nct_id)
        if reason := refusal(entry):
            notes.append(error(Errors.T044, nct_id=nct_id, reason=reason))
            return self.leave_out(reason, nct_id)
        check_width(entry, self.width)
        main = self.main_id(nct_id)
        if main not in (None, nct_id):
            notes.append(_alias(nct_id, main))
            return self.leave_out(TWICE, nct_id)
        for alias in sorted(alias_ids(entry.trial)):
            if self.main_id(alias) == alias:
                notes.append(_alias(alias, nct_id))
                self.leave_out(TWICE, alias)
                self._drop(self.find(alias))
        if main:
            if not quiet:
                action = "the new record takes the place of the old one"
                notes.append(error(Errors.T045, nct_id=nct_id, action=action))
            self._drop(self.find(nct_id))
        self.pending.put(entry)
        self._selected, self.unsaved = None, True
        return "replaced" if main else "added"

    def leave_out(self, reason: str, nct_id: str) -> str:
        """List a trial that is not added."""
        listed = self._listed.setdefault(reason, {})
        self.unsaved = self.unsaved or nct_id not in listed
        listed[nct_id] = None
        return "left_out"

    def remove(self, places: Iterable[int]) -> int:
        """Remove trials; returns how many."""
        unique = set(places)
        for place in unique:
            self._drop(place)
        return len(unique)

    def _drop(self, place: int | None) -> None:
        assert place is not None
        number = bisect_right(self._starts, place) - 1
        position = place - self._starts[number]
        self._gone[number].add(position)
        if self.parts[number] is self.pending:
            self.pending.drop(position)
        self._selected, self.unsaved = None, True


def _alias(nct_id: str, main: str | None) -> T2VError:
    action = f"it is an alias of {main}, whose record is kept"
    return error(Errors.T045, nct_id=nct_id, action=action)
