"""Blocking calls beside the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otel_eval.aside import Aside, aside_of


async def test_what_was_given_up_on_is_counted_until_it_comes_back() -> None:
    """Also where the loop that asked is gone by then: the thread itself says so."""
    go, back = threading.Event(), threading.Event()
    aside = Aside("test")

    def work() -> None:
        go.wait(10)
        back.set()

    def asked_elsewhere() -> None:
        async def give_up() -> None:
            async with asyncio.timeout(0.01):
                await aside.call(work)

        with pytest.raises(TimeoutError):
            asyncio.run(give_up())

    await asyncio.to_thread(asked_elsewhere)
    assert aside.hung == 1
    go.set()
    assert await asyncio.to_thread(back.wait, 10)
    for thread in threading.enumerate():
        if thread.name == "test":
            await asyncio.to_thread(thread.join, 10)
    assert aside.hung == 0


@pytest.mark.parametrize("raised", [KeyboardInterrupt("x"), asyncio.CancelledError("x"), StopIteration("x")])
async def test_what_is_the_threads_own_affair_does_not_become_the_tasks(raised: BaseException) -> None:
    """A task that saw CancelledError would think that somebody had cancelled it."""

    def raises() -> None:
        raise raised

    with pytest.raises(RuntimeError, match=f"{type(raised).__name__}: x"):
        await Aside("test").call(raises)


async def test_one_object_has_one_count() -> None:
    """And one that cannot be kept track of has a new one each time."""
    owner = threading.Event()
    assert aside_of(owner, "test") is aside_of(owner, "test")
    assert aside_of([], "test") is not aside_of([], "test")
