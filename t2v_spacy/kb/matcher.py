"""Find the names of a knowledge base in a text, all in one pass over its words.

Every run of up to MAX_WORDS words is looked up at once: the hash of a run comes from
prefix sums over the bytes of the folded text, so nothing is done per run in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from .columns import HashIndex, Strings
from .hashing import Hashes
from .normalise import Word

MAX_WORDS = 8
MAX_LENGTH = 80
_LONG_WORD = 10
_SPELT_WORDS = 5
_FEW_WORDS = 5
_DIGIT = re.compile("[0-9]")
_BLANK, _LINE, _ZERO = 32, 10, 48
_START = numpy.zeros(1, dtype="int64")


class Run(NamedTuple):
    """words[first:last] of a text spell a name; name is the folded one."""

    first: int
    last: int
    name: str


class NameMatcher:
    """The names of a base as sorted hashes: 8 bytes a name.

    names (Strings | Iterable[str]): Folded names. Those of more than MAX_WORDS words
        or MAX_LENGTH characters are left out: nobody writes them in running text.
    """

    def __init__(self, names: Strings | Iterable[str]) -> None:
        found = [numpy.zeros(0, dtype="uint64")]
        for part in map(_Part, _lines(names).blobs()):
            fit = (part.sizes <= MAX_LENGTH) & (part.blanks < MAX_WORDS)
            found.append(part.hashes.of(part.starts[fit], part.ends[fit]))
        self._hashes = numpy.unique(numpy.concatenate(found))

    def __len__(self) -> int:
        return len(self._hashes)

    def find(
        self,
        words: Sequence[Word],
        segments: Sequence[int],
        is_name: Callable[[str], object] | None = None,
    ) -> list[Run]:
        """Runs of words whose hash is that of a name; the longest come first, then by
        place. The caller looks each up, which also weeds out the chance equal hash.

        words (Sequence[Word]): Words of a text, in order.
        segments (Sequence[int]): One number a word; a run stays within one number.
        is_name (Callable[[str], object] | None): Whether the base has a name; asking
            it is faster for a few words.
        """
        if not words:
            return []
        if is_name is not None and len(words) <= _FEW_WORDS:
            return _find_few(words, segments, is_name)
        text = " ".join([word.folded for word in words])
        sizes = numpy.array([len(word.folded) for word in words])
        ends = numpy.cumsum(sizes + 1) - 1
        firsts, lasts = _windows(len(words))
        starts, stops = (ends - sizes)[firsts], ends[lasts]
        known = self._contains(Hashes(text.encode("ascii")).of(starts, stops))
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

    def __init__(self, names: Strings | Iterable[str], min_length: int = 8) -> None:
        self.min_length = min_length
        self._names = _lines(names)
        empty = numpy.zeros(0, dtype="uint64")
        rows, keys, words, n = (
            [empty.astype("int32")],
            [empty.reshape(2, 0)],
            [empty],
            0,
        )
        for part in map(_Part, self._names.blobs()):
            digits = part.count((part.codes >= _ZERO) & (part.codes < _ZERO + 10))
            fit = (part.sizes >= min_length) & (part.sizes <= MAX_LENGTH)
            fit &= (part.blanks < _SPELT_WORDS) & (digits == 0)
            rows.append((fit.nonzero()[0] + n).astype("int32"))
            keys.append(part.half_keys(fit))
            words.append(part.long_words(fit))
            n += len(fit)
        self._words = numpy.unique(numpy.concatenate(words))
        self._rows = numpy.concatenate(rows)
        both = numpy.concatenate(keys, axis=1).view("int64")
        self._halves = [HashIndex(side) for side in both]

    def find(self, name: str) -> list[str]:
        """Names at one edit (a letter more, less, other, or two swapped), in order of
        the alphabet. The first letter must agree."""
        if not self._is_fit(name):
            return []
        starts, ends, lengths = _halves(len(name))
        keys = Hashes(name.encode("ascii")).of(starts, ends) ^ lengths
        places: list[int] = []
        for i, key in enumerate(keys.view("int64").tolist()):
            places += self._halves[i // 3].find_hash(key)
        found = {self._names[int(self._rows[i])] for i in places}
        return sorted(
            other
            for other in found
            if other[0] == name[0] and is_misspelt(name, other, self._knows)
        )

    def _knows(self, word: str) -> bool:
        """Whether a word is one of the base: then it is not a misspelt other one."""
        hashed = Hashes(word.encode("ascii")).of(_START, numpy.array([len(word)]))[0]
        at = numpy.searchsorted(self._words, hashed)
        return at < len(self._words) and bool(self._words[at] == hashed)

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


def _find_few(
    words: Sequence[Word], segments: Sequence[int], is_name: Callable[[str], object]
) -> list[Run]:
    folded = [word.folded for word in words]
    found = []
    for n in range(len(folded), 0, -1):
        for first in range(len(folded) - n + 1):
            last = first + n
            if segments[first] == segments[last - 1]:
                name = " ".join(folded[first:last])
                if len(name) <= MAX_LENGTH and is_name(name):
                    found.append(Run(first, last, name))
    return found


@lru_cache(maxsize=MAX_LENGTH)
def _halves(size: int) -> tuple[NDArray, NDArray, NDArray[numpy.uint64]]:
    """Starts, ends and name lengths of the halves of names that are a letter shorter
    than a text, as long, or longer: first the three first halves, then the last."""
    lengths = numpy.array([size - 1, size, size + 1])
    halves = lengths // 2
    starts = numpy.concatenate([[0, 0, 0], size - (lengths - halves)])
    ends = numpy.concatenate([halves, [size, size, size]])
    return starts, ends, numpy.tile(lengths, 2).astype("uint64")


@lru_cache(maxsize=64)
def _windows(size: int) -> tuple[NDArray[numpy.intp], NDArray[numpy.intp]]:
    """First and last word of each run of up to MAX_WORDS words, the longest first."""
    lengths = range(min(MAX_WORDS, size), 0, -1)
    firsts = [numpy.arange(size - n + 1) for n in lengths]
    lasts = [numpy.arange(n - 1, size) for n in lengths]
    return numpy.concatenate(firsts), numpy.concatenate(lasts)


def _lines(names: Strings | Iterable[str]) -> Strings:
    return names if isinstance(names, Strings) else Strings.of(names)


class _Part:
    """Some folded names, one a line, seen as arrays."""

    def __init__(self, text: bytes) -> None:
        self.codes = numpy.frombuffer(text, dtype="uint8")
        self.ends = numpy.flatnonzero(self.codes == _LINE)
        self.starts = numpy.concatenate([[0], self.ends[:-1] + 1])
        self.sizes = self.ends - self.starts
        self.blanks = self.count(self.codes == _BLANK)
        self.hashes = Hashes(text)

    def count(self, which: NDArray[numpy.bool_]) -> NDArray[numpy.int64]:
        """Number of those bytes in each line."""
        return numpy.add.reduceat(which, self.starts, dtype="int64")

    def half_keys(self, rows: NDArray[numpy.bool_]) -> NDArray[numpy.uint64]:
        """(2, n) keys of first and last halves, each with the length of the name."""
        starts, ends = self.starts[rows], self.ends[rows]
        half = (ends - starts) // 2
        lengths = (ends - starts).astype("uint64")
        first = self.hashes.of(starts, starts + half) ^ lengths
        return numpy.stack([first, self.hashes.of(starts + half, ends) ^ lengths])

    def long_words(self, rows: NDArray[numpy.bool_]) -> NDArray[numpy.uint64]:
        """Hashes of the long words of some lines."""
        ends = numpy.flatnonzero((self.codes == _BLANK) | (self.codes == _LINE))
        starts = numpy.concatenate([[0], ends[:-1] + 1])
        kept = numpy.repeat(rows, self.blanks + 1) & (ends - starts >= _LONG_WORD)
        return numpy.unique(self.hashes.of(starts[kept], ends[kept]))
