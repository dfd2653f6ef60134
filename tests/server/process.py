"""`otel-eval serve` as a process of its own, for tests that kill it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

READY = re.compile(r"grpc (\S+) http (\S+)")


class ServeProcess:
    """A started server."""

    def __init__(self, process: asyncio.subprocess.Process, grpc: str, http: str, ready: str = "") -> None:
        self.process = process
        self.ready = ready
        """The line that it printed first."""
        self.grpc = grpc
        self.http = http

    @property
    def judging(self) -> int:
        """The pid of the judging process that it has now (Linux). Raises IndexError where it has none."""
        pid = self.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    async def judging_again(self, old: int) -> int:
        """The pid of the judging process that took that one's place."""
        async with asyncio.timeout(60):
            while True:
                with contextlib.suppress(IndexError):
                    if self.judging != old:
                        return self.judging
                await asyncio.sleep(0.02)

    async def kill(self) -> None:
        """SIGKILL, as a crash would."""
        self.process.kill()
        await self.process.wait()

    async def errors(self) -> str:
        """What it wrote to standard error, once it has ended; it was started with ``errors=True``."""
        assert self.process.stderr is not None
        return (await self.process.stderr.read()).decode()

    async def output(self) -> str:
        """What it printed after the first line, once it has ended."""
        assert self.process.stdout is not None
        return (await self.process.stdout.read()).decode()

    async def terminate(self) -> int:
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return await self.process.wait()


async def start(config: Path, environ: Mapping[str, str] | None = None, *, errors: bool = False) -> ServeProcess:
    """Start it, in a process group of its own, and wait until it says that it is ready.

    ``errors`` keeps what it says on standard error.
    """
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "otel_eval", "serve", "--config", str(config)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE if errors else None,
        env={**clean, **(environ or {})},
        process_group=0,
    )
    assert process.stdout is not None
    line = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
    found = READY.search(line)
    if found is None:
        await asyncio.wait_for(process.wait(), 30)
    assert found is not None, f"not ready: {line!r}"
    return ServeProcess(process, found[1], found[2], line)


@contextlib.asynccontextmanager
async def serving(
    config: Path, environ: Mapping[str, str] | None = None, *, errors: bool = False
) -> AsyncIterator[ServeProcess]:
    """A server for the block; stopped (or, if the test killed it, left alone) at its end."""
    server = await start(config, environ, errors=errors)
    try:
        yield server
    finally:
        if server.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                server.process.kill()
            await server.process.wait()


async def gone(pid: int, within: float = 60) -> None:
    """Return once no process of that number runs; that takes so many seconds at most."""

    def runs() -> bool:
        try:
            return " Z " not in Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False

    async with asyncio.timeout(within):
        while runs():  # noqa: ASYNC110 - nobody tells of the end of a process that is not one's child
            await asyncio.sleep(0.01)
