"""Blocking calls beside the event loop, each in a thread of its own.

Not in the loop's executor: that has few threads, which calls that hang would use up for everybody, and closing the loop
waits for all of them. A thread cannot be ended from outside: one that its caller gave up on goes on unheard, and is counted
until it comes back.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")
Ending: TypeAlias = "tuple[Any, BaseException | None]"
"""What a call returned, or what it raised."""

MAX_HUNG = 4
"""Past so many calls that never came back, whoever does not come back is not to be called any more."""


class Aside:
    """Calls functions for one caller, on whatever event loop. ``name`` is what its threads are called."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._hung = 0
        self._counting = threading.Lock()

    @property
    def hung(self) -> int:
        """Calls that were given up on (cancelled, or past a timeout) and have not come back."""
        return self._hung

    async def call(self, function: Callable[[], Result]) -> Result:
        """What the function returns; it sees the caller's context variables. Raises what it raises.

        What is the thread's own affair (KeyboardInterrupt, CancelledError, StopIteration) comes as a RuntimeError.
        """
        value, error = await self.ending(function)
        if error is not None:
            raise _transferable(error)
        result: Result = value
        return result

    async def ending(self, function: Callable[[], Any]) -> Ending:
        """The same as a pair, whatever the function raises. Raises CancelledError alone, where the caller is cancelled."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Ending] = loop.create_future()
        context = contextvars.copy_context()

        came_back = given_up = False

        def deliver(ending: Ending) -> None:
            if not ended.done():
                ended.set_result(ending)

        def work() -> None:
            nonlocal came_back
            ending = context.run(_to_the_end, function)
            with self._counting:
                came_back = True
                self._hung -= given_up
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(deliver, ending)

        threading.Thread(target=work, name=self._name, daemon=True).start()
        try:
            return await ended
        except asyncio.CancelledError:
            with self._counting:
                given_up = not came_back
                self._hung += given_up
            raise


_asides: weakref.WeakKeyDictionary[Any, Aside] = weakref.WeakKeyDictionary()


def aside_of(owner: object, name: str) -> Aside:
    """The instance that all calls into ``owner`` share, so that those of them that hang are counted together.

    Where the owner is not hashable or takes no weak reference, a new one for this call alone.
    """
    try:
        return _asides.setdefault(owner, Aside(name))
    except TypeError:  # not hashable, or not to be referred to weakly
        return Aside(name)


def _to_the_end(function: Callable[[], Any]) -> Ending:
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - carried to the task that waits for it
        return None, error


def _transferable(error: BaseException) -> BaseException:
    """A coroutine cannot raise StopIteration, and KeyboardInterrupt or CancelledError of a thread are not the task's."""
    if isinstance(error, Exception | SystemExit) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
