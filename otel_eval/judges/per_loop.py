"""Judges that outlive an event loop: a registry of judge models belongs to one loop, an evaluator goes from loop to loop."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Callable

from otel_eval.judges.registry import Judges


class LoopJudges:
    """The same judges for whoever asks them, on whichever event loop: each loop has a registry of its own, made at first use.

    For evaluators that take their judges along, from one run to the next. What must hold over all loops (a daily budget's
    store) is for ``make`` to share.
    """

    def __init__(self, make: Callable[[], Judges]) -> None:
        self._make = make

    def of_this_loop(self) -> Judges:
        """The registry of the running loop. Raises RuntimeError where none runs."""
        of_loop = _by_loop.setdefault(asyncio.get_running_loop(), {})
        if self not in of_loop:
            of_loop[self] = self._make()
        return of_loop[self]


def judges_of_this_loop() -> Judges:
    """The registry of judges that run outside of any server or run: no entries, no budgets; any litellm name."""
    return _UNCONFIGURED.of_this_loop()


async def close_judges_of_this_loop() -> None:
    """Close the connections that judges without a server or a run opened on the running loop: before it ends."""
    for judges in _by_loop.pop(asyncio.get_running_loop(), {}).values():
        await judges.aclose()


@contextlib.asynccontextmanager
async def using_judges_of_this_loop() -> AsyncIterator[None]:
    """Close those connections at the end of the block; where blocks overlap, at the end of the last."""
    loop = asyncio.get_running_loop()
    _users[loop] = _users.get(loop, 0) + 1
    try:
        yield
    finally:
        _users[loop] -= 1
        if _users[loop] == 0:
            await close_judges_of_this_loop()


_users: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, int] = weakref.WeakKeyDictionary()
_by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[LoopJudges, Judges]] = weakref.WeakKeyDictionary()
_UNCONFIGURED = LoopJudges(Judges)
