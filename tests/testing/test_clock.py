import asyncio

import pytest

from otel_eval.testing.clock import ManualClock


async def test_sleepers_wake_in_the_order_of_their_deadlines():
    """Moving the clock wakes who is due, earliest first, and leaves the others asleep."""
    clock, woke = ManualClock(), []

    async def sleeper(name: str, deadline: float) -> None:
        await clock.sleep_until(deadline)
        woke.append((name, clock.monotonic()))

    async with asyncio.TaskGroup() as group:
        group.create_task(sleeper("late", 3))
        group.create_task(sleeper("early", 1))
        group.create_task(sleeper("far", 9))
        await clock.wait_for_sleepers(3)
        await clock.run_for(5)
        assert woke == [("early", 1), ("late", 3)]
        assert clock.sleepers == 1
        assert clock.next_deadline == 9
        await clock.run_for(4)
    assert woke[-1] == ("far", 9)


async def test_a_periodic_task_runs_as_often_as_it_would_have():
    """run_for steps from deadline to deadline, so that a task that sleeps again is woken again."""
    clock, ticks = ManualClock(), []

    async def periodic() -> None:
        while True:
            await clock.sleep_until(clock.monotonic() + 10)
            ticks.append(clock.monotonic())

    task = asyncio.create_task(periodic())
    await clock.run_for(35)
    task.cancel()
    assert ticks == [10, 20, 30]


async def test_advance_wakes_at_the_new_time():
    """advance is for code that is not awaiting: the woken task sees the time after the whole step."""
    clock = ManualClock()
    task = asyncio.create_task(clock.sleep_until(1))
    await clock.wait_for_sleepers()
    clock.advance(5)
    await task
    assert clock.monotonic() == 5


async def test_a_cancelled_sleeper_is_forgotten():
    """Cancellation reaches the sleeper, and the clock does not count it any more."""
    clock = ManualClock()
    task = asyncio.create_task(clock.sleep_until(1))
    await clock.wait_for_sleepers()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert clock.sleepers == 0
    await clock.run_for(2)


def test_both_readings_move_together():
    """now_ns moves by the same amount as monotonic, in nanoseconds."""
    clock = ManualClock(start=100.0, epoch_ns=1_000)
    clock.advance(1.5)
    assert (clock.monotonic(), clock.now_ns()) == (101.5, 1_500_001_000)
    with pytest.raises(ValueError, match="forward"):
        clock.advance(-1)
