"""The running server in one process: what the test kit starts, and whoever embeds it, and ``serve`` where it is told to.

::

    receivers -> journal -> what lies behind it (judging.py)

The receivers are closed first, the journal last: nothing is acknowledged that the journal does not hold, and what is under
way ends where it can be kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from otel_eval.clock import Clock, SystemClock
from otel_eval.config import Config
from otel_eval.crashes import take_stock
from otel_eval.dispatch import Dispatcher
from otel_eval.instruments import Recorder
from otel_eval.journal import Journal
from otel_eval.judges import CompletionFunction
from otel_eval.ledger import AsyncLedger
from otel_eval.pipeline import Pipeline
from otel_eval.receive.intake import Intake
from otel_eval.server.judging import judging, plan
from otel_eval.server.listening import listening
from otel_eval.server.sending import refuse_listeners
from otel_eval.server.stages import watched
from otel_eval.server.storage import storage_of
from otel_eval.server.watching import Watching


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that runs. ``grpc``, ``http`` and ``api`` are the addresses that it listens on, None where it does not.

    ``exports_to`` are the endpoints that verdicts go to; none: they stay in the ledger.
    """

    grpc: str | None
    http: str | None
    api: str | None
    exports_to: tuple[str, ...]
    journal: Journal
    ledger: AsyncLedger
    dispatcher: Dispatcher
    pipeline: Pipeline

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Every address that it listens on."""
        return tuple(address for address in (self.grpc, self.http) if address is not None)


@contextlib.asynccontextmanager
async def running(
    config: Config,
    *,
    clock: Clock | None = None,
    complete: CompletionFunction | None = None,
    watching: Watching | None = None,
    environ: Mapping[str, str] = os.environ,
) -> AsyncIterator[Server]:
    """Start every stage, yield once requests are taken, and stop cleanly: what was accepted is kept.

    ``complete`` answers instead of any configured judge model. If a stage dies, the block is cancelled and StageDied
    raised. Raises ConfigError, ServerError, JournalError, LedgerError or ReceiverError where it cannot start.
    """
    clock = clock or SystemClock()
    planned = await plan(config, complete=complete, environ=environ)
    directory = await asyncio.to_thread(storage_of, config)

    async def open_journal(recorder: Recorder) -> Journal:
        journal = await Journal.open(
            directory, clock=clock, max_bytes=config.storage.max_journal_bytes, recorder=recorder
        )
        await asyncio.to_thread(take_stock, directory, clock.now_ns())  # only now it is nobody else's
        return journal

    async with contextlib.AsyncExitStack() as stack:
        stages = await stack.enter_async_context(watched())
        behind = await stack.enter_async_context(
            judging(
                planned,
                directory=directory,
                open_journal=open_journal,
                stages=stages,
                clock=clock,
                watching=watching or Watching(),
            )
        )
        intake = Intake(
            behind.journal, recorder=behind.recorder, forwarding=config.forward.otlp is not None, clock=clock
        )
        addresses = await stack.enter_async_context(listening(config, intake))
        refuse_listeners(behind.destinations, addresses.values())
        stack.enter_context(stages.stopping())
        behind.start()
        yield Server(
            grpc=addresses.get("grpc"),
            http=addresses.get("http"),
            api=behind.api,
            exports_to=behind.exports_to,
            journal=behind.journal,
            ledger=behind.ledger,
            dispatcher=behind.dispatcher,
            pipeline=behind.pipeline,
        )
