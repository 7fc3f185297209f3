"""Columns of a knowledge base: many strings or lists in a few flat buffers.

A million small Python objects cost hundreds of megabytes; one blob and one array of
offsets hold the same in tens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

_LOW = 0xFFFFFFFF


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

    def blobs(self, size: int = 1 << 14) -> Iterator[bytes]:
        """The blob in parts of `size` strings."""
        for first in range(0, len(self), size):
            start = self._view[first - 1] + 1 if first else 0
            yield self.blob[start : self._view[min(first + size, len(self)) - 1] + 1]

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

    def __init__(self, hashes: np.ndarray) -> None:
        """hashes: (n,) 64-bit numbers, spread evenly."""
        order = np.argsort(hashes)
        hashes = hashes[order]
        # About one hash has each beginning of so many bits.
        bits = len(hashes).bit_length()
        self._shift = 64 - bits
        self._half = 1 << bits >> 1
        beginnings = (hashes >> self._shift) + self._half
        firsts = np.zeros((1 << bits) + 1, np.int32)
        np.cumsum(np.bincount(beginnings, minlength=1 << bits), out=firsts[1:])
        # A memoryview gives one number several times faster than an array.
        self._firsts = firsts.data
        self._ends = (hashes & _LOW).astype(np.uint32).data
        self._order = order.astype(np.int32).data

    @classmethod
    def of(cls, chunks: Iterable[Sequence[str]]) -> HashIndex:
        parts = [np.fromiter(map(hash, chunk), np.int64) for chunk in chunks]
        return cls(np.concatenate([np.zeros(0, np.int64), *parts]))

    def find(self, key: str) -> list[int]:
        """Places whose string may be `key`, ascending."""
        return self.find_hash(hash(key))

    def find_hash(self, wanted: int) -> list[int]:
        at = (wanted >> self._shift) + self._half
        first, last = self._firsts[at], self._firsts[at + 1]
        if first == last:
            return []
        known, wanted = self._ends, wanted & _LOW
        if last - first == 1:
            return [self._order[first]] if known[first] == wanted else []
        found = [self._order[i] for i in range(first, last) if known[i] == wanted]
        return sorted(found) if len(found) > 1 else found
