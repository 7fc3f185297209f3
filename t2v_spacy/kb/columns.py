"""Columns of a knowledge base: many strings or lists in a few flat buffers.

A million small Python objects cost hundreds of megabytes; one blob and one array of
offsets hold the same in tens.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .normalise import fold

_POSSESSIVE = re.compile(r"([A-Za-z0-9])'s(?![A-Za-z0-9])")
# Every byte that is no letter, digit or line end becomes a blank.
_PLAIN = bytes(
    code if chr(code).isalnum() or code == 10 else 32 for code in range(128)
) + bytes([32] * 128)
_BLANKS = re.compile(r" {2,}")
_EDGES = re.compile(r" ?\n ?")


class Strings:
    """Strings without line ends, in one UTF-8 blob: `strings[i]` decodes one."""

    def __init__(self, blob: bytes) -> None:
        """blob: the strings, each ended by a line end."""
        self.blob = blob
        marks = np.flatnonzero(np.frombuffer(blob, np.uint8) == 10)
        small = np.uint32 if len(blob) < 1 << 32 else np.int64
        self.ends = marks.astype(small)
        self._view = self.ends.data

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        return cls("".join(f"{text}\n" for text in strings).encode())

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, i: int) -> str:
        start = self._view[i - 1] + 1 if i else 0
        return self.blob[start : self._view[i]].decode()

    def slice(self, start: int, stop: int) -> list[str]:
        """Strings `start` to `stop`, decoded at once."""
        if start >= stop:
            return []
        first = self._view[start - 1] + 1 if start else 0
        return self.blob[first : self._view[stop - 1]].decode().split("\n")

    def chunks(self, size: int = 1 << 14) -> Iterator[list[str]]:
        for start in range(0, len(self), size):
            yield self.slice(start, min(start + size, len(self)))

    def __reduce__(self) -> tuple:
        return Strings, (self.blob,)


class Ragged:
    """Lists of numbers, row after row in one array: `ragged[i]` is a view."""

    def __init__(self, counts: np.ndarray, values: np.ndarray) -> None:
        self.values = values.astype(np.int32, copy=False)
        self.offsets = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(counts, out=self.offsets[1:])

    @classmethod
    def of(cls, rows: np.ndarray, values: np.ndarray, n_rows: int) -> Ragged:
        """From pairs (row, value); pairs keep their order within a row."""
        order = np.argsort(rows, kind="stable")
        return cls(np.bincount(rows, minlength=n_rows), values[order])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    @property
    def counts(self) -> np.ndarray:
        return np.diff(self.offsets)

    def rows(self) -> np.ndarray:
        """The row of each value."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.counts)

    def inverted(self) -> Ragged:
        """Row j holds each i whose row holds j."""
        return Ragged.of(self.values, self.rows(), len(self))


class HashIndex:
    """Where a string is among many, without keeping them: sorted hashes.

    `find` may name a place of another string with the same hash, so the caller
    compares. Python's string hash differs by process: never store it.
    """

    def __init__(self, chunks: Iterable[Sequence[str]]) -> None:
        parts = [np.fromiter(map(hash, chunk), np.int64) for chunk in chunks]
        hashes = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        self.order = np.argsort(hashes, kind="stable").astype(np.int32)
        self.hashes = hashes[self.order]
        # Bisection over a memoryview is several times faster than searchsorted here.
        self._hashes = self.hashes.data
        self._order = self.order.data

    def find(self, key: str) -> list[int]:
        """Places whose string may be `key`, ascending."""
        wanted = hash(key)
        at = bisect_left(self._hashes, wanted)
        found = []
        while at < len(self._hashes) and self._hashes[at] == wanted:
            found.append(self._order[at])
            at += 1
        return found


def fold_all(names: Sequence[str]) -> list[str]:
    """`fold` of many names, five times faster: plain ASCII goes through as one text."""
    text = "\n".join(name if name.isascii() else "" for name in names)
    data = _POSSESSIVE.sub(r"\1", text).lower().encode().translate(_PLAIN)
    text = _EDGES.sub("\n", _BLANKS.sub(" ", data.decode())).strip(" ")
    folded = text.split("\n")
    for i, name in enumerate(names):
        if not name.isascii():
            folded[i] = fold(name)
    return folded
