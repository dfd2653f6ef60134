"""One process takes telemetry in, another judges: either may be killed, or told to stop, at any moment."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc
import pytest

from otel_eval.journal import JournalLocked
from otel_eval.journal.lock import DirectoryLock
from otel_eval.ledger import Ledger
from otel_eval.server.stopping import ONE_STOP_S
from otel_eval.server.supervision import LATER
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.sink import Sink
from otel_eval.testing.spans import Tool, conversation
from tests.server.process import ServeProcess, gone, serving, start
from tests.server.test_crash import EXPORT, ended, flood, write_config

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


async def export(server: ServeProcess, body: bytes) -> None:
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        await channel.unary_unary(EXPORT)(body)


def whole(number: int = 0) -> tuple[bytes, str]:
    """A request with one Interaction, and its id."""
    spans = conversation(asked=f"Where is order {number}?", tools=[Tool(name="getOrder", arguments={"id": number})])
    return otlp_request(spans), f"{spans[0].trace_id}-{spans[0].span_id}"


@pytest.mark.parametrize("kill_at", [5, 200])
async def test_a_judging_process_that_is_killed_costs_nothing(tmp_path: Path, kill_at: int) -> None:
    """Nobody who sends notices, it is started again, and every Interaction is judged once; a stop is as clean as ever."""
    acknowledged: set[str] = set()
    enough = asyncio.Event()
    async with serving(write_config(tmp_path), errors=True) as server:
        first = server.judging
        sending = asyncio.create_task(flood(server, 400, acknowledged, enough, kill_at))
        await enough.wait()
        os.kill(first, signal.SIGKILL)
        await sending
        assert len(acknowledged) == 400
        records = await ended(tmp_path / "data" / "ledger.db", acknowledged, evaluators=2)
        assert server.judging != first
        assert await server.terminate() == 0
        said = await server.errors()
    assert set(records.values()) == {1}
    assert "the judging process was killed by SIGKILL: it is started again in 1 s, telemetry is taken meanwhile" in said
    assert said.count("the judging process runs again") == 1


async def test_an_orphan_ends_at_once_and_holds_nothing(tmp_path: Path) -> None:
    """kill -9 of the process that was started: the directory is free as soon as it is gone, and the other one follows."""
    async with serving(write_config(tmp_path)) as server:
        judging = server.judging
        with pytest.raises(JournalLocked, match=f"process {server.process.pid}"):
            DirectoryLock(tmp_path / "data")
        await server.kill()
        DirectoryLock(tmp_path / "data").release()
        await gone(judging)


@pytest.mark.parametrize(
    "work",
    ["while time.monotonic() < end: pass", "re.match(r'(a+)+$', 'a' * 60 + 'b')"],
    ids=["gives way", "holds the interpreter's lock"],
)
async def test_an_orphan_ends_also_while_it_is_busy(tmp_path: Path, work: str) -> None:
    """An evaluator that computes for a minute, or for ever, on the way to a verdict that nobody waits for any more."""
    (tmp_path / "busy.py").write_text(
        "import pathlib, re, time, otel_eval\n\n"
        "@otel_eval.evaluator\n"
        "def busy(interaction):\n"
        "    pathlib.Path(__file__).with_name('begun').touch()\n"
        "    end = time.monotonic() + 60\n"
        f"    {work}\n"
    )
    config = write_config(tmp_path, evaluators={"busy": {"use": "busy:busy", "agents": ["*"]}})
    async with serving(config, {"PYTHONPATH": str(tmp_path)}) as server:
        judging = server.judging
        await export(server, whole()[0])
        async with asyncio.timeout(60):
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.02)
        await server.kill()
        await gone(judging, within=10)


async def test_what_an_evaluator_starts_can_be_stopped(tmp_path: Path) -> None:
    """No signal is left blocked in the threads that evaluators run in: their own processes would inherit that."""
    (tmp_path / "starting.py").write_text(
        "import signal, otel_eval\n\n"
        "@otel_eval.evaluator\n"
        "def starting(interaction):\n"
        "    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])\n"
        "    return otel_eval.Failed(f'{blocked}') if blocked else otel_eval.Passed('none')\n"
    )
    config = write_config(tmp_path, evaluators={"starting": {"use": "starting:starting", "agents": ["*"]}})
    body, interaction = whole()
    async with serving(config, {"PYTHONPATH": str(tmp_path)}) as server:
        await export(server, body)
        await ended(tmp_path / "data" / "ledger.db", {interaction}, evaluators=3)
    with Ledger.open(f"sqlite:///{tmp_path}/data/ledger.db", create=False) as ledger:
        (record,) = (record for record in ledger.evaluations(interaction) if record.evaluator == "starting")
    assert record.outcome.name == "passed", record.describe()


async def _to_the_group(server: ServeProcess, number: signal.Signals) -> None:
    os.killpg(server.process.pid, number)


async def _to_the_judging_process(server: ServeProcess, number: signal.Signals) -> None:
    os.kill(server.judging, number)


async def _to_both_twice(server: ServeProcess, number: signal.Signals) -> None:
    """A supervisor that loses patience, or a hand on Ctrl-C."""
    for _ in range(2):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.process.pid, number)
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("tell", "number"),
    [
        (_to_the_group, signal.SIGTERM),
        (_to_the_group, signal.SIGINT),
        (_to_the_judging_process, signal.SIGTERM),
        (_to_both_twice, signal.SIGINT),
    ],
)
async def test_whichever_process_a_stop_is_told_both_stop_in_good_order(
    tmp_path: Path, tell: Callable[[ServeProcess, signal.Signals], Awaitable[None]], number: signal.Signals
) -> None:
    """As a terminal's Ctrl-C does, or systemd: status 0, one line about it, and nothing acknowledged is lost."""
    config = write_config(tmp_path)
    acknowledged: set[str] = set()
    enough = asyncio.Event()
    async with serving(config, errors=True) as server:
        judging = server.judging
        sending = asyncio.create_task(flood(server, 200, acknowledged, enough, 20))
        await enough.wait()
        await tell(server, number)
        assert await asyncio.wait_for(server.process.wait(), 60) == 0
        assert await server.errors() == "stopped; what was accepted is kept\n"
        await gone(judging)
        await sending
    async with serving(config):
        records = await ended(tmp_path / "data" / "ledger.db", acknowledged, evaluators=2)
    assert set(records.values()) == {1}


async def test_stopping_while_there_is_no_judging_process(tmp_path: Path) -> None:
    """It has just died: the server does not wait for another, and what came meanwhile is judged after the next start."""
    config = write_config(tmp_path)
    body, interaction = whole()
    async with serving(config) as server:
        judging = server.judging
        os.kill(judging, signal.SIGKILL)
        await gone(judging)
        await export(server, body)
        assert await asyncio.wait_for(server.terminate(), 60) == 0
    async with serving(config):
        assert set((await ended(tmp_path / "data" / "ledger.db", {interaction}, evaluators=2)).values()) == {1}


async def test_stopping_while_another_one_starts(tmp_path: Path) -> None:
    """It is not waited for: it has nothing to finish."""
    async with serving(write_config(tmp_path)) as server:
        first = server.judging
        os.kill(first, signal.SIGKILL)
        second = await server.judging_again(first)
        assert await asyncio.wait_for(server.terminate(), 60) == 0
        await gone(second)


async def test_a_second_signal_ends_a_stop_that_hangs(tmp_path: Path) -> None:
    """The judging process stands still: it is killed with a word about it, and what it had is judged after the next start."""
    config = write_config(tmp_path)
    body, interaction = whole()
    async with serving(config, errors=True) as server:
        judging = server.judging
        os.kill(judging, signal.SIGSTOP)
        await export(server, body)
        async with asyncio.timeout(30):
            while server.process.returncode is None:
                server.process.send_signal(signal.SIGTERM)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(server.process.wait(), 2 * ONE_STOP_S)
        assert server.process.returncode == 0
        await gone(judging)
        said = (await server.errors()).splitlines()
    assert len(said) == 2, said
    assert said[0].endswith(f"told to stop again: the judging process is killed, {LATER}")
    assert said[1] == "stopped; what was accepted is kept"
    async with serving(config):
        assert set((await ended(tmp_path / "data" / "ledger.db", {interaction}, evaluators=2)).values()) == {1}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_ends_a_start_that_hangs(tmp_path: Path, number: signal.Signals) -> None:
    """A user's module that never comes back from its import: status 0, no process is left, no directory was made."""
    (tmp_path / "hanging.py").write_text(
        "import os, pathlib, re\n\n"
        "found = pathlib.Path(__file__).with_name('begun')\n"
        "found.with_suffix('.new').write_text(str(os.getpid()))\n"
        "found.with_suffix('.new').rename(found)\n"
        "re.match(r'(a+)+$', 'a' * 60 + 'b')\n"
    )
    config = write_config(tmp_path, evaluators={"hanging": {"use": "hanging:hanging", "agents": ["*"]}})
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "otel_eval", "serve", "--config", str(config)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    try:
        async with asyncio.timeout(60):
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.02)
        process.send_signal(number)
        output, errors = await asyncio.wait_for(process.communicate(), 20)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert (process.returncode, output, errors) == (0, b"", b"")
    await gone(int((tmp_path / "begun").read_text()))
    assert not (tmp_path / "data").exists()


async def test_senders_are_pushed_back_while_nobody_judges(tmp_path: Path) -> None:
    """The journal's limit holds without the judging process, and gives way once there is one again."""
    body = otlp_request(conversation(asked="Where is it? " * 30_000))
    config = write_config(tmp_path, storage={"directory": str(tmp_path / "data"), "max_journal_bytes": 1 << 20})
    async with serving(config) as server:
        judging = server.judging
        os.kill(judging, signal.SIGSTOP)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await asyncio.gather(*(export(server, body) for _ in range(5)))
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        os.kill(judging, signal.SIGKILL)
        async with asyncio.timeout(60):
            while True:
                with contextlib.suppress(grpc.aio.AioRpcError):
                    await export(server, body)
                    break
                await asyncio.sleep(0.1)


async def test_metrics_of_both_come_out_of_one_process(tmp_path: Path) -> None:
    """What was received and what became of it, under one instance; also what was counted while nobody judged, and that."""
    with Sink() as sink:
        exporters = {"otlp": {"endpoint": sink.endpoint}}
        config = write_config(tmp_path, exporters=exporters, emit={"metrics_interval": "200ms"})
        async with serving(config) as server:
            await export(server, whole()[0])
            await sink.wait_for(lambda sink: sink.latest("otel_eval.interactions"), timeout=60)
            await sink.wait_for(lambda sink: sink.counted("otel_eval.spans.received", otel_eval__transport="grpc"), 60)
            await sink.wait_for(lambda sink: (found := sink.latest("otel_eval.journal.bytes")) and found.value == 0, 60)
            first = server.judging
            os.kill(first, signal.SIGKILL)
            await gone(first)
            sent = conversation()
            await export(server, otlp_request(sent))
            sink.clear()
            await server.judging_again(first)
            await sink.wait_for(
                lambda sink: (
                    (found := sink.latest("otel_eval.spans.received", otel_eval__transport="grpc"))
                    and found.value == len(sent)
                ),
                timeout=60,
            )
            await sink.wait_for(lambda sink: sink.counted("otel_eval.judging.restarts"), 60)
            assert sink.counted("otel_eval.judging.restarts") == 1
            os.kill(server.judging, signal.SIGKILL)
            await sink.wait_for(lambda sink: sink.counted("otel_eval.judging.restarts") > 1, 60)
            assert sink.counted("otel_eval.judging.restarts") == 2, "each life counts from 0"
            assert await server.terminate() == 0


async def start_refused(config: Path, environ: dict[str, str] | None = None) -> str:
    """What a server that cannot start says; its status is 2."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "otel_eval", "serve", "--config", str(config)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environ or {})},
    )
    try:
        output, errors = await asyncio.wait_for(process.communicate(), 60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert (process.returncode, output) == (2, b"")
    return errors.decode()


@pytest.mark.parametrize("processes", [1, 2])
async def test_what_keeps_it_from_starting_reads_the_same(tmp_path: Path, processes: int) -> None:
    """Whichever process finds it. A mistake in the configuration leaves no directory behind."""
    server = {"processes": processes}
    config = write_config(tmp_path, server=server, evaluators={"mine": {"use": "nowhere:mine", "agents": ["*"]}})
    said = await start_refused(config)
    assert said.startswith("otel-eval: ")
    assert "evaluators.mine.use: " in said
    assert "Traceback" not in said
    assert not (tmp_path / "data").exists()

    (tmp_path / "notes.txt").write_text("no database " * 1000)
    config = write_config(tmp_path, server=server, ledger={"url": f"sqlite:///{tmp_path}/notes.txt"})
    said = await start_refused(config)
    assert said.startswith("otel-eval: ")
    assert "is no ledger" in said
    assert "Traceback" not in said

    config = write_config(tmp_path, server=server, exporters={"otlp": {"endpoint": "http://127.0.0.1:4317"}})
    text = config.read_text().replace("127.0.0.1:0", "127.0.0.1:4317", 1)
    config.write_text(text)
    assert "is our own listener" in await start_refused(config)

    config = write_config(tmp_path, server=server)
    async with serving(config) as holder:
        assert f"is in use by process {holder.process.pid}" in await start_refused(config)
        other = tmp_path / "other"
        other.mkdir()
        config = write_config(other, server=server)
        config.write_text(config.read_text().replace("127.0.0.1:0", holder.grpc, 1))
        assert f"cannot listen on {holder.grpc} (gRPC)" in await start_refused(config)


async def test_a_start_that_crashes_is_told(tmp_path: Path) -> None:
    """What a user's module does to its process when it is imported: status 2, and what happened."""
    (tmp_path / "fatal.py").write_text("import os, signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n")
    config = write_config(tmp_path, evaluators={"fatal": {"use": "fatal:fatal", "agents": ["*"]}})
    said = await start_refused(config, {"PYTHONPATH": str(tmp_path)})
    assert said == "otel-eval: the judging process was killed by SIGKILL before it was ready\n"


async def test_a_terminal_gets_a_line_per_interaction(tmp_path: Path) -> None:
    """Printed where they are judged, behind the line that says that it is ready."""
    controller, terminal = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "otel_eval", "serve", "--config", str(write_config(tmp_path))), stdout=terminal
    )
    os.close(terminal)
    shown = bytearray()
    more = asyncio.Event()

    def read() -> None:
        shown.extend(os.read(controller, 4096))
        more.set()

    async def until(text: bytes) -> None:
        while text not in shown:
            more.clear()
            await more.wait()

    asyncio.get_running_loop().add_reader(controller, read)
    try:
        async with asyncio.timeout(60):
            await until(b"(pid")
            address = shown.decode().partition("grpc ")[2].split()[0]
            await export(ServeProcess(process, address, ""), whole(7)[0])
            await until(b"does-not-fail")
    finally:
        asyncio.get_running_loop().remove_reader(controller)
        process.terminate()
        assert await process.wait() == 0
        os.close(controller)
    said = shown.decode()
    assert said.index("otel-eval is ready") < said.index("Where is order 7?") < said.index("does-not-fail")


async def test_a_stage_that_breaks_in_one_process_says_the_same(tmp_path: Path) -> None:
    """See test_stopping.py for two."""
    server = await start(write_config(tmp_path, server={"processes": 1}), errors=True)
    with contextlib.closing(sqlite3.connect(tmp_path / "data" / "journal.db")) as connection:
        connection.execute("CREATE TRIGGER t BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'no more'); END")
        connection.commit()
    await export(server, whole()[0])
    assert await asyncio.wait_for(server.process.wait(), 60) == 1
    said = (await server.errors()).splitlines()
    assert said[-1].startswith("otel-eval: the pipeline stopped: JournalCorrupt: ")
    assert said[-1].endswith("; what was accepted is kept, start it again")


def test_the_receiving_process_does_without_what_judges() -> None:
    """Less memory, a quicker start, and no code of users in it."""
    heavy = ("sqlalchemy", "opentelemetry.sdk", "litellm", "rich", "otel_eval.dispatch", "otel_eval.conventions")
    code = (
        "import sys, otel_eval.cli.serve, otel_eval.server.listening\n"
        f"print([module for module in {heavy!r} if module in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
