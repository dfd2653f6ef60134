"""``otel-eval delete`` beside a running server: what is deleted does not come back, by whatever arrives or restarts."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import Result
from typer.testing import CliRunner

from otel_eval.cli.main import app
from otel_eval.clock import SystemClock
from otel_eval.journal import Journal
from otel_eval.ledger import Ledger
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.sink import Sink
from otel_eval.testing.spans import Tool, conversation
from tests.server.process import ServeProcess, gone, serving
from tests.server.test_crash import EXPORT, ended, write_config

SETTLED = {"completion": {"settle": "300ms", "settle_across_processes": "600ms", "idle": "1h"}}


async def export(server: ServeProcess, *bodies: bytes) -> None:
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        for body in bodies:
            await channel.unary_unary(EXPORT)(body)


async def delete(config: Path, *options: str) -> dict[str, Any]:
    """What the command says, as a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "otel_eval", "delete", "--config", str(config), "--yes", "--format", "json", *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    found: dict[str, Any] = json.loads(output)
    return found


def asked_in(data: Path) -> set[str | None]:
    """What the stored Interactions were asked."""
    with Ledger.open(f"sqlite:///{data}/ledger.db", create=False) as ledger:
        return {stored.asked for stored in ledger.interactions()}


def on_disk(data: Path, text: str) -> list[str]:
    return [path.name for path in data.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def id_of(spans: tuple[Any, ...]) -> str:
    return f"{spans[0].trace_id}-{spans[0].span_id}"


@pytest.mark.parametrize("deep", ["", "d" * 120], ids=["path", "long-path"])
async def test_a_late_span_does_not_bring_it_back(tmp_path: Path, deep: str) -> None:
    """Neither at once nor after a kill: its trace counts as closed. The path may be longer than a socket's can be."""
    data = tmp_path / deep / "data"
    config = write_config(tmp_path, storage={"directory": str(data)}, **SETTLED)
    mine = conversation(asked="SECRET", session="s-1", tools=[Tool(name="getOrder")])
    later, last = conversation(asked="then"), conversation(asked="at last")
    async with serving(config) as server:
        await export(server, otlp_request(mine))
        await ended(data / "ledger.db", {id_of(mine)}, evaluators=2)
        deleted = await delete(config, "--session", "s-1")
        assert (deleted["interactions"], deleted["evaluations"]) == (1, 2)
        assert on_disk(data, "SECRET") == []
        await export(server, otlp_request(mine[1:]), otlp_request(mine), otlp_request(later))
        await ended(data / "ledger.db", {id_of(later)}, evaluators=2)
        assert asked_in(data) == {"then"}
        await server.kill()
    async with serving(config) as server:
        await export(server, otlp_request(mine[:1]), otlp_request(last))
        await ended(data / "ledger.db", {id_of(last)}, evaluators=2)
        assert asked_in(data) == {"then", "at last"}


async def test_what_is_not_put_together_yet_is_forgotten_in_memory_too(tmp_path: Path) -> None:
    """By the session that its first spans named; other traces of the same requests are judged."""
    config = write_config(tmp_path, **SETTLED)
    data = tmp_path / "data"
    parent = conversation()[0]
    mine = conversation(asked="SECRET", session="s-1", parent=parent)
    other = conversation(asked="Where is it?")
    async with serving(config) as server:
        await export(server, otlp_request([*mine, *other]))
        await ended(data / "ledger.db", {id_of(other)}, evaluators=2)
        assert asked_in(data) == {"Where is it?"}
        deleted = await delete(config, "--session", "s-1")
        assert (deleted["interactions"], deleted["traces"]) == (0, 1)
        assert on_disk(data, "SECRET") == []
        await export(server, otlp_request([parent]))
        then = conversation(asked="then")
        await export(server, otlp_request(then))
        await ended(data / "ledger.db", {id_of(then)}, evaluators=2)
        assert asked_in(data) == {"Where is it?", "then"}


async def test_what_waits_to_be_forwarded_goes_on_without_it(tmp_path: Path) -> None:
    """Also the request that is tried again and again while the next endpoint is down."""
    with Sink() as sink:
        config = write_config(tmp_path, forward={"otlp": {"endpoint": sink.endpoint}}, **SETTLED)
        mine, other = conversation(asked="SECRET", session="s-1"), conversation(asked="Where is it?")
        await asyncio.to_thread(sink.stop)
        async with serving(config) as server:
            await export(server, otlp_request([*mine, *other]), otlp_request(mine))
            await ended(tmp_path / "data" / "ledger.db", {id_of(mine), id_of(other)}, evaluators=2)
            await delete(config, "--session", "s-1")
            assert on_disk(tmp_path / "data", "SECRET") == []
            await asyncio.to_thread(sink.start)
            await sink.wait_for(lambda sink: len(sink.requests) == 1, timeout=30)
            then = conversation(asked="then")
            await export(server, otlp_request(then))
            await sink.wait_for(lambda sink: then[0].span_id in {span.span_id for span in sink.spans})
        assert {span.trace_id for span in sink.spans} == {other[0].trace_id, then[0].trace_id}


def deletes(config: Path, *options: str) -> Result:
    """The command, in this process: it asks within milliseconds."""
    return CliRunner().invoke(app, ["delete", "--config", str(config), "--yes", "--format", "json", *options])


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_a_judging_process_that_is_started_again_is_waited_for(tmp_path: Path) -> None:
    """A server is there, and its control socket is not: the deletion is done once it is, in its memory as well."""
    config = write_config(tmp_path, **SETTLED)
    mine = conversation(asked="SECRET", session="s-1")
    async with serving(config) as server:
        await export(server, otlp_request(mine))
        await ended(tmp_path / "data" / "ledger.db", {id_of(mine)}, evaluators=2)
        killed = server.judging
        os.kill(killed, signal.SIGKILL)
        await gone(killed)
        result = await asyncio.to_thread(deletes, config, "--session", "s-1")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["interactions"] == 1
        assert await server.judging_again(killed) != killed
        await export(server, otlp_request(mine))
        then = conversation(asked="then")
        await export(server, otlp_request(then))
        await ended(tmp_path / "data" / "ledger.db", {id_of(then)}, evaluators=2)
    assert asked_in(tmp_path / "data") == {"then"}


async def test_who_holds_the_directory_and_lets_go_is_waited_for(tmp_path: Path) -> None:
    """A server that stops, or another deletion: what is left is deleted here."""
    with Ledger.open(f"sqlite:///{tmp_path}/data/ledger.db"):
        pass
    async with await Journal.open(tmp_path / "data", clock=SystemClock()):
        deleting = asyncio.create_task(asyncio.to_thread(deletes, write_config(tmp_path), "--user", "ada"))
        await asyncio.wait([deleting], timeout=0.5)
        assert not deleting.done()
    assert (await deleting).exit_code == 0


async def test_who_holds_the_directory_without_answering_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit status 1 and a message, no traceback, once it was waited for."""
    monkeypatch.setattr("otel_eval.cli.delete.PATIENCE_S", 0.3)
    async with await Journal.open(tmp_path / "data", clock=SystemClock()):
        result = await asyncio.to_thread(deletes, write_config(tmp_path), "--user", "ada")
    assert result.exit_code == 1
    assert "does not answer" in result.stderr
    assert "Traceback" not in result.stderr
