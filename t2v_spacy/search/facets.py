"""What filters ask about, as columns over the trials: `facets.npz` of an index.

Of each trial: categories as bits, spans (first, last) of days, and lists of countries
and concepts. They are read when a filter first needs them; no record is.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from ..trial import Trial
from .countries import country_key
from .facet_values import (
    CATEGORIES,
    CONCEPT_LISTS,
    LISTS,
    SPANS,
    Concepts,
    to_bits,
    trial_categories,
    trial_spans,
)
from .vectors import Array

FACETS = "facets.npz"


class FacetWriter:
    """Collect the columns, one trial after the other."""

    def __init__(self) -> None:
        self._bits = {name: array("H") for name in CATEGORIES}
        self._spans = {name: array("i") for name in SPANS}
        self._lists = {name: (array("i"), array("i")) for name in LISTS}
        self._countries: dict[str, int] = {}
        self._concepts: dict[str, int] = {}
        self._broader: list[tuple[str, ...]] = []  # by code of a concept

    def append(self, trial: Trial, concepts: Concepts | None = None) -> None:
        for name, values in trial_categories(trial).items():
            self._bits[name].append(to_bits(CATEGORIES[name], values))
        for name, span in trial_spans(trial).items():
            self._spans[name].extend(span)
        places = dict.fromkeys(place.country for place in trial.locations)
        countries = [_code(self._countries, name) for name in places if name]
        self._append("country", countries)
        for label, name in CONCEPT_LISTS.items():
            linked = (concepts or {}).get(label, {})
            self._append(name, [self._concept(*pair) for pair in linked.items()])

    def _append(self, name: str, codes: list[int]) -> None:
        counts, values = self._lists[name]
        counts.append(len(codes))
        values.extend(codes)

    def _concept(self, concept_id: str, broader: tuple[str, ...]) -> int:
        code = _code(self._concepts, concept_id)
        if code == len(self._broader):
            self._broader.append(broader)
        return code

    def columns(self, kept: list[int] | None = None) -> dict[str, Array]:
        """The columns by name. kept: old position of each trial that stays, None if
        all stay."""
        n = len(self._bits["phases"])
        rows = np.arange(n) if kept is None else np.array(kept, np.int64)
        found: dict[str, Array] = {"n": np.array(len(rows))}
        for name, known in CATEGORIES.items():
            found[name] = np.array(self._bits[name], np.uint16)[rows]
            found[f"{name}.values"] = np.array(known)
        for name, numbers in self._spans.items():
            found[name] = np.array(numbers, np.int32).reshape(-1, 2)[rows]
        for name, (counts, codes) in self._lists.items():
            found |= _ragged(name, np.array(counts), np.array(codes, np.int32), rows)
        # Broader concepts get codes after the others, whether a trial has them or not.
        ids = dict(self._concepts)
        above = [[_code(ids, other) for other in others] for others in self._broader]
        above += [[]] * (len(ids) - len(above))
        flat = np.array([code for row in above for code in row], np.int32)
        found |= _ragged("broader", np.array([len(row) for row in above], int), flat)
        found["country.values"] = np.array(list(self._countries), str)
        found["concept.values"] = np.array(list(ids), str)
        return found

    def save(self, folder: Path, kept: list[int] | None = None) -> None:
        np.savez(folder / FACETS, **self.columns(kept))


class Facets:
    """The columns of n trials, asked by filters.

    `category`, `span`, `country` and `concept` say of each trial whether it matches
    and whether its value is known, both bool (n,).

    columns (Mapping): By name, as `FacetWriter.columns` makes them.
    """

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self.columns = columns
        self.n = int(columns["n"])

    def category(self, name: str, wanted: tuple[str, ...]) -> tuple[Array, Array]:
        """Trials that have one of these values; of "A/B" they must have both."""
        bits = self.columns[name]
        # The file, not this version of the package, says what a bit means.
        known = self.columns[f"{name}.values"].tolist()
        found = np.zeros(self.n, bool)
        for value in wanted:
            mask = bits.dtype.type(to_bits(known, value.split("/")))
            found |= (bits & mask == mask) & (mask != 0)
        return found, bits != 0

    def span(self, name: str, first: int, last: int) -> tuple[Array, Array]:
        """Trials whose span has a day in common with this one."""
        spans = self.columns[name]
        known = spans[:, 1] >= 0
        return known & (spans[:, 1] >= first) & (spans[:, 0] <= last), known

    def country(self, wanted: tuple[str, ...]) -> tuple[Array, Array]:
        """Trials with a place in one of these countries."""
        keys = {country_key(name) for name in wanted}
        codes = [i for i, own in enumerate(self.countries) if country_key(own) in keys]
        return self._list("country", np.array(codes, int))

    def concept(self, name: str, wanted: tuple[str, ...]) -> tuple[Array, Array]:
        """Trials with one of these concepts or a narrower one."""
        keys = {concept_id.casefold() for concept_id in wanted}
        own = [i for i, known in enumerate(self._ids) if known.casefold() in keys]
        above = np.isin(self.columns["broader.codes"], np.array(own, int))
        narrower = _rows(self.columns["broader.offsets"], above)
        return self._list(name, np.concatenate([np.array(own, int), narrower]))

    def _list(self, name: str, codes: Array) -> tuple[Array, Array]:
        offsets = self.columns[f"{name}.offsets"]
        found = np.zeros(self.n, bool)
        found[_rows(offsets, np.isin(self.columns[f"{name}.codes"], codes))] = True
        return found, np.diff(offsets) > 0

    @property
    def has_concepts(self) -> bool:
        return bool(self._ids)

    @cached_property
    def countries(self) -> list[str]:
        return self.columns["country.values"].tolist()

    @cached_property
    def _ids(self) -> list[str]:
        return self.columns["concept.values"].tolist()

    def concepts(self, place: int) -> Concepts | None:
        """What was linked in a trial, None if no trial here has concepts."""
        if not self.has_concepts:
            return None
        return {
            label: {self._ids[i]: self._above(i) for i in self._row(name, place)}
            for label, name in CONCEPT_LISTS.items()
        }

    def _above(self, code: int) -> tuple[str, ...]:
        return tuple(self._ids[other] for other in self._row("broader", code))

    def _row(self, name: str, i: int) -> list[int]:
        first, last = self.columns[f"{name}.offsets"][i : i + 2]
        return self.columns[f"{name}.codes"][first:last].tolist()


def _code(codes: dict[str, int], name: str) -> int:
    return codes.setdefault(name, len(codes))


def _ragged(
    name: str, counts: Array, codes: Array, rows: Array | None = None
) -> dict[str, Array]:
    """Columns of lists one after the other, of some rows only if these are given."""
    offsets = _offsets(counts)
    if rows is not None:
        starts, counts = offsets[rows], counts[rows]
        offsets = _offsets(counts)
        codes = codes[np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1])]
    return {f"{name}.offsets": offsets.astype(np.int32), f"{name}.codes": codes}


def _offsets(counts: Array) -> Array:
    return np.concatenate([[0], np.cumsum(counts)])


def _rows(offsets: Array, hit: Array) -> Array:
    """The row of each value that is hit, in a column of lists."""
    return np.searchsorted(offsets, np.flatnonzero(hit), side="right") - 1
