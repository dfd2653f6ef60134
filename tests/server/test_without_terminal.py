"""Whether anybody reads along does not decide whether the server runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from rich.console import Console

from otel_eval.cli.live import MOST_WAITING, LiveLines
from otel_eval.dispatch import Accepted
from otel_eval.testing.interactions import interaction
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.spans import Tool, conversation
from tests.server.test_crash import EXPORT, ended, write_config


def free_port() -> int:
    """For a server that cannot say which one it got."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def config_at(directory: Path, port: int, **sections: object) -> Path:
    config = write_config(directory, **sections)
    config.write_text(config.read_text().replace("127.0.0.1:0", f"127.0.0.1:{port}", 1))
    return config


async def judged(directory: Path, port: int) -> None:
    """Return once an Interaction that is sent there has all of its records."""
    spans = conversation(tools=[Tool(name="getOrder", arguments={"id": 1})])
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        await channel.unary_unary(EXPORT)(otlp_request(spans), wait_for_ready=True, timeout=60)
    await ended(directory / "data" / "ledger.db", {f"{spans[0].trace_id}-{spans[0].span_id}"}, evaluators=2)


@contextlib.asynccontextmanager
async def serving(config: Path, shell: str = "", **streams: Any) -> AsyncIterator[asyncio.subprocess.Process]:
    """``otel-eval serve``, with that redirection of the shell's."""
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", f'exec "$0" -m otel_eval serve --config "$1" {shell}', sys.executable, str(config)),
        env={key: value for key, value in os.environ.items() if not key.startswith("OTEL_")},
        **streams,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("processes", [1, 2])
async def test_a_terminal_that_is_closed_costs_its_lines_alone(tmp_path: Path, processes: int) -> None:
    """Interactions are judged as before, one line says that none are shown any more, and the stop is a clean one."""
    port = free_port()
    controller, terminal = pty.openpty()
    config = config_at(tmp_path, port, server={"processes": processes})
    async with serving(config, stdout=terminal, stderr=subprocess.PIPE) as process:
        os.close(terminal)
        await judged(tmp_path, port)
        os.close(controller)
        for _ in range(2):
            await judged(tmp_path, port)
        process.terminate()
        _, errors = await asyncio.wait_for(process.communicate(), 60)
    said = errors.decode().splitlines()
    assert process.returncode == 0
    assert len(said) == 2
    assert "nothing more is shown on the terminal, the server goes on: [Errno 5]" in said[0]
    assert said[1] == "stopped; what was accepted is kept"


async def test_the_terminal_may_go_with_standard_error(tmp_path: Path) -> None:
    """Then there is nobody to tell: the server goes on, and its status is that of a clean stop."""
    port = free_port()
    controller, terminal = pty.openpty()
    async with serving(config_at(tmp_path, port), stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        await judged(tmp_path, port)
        os.close(controller)
        for _ in range(2):
            await judged(tmp_path, port)
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 60) == 0


@pytest.mark.parametrize("shell", [">&-", ">&- 2>&-", ">&- 2>&- <&-", "| head -n 0", ">/dev/full 2>/dev/full"])
async def test_it_serves_where_nobody_can_read_its_first_line(tmp_path: Path, shell: str) -> None:
    """Streams that were closed from the beginning, a pipe that nobody reads, a full disk: the exit status is 0 too."""
    port = free_port()
    streams: dict[str, Any] = {}
    if shell.startswith("|"):
        reading, writing = os.pipe()
        os.close(reading)
        streams, shell = {"stdout": writing}, ""
    async with serving(config_at(tmp_path, port), shell, **streams) as process:
        if streams:
            os.close(writing)
        await judged(tmp_path, port)
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 60) == 0


async def test_a_terminal_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    """One that takes nothing (Ctrl-S): what it cannot show is left out, and said once it can be shown."""
    controller, terminal = pty.openpty()
    each = Accepted(interaction=interaction(reply="so it is " * 50), revision=1, decisions=(), disposition="judged")
    shown = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):  # EIO: the terminal was closed
            while more := os.read(controller, 65536):
                shown.extend(more)

    with os.fdopen(terminal, "w") as file:
        lines = LiveLines(Console(file=file, soft_wrap=True))
        for _ in range(MOST_WAITING * 2):
            await asyncio.wait_for(asyncio.to_thread(lines.accepted, [each]), 10)
        reading = threading.Thread(target=read)
        reading.start()
        async with asyncio.timeout(30):
            while b"are left out" not in shown:
                lines.accepted([each])
                await asyncio.sleep(0.01)
        await asyncio.to_thread(lines.close)
    await asyncio.to_thread(reading.join)
    os.close(controller)
