"""Find the names of a knowledge base in a text, all in one pass over its words.

Every run of up to MAX_WORDS words is looked up at once: the hash of a run comes from
prefix sums over the bytes of the folded text, so nothing is done per run in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from .normalise import Word

MAX_WORDS = 8
MAX_LENGTH = 80
_LONG_WORD = 10
_SPELT_WORDS = 5
_DIGIT = re.compile("[0-9]")
_CHUNK = 20_000
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_INVERSE = pow(_BASE, -1, 1 << 64)
_CODES = numpy.random.RandomState(20).randint(1, 1 << 62, 256, dtype="uint64")
_BLANK, _LINE = 32, 10


class Run(NamedTuple):
    """words[first:last] of a text spell a name; name is the folded one."""

    first: int
    last: int
    name: str


class NameMatcher:
    """The names of a base as sorted hashes: 8 bytes a name.

    names (Iterable[str]): Folded names. Those of more than MAX_WORDS words or
        MAX_LENGTH characters are left out: nobody writes them in running text.
    """

    def __init__(self, names: Iterable[str]) -> None:
        chunks = [_hash_names(chunk) for chunk in _chunks(names)]
        empty = numpy.zeros(0, dtype="uint64")
        self._hashes = numpy.unique(numpy.concatenate([empty, *chunks]))

    def __len__(self) -> int:
        return len(self._hashes)

    def find(self, words: Sequence[Word], segments: Sequence[int]) -> list[Run]:
        """Runs of words whose hash is that of a name; the longest come first, then by
        place. The caller looks each up, which also weeds out the chance equal hash.

        words (Sequence[Word]): Words of a text, in order.
        segments (Sequence[int]): One number a word; a run stays within one number.
        """
        if not words:
            return []
        text = " ".join([word.folded for word in words])
        sizes = numpy.array([len(word.folded) for word in words])
        ends = numpy.cumsum(sizes + 1) - 1
        firsts, lasts = _windows(len(words))
        starts, stops = (ends - sizes)[firsts], ends[lasts]
        known = self._contains(_Hashes(text.encode("ascii")).of(starts, stops))
        return [
            Run(int(firsts[i]), int(lasts[i]) + 1, text[starts[i] : stops[i]])
            for i in known
            if segments[firsts[i]] == segments[lasts[i]]
        ]

    def _contains(self, hashes: NDArray[numpy.uint64]) -> NDArray[numpy.intp]:
        """Places of the hashes that are those of names."""
        if not len(self._hashes):
            return numpy.zeros(0, dtype=numpy.intp)
        at = self._hashes.searchsorted(hashes)
        at[at == len(self._hashes)] = 0
        return (self._hashes[at] == hashes).nonzero()[0]


class SpellingMatcher:
    """Names that differ from a word or words by one letter.

    One changed letter leaves the first or the last half of a name as it is, so names
    are found by the hashes of their halves and then compared. Names of fewer than
    `min_length` letters, or with a digit, are not taken: there one letter is another
    thing. Nor are those of more than five words.
    """

    def __init__(self, names: Iterable[str], min_length: int = 8) -> None:
        self.min_length = min_length
        kept = [name for name in names if self._is_fit(name)]
        self._words = _hash_words(kept)
        self._names = "\n".join(kept).encode("ascii")
        sizes = numpy.fromiter(map(len, kept), "int64", len(kept))
        self._ends = (numpy.cumsum(sizes + 1) - 1).astype("int32")
        keys = [
            _half_keys("\n".join(kept[i : i + _CHUNK]).encode("ascii"))
            for i in range(0, len(kept), _CHUNK)
        ]
        empty = numpy.zeros((2, 0), dtype="uint64")
        both = numpy.concatenate([empty, *keys], axis=1)
        self._orders = [numpy.argsort(key).astype("int32") for key in both]
        self._keys = [key[o] for key, o in zip(both, self._orders, strict=True)]

    def find(self, name: str) -> list[str]:
        """Names at one edit (a letter more, less, other, or two swapped), in order of
        the alphabet. The first letter must agree."""
        if not self._is_fit(name):
            return []
        text = name.encode("ascii")
        size = len(text)
        lengths = numpy.array([size - 1, size, size + 1])
        halves = lengths // 2
        hashes = _Hashes(text)
        keys = (
            hashes.of(numpy.zeros(3, dtype="int64"), halves),
            hashes.of(size - (lengths - halves), numpy.full(3, size)),
        )
        found: set[str] = set()
        for side, key in enumerate(keys):
            found.update(self._at(side, key ^ lengths.astype("uint64")))
        return sorted(
            other
            for other in found
            if other[0] == name[0] and is_misspelt(name, other, self._knows)
        )

    def _knows(self, word: str) -> bool:
        """Whether a word is one of the base: then it is not a misspelt other one."""
        hashed = _hash_names(word.encode("ascii"))[0]
        at = numpy.searchsorted(self._words, hashed)
        return at < len(self._words) and bool(self._words[at] == hashed)

    def _at(self, side: int, keys: NDArray[numpy.uint64]) -> Iterator[str]:
        known, order = self._keys[side], self._orders[side]
        firsts = known.searchsorted(keys).tolist()
        lasts = known.searchsorted(keys, "right").tolist()
        for first, last in zip(firsts, lasts, strict=True):
            for number in order[first:last].tolist():
                start = int(self._ends[number - 1]) + 1 if number else 0
                yield self._names[start : int(self._ends[number])].decode("ascii")

    def _is_fit(self, name: str) -> bool:
        return (
            self.min_length <= len(name) <= MAX_LENGTH
            and name.count(" ") < _SPELT_WORDS
            and _DIGIT.search(name) is None
        )


def is_misspelt(
    text: str, name: str, is_word: Callable[[str], bool] = lambda _: False
) -> bool:
    """Whether a text is a name with one letter more, less or other, or two swapped, in
    a long word; or with a blank too much or too few.

    is_word: Says which words are known, so that they are not misspelt others: exotropia
        is not esotropia. One letter of a short word always makes another word: photon
        and proton, B-cell and T-cell.
    """
    if text.replace(" ", "") == name.replace(" ", ""):
        return text != name
    pairs = zip(text.split(" "), name.split(" "), strict=False)
    differing = [(one, other) for one, other in pairs if one != other]
    if text.count(" ") != name.count(" ") or len(differing) != 1:
        return False
    one, other = differing[0]
    long = min(len(one), len(other)) >= _LONG_WORD
    return long and _is_one_edit(one, other) and not is_word(one)


def _is_one_edit(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1:
        return False
    i = 0
    while i < min(len(one), len(other)) and one[i] == other[i]:
        i += 1
    if len(one) == len(other):
        swapped = one[i : i + 2] == other[i : i + 2][::-1]
        return one[i + 1 :] == other[i + 1 :] or (
            swapped and one[i + 2 :] == other[i + 2 :]
        )
    short, long = sorted((one, other), key=len)
    return short[i:] == long[i + 1 :]


def pick(runs: Iterable[Run], accept: Callable[[Run], bool]) -> list[Run]:
    """Runs that do not overlap, in order of place; the longest accepted ones win."""
    taken: set[int] = set()
    kept = []
    for run in runs:
        places = range(run.first, run.last)
        if taken.isdisjoint(places) and accept(run):
            taken.update(places)
            kept.append(run)
    return sorted(kept)


class _Hashes:
    """Hashes of parts of a text: sum of code(byte) * BASE**place, moved to place 0."""

    def __init__(self, text: bytes) -> None:
        codes = _CODES[numpy.frombuffer(text, dtype="uint8")]
        self._sums = numpy.zeros(len(text) + 1, dtype="uint64")
        numpy.cumsum(codes * _powers(_BASE, len(text)), out=self._sums[1:])
        self._inverse = _powers(_INVERSE, len(text) + 1)

    def of(self, starts: NDArray, ends: NDArray) -> NDArray[numpy.uint64]:
        hashes = (self._sums[ends] - self._sums[starts]) * self._inverse[starts]
        return hashes ^ (hashes >> numpy.uint64(29))


@lru_cache(maxsize=64)
def _windows(size: int) -> tuple[NDArray[numpy.intp], NDArray[numpy.intp]]:
    """First and last word of each run of up to MAX_WORDS words, the longest first."""
    lengths = range(min(MAX_WORDS, size), 0, -1)
    firsts = [numpy.arange(size - n + 1) for n in lengths]
    lasts = [numpy.arange(n - 1, size) for n in lengths]
    return numpy.concatenate(firsts), numpy.concatenate(lasts)


_POWERS: dict[int, NDArray[numpy.uint64]] = {}


def _powers(base: int, size: int) -> NDArray[numpy.uint64]:
    """base**0 … base**(size - 1), modulo 2**64; kept, as every text needs them."""
    powers = _POWERS.get(base)
    if powers is None or len(powers) < size:
        powers = numpy.full(max(size, 1 << 15), base, dtype="uint64")
        powers[0] = 1
        _POWERS[base] = powers = numpy.cumprod(powers, dtype="uint64")
    return powers[:size]


def _chunks(names: Iterable[str]) -> Iterator[bytes]:
    fit = (n for n in names if len(n) <= MAX_LENGTH and n.count(" ") < MAX_WORDS)
    while chunk := list(islice(fit, _CHUNK)):
        yield "\n".join(chunk).encode("ascii")


def _bounds(text: bytes) -> tuple[NDArray, NDArray]:
    """Starts and ends of the lines of a text."""
    ends = numpy.flatnonzero(numpy.frombuffer(text, dtype="uint8") == _LINE)
    ends = numpy.append(ends, len(text))
    return numpy.concatenate([[0], ends[:-1] + 1]), ends


def _hash_names(text: bytes) -> NDArray[numpy.uint64]:
    starts, ends = _bounds(text)
    return _Hashes(text).of(starts, ends)


def _hash_words(names: Iterable[str]) -> NDArray[numpy.uint64]:
    """Hashes of the long words of some names."""
    found = {w for name in names for w in name.split(" ") if len(w) >= _LONG_WORD}
    return numpy.unique(
        numpy.concatenate(
            [numpy.zeros(0, dtype="uint64")] + [_hash_names(c) for c in _chunks(found)]
        )
    )


def _half_keys(text: bytes) -> NDArray[numpy.uint64]:
    """(2, n) keys of first and last halves, each with the length of the name."""
    starts, ends = _bounds(text)
    hashes, length = _Hashes(text), (ends - starts)
    half = length // 2
    lengths = length.astype("uint64")
    first = hashes.of(starts, starts + half) ^ lengths
    return numpy.stack([first, hashes.of(starts + half, ends) ^ lengths])
