"""Starting, stopping and breaking: in good order, with a word about it, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from otel_eval.loop_guard import LoopGuard
from otel_eval.server import stopping as stopping_module
from otel_eval.server.errors import ServerError
from otel_eval.server.stages import StageDied, watched
from otel_eval.server.stopping import StoppedEarly, Stopping
from otel_eval.storage_directory import StorageError, prepare
from otel_eval.testing.server import running
from otel_eval.testing.sink import Sink
from tests.server.process import serving, start
from tests.server.test_crash import ended, flood, write_config


@pytest.mark.parametrize("stop_at", [5, 200])
async def test_sigterm_amid_a_flood_loses_nothing(tmp_path: Path, stop_at: int) -> None:
    """Whoever read OK is judged after the restart, once; the exit status is 0."""
    config = write_config(tmp_path)
    acknowledged: set[str] = set()
    enough = asyncio.Event()
    async with serving(config) as server:
        sending = asyncio.create_task(flood(server, 400, acknowledged, enough, stop_at))
        await enough.wait()
        assert await server.terminate() == 0
        await sending
    async with serving(config):
        records = await ended(tmp_path / "data" / "ledger.db", acknowledged, evaluators=2)
    assert len(acknowledged) >= stop_at
    assert set(records.values()) == {1}


@pytest.mark.parametrize("processes", [1, 2])
async def test_whoever_never_stops_telling_it_to_stop_gets_status_0(tmp_path: Path, processes: int) -> None:
    """Signals come until the very end, when nobody takes them any more: they do not become its status."""
    config = write_config(tmp_path, server={"processes": processes})
    async with serving(config) as server:
        async with asyncio.timeout(60):
            while server.process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(server.process.pid, signal.SIGTERM)  # Popen's own would take the status away from asyncio
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(server.process.wait(), 0.0002)
        assert server.process.returncode == 0


async def test_away_from_a_terminal_it_prints_two_lines_at_most(tmp_path: Path) -> None:
    """The ready line, and where verdicts stay if nobody gets them; all else is on standard error."""
    server = await start(write_config(tmp_path), errors=True)
    assert await server.terminate() == 0
    assert (await server.output()).splitlines() == [
        "verdicts stay in the ledger: no exporter is configured (exporters.otlp, OTEL_EXPORTER_OTLP_ENDPOINT)"
    ]
    assert await server.errors() == "stopped; what was accepted is kept\n"
    with Sink() as sink:
        (tmp_path / "b").mkdir()
        server = await start(write_config(tmp_path / "b", exporters={"otlp": {"endpoint": sink.endpoint}}))
        assert await server.terminate() == 0
        assert await server.output() == ""


async def test_a_binding_to_nothing_is_said_once_at_the_start(tmp_path: Path) -> None:
    """On standard error; it is no reason not to start."""
    config = write_config(tmp_path, evaluators={"nobody": {"check": "should_not_fail"}})
    server = await start(config, errors=True)
    assert await server.terminate() == 0
    assert (await server.errors()).count("evaluators.nobody is bound to no agent") == 1


async def test_a_stage_that_dies_stops_serve_with_status_1(tmp_path: Path) -> None:
    """A journal that turns out damaged while it runs: a message that says which stage and why, and no server that
    does nothing."""
    config = write_config(tmp_path)
    server = await start(config, errors=True)
    with sqlite3.connect(tmp_path / "data" / "journal.db") as connection:
        connection.execute("CREATE TRIGGER t BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'no more'); END")
    connection.close()
    acknowledged: set[str] = set()
    await flood(server, 1, acknowledged, asyncio.Event(), 1)
    assert await asyncio.wait_for(server.process.wait(), 30) == 1
    said = await server.errors()
    assert "otel-eval: the pipeline stopped: " in said
    assert "what was accepted is kept" in said.splitlines()[-1]


@pytest.mark.parametrize(("apart_s", "times"), [(3600, 0), (0, 2)])
async def test_signals_that_come_together_are_one(monkeypatch: pytest.MonkeyPatch, apart_s: float, times: int) -> None:
    """A launcher passes on what a terminal has sent to all; those that come later are impatience, however often."""
    monkeypatch.setattr(stopping_module, "ONE_STOP_S", apart_s)
    stopping, impatient = Stopping(), []
    stopping.when_impatient(lambda: impatient.append(1))
    stopping.ask()
    await stopping.wait()
    for _ in range(3):
        stopping.signal()
    assert len(impatient) == times


async def test_a_step_of_the_start_ends_where_somebody_says_stop() -> None:
    """At once, as an exit with status 0, and what was under way is cancelled; one that is done keeps its result."""
    stopping = Stopping()
    ended: list[str] = []

    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def done() -> int:
        return 5

    assert await stopping.unless_asked(done()) == 5
    for _ in range(2):  # while it runs, and before it begins
        asyncio.get_running_loop().call_later(0.05, stopping.ask)
        with pytest.raises(StoppedEarly) as early:
            await stopping.unless_asked(hangs())
        assert early.value.code == 0
    assert ended == ["cancelled"] * 2


async def test_the_first_stage_that_dies_is_the_reason() -> None:
    """The block is cancelled, what is in it is closed, then StageDied is raised, and nothing of the cancellation is left."""
    closed: list[str] = []

    async def breaks(after: asyncio.Event) -> None:
        await after.wait()
        raise OSError("the disk is gone")

    begin = asyncio.Event()

    async def block() -> None:
        async with watched() as stages, stages.running("the first", breaks(begin)):
            begin.set()
            try:
                await asyncio.Event().wait()
            finally:
                closed.append("block")

    with pytest.raises(StageDied, match="the first stopped: OSError: the disk is gone") as died:
        await block()
    assert closed == ["block"]
    assert isinstance(died.value.__cause__, OSError)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_stage_that_dies_while_stopping_interrupts_nothing() -> None:
    """What is closed after it is closed; then it is told all the same."""
    closed: list[str] = []

    async def breaks_when_cancelled() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("too late")

    async def block() -> None:
        async with watched() as stages:
            async with stages.running("the last", breaks_when_cancelled()):
                with stages.stopping():
                    await asyncio.sleep(0)
            await asyncio.sleep(0)
            closed.append("after it")

    with pytest.raises(StageDied, match="too late"):
        await block()
    assert closed == ["after it"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("holds", [[], ["journal.db", "notes.txt"], ["loop-guard.key"]])
def test_a_storage_directory_of_ours_is_closed_to_others(
    tmp_path: Path, holds: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Whether it was made by hand and is empty, or has been ours for a while; it is said."""
    directory = tmp_path / "data"
    directory.mkdir()
    directory.chmod(0o755)
    for name in holds:
        (directory / name).touch()
    prepare(directory)
    assert mode(directory) == 0o700
    assert "was open to others (mode 0755)" in caplog.text
    caplog.clear()
    prepare(directory)
    assert caplog.text == ""


def test_a_directory_of_somebody_elses_is_not_closed_but_refused(tmp_path: Path) -> None:
    """Closing it would shut others out of their files; the message says what to do, and nothing is made in it."""
    (tmp_path / "photos").mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    with pytest.raises(StorageError, match=r"holds other files and others may enter it \(mode 0755\).*chmod 700"):
        prepare(tmp_path)
    assert mode(tmp_path) == 0o755

    async def starting() -> None:
        async with running({"storage": {"directory": str(tmp_path)}}):
            pass

    with pytest.raises(ServerError, match="give otel-eval a directory of its own"):
        asyncio.run(starting())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photos"]


async def test_replicas_share_the_loop_guards_key(tmp_path: Path) -> None:
    """By the configuration: then no file is made. The content of another's file serves as well as any text."""
    theirs = LoopGuard.from_file(tmp_path / "loop-guard.key")
    content = (tmp_path / "loop-guard.key").read_text()
    assert LoopGuard.from_text(content).owns_trace(theirs.trace_id("seed"))
    assert LoopGuard.from_text("a passphrase of ours").owns_trace(
        LoopGuard.from_text("a passphrase of ours").trace_id("x")
    )
    assert not LoopGuard.from_text("another passphrase!!").owns_trace(theirs.trace_id("seed"))
    with pytest.raises(ValueError, match="16 characters"):
        LoopGuard.from_text("short")
    async with running({"storage": {"directory": str(tmp_path / "data")}, "loop_guard": {"key": content}}):
        assert not (tmp_path / "data" / "loop-guard.key").exists()


async def test_a_secret_is_in_no_message(tmp_path: Path) -> None:
    """A key that is too short is refused without being shown."""
    config = write_config(tmp_path, loop_guard={"key": "${env:LOOP_KEY}"})
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "otel_eval", "serve", "--config", str(config),
        stderr=asyncio.subprocess.PIPE, env={**os.environ, "LOOP_KEY": "hunter2"},
    )  # fmt: skip
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert b"loop_guard.key" in errors
    assert b"hunter2" not in errors
