"""Memory that answers are done with, given back to the system.

glibc keeps what is free between blocks that stay, such as the kernels that torch
compiles for each new shape of a batch. Without this it grows for hours.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from itertools import count

EVERY = 10  # answers; it takes a few milliseconds
_answers = count(1)


def give_back() -> None:
    """To be called after each answer."""
    trim = _malloc_trim()
    if trim is not None and not next(_answers) % EVERY:
        trim(0)


@lru_cache(maxsize=1)
def _malloc_trim() -> Callable[[int], int] | None:
    """None where the C library is not glibc."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
