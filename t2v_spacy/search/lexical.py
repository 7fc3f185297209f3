"""BM25 over the words of trials: files of an index folder, memory-mapped.

What is kept is how often a word is in a trial, not a score: five bytes for each word of
a trial. So trials that are added beside the files are scored by the same code.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors, error
from ..trial import Trial
from .lexical_writer import COLUMNS, LexicalWriter, file_of
from .vectors import Array
from .words import Words, lexical_text, term

__all__ = ["Lexical", "LexicalWriter", "lexical_text"]

LEXICAL = file_of("terms")  # there if the others are
# A whole trial has twice as many; these find nine of the same ten in half the time.
MAX_TERMS = 128


class Lexical:
    """The words of n trials.

    columns (Mapping): By name, as `LexicalWriter.columns` makes them.
    base (Lexical | None): Its trials, not these, say how much a word is worth and how
        long a trial is.
    k1 (float): How far repeats of a word in a trial still count. b (float): How far a
        long trial is held down, 0 to 1. Both as for `evaluation.systems.bm25`.
    max_terms (int): Words of a query that are used, those that weigh most.
    """

    def __init__(
        self,
        columns: Mapping[str, Array],
        *,
        base: Lexical | None = None,
        k1: float = 3.0,
        b: float = 1.0,
        max_terms: int = MAX_TERMS,
    ) -> None:
        self._terms, self._offsets = columns["terms"], columns["offsets"]
        self._rows, self._counts = columns["rows"], columns["counts"]
        self._lengths = columns["lengths"]
        self.n = len(self._lengths)
        self._base = base or self
        self._words: Words = base._words if base else Words()
        self._k1, self._b, self._max_terms = k1, b, max_terms

    @classmethod
    def open(cls, folder: Path, **settings: Any) -> Lexical:
        """Those of an index folder. settings: k1, b, max_terms. RAISES (T158): there
        are none, or damaged ones."""
        try:
            columns = {
                name: np.load(folder / file_of(name), mmap_mode="r") for name in COLUMNS
            }
        except (OSError, ValueError, EOFError) as err:
            raise error(Errors.T158, path=folder, reason=err) from err
        return cls(columns, **settings)

    def beside(self, trials: Iterable[Trial]) -> Lexical:
        """Further trials, in memory, whose scores compare with those of this one."""
        writer = LexicalWriter()
        for trial in trials:
            writer.append(trial)
        return Lexical(
            writer.columns(),
            base=self,
            k1=self._k1,
            b=self._b,
            max_terms=self._max_terms,
        )

    def scores(self, text: str) -> Array:
        """float32 (n,): BM25 in Lucene's form, 0 where no word is shared. The words of
        the text count as often as they are there. Of a trial, take `lexical_text`."""
        found = np.zeros(self.n, np.float32)
        weights = self._base._weights(self._words(text, query=True))
        for (first, last), weight in zip(
            self._places(list(weights)), weights.values(), strict=True
        ):
            rows, counts = self._rows[first:last], self._counts[first:last]
            tf = counts.astype(np.float32)
            found[rows] += np.float32(weight) * tf / (tf + self._norms[rows])
        return found

    def holds(self, key: str) -> Array:
        """bool (n,): trials that have a word, or a code by its key."""
        found = np.zeros(self.n, bool)
        ((first, last),) = self._places([term(key)])
        found[self._rows[first:last]] = True
        return found

    def _weights(self, words: Iterable[str]) -> dict[bytes, float]:
        """What each word of a query is worth here; of words that are here, the ones
        that weigh most. Words that are not, only added trials can have."""
        repeats = Counter(map(term, words))
        known: dict[bytes, float] = {}
        new: dict[bytes, float] = {}
        for (first, last), (word, times) in zip(
            self._places(list(repeats)), repeats.items(), strict=True
        ):
            df = int(last - first)
            idf = math.log(1 + (self.n - df + 0.5) / (df + 0.5))
            (known if df else new)[word] = times * idf
        best = sorted(known, key=lambda word: (-known[word], word))[: self._max_terms]
        return new | {word: known[word] for word in best}

    def _places(self, terms: list[bytes]) -> Array:
        """int64 (terms, 2): where the trials of each are; empty for one not here."""
        wanted = np.array(terms, self._terms.dtype)
        at = np.searchsorted(self._terms, wanted)
        known = at < len(self._terms)
        known[known] = self._terms[at[known]] == wanted[known]
        at = np.where(known, at, 0)
        last = np.where(known, at + 1, at)
        return np.stack([self._offsets[at], self._offsets[last]], axis=1)

    @cached_property
    def _norms(self) -> Array:
        mean = self._base._mean_length
        length = np.asarray(self._lengths, np.float32) / np.float32(mean)
        return (self._k1 * (1 - self._b + self._b * length)).astype(np.float32)

    @cached_property
    def _mean_length(self) -> float:
        return float(self._lengths.mean()) if self.n else 1.0
