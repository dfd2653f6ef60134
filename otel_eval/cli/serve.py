"""`otel-eval serve`: the server, until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Protocol

import typer

from otel_eval.cli.exits import fail
from otel_eval.cli.judging import log_to_stderr, on_terminal, quietly
from otel_eval.cli.streams import say
from otel_eval.config import Config, ConfigError
from otel_eval.config.starting import load_to_start
from otel_eval.journal import JournalError
from otel_eval.receive.listener import ReceiverError
from otel_eval.server.errors import ServerError
from otel_eval.server.messages import STOP_SIGNALS, Setup
from otel_eval.server.presence import LOSS
from otel_eval.server.receiving import receiving
from otel_eval.server.stages import StageDied
from otel_eval.server.stopping import Stopping

CANNOT_START = (ConfigError, ServerError, JournalError, ReceiverError)


class Serving(Protocol):
    """What is said of a server that runs, in whichever number of processes."""

    @property
    def grpc(self) -> str | None: ...
    @property
    def http(self) -> str | None: ...
    @property
    def api(self) -> str | None: ...
    @property
    def exports_to(self) -> tuple[str, ...]: ...


def serve(
    config: Annotated[
        Path | None, typer.Option("--config", help="The configuration.  [default: ./otel-eval.yaml, else the defaults]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No line per Interaction, also on a terminal.")] = False,
) -> None:
    """Receive OTLP, judge what arrives, send verdicts back out; until SIGTERM or Ctrl-C.

    Prints one line when it takes requests. On a terminal, a line per Interaction follows.

    Exit status: 0 when it was stopped; 1 where a part of it broke; 2 where it cannot start.

    Example: otel-eval serve --config otel-eval.yaml
    """
    log_to_stderr()
    try:
        # What `use` names is imported where it runs, and nowhere else.
        loaded = load_to_start(config, imports=False)
        asyncio.run(_serve(loaded, on_terminal if sys.stdout.isatty() and not quiet else quietly))
    except CANNOT_START as error:
        raise fail(str(error)) from error
    except StageDied as error:
        kept = "" if LOSS in str(error) else "; what was accepted is kept, start it again"
        raise fail(f"{error}{kept}", status=1) from error


async def _serve(config: Config, setup: Setup) -> None:
    stopping = Stopping()
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        # Not by add_signal_handler: taking that back gives the signal its default for a moment, which would become the status.
        signal.signal(number, lambda *_: _tell(loop, stopping))
    async with _started(config, setup, stopping) as server:
        say(ready_line(server), sys.stdout)
        if not server.exports_to:
            say(
                "verdicts stay in the ledger: no exporter is configured (exporters.otlp, OTEL_EXPORTER_OTLP_ENDPOINT)",
                sys.stdout,
            )
        await stopping.wait()
    say("stopped; what was accepted is kept", sys.stderr)
    _end_at_a_signal()


def _tell(loop: asyncio.AbstractEventLoop, stopping: Stopping) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: what runs now is the way out, for another reason
        loop.call_soon_threadsafe(stopping.signal)


def _end_at_a_signal() -> None:
    """All is done and kept: whoever tells it to stop once more need not wait for the interpreter, and it did not fail."""
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: os._exit(0))
    atexit.register(_ignore_signals)


def _ignore_signals() -> None:
    """The last that the interpreter does with handlers is to give signals their default, which would become the status."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _started(config: Config, setup: Setup, stopping: Stopping) -> contextlib.AbstractAsyncContextManager[Serving]:
    return (
        _in_one_process(config, setup)
        if config.server.processes == 1
        else receiving(config, setup=setup, stopping=stopping)
    )


@contextlib.asynccontextmanager
async def _in_one_process(config: Config, setup: Setup) -> AsyncIterator[Serving]:
    from otel_eval.ledger import LedgerError  # these bring what the receiving process of two does without
    from otel_eval.server.running import running

    try:
        async with running(config, watching=setup()) as server:
            yield server
    except LedgerError as error:
        raise ServerError(str(error)) from error


def ready_line(server: Serving) -> str:
    """The one line that says where to send to, and where verdicts go."""
    addresses = (("grpc", server.grpc), ("http", server.http), ("api", server.api))
    listening = [f"{name} {address}" for name, address in addresses if address]
    return f"otel-eval is ready: {' '.join(listening)} (pid {os.getpid()})"
