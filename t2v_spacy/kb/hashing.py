"""Hashes of the parts of a text, many at once, equal in every process."""

from __future__ import annotations

import numpy
from numpy.typing import NDArray

_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_INVERSE = pow(_BASE, -1, 1 << 64)
_CODES = numpy.random.RandomState(20).randint(1, 1 << 62, 256, dtype="uint64")
_POWERS: dict[int, NDArray[numpy.uint64]] = {}


class Hashes:
    """Hashes of parts of a text: sum of code(byte) * BASE**place, moved to place 0."""

    def __init__(self, text: bytes) -> None:
        codes = _CODES[numpy.frombuffer(text, dtype="uint8")]
        codes *= _powers(_BASE, len(text))
        self._sums = numpy.zeros(len(text) + 1, dtype="uint64")
        codes.cumsum(out=self._sums[1:])
        self._inverse = _powers(_INVERSE, len(text) + 1)

    def of(self, starts: NDArray, ends: NDArray) -> NDArray[numpy.uint64]:
        hashes = (self._sums[ends] - self._sums[starts]) * self._inverse[starts]
        return hashes ^ (hashes >> numpy.uint64(29))


def _powers(base: int, size: int) -> NDArray[numpy.uint64]:
    """base**0 … base**(size - 1), modulo 2**64; kept, as every text needs them."""
    powers = _POWERS.get(base)
    if powers is None or len(powers) < size:
        powers = numpy.full(max(size, 1 << 15), base, dtype="uint64")
        powers[0] = 1
        _POWERS[base] = powers = numpy.cumprod(powers, dtype="uint64")
    return powers[:size]
