"""One life of the judging process, as the receiving process sees it: from a fresh interpreter to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from otel_eval.journal import Journal
from otel_eval.journal.frames import Frames, pair
from otel_eval.journal.remote import serve_consumer
from otel_eval.server import spawned
from otel_eval.server.errors import ServerError
from otel_eval.server.messages import (
    STOP_SIGNALS,
    Alive,
    Begin,
    CannotStart,
    Counted,
    Died,
    Go,
    Prepared,
    Ready,
    Stop,
    StopAsked,
)
from otel_eval.server.tally import Tally

T = TypeVar("T", Prepared, Ready)

log = logging.getLogger("otel_eval.server")

LAST_WORDS_S = 2.0
"""How long is waited for what an ended process had said: it is there at once, unless children of its own hold its sockets."""

CLEANLY = "ended with status 0"


class Life:
    """Made by :meth:`begin`; :meth:`close` it in the end."""

    def __init__(
        self, process: asyncio.subprocess.Process, control: Frames, journal: Frames, asked_to_stop: Callable[[], None]
    ) -> None:
        """Use :meth:`begin`."""
        self._process = process
        self._control = control
        self._journal = journal
        self._asked_to_stop = asked_to_stop
        self._answers: asyncio.Queue[Prepared | Ready] = asyncio.Queue()
        self._tasks = {asyncio.create_task(self._listen(), name="otel-eval-judging")}
        self._ending = asyncio.create_task(self._end(), name="otel-eval-judging-end")
        self._is_ready = False
        self.signs = 0
        """How often it said that it is alive: as long as this grows, its event loop turns."""
        self.died: str | None = None
        """What it said of a stage that broke."""
        self.refused: str | None = None
        """What it said of why it cannot start."""

    @classmethod
    async def begin(cls, begin: Begin, asked_to_stop: Callable[[], None]) -> Life:
        """Start the interpreter and tell it what to run. It execs at once: gRPC's threads would not survive a mere fork.

        ``asked_to_stop`` is called for a signal that it got. Raises ServerError where no process can be made.
        """
        control, their_control = pair()
        journal, their_journal = pair()
        with contextlib.closing(their_control), contextlib.closing(their_journal):
            frames = await Frames.over(control), await Frames.over(journal)
            try:
                process = await _spawn(their_control.fileno(), their_journal.fileno())
            except OSError as error:
                for each in frames:
                    await each.close()
                raise ServerError(f"the judging process cannot be started: {error}") from error
        life = cls(process, *frames, asked_to_stop)
        life._control.send(list(sys.path))
        life._control.send(begin)
        return life

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_ready(self) -> bool:
        """Whether it runs, and all that is to run in it."""
        return self._is_ready and self._process.returncode is None

    async def prepared(self) -> None:
        """Return once it finds nothing wrong with what to run. Raises ServerError, with its words where it had any."""
        await self._expect(Prepared)

    async def ready(self, directory: Path, journal: Journal, api: str | None = None) -> Ready:
        """Let it consume the open journal; return once all of it runs. Raises ServerError as :meth:`prepared` does.

        ``api``: where the API of an earlier life listened.
        """
        serving = asyncio.create_task(serve_consumer(journal, self._journal), name="otel-eval-consumer")
        serving.add_done_callback(self._served)
        self._tasks.add(serving)
        self._control.send(Go(directory, api))
        ready = await self._expect(Ready)
        self._is_ready = True
        return ready

    async def ended(self) -> str:
        """Return when it has ended and the journal has made what it asked for; how it ended, as half a sentence."""
        await asyncio.shield(self._ending)
        assert self._process.returncode is not None
        return _how(self._process.returncode)

    def tell(self, tally: Tally) -> None:
        """Hand over what was counted."""
        self._control.send(Counted(tally.take()))

    def stop(self) -> None:
        """Have it close everything and exit."""
        self._control.send(Stop())

    @property
    def runs(self) -> bool:
        """Whether there is a process, ready or not."""
        return self._process.returncode is None

    def kill(self) -> None:
        """Kill the process where it still runs. Nothing is lost: what it had not finished is done again."""
        if self.runs:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """Kill the process where it still runs, and return when it has ended."""
        self.kill()
        await asyncio.shield(self._ending)

    async def _expect(self, kind: type[T]) -> T:
        answer = asyncio.create_task(self._answers.get())
        try:
            await asyncio.wait({answer, self._ending}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done() and isinstance(found := answer.result(), kind):
                return found
            raise ServerError(self.refused or f"the judging process {await self.ended()} before it was ready")
        finally:
            answer.cancel()

    async def _listen(self) -> None:
        with contextlib.suppress(EOFError):
            while True:
                match await self._control.receive():
                    case Prepared() | Ready() as answer:
                        self._answers.put_nowait(answer)
                    case CannotStart(message):
                        self.refused = message
                    case Died(message):
                        self.died = message
                    case StopAsked():
                        self._asked_to_stop()
                    case Alive():
                        self.signs += 1

    async def _end(self) -> None:
        await self._process.wait()
        _, speaking = await asyncio.wait(self._tasks, timeout=LAST_WORDS_S)
        for task in speaking:
            task.cancel()
        for frames in (self._control, self._journal):
            with contextlib.suppress(TimeoutError):  # children of its own hold the other end, and read nothing
                await asyncio.wait_for(frames.close(), LAST_WORDS_S)

    def _served(self, serving: asyncio.Task[None]) -> None:
        """It cannot go on without the journal: a fault of ours between the two ends it."""
        if not serving.cancelled() and (error := serving.exception()) is not None:
            log.error("the judging process is ended: it cannot be understood", exc_info=error)
            self.kill()


def _how(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:  # a real-time signal has no name
        return f"was killed by signal {-status}"


async def _spawn(*descriptors: int) -> asyncio.subprocess.Process:
    # Blocked, so that what a terminal or a supervisor sends to all processes at once waits in there until it can be taken.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", spawned.__file__, *map(str, descriptors), str(os.getpid())),
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=descriptors,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
