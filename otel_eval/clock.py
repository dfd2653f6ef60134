"""Time as something that is handed in, so that tests turn it instead of sleeping."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


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


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now_ns(self) -> int:
        return time.time_ns()

    async def sleep_until(self, deadline: float) -> None:
        await asyncio.sleep(max(0.0, deadline - time.monotonic()))
