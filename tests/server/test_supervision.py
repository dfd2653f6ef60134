"""The judging process is kept alive, within reason: what it dies of decides, and how often it does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from otel_eval.config import parse
from otel_eval.crashes.notes import Notes, left
from otel_eval.journal import Journal
from otel_eval.server.errors import ServerError
from otel_eval.server.messages import Begin, Setup
from otel_eval.server.stages import StageDied, watched
from otel_eval.server.supervision import (
    LOOK_EVERY_S,
    MAX_DEATHS,
    RESTART_S,
    SILENT_S,
    STEADY_S,
    TELL_OF_SILENCE_EVERY_S,
    JudgingProcess,
    stops_within,
)
from otel_eval.server.tally import Tally
from otel_eval.testing.clock import ManualClock
from tests.server.setups import exits, lives_once


@contextlib.asynccontextmanager
async def supervised(directory: Path, clock: ManualClock, setup: Setup | None = None) -> AsyncIterator[JudgingProcess]:
    """A judging process that consumes a journal, with the task that keeps it alive."""
    config = parse({"storage": {"directory": str(directory)}})
    judging = JudgingProcess(Begin(config, setup), tally=Tally(), clock=clock, asked_to_stop=lambda: None)
    async with watched() as stages, contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(judging.close)
        await judging.begin()
        await judging.prepared()
        journal = await stack.enter_async_context(await Journal.open(directory, clock=clock))
        stack.push_async_callback(judging.close)
        await judging.start(directory, journal)
        stack.push_async_callback(judging.stop)
        await stack.enter_async_context(stages.running("the judging process", judging.run(directory, journal)))
        stack.enter_context(stages.stopping())
        yield judging


def kill(judging: JudgingProcess) -> None:
    assert judging.pid is not None
    os.kill(judging.pid, signal.SIGKILL)


async def told(caplog: pytest.LogCaptureFixture, text: str, times: int = 1) -> None:
    """Return once that was logged so often, and whoever logged it has gone on to what it waits for next."""
    async with asyncio.timeout(60):
        while sum(text in message for message in caplog.messages) < times:  # noqa: ASYNC110 - a log has no event
            await asyncio.sleep(0.02)


async def restarts(clock: ManualClock, caplog: pytest.LogCaptureFixture) -> None:
    """Let each begin when its time has come; then wait for the end, which comes by itself."""
    for number, delay in enumerate(RESTART_S, start=1):
        await told(caplog, f"it is started again in {delay:g} s")
        assert sum("it is started again" in message for message in caplog.messages) == number
        clock.advance(delay)
    async with asyncio.timeout(60):
        await asyncio.Event().wait()


async def test_one_that_dies_again_and_again_stops_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It waits longer each time, then gives up and says why: a server that looks as if it judged is worse than none."""
    monkeypatch.setenv("OTEL_EVAL_TEST_MARKER", str(tmp_path / "marker"))

    async def dying() -> None:
        clock = ManualClock()
        async with supervised(tmp_path / "data", clock, lives_once) as judging:
            kill(judging)
            await restarts(clock, caplog)

    with pytest.raises(StageDied, match=f"the judging process was killed by SIGKILL, {MAX_DEATHS} times in a row"):
        await dying()


async def test_one_that_ran_a_while_is_not_given_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A death an hour is no series."""
    clock = ManualClock()
    async with supervised(tmp_path, clock) as judging:
        for times in (1, 2):
            clock.advance(STEADY_S)
            before = judging.pid
            kill(judging)
            await told(caplog, "it is started again in 1 s", times)
            clock.advance(RESTART_S[0])
            await told(caplog, "the judging process runs again", times)
            assert judging.pid != before


async def test_why_it_cannot_be_started_again_is_told_in_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The ledger broke meanwhile: its words, not an exit status."""

    async def breaking() -> None:
        clock = ManualClock()
        async with supervised(tmp_path, clock) as judging:
            kill(judging)
            await told(caplog, "it is started again")
            for file in ("ledger.db", "ledger.db-wal"):
                (tmp_path / file).write_bytes(b"no database " * 1000)
            await restarts(clock, caplog)

    with pytest.raises(StageDied, match=rf"the judging process cannot start \(.*is no ledger.*\), {MAX_DEATHS} times"):
        await breaking()


async def test_one_that_ends_before_it_is_ready_is_no_start(tmp_path: Path) -> None:
    """With its exit status, where it said nothing."""
    with pytest.raises(ServerError, match="the judging process ended with status 7 before it was ready"):
        async with supervised(tmp_path, ManualClock(), exits):
            pass


async def stopped(pid: int) -> None:
    """Return once SIGSTOP has taken hold of it."""
    async with asyncio.timeout(60):
        while " T " not in Path(f"/proc/{pid}/stat").read_text():  # noqa: ASYNC110, ASYNC240 - nobody tells of that
            await asyncio.sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_one_that_stands_still_is_told_of_and_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """After 10 s, again each minute, and once when it goes on: the same process."""
    clock = ManualClock()
    async with supervised(tmp_path, clock) as judging:
        pid = judging.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        await stopped(pid)
        await asyncio.sleep(0.1)  # what it said before has arrived
        await clock.run_for(LOOK_EVERY_S)
        await clock.run_for(SILENT_S - LOOK_EVERY_S)
        assert "has not answered" not in caplog.text
        await clock.run_for(LOOK_EVERY_S)
        assert caplog.messages == [
            "the judging process has not answered for 10 s: an evaluator that does not give way?"
        ]
        await clock.run_for(TELL_OF_SILENCE_EVERY_S)
        assert caplog.messages[1:] == [
            "the judging process has not answered for 70 s: an evaluator that does not give way?"
        ]
        os.kill(pid, signal.SIGCONT)
        async with asyncio.timeout(60):
            while len(caplog.messages) < 3:
                await asyncio.sleep(0.1)
                await clock.run_for(LOOK_EVERY_S)
        assert caplog.messages[2].startswith("the judging process answers again, after 7")
        assert judging.pid == pid


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_one_that_does_not_stop_is_killed_when_its_time_is_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not a second before what its stages may take; it is said, and the stop counts as one in good order.

    What it was busy with is not suspected of having killed it.
    """
    clock = ManualClock()
    limit = stops_within(parse({"storage": {"directory": str(tmp_path)}}))
    pids: list[int] = []

    async def stopping() -> None:
        async with supervised(tmp_path, clock) as judging:
            assert judging.pid is not None
            pids.append(judging.pid)
            Notes.begin(tmp_path, 1).put("request:1")
            os.kill(judging.pid, signal.SIGSTOP)
            await stopped(judging.pid)

    async with asyncio.timeout(60):
        stop = asyncio.create_task(stopping())
        while clock.next_deadline != limit:  # noqa: ASYNC110 - whoever waits for the end tells nobody
            await asyncio.sleep(0.02)
        clock.advance(limit - 1)
        await asyncio.sleep(0.1)
        os.kill(pids[0], 0)
        assert not stop.done()
        clock.advance(1)
        await stop
    assert caplog.messages == [
        f"the judging process has not stopped within {limit:g} s: it is killed, "
        "what it had not finished follows after the next start"
    ]
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert left(tmp_path) == ()


@pytest.mark.parametrize(
    ("sections", "seconds"),
    [
        ({}, 40),
        ({"dispatch": {"shutdown_grace": "1m"}}, 90),
        ({"exporters": {"otlp": {"endpoint": "http://collector:4317", "timeout": "2s"}}}, 24),
    ],
)
def test_what_a_stop_may_take_goes_by_the_configuration(sections: dict[str, object], seconds: float) -> None:
    """Evaluations, two exports, and 10 s for the rest."""
    assert stops_within(parse(sections)) == seconds
