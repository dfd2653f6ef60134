"""Whether a server was told to stop, and whether whoever said so has lost patience. Signals are taken by ``serve`` alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

ONE_STOP_S = 0.5
"""Signals within so long are one: launchers pass on what a terminal has sent to all of its processes already."""


class StoppedEarly(SystemExit):
    """Told to stop before it was ready. Nothing failed, so the status is 0; nobody has to catch it."""


class Stopping:
    """Of one server, on one event loop."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._first: float | None = None
        self._impatient: list[Callable[[], None]] = []

    def ask(self) -> None:
        """Somebody wants it to stop; as often as they like."""
        self._asked.set()

    def signal(self) -> None:
        """This process got SIGTERM or SIGINT: the first one asks, a second one after :data:`ONE_STOP_S` is impatience."""
        self.ask()
        now = asyncio.get_running_loop().time()
        if self._first is None:
            self._first = now
        elif now - self._first >= ONE_STOP_S:
            for cut_short in self._impatient:
                cut_short()

    def when_impatient(self, cut_short: Callable[[], None]) -> None:
        """Call that for each signal that says so."""
        self._impatient.append(cut_short)

    async def wait(self) -> None:
        """Return once somebody asked."""
        await self._asked.wait()

    async def unless_asked(self, step: Coroutine[Any, Any, T]) -> T:
        """Do it, while nobody says stop. Raises StoppedEarly, at once, where somebody does."""
        done, asked = asyncio.ensure_future(step), asyncio.ensure_future(self._asked.wait())
        try:
            await asyncio.wait((done, asked), return_when=asyncio.FIRST_COMPLETED)
            if done.done():
                return done.result()
            raise StoppedEarly(0)
        finally:
            for each in (done, asked):
                each.cancel()
            await asyncio.wait((done, asked))
