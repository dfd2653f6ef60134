"""Something arrived in a thread; somebody waits for it in an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable


class Arrivals:
    """Wakes waiting tasks, of any event loop, whenever any thread says that something changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def notify(self) -> None:
        """Have every waiter look again."""
        with self._lock:
            for loop, event in self._waiting:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)

    async def wait_for(self, condition: Callable[[], bool], timeout: float, found: Callable[[], str]) -> None:  # noqa: ASYNC109 - a test says how long at the call
        """Return once ``condition`` holds. Raises TimeoutError after ``timeout`` seconds, with what was ``found``."""
        waiter = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.append(waiter)
        try:
            async with asyncio.timeout(timeout):
                while not condition():
                    await waiter[1].wait()
                    waiter[1].clear()
        except TimeoutError:
            raise TimeoutError(f"after {timeout:g} s: {found()}") from None
        finally:
            with self._lock:
                self._waiting.remove(waiter)
