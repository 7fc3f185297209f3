"""A desk: one thread that answers, and a bounded number of requests that wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ..stopping import stopping_when
from .failures import no_answer

T = TypeVar("T")


class Desk:
    """Runs functions outside the event loop, `threads` at a time.

    torch and a pipeline are not for several threads at once, nor is a search with
    filters: all these go to a desk of one thread.
    """

    def __init__(self, name: str, waiting: int, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most = waiting + threads
        self._there = 0
        self._counting = threading.Lock()

    async def ask(self, function: Callable[..., T], *args: Any) -> T:
        """The result of a function. RAISES (Refusal T186): too many wait already; and
        what the function raises. Who gives up while waiting is not served; what is
        being done for one who gives up ends at its next step (`stopping.go_on`)."""
        with self._counting:
            if self._there >= self._most:
                raise no_answer("too many requests wait", "--waiting")
            self._there += 1
        given_up = threading.Event()

        def work() -> T:
            with stopping_when(given_up.is_set):
                return function(*args)

        future = self._pool.submit(work)
        # Not before the thread is free again, which is later than somebody gives up.
        future.add_done_callback(self._leave)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            given_up.set()
            raise

    def _leave(self, _: Any) -> None:
        with self._counting:
            self._there -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
