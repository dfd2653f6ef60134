"""The running server in two processes, as ``serve`` starts it: this one takes telemetry in, the judging process does the rest.

::

    receivers -> journal <-> judging process (supervision.py, judging_process.py)

Nothing that judges is imported here. Closed in the order of the picture: receivers, judging process, journal. See
docs/decisions/two-processes.md.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from otel_eval.clock import Clock, SystemClock
from otel_eval.config import Config
from otel_eval.deaths import take_stock
from otel_eval.journal import Journal
from otel_eval.server.messages import STOP_SIGNALS, Begin, Setup
from otel_eval.server.sending import refuse_listeners
from otel_eval.server.stages import watched
from otel_eval.server.storage import storage_of
from otel_eval.server.supervision import JudgingProcess
from otel_eval.server.tally import Tally

T = TypeVar("T")

ONE_STOP_S = 0.5
"""Signals within so long are one: launchers pass on what a terminal has sent to all of its processes already."""


class StoppedEarly(SystemExit):
    """Told to stop before it was ready. Nothing failed, so the status is 0; nobody has to catch it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivingServer:
    """A server that runs. ``grpc``, ``http`` and ``api`` are the addresses that it listens on, None where it does not.

    ``exports_to`` are the endpoints that verdicts go to; none: they stay in the ledger.
    """

    grpc: str | None
    http: str | None
    api: str | None
    exports_to: tuple[str, ...]


def _nothing() -> None:
    pass


class _Stopping:
    """Whether the server was told to stop, by a signal to either process; a second one to this process is impatience."""

    def __init__(self, asked_to_stop: Callable[[], None]) -> None:
        self._asked_to_stop = asked_to_stop
        self._asked = asyncio.Event()
        self._first: float | None = None

    def ask(self) -> None:
        """The judging process got a signal: it passes on each, also those that this process gets as well."""
        self._asked.set()
        self._asked_to_stop()

    def take_signals(self, impatient: Callable[[], None]) -> None:
        """Take what the caller's handlers took until now; theirs to do is told by ``asked_to_stop``. Stays for the loop's life."""
        loop = asyncio.get_running_loop()

        def take() -> None:
            self.ask()
            if self._first is None:
                self._first = loop.time()
            elif loop.time() - self._first >= ONE_STOP_S:
                impatient()

        with contextlib.suppress(ValueError, RuntimeError):  # not in the main thread: signals are not ours there
            for number in STOP_SIGNALS:
                loop.add_signal_handler(number, take)

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


@contextlib.asynccontextmanager
async def receiving(
    config: Config,
    *,
    setup: Setup | None = None,
    asked_to_stop: Callable[[], None] = _nothing,
    clock: Clock | None = None,
) -> AsyncIterator[ReceivingServer]:
    """Start both processes, yield once requests are taken, and stop cleanly: what was accepted is kept.

    ``setup``, a function of a module, is called in the judging process before all else. ``asked_to_stop`` is called when
    either process gets SIGTERM or SIGINT: stopping is the caller's to do. A second signal to this one kills the judging
    process, which loses nothing; before the server is ready the first one ends the start, with StoppedEarly. If a stage dies, or the judging process does so
    again and again, the block is cancelled and StageDied raised. Raises ServerError, JournalError or ReceiverError where it
    cannot start.
    """
    clock = clock or SystemClock()
    tally = Tally()
    stopping = _Stopping(asked_to_stop)
    async with contextlib.AsyncExitStack() as stack:
        stages = await stack.enter_async_context(watched())
        judging = JudgingProcess(Begin(config, setup), tally=tally, clock=clock, asked_to_stop=stopping.ask)
        stopping.take_signals(judging.cut_short)
        stack.push_async_callback(judging.close)
        await judging.begin()
        from otel_eval.receive.intake import Intake  # half a second, in which the other process imports as well
        from otel_eval.server.listening import listening

        await stopping.unless_asked(judging.prepared())
        directory = await asyncio.to_thread(storage_of, config)
        journal = await stack.enter_async_context(
            await Journal.open(directory, clock=clock, max_bytes=config.storage.max_journal_bytes, recorder=tally)
        )
        await asyncio.to_thread(take_stock, directory, clock.now_ns())
        stack.push_async_callback(judging.close)  # before the journal
        ready = await stopping.unless_asked(judging.start(directory, journal))
        stack.push_async_callback(judging.stop)
        await stack.enter_async_context(stages.running("the judging process", judging.run(directory, journal)))
        intake = Intake(journal, recorder=tally, forwarding=config.forward.otlp is not None, clock=clock)
        addresses = await stack.enter_async_context(listening(config, intake))
        refuse_listeners(ready.destinations, addresses.values())
        stack.enter_context(stages.stopping())
        yield ReceivingServer(
            grpc=addresses.get("grpc"), http=addresses.get("http"), api=ready.api, exports_to=ready.exports_to
        )
