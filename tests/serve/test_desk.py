from __future__ import annotations

import asyncio
import threading

import pytest

from t2v_spacy.serve.desk import Desk
from t2v_spacy.serve.failures import Refusal
from t2v_spacy.stopping import Stopped, go_on


def test_one_at_a_time_and_in_order():
    desk, inside, most, order = Desk("test", waiting=10), [0], [0], []

    def work(number):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        order.append(number)
        inside[0] -= 1
        return number

    async def several():
        return await asyncio.gather(*(desk.ask(work, n) for n in range(8)))

    assert asyncio.run(several()) == list(range(8))
    assert order == list(range(8))
    assert most == [1]
    desk.close()


def test_who_gives_up_while_waiting_is_not_served():
    desk, go, served = Desk("test", waiting=5), threading.Event(), []

    async def scene():
        first = asyncio.create_task(desk.ask(go.wait))
        second = asyncio.create_task(desk.ask(served.append, 2))
        await asyncio.sleep(0)
        second.cancel()
        go.set()
        await first
        return await desk.ask(lambda: "next")

    assert asyncio.run(scene()) == "next"
    assert served == []
    desk.close()


def test_the_number_that_waits_is_bounded_and_freed_again():
    desk, go = Desk("test", waiting=1), threading.Event()

    async def scene():
        held = [asyncio.create_task(desk.ask(go.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Refusal, match="T186.*--waiting"):
            await desk.ask(print)
        go.set()
        await asyncio.gather(*held)
        return await desk.ask(lambda: "free")

    assert asyncio.run(scene()) == "free"
    desk.close()


def test_errors_come_back_and_free_the_place():
    desk = Desk("test", waiting=0)

    async def scene():
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await desk.ask(lambda: 1 / 0)

    asyncio.run(scene())
    desk.close()


def test_what_is_done_for_one_who_gives_up_ends_at_its_next_step():
    desk, ended = Desk("test", waiting=5), []
    started, gave_up = threading.Event(), threading.Event()

    def work():
        go_on()
        started.set()
        gave_up.wait()
        try:
            go_on()
        except Stopped:
            ended.append(True)
            raise

    async def scene():
        asked = asyncio.create_task(desk.ask(work))
        await asyncio.to_thread(started.wait)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        gave_up.set()
        return await desk.ask(lambda: go_on() or "next")

    assert asyncio.run(scene()) == "next"
    assert ended == [True]
    desk.close()
