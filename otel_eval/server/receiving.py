"""The running server in two processes, as ``serve`` starts it: this one takes telemetry in, the judging process does
the rest.

::

    receivers -> journal <-> judging process (supervision.py, judging_process.py)

Nothing that judges is imported here. Closed in the order of the picture: receivers, judging process, journal. See
docs/decisions/two-processes.md.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from otel_eval.clock import Clock, SystemClock
from otel_eval.config import Config
from otel_eval.crashes import take_stock
from otel_eval.journal import Journal
from otel_eval.server.messages import Begin, Setup
from otel_eval.server.sending import refuse_listeners
from otel_eval.server.stages import watched
from otel_eval.server.stopping import Stopping
from otel_eval.server.storage import storage_of
from otel_eval.server.supervision import JudgingProcess
from otel_eval.server.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivingServer:
    """A server that runs. ``grpc``, ``http`` and ``api`` are the addresses that it listens on, None where it does not.

    ``exports_to`` are the endpoints that verdicts go to; none: they stay in the ledger.
    """

    grpc: str | None
    http: str | None
    api: str | None
    exports_to: tuple[str, ...]


@contextlib.asynccontextmanager
async def receiving(
    config: Config,
    *,
    setup: Setup | None = None,
    stopping: Stopping | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[ReceivingServer]:
    """Start both processes, yield once requests are taken, and stop cleanly: what was accepted is kept.

    ``setup``, a function of a module, is called in the judging process before all else. ``stopping`` is asked when that
    process gets SIGTERM or SIGINT; ending the block then is the caller's to do, who takes the signals of this process.
    Impatience kills the judging process, which loses nothing; where it is asked before the server is ready that ends
    the start, with StoppedEarly. If a stage dies, or the judging process does so again and again, the block is
    cancelled and StageDied raised.
    Raises ServerError, JournalError or ReceiverError where it cannot start.
    """
    clock = clock or SystemClock()
    tally = Tally()
    stopping = stopping or Stopping()
    async with contextlib.AsyncExitStack() as stack:
        stages = await stack.enter_async_context(watched())
        judging = JudgingProcess(Begin(config, setup), tally=tally, clock=clock, asked_to_stop=stopping.ask)
        stopping.when_impatient(judging.cut_short)
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
