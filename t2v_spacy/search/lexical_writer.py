"""Writes the lexical index, one trial after the other, in bounded memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

from ..trial import Trial
from .vectors import Array
from .words import LONGEST, Words, lexical_text, term

# terms: sorted words. offsets: where the trials of each begin. rows, counts: the trials
# of each word in order, and how often each has it. lengths: words of each trial.
COLUMNS = ("terms", "offsets", "rows", "counts", "lengths")
_MOST = 255  # a word counts no more often in one trial
_PART = 1 << 22  # words of trials held at a time
Make = Callable[[str, int, type], Array]


def file_of(name: str) -> str:
    return f"lexical.{name}.npy"


class LexicalWriter:
    """Counts the words of trials; held are the vocabulary and one part of the counts.

    folder (Path | None): Where parts wait until `save`; None holds them in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._words = Words()
        self._codes: dict[bytes, int] = {}
        self._lengths = array("i")
        self._parts: list[Path | tuple[Array, Array, Array]] = []
        self._clear()

    def _clear(self) -> None:
        self._part = array("i"), array("i"), array("B")  # row, code, count

    def append(self, trial: Trial) -> None:
        words = self._words(lexical_text(trial))
        rows, codes, counts = self._part
        row = len(self._lengths)
        for word, count in Counter(words).items():
            rows.append(row)
            codes.append(self._codes.setdefault(term(word), len(self._codes)))
            counts.append(min(count, _MOST))
        self._lengths.append(len(words))
        if self._folder and len(rows) > _PART:
            path = self._folder / f"lexical.{len(self._parts)}.part.npz"
            np.savez(path, *map(np.array, self._part))
            self._parts.append(path)
            self._clear()

    def columns(self, kept: list[int] | None = None) -> dict[str, Array]:
        """The columns by name, in memory. kept: old position of each trial that stays,
        None if all stay."""
        return self._fill(kept, lambda name, size, kind: np.empty(size, kind))

    def save(self, kept: list[int] | None = None) -> None:
        """Write the files and remove the parts."""
        folder = self._folder
        if folder is None:
            raise ValueError("a writer without a folder has nowhere to save")

        def make(name: str, size: int, kind: type) -> Array:
            return open_memmap(folder / file_of(name), "w+", kind, (size,))

        self._fill(kept, make)
        self.close()

    def close(self) -> None:
        """Remove the parts that wait in the folder."""
        for part in self._parts:
            if isinstance(part, Path):
                part.unlink(missing_ok=True)
        self._parts = []

    def _fill(self, kept: list[int] | None, make: Make) -> dict[str, Array]:
        lengths = np.array(self._lengths, np.int32)
        position = np.arange(len(lengths), dtype=np.int32)
        if kept is not None:
            position = np.full(len(lengths), -1, np.int32)
            position[kept] = np.arange(len(kept), dtype=np.int32)
            lengths = lengths[kept]
        df = np.zeros(len(self._codes), np.int64)
        for _, codes, _ in self._kept_parts(position):
            df += np.bincount(codes, minlength=len(df))
        spelled = np.array(list(self._codes), f"S{LONGEST}")
        order = np.argsort(spelled)
        order = order[df[order] > 0]
        rank = np.zeros(len(df), np.int64)
        rank[order] = np.arange(len(order))
        offsets = np.concatenate([[0], np.cumsum(df[order])])
        total = int(offsets[-1])
        plain = {"terms": spelled[order], "offsets": offsets, "lengths": lengths}
        found = {k: make(k, len(v), v.dtype) for k, v in plain.items()}
        for name, values in plain.items():
            found[name][:] = values
        found["rows"] = make("rows", total, np.int32)
        found["counts"] = make("counts", total, np.uint8)
        heads = offsets[:-1].copy()
        for rows, codes, counts in self._kept_parts(position):
            ranks = rank[codes]
            by_term = np.argsort(ranks, kind="stable")
            sizes = np.bincount(ranks, minlength=len(heads))
            within = np.arange(len(ranks)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            target = np.repeat(heads, sizes) + within
            found["rows"][target] = rows[by_term]
            found["counts"][target] = counts[by_term]
            heads += sizes
        return found

    def _kept_parts(self, position: Array) -> Iterator[tuple[Array, Array, Array]]:
        """(row, code, count) of what stays, part by part, with new rows."""
        for part in (*self._parts, self._part):
            if isinstance(part, Path):
                with np.load(part, allow_pickle=False) as file:
                    arrays = [file[name] for name in file.files]
            else:
                arrays = [np.array(values) for values in part]
            rows, codes, counts = arrays
            rows = position[rows]
            stays = rows >= 0
            yield rows[stays], codes[stays], counts[stays]
