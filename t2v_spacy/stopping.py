"""Work for somebody who may have given up: it asks between its steps whether to go on.

Nothing is handed from function to function; a step calls `go_on()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_given_up: ContextVar[Callable[[], bool] | None] = ContextVar("given_up", default=None)


class Stopped(Exception):
    """Nobody waits for the result any more."""


@contextmanager
def stopping_when(given_up: Callable[[], bool]) -> Iterator[None]:
    """In this block, and this thread, `go_on` asks `given_up`."""
    token = _given_up.set(given_up)
    try:
        yield
    finally:
        _given_up.reset(token)


def go_on() -> None:
    """RAISES (Stopped): somebody gave up on what is being done."""
    given_up = _given_up.get()
    if given_up is not None and given_up():
        raise Stopped
