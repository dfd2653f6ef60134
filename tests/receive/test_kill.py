"""Real processes: killed in a flood, and sent what expands."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import grpc.aio
import pytest

from otel_eval.journal import Journal
from otel_eval.receive.otlp_answers import SERVICES
from otel_eval.testing.clock import ManualClock
from tests.receive.kit import span, traces

EXPORT = f"/{SERVICES['traces']}/Export"
PROGRAM = Path(__file__).with_name("intake_process.py")


@asynccontextmanager
async def process(directory: Path, *arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A process that takes telemetry, and its gRPC endpoint; killed in the end."""
    started = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAM), str(directory), *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert started.stdout is not None
    try:
        yield started, json.loads(await started.stdout.readline())["grpc"]
    finally:
        if started.returncode is None:
            started.kill()
        await started.wait()


async def flood(endpoint: str, sender: int, acknowledged: list[bytes], enough: asyncio.Event) -> None:
    """Send requests, each another, until the server is gone; note those that were acknowledged."""
    async with grpc.aio.insecure_channel(endpoint, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        call = channel.unary_unary(EXPORT)
        for number in range(1_000_000):
            body = traces(span(name=f"{sender}/{number}/" + "x" * 2000))
            try:
                await call(body)
            except grpc.aio.AioRpcError:
                return
            acknowledged.append(body)
            if len(acknowledged) >= 300:
                enough.set()


@pytest.mark.parametrize("round_", range(2))
async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, round_: int) -> None:
    """After kill -9 in the middle of a flood every acknowledged request is in the journal, exactly once."""
    acknowledged: list[bytes] = []
    enough = asyncio.Event()
    async with process(tmp_path) as (server, endpoint):
        senders = [asyncio.create_task(flood(endpoint, sender, acknowledged, enough)) for sender in range(8)]
        await asyncio.wait_for(enough.wait(), 60)
        server.kill()
        await asyncio.gather(*senders)
    held: Counter[bytes] = Counter()
    async with await Journal.open(tmp_path, clock=ManualClock()) as journal:
        async for entry in journal.entries():
            held[entry.request.body] += 1
            if entry.seq == journal.last_seq:
                break
    assert [held[body] for body in acknowledged] == [1] * len(acknowledged)
    assert len(held) <= len(acknowledged) + len(senders)
    assert set(held.values()) == {1}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads peak memory from /proc")
async def test_a_grpc_bomb_is_refused_without_being_expanded(tmp_path: Path) -> None:
    """100 KB that would expand to 100 MB cost the process far less, are RESOURCE_EXHAUSTED, and it goes on."""
    async with process(tmp_path, str(1 << 20)) as (server, endpoint):
        options = [("grpc.max_send_message_length", -1)]
        async with grpc.aio.insecure_channel(endpoint, options=options) as channel:
            call = channel.unary_unary(EXPORT)
            assert await call(traces(span())) == b""
            before = peak_bytes(server.pid)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call(bytes(100 << 20), compression=grpc.Compression.Gzip)
            assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert peak_bytes(server.pid) - before < 30 << 20
            assert await call(traces(span())) == b""


def peak_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no peak memory in /proc")
