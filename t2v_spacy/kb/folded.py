"""All names of a base folded, and keys of them, without a Python object a name.

What `normalise` says of one name, this does for a blob of half a million in less than
a second.
"""

from __future__ import annotations

import re

import numpy as np

from .columns import Strings
from .normalise import ARTICLES, FORMS, SMALL_WORDS, fold, norm_word

_BLANK, _LINE = 32, 10
# Every byte that is no letter, digit or line end becomes a blank.
_PLAIN = bytes(
    code if chr(code).isalnum() or code == _LINE else _BLANK for code in range(128)
) + bytes([_BLANK] * 128)
# Each word comes once, so keeping what was found would only take memory.
_norm_word = norm_word.__wrapped__
# The only words that `norm_word` alters.
_MAY_CHANGE = re.compile("s$|" + "|".join(form for form, _ in FORMS)).search
_POSSESSIVE = re.compile(rb"'(?:s(?<=[A-Za-z0-9]'s)|S(?<=[A-Za-z]'S))(?![A-Za-z0-9])")


def fold_all(names: Strings) -> Strings:
    """`fold` of each name."""
    return Strings(b"".join(map(_fold_part, names.blobs())))


def fold_hashes(folded: Strings) -> np.ndarray:
    """Python's hash of each name."""
    parts = [np.fromiter(map(hash, chunk), np.int64) for chunk in folded.chunks()]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def norm_hashes(folded: Strings) -> np.ndarray:
    """`norm_hash` of the `norm` of each name, from its words in any order."""
    known = _WordHashes()
    articles = [known[word] for word in ARTICLES]
    parts = [np.zeros(0, np.int64)]
    for text in folded.blobs():
        codes = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero((codes == _BLANK) | (codes == _LINE))
        words = text[:-1].replace(b"\n", b" ").decode("ascii").split(" ")
        hashes = np.fromiter(map(known.__getitem__, words), np.int64, len(words))
        last = np.flatnonzero(codes[ends] == _LINE)
        first = np.concatenate([[0], last[:-1] + 1])
        sums = np.add.reduceat(hashes, first)
        # An article counts, unless a name begins with it and has more words.
        leading = (last > first) & np.isin(hashes[first], articles)
        sums[leading] -= hashes[first[leading]]
        parts.append(sums)
    return np.concatenate(parts)


def norm_hash(key: str) -> int:
    """Sum of the hashes of the words of a `normalise.norm`, as a 64-bit number."""
    total = sum(map(hash, key.split(" ")))
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)


class _WordHashes(dict[str, int]):
    """Folded word -> hash of its `norm_word`, 0 for one that does not count."""

    def __missing__(self, word: str) -> int:
        if word in SMALL_WORDS:
            made = 0
        else:
            made = hash(_norm_word(word) if _MAY_CHANGE(word) else word)
        self[word] = made
        return made


def _fold_part(blob: bytes) -> bytes:
    """Lines folded."""
    plain = _POSSESSIVE.sub(b"", _without_marks(blob)).lower().translate(_PLAIN)
    codes = np.frombuffer(plain, np.uint8)
    is_blank = codes == _BLANK
    # A blank goes if there is a blank or nothing before it, or nothing after it.
    nothing_before = np.ones(len(codes), bool)
    nothing_before[1:] = (is_blank | (codes == _LINE))[:-1]
    kept = codes[~(is_blank & nothing_before)]
    return kept.tobytes().replace(b" \n", b"\n")


def _without_marks(blob: bytes) -> bytes:
    """Those lines folded that are not plain ASCII."""
    if blob.isascii():
        return blob
    lines = blob.split(b"\n")
    marked = np.flatnonzero(np.frombuffer(blob, np.uint8) >= 128)
    ends = np.flatnonzero(np.frombuffer(blob, np.uint8) == _LINE)
    for i in np.unique(np.searchsorted(ends, marked)).tolist():
        lines[i] = fold(lines[i].decode()).encode()
    return b"\n".join(lines)
