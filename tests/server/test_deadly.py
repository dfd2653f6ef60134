"""What kills the process that judges costs itself, never what comes after it: an evaluation, or a request that is read."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from otel_eval.config import load
from otel_eval.crashes import DEATHS, take_stock
from otel_eval.crashes.suspects import FILE, Suspect, Suspects
from otel_eval.ledger import Ledger
from otel_eval.outcome import Errored
from otel_eval.server import supervision
from otel_eval.server.receiving import receiving
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.server import running
from otel_eval.testing.sink import Sink
from otel_eval.testing.spans import Tool, agent_span, conversation
from tests.server.process import serving
from tests.server.test_crash import ended, write_config
from tests.server.test_unreadable import TRACES, export, install, quarantined

SUSPECTS_AT_ONCE = "import otel_eval.crashes.caution\notel_eval.crashes.caution.APART_S = 0.1\n"
DEADLY = (
    SUSPECTS_AT_ONCE + "import os, pathlib, otel_eval\n\n"
    "@otel_eval.evaluator\n"
    "def deadly(interaction):\n"
    "    if 'poison' in interaction.asked:\n"
    "        with open(pathlib.Path(__file__).with_name('deaths'), 'a') as deaths:\n"
    "            deaths.write(f'{os.getpid()}\\n')\n"
    "        os._exit(9)\n"
    "    return otel_eval.Passed('it lives')\n"
)
CONVENTION = (
    SUSPECTS_AT_ONCE + "import os\n"
    "from otel_eval.conventions.facts import Convention\n\n"
    "def read(span):\n"
    "    if 'trap' in span.attributes:\n"
    "        os._exit(9)\n\n"
    "CONVENTION = Convention(name='acme', read=read, prefixes=('trap',))\n"
)


def deadly_config(directory: Path, **sections: object) -> Path:
    (directory / "lethal.py").write_text(DEADLY)
    evaluators = {"deadly": {"use": "lethal:deadly", "agents": ["*"]}}
    return write_config(directory, evaluators=evaluators, **sections)


def asking(asked: str) -> tuple[bytes, str]:
    """A request with one Interaction, and its id."""
    spans = conversation(asked=asked, tools=[Tool(name="getOrder")])
    return otlp_request(spans), f"{spans[0].trace_id}-{spans[0].span_id}"


def deaths(directory: Path) -> int:
    return len((directory / "deaths").read_text().split())


async def died(directory: Path, times: int) -> None:
    """Return once it did; a start takes some seconds on a machine that is busy."""
    async with asyncio.timeout(180):
        while not (directory / "deaths").exists() or deaths(directory) < times:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.1)


def outcomes(directory: Path) -> Counter[tuple[str, str, str]]:
    """How many records there are, by Interaction, evaluator and outcome."""
    with Ledger.open(f"sqlite:///{directory}/data/ledger.db", create=False) as ledger:
        return Counter((record.interaction_id, record.evaluator, record.outcome.name) for record in ledger.records())


def expected(poison: str, others: list[str]) -> dict[tuple[str, str, str], int]:
    """Every evaluator judged every Interaction once, but for the one evaluation that kills."""
    judged = [(name, evaluator, "passed") for name in (poison, *others) for evaluator in ("looks-up", "does-not-fail")]
    judged += [(name, "deadly", "passed") for name in others]
    return {**dict.fromkeys(judged, 1), (poison, "deadly", "error"): 1}


def counted_again(directory: Path, times: int) -> None:
    """As if there had been so many deaths more of what was under way: starting a process takes its time."""
    take_stock(directory, time.time_ns())
    suspects = Suspects.load(directory)
    for _ in range(times):
        suspects.count(tuple(suspects.under_way), time.time_ns())
    suspects.save(directory)


async def test_an_evaluator_that_kills_on_one_interaction_costs_that_evaluation(tmp_path: Path) -> None:
    """Exactly that one ends as an error, said once; all the others are judged once; the server goes on."""
    poison, poisoned = asking("poison")
    others = [asking(f"Where is order {number}?") for number in range(12)]
    async with serving(deadly_config(tmp_path), {"PYTHONPATH": str(tmp_path)}, errors=True) as server:
        for body in (*(body for body, _ in others[:6]), poison, *(body for body, _ in others[6:11])):
            await export(server.grpc, TRACES, body)
        names = [name for _, name in others]
        await died(tmp_path, DEATHS)
        await ended(tmp_path / "data" / "ledger.db", {poisoned, *names[:11]}, evaluators=3)
        judging = server.judging
        await export(server.grpc, TRACES, others[11][0])
        await ended(tmp_path / "data" / "ledger.db", {names[11]}, evaluators=3)
        assert server.judging == judging
        assert await server.terminate() == 0
        said = await server.errors()
    assert outcomes(tmp_path) == expected(poisoned, names)
    assert deaths(tmp_path) == DEATHS
    assert said.count("the judging process ended with status 9: it is started again") == DEATHS
    reason = "the judging process died 4 times while this was evaluated"
    assert said.count(f"evaluators.deadly on Interaction {poisoned} ends as an error: {reason}") == 1
    with Ledger.open(f"sqlite:///{tmp_path}/data/ledger.db", create=False) as ledger:
        (record,) = (record for record in ledger.evaluations(poisoned) if record.evaluator == "deadly")
    assert record.outcome == Errored(reason, error_type="process_died")


async def test_the_same_in_one_process_that_somebody_starts_again(tmp_path: Path) -> None:
    """It dies as a whole, and each start learns from the last: after the last of its deaths one lives."""
    config = deadly_config(tmp_path, server={"processes": 1})
    poison, poisoned = asking("poison")
    other, name = asking("Where is order 1?")
    async with serving(config, {"PYTHONPATH": str(tmp_path)}) as server:
        await export(server.grpc, TRACES, otlp_request([]) + poison + other)
        assert await asyncio.wait_for(server.process.wait(), 60) == 9
    counted_again(tmp_path / "data", DEATHS - 2)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "otel_eval", "serve", "--config", str(config)),
        stdout=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert await asyncio.wait_for(process.wait(), 60) == 9
    async with serving(config, {"PYTHONPATH": str(tmp_path)}) as server:
        await ended(tmp_path / "data" / "ledger.db", {poisoned, name}, evaluators=3)
        assert await server.terminate() == 0
    assert outcomes(tmp_path) == expected(poisoned, [name])
    assert deaths(tmp_path) == 2


async def test_a_request_that_kills_whoever_reads_it_goes_to_quarantine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Counted, with its reason; two of them are no series that ends the server, and what is behind them is judged.

    Each was under way at all deaths but one before.
    """
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, "acme_deadly", CONVENTION, "acme_deadly:CONVENTION")
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.setattr(supervision, "RESTART_S", (0.01,))
    monkeypatch.setattr(supervision, "MAX_DEATHS", 2)
    (tmp_path / "data").mkdir(mode=0o700)
    before = {f"request:{number}": Suspect(DEATHS - 1, time.time_ns()) for number in (1, 2)}
    Suspects(under_way=before).save(tmp_path / "data")
    trap = otlp_request([agent_span(attributes={"gen_ai.operation.name": "invoke_agent", "trap": "hush"})])
    body, name = asking("Where is order 1?")
    async with Sink() as sink:
        exporters = {"exporters": {"otlp": {"endpoint": sink.endpoint}}, "emit": {"metrics_interval": "200ms"}}
        async with receiving(load(write_config(tmp_path, **exporters))) as server:
            for each in (trap, trap, body):
                await export(server.grpc, TRACES, each)
            await ended(tmp_path / "data" / "ledger.db", {name}, evaluators=2)
            await sink.wait_for(lambda sink: sink.counted("otel_eval.requests.quarantined"), 60)
    kept = sorted((tmp_path / "data" / "quarantine").glob("*.reason"))
    assert [path.name for path in kept] == [f"{number:012d}-traces.pb.reason" for number in (1, 2)]
    assert {path.read_text() for path in kept} == {"the judging process died 4 times while this was read\n"}
    assert "under way when the judging process died: request 1 (at 4 deaths)" in caplog.messages
    assert sum("it is started again" in message for message in caplog.messages) == 2


async def test_a_trace_that_kills_whoever_puts_it_together_goes_to_quarantine(tmp_path: Path) -> None:
    """The requests that it came in are kept; the trace beside it is judged."""
    spans, other = conversation(), conversation()
    trace_id = spans[0].trace_id
    async with running({"storage": {"directory": str(tmp_path)}}):
        pass
    Suspects(under_way={f"trace:{trace_id}": Suspect(DEATHS, 2**63)}).save(tmp_path)
    config = {"evaluators": {"calm": {"check": "should_not_fail", "agents": ["*"]}}}
    async with running(config | {"storage": {"directory": str(tmp_path)}}) as server:
        await export(server.server.grpc, TRACES, otlp_request(spans))
        await export(server.server.grpc, TRACES, otlp_request(other))
        await server.wait_for_evaluations(f"{other[0].trace_id}-{other[0].span_id}")
        (reason,) = quarantined(server, tmp_path)
    told = (tmp_path / "quarantine" / reason).read_text()
    assert told == "no Interaction can be made of it: the judging process died 4 times while this was put together\n"
    assert (tmp_path / FILE).exists()
