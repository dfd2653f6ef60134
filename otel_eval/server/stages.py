"""Tasks that run beside the server's block: one that dies takes the server down, with its error, in good order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any

log = logging.getLogger("otel_eval.server")


class StageDied(Exception):
    """A stage of the running server broke, so that the server stopped; the message can be shown as it is."""


class Stages:
    """The stages of one server. Made in the task that runs the block, by :func:`watched`."""

    def __init__(self) -> None:
        self._block = asyncio.current_task()
        self._stopping = False
        self.died: tuple[str, BaseException] | None = None

    @contextlib.asynccontextmanager
    async def running(self, name: str, work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Run it until the block ends; then it is cancelled, and has ended when this returns."""
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(self._ended)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """From the end of this block on the server is being stopped: what dies then interrupts nothing."""
        try:
            yield
        finally:
            self._stopping = True

    def end(self, name: str, error: BaseException) -> None:
        """That stage died: the block is cancelled, unless it has ended. The first one is the reason that is told."""
        if not isinstance(_root(error), StageDied):  # else it was logged where it happened
            log.error("%s stopped, and so does the server", name, exc_info=error)
        if self.died is not None:
            return
        self.died = (name, error)
        if self._block is not None and not self._stopping:
            self._block.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.end(task.get_name(), error)


@contextlib.asynccontextmanager
async def watched() -> AsyncIterator[Stages]:
    """The outermost block of a server. Raises :class:`StageDied` once everything in it is closed, if a stage died."""
    stages = Stages()
    try:
        yield stages
    except BaseException as error:
        if stages.died is None:
            raise
        if isinstance(error, asyncio.CancelledError) and stages._block is not None:
            stages._block.uncancel()
        raise _told(*stages.died) from stages.died[1]
    if stages.died is not None:
        raise _told(*stages.died) from stages.died[1]


def _told(name: str, error: BaseException) -> StageDied:
    root = _root(error)
    return StageDied(str(root) if isinstance(root, StageDied) else f"{name} stopped: {type(root).__name__}: {root}")


def _root(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
