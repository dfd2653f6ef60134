"""Time as something that is handed in, so that tests turn it instead of sleeping."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Protocol


class Clock(Protocol):
    """``monotonic`` (seconds) drives every timer; ``now_ns`` (Unix epoch) only stamps records."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...

    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch."""
        ...

    async def sleep_until(self, deadline: float) -> None:
        """Return once :meth:`monotonic` has reached ``deadline``."""
        ...


async def sleep_until_set(clock: Clock, event: asyncio.Event, deadline: float | None) -> None:
    """Return once the event is set, or the clock has reached ``deadline`` where there is one, whichever is first."""
    waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(event.wait())]
    if deadline is not None:
        waits.append(asyncio.ensure_future(clock.sleep_until(deadline)))
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now_ns(self) -> int:
        return time.time_ns()

    async def sleep_until(self, deadline: float) -> None:
        await asyncio.sleep(max(0.0, deadline - time.monotonic()))
