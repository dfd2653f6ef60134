"""`otel-eval serve`: the server, until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from otel_eval.cli.live import LiveLines
from otel_eval.cli.stored import fail
from otel_eval.config import Config, ConfigError, load
from otel_eval.journal import JournalError
from otel_eval.ledger import LedgerError
from otel_eval.receive.listener import ReceiverError
from otel_eval.server.errors import ServerError
from otel_eval.server.running import Server, running
from otel_eval.server.stages import StageDied
from otel_eval.server.watching import Watching

CANNOT_START = (ConfigError, ServerError, JournalError, LedgerError, ReceiverError)


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
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    try:
        loaded = load(config)
        asyncio.run(_serve(loaded, lines=LiveLines() if sys.stdout.isatty() and not quiet else None))
    except CANNOT_START as error:
        raise fail(str(error)) from error
    except StageDied as error:
        raise fail(f"{error}; what was accepted is kept, start it again", status=1) from error


async def _serve(config: Config, lines: LiveLines | None) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    watching = Watching() if lines is None else Watching(accepted=lines.accepted, stored=lines.stored)
    async with running(config, watching=watching) as server:
        print(ready_line(server), flush=True)
        if not server.exports_to:
            print(
                "verdicts stay in the ledger: no exporter is configured (exporters.otlp, OTEL_EXPORTER_OTLP_ENDPOINT)"
            )
            sys.stdout.flush()
        await stopping.wait()
    print("stopped; what was accepted is kept", file=sys.stderr, flush=True)


def ready_line(server: Server) -> str:
    """The one line that says where to send to, and where verdicts go."""
    listening = [f"{name} {address}" for name, address in (("grpc", server.grpc), ("http", server.http)) if address]
    return f"otel-eval is ready: {' '.join(listening)} (pid {os.getpid()})"
