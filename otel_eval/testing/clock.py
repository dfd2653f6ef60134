"""A clock that a test turns by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools

_START_NS = 1_750_000_000_000_000_000
_ROUNDS = 50
"""How often the loop may turn for the tasks that a step woke. A chain of awaits without I/O takes a handful."""


class ManualClock:
    """A :class:`otel_eval.clock.Clock` whose time moves only when a test moves it.

    Sleepers wake in the order of their deadlines, those with the same deadline in the order in which they went to sleep.
    ``monotonic`` starts at ``start`` seconds, ``now_ns`` at ``epoch_ns``; both move together.
    """

    def __init__(self, *, start: float = 0.0, epoch_ns: int = _START_NS) -> None:
        self._now = start
        self._origin_ns = epoch_ns - round(start * 1e9)
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._went_to_sleep = asyncio.Event()

    def monotonic(self) -> float:
        """Seconds since the start, moved by hand."""
        return self._now

    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch, moved by hand."""
        return self._origin_ns + round(self._now * 1e9)

    @property
    def sleepers(self) -> int:
        """How many tasks sleep now."""
        return sum(not future.done() for _, _, future in self._sleepers)

    @property
    def next_deadline(self) -> float | None:
        """When the next sleeper is due, or None where nobody sleeps."""
        return min((deadline for deadline, _, future in self._sleepers if not future.done()), default=None)

    async def sleep_until(self, deadline: float) -> None:
        """Return once the clock has been moved to ``deadline``; at once (after one turn of the loop) if it is there."""
        if deadline <= self._now:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (deadline, next(self._order), future))
        self._went_to_sleep.set()
        await future

    def advance(self, seconds: float) -> None:
        """Move on and wake who is due. The woken tasks run at the caller's next await, at the *new* time."""
        self._check(seconds)
        self._move_to(self._now + seconds)

    async def run_for(self, seconds: float) -> None:
        """Move on deadline by deadline, and let the woken tasks run at the time that they asked for.

        A task that goes to sleep again within the span of time is woken again: a periodic task runs as often as it would
        have. Tasks that wait for I/O or for threads are not waited for.
        """
        self._check(seconds)
        end = self._now + seconds
        await _let_tasks_run()
        while (due := self.next_deadline) is not None and due <= end:
            self._move_to(due)
            await _let_tasks_run()
        self._move_to(end)
        await _let_tasks_run()

    async def wait_for_sleepers(self, count: int = 1) -> None:
        """Return once at least ``count`` tasks sleep: then moving the clock cannot miss them."""
        while self.sleepers < count:
            self._went_to_sleep.clear()
            await self._went_to_sleep.wait()

    def _move_to(self, moment: float) -> None:
        self._now = moment
        while self._sleepers and self._sleepers[0][0] <= moment:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)

    @staticmethod
    def _check(seconds: float) -> None:
        if seconds < 0:
            raise ValueError("a clock moves forward")


async def _let_tasks_run() -> None:
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)
