"""Bytes in memory: who is let in, who waits, and who is asked to come back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from otel_eval.receive import in_flight
from otel_eval.receive.in_flight import InFlight, Share
from otel_eval.receive.refusal import Code, Refused


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def of_usual_size(size: int, limit: int) -> InFlight:
    """Requests of that size have come lately, and nothing is in flight."""
    everything = InFlight(limit)
    for _ in range(400):
        with everything.share() as share:
            share.came(size)
    return everything


def overloaded(refused: pytest.ExceptionInfo[Refused]) -> bool:
    return refused.value.code is Code.OVERLOADED and refused.value.retry_after_s is not None


def test_what_comes_bit_by_bit_is_counted_as_it_comes(stack: ExitStack) -> None:
    """Past the limit it is refused, and what it had is given back at its end; the only one may be of any size."""
    everything = InFlight(10)
    first = stack.enter_context(everything.share())
    first.add(100)
    with pytest.raises(Refused) as refused, everything.share() as second:
        second.add(1)
    assert overloaded(refused)
    first.add(100)
    stack.close()
    with everything.share() as third:
        third.add(11)


async def test_as_many_are_let_in_as_there_is_room_for_by_the_usual_size(stack: ExitStack) -> None:
    """Five of 20 in 100; the sixth when one has ended, and the seventh after it."""
    everything, inside = await of_usual_size(20, 100), list[int]()
    sharing = [ExitStack() for _ in range(7)]

    async def enter(n: int) -> None:
        share = sharing[n].enter_context(everything.share())
        await share.expect()
        inside.append(n)

    tasks = [asyncio.create_task(enter(n)) for n in range(7)]
    await asyncio.wait(tasks[:5])
    await asyncio.sleep(0)
    assert inside == [0, 1, 2, 3, 4]
    sharing[2].close()
    await tasks[5]
    assert inside == [0, 1, 2, 3, 4, 5]
    sharing[4].close()
    await tasks[6]
    for each in sharing:
        each.close()


async def test_at_first_nobody_knows_and_a_quarter_of_the_limit_is_taken_for_usual(stack: ExitStack) -> None:
    """After a pause all senders come at once, with all that they have."""
    everything = InFlight(100)
    for _ in range(4):
        await stack.enter_context(everything.share()).expect()
    fifth = asyncio.create_task(stack.enter_context(everything.share()).expect())
    await asyncio.sleep(0)
    assert not fifth.done()
    stack.close()
    await fifth


async def test_larger_than_expected_is_refused_where_there_is_no_room(stack: ExitStack) -> None:
    """It is in memory by then: it is let go at once, and the next ones are expected to be as large."""
    everything = await of_usual_size(1, 100)
    first, second = (stack.enter_context(everything.share()) for _ in range(2))
    await first.expect()
    first.came(60)
    with pytest.raises(Refused) as refused:
        second.came(60)
    assert overloaded(refused)
    third = asyncio.create_task(stack.enter_context(everything.share()).expect())
    await asyncio.sleep(0)
    assert not third.done()
    stack.close()
    await third


async def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
    """And whoever has given up does not hold up the next, nor any room."""
    monkeypatch.setattr(in_flight, "WAIT_S", 0.01)
    everything = await of_usual_size(60, 100)
    stack.enter_context(everything.share()).add(60)
    with pytest.raises(Refused) as refused, everything.share() as late:
        await late.expect()
    assert overloaded(refused)
    monkeypatch.undo()

    async def waits(share: Share) -> None:
        await share.expect()

    with everything.share() as gone, everything.share() as stays:
        cancelled, waiting = asyncio.create_task(waits(gone)), asyncio.create_task(waits(stays))
        await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.wait((cancelled,))
        assert not waiting.done()
        stack.close()
        await waiting
        assert stays.expected == 60


async def test_who_says_nothing_keeps_no_room_for_long(monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
    """Nor from anybody whose bytes are there; and that size is usual no more."""
    monkeypatch.setattr(in_flight, "SILENT_S", 0.01)
    everything = InFlight(1000)
    for _ in range(4):
        await stack.enter_context(everything.share()).expect()
    stack.enter_context(everything.share()).add(900)
    async with asyncio.timeout(in_flight.WAIT_S):
        for _ in range(100):
            await stack.enter_context(everything.share()).expect()


async def test_room_is_kept_while_large_requests_come(monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
    """On a busy machine one takes long to come."""
    monkeypatch.setattr(in_flight, "SILENT_S", 30)
    everything = await of_usual_size(50, 100)
    first, second = (stack.enter_context(everything.share()) for _ in range(2))
    await first.expect()
    await second.expect()
    everything._look_at(first)
    everything._look_at(second)
    assert (first.expected, second.expected) == (50, 50)
