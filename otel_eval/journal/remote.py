"""A journal whose consumer is another process: it reads the file by itself, and asks the writer for its changes.

::

    Journal  <- (number, change) ---------------------  RemoteConsumer
             -- (number, what it gave, or its error) ->
             -- (None, newest sequence number) ------->

Changes are made in the order in which they were asked for. What was asked for is made also where the consumer is gone by
then, as a transaction that was under way is.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from pathlib import Path
from typing import Any

from otel_eval.instruments import NullRecorder, Recorder
from otel_eval.journal import queries
from otel_eval.journal.changes import Change
from otel_eval.journal.consumer import Consumer
from otel_eval.journal.errors import JournalClosed
from otel_eval.journal.frames import Frames
from otel_eval.journal.journal import Journal
from otel_eval.journal.quarantine import FOLDER, Quarantine
from otel_eval.journal.schema import FILE, open_for_reading, storage_errors


async def serve_consumer(journal: Journal, frames: Frames) -> None:
    """Make the changes that the consumer at the other end asks for, and tell it what arrives, until it is gone.

    When this returns, all that it asked for is made, or has failed.
    """
    pending: set[asyncio.Future[int]] = set()
    with journal.telling(_Telling(frames)), contextlib.suppress(EOFError):
        while True:
            number, change = await frames.receive()
            try:
                _answer(frames, number, journal.submit(change), pending)
            except JournalClosed as error:
                frames.send((number, error))
    if pending:
        await asyncio.wait(pending)


def _answer(frames: Frames, number: int, made: asyncio.Future[int], pending: set[asyncio.Future[int]]) -> None:
    def told(done: asyncio.Future[int]) -> None:
        pending.discard(done)
        if not done.cancelled():
            frames.send((number, done.exception() or done.result()))

    pending.add(made)
    made.add_done_callback(told)


class _Telling:
    """Tells the newest number once for all entries of a transaction: their futures are done in one turn of the loop."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._loop = asyncio.get_running_loop()
        self._last = 0
        self._due = False

    def __call__(self, last: int) -> None:
        self._last = last
        if not self._due:
            self._due = True
            self._loop.call_soon(self._tell)

    def _tell(self) -> None:
        self._due = False
        self._frames.send((None, self._last))


class RemoteConsumer(Consumer):
    """The consumer of a journal that another process holds, at the other end of ``frames``."""

    def __init__(self, frames: Frames, **settings: Any) -> None:
        """Use :meth:`attach`."""
        super().__init__(**settings)
        self._frames = frames
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[int]] = {}
        self._listening = asyncio.create_task(self._listen(), name="otel-eval-journal")

    @classmethod
    async def attach(cls, directory: Path, frames: Frames, *, recorder: Recorder | None = None) -> RemoteConsumer:
        """Consume the journal in ``directory``, which the process at the other end has opened. Raises JournalError."""
        reading = await asyncio.to_thread(open_for_reading, directory / FILE)
        with storage_errors():
            last = await asyncio.to_thread(queries.newest, reading)
        return cls(
            frames,
            reading=reading,
            quarantine=Quarantine(directory / FOLDER),
            last=last,
            recorder=recorder or NullRecorder(),
        )

    async def _change(self, change: Change) -> int:
        if self._closed or self._listening.done():
            raise JournalClosed("the journal is closed")
        number = next(self._numbers)
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        self._frames.send((number, change))
        await self._frames.drain()
        return await answer

    async def _listen(self) -> None:
        try:
            while True:
                number, outcome = await self._frames.receive()
                if number is None:
                    self._arrived(outcome)
                else:
                    self._answered(self._asked.pop(number), outcome)
        except EOFError:
            pass
        finally:
            for answer in self._asked.values():
                self._answered(answer, JournalClosed("the process that holds the journal is gone"))

    async def _end(self) -> None:
        self._listening.cancel()
        await asyncio.wait({self._listening})
        await self._frames.close()

    @staticmethod
    def _answered(answer: asyncio.Future[int], outcome: int | Exception) -> None:
        if answer.done():  # whoever asked was cancelled: it is made all the same
            return
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)
