"""A sceptic kills the server in the middle of a flood: every acknowledged Interaction is judged once."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import grpc
import pytest
import yaml

from otel_eval.ledger import Ledger
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.scripted_model import ScriptedModel
from otel_eval.testing.spans import Tool, conversation
from tests.server.process import ServeProcess, serving

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def write_config(directory: Path, **sections: object) -> Path:
    """A server on free ports with two exact evaluators for every agent."""
    config = directory / "otel-eval.yaml"
    listeners = {"grpc": {"endpoint": "127.0.0.1:0"}, "http": {"endpoint": "127.0.0.1:0"}}
    evaluators = {
        "looks-up": {"check": {"should_call_tool": "getOrder"}, "agents": ["*"]},
        "does-not-fail": {"check": "should_not_fail", "agents": ["*"]},
    }
    config.write_text(
        yaml.safe_dump(
            {
                "receivers": {"otlp": listeners},
                "storage": {"directory": str(directory / "data")},
                "completion": {"settle": "300ms", "settle_across_processes": "600ms"},
                "evaluators": evaluators | dict(sections.pop("evaluators", {})),  # type: ignore[call-overload]
                **sections,
            }
        )
    )
    return config


async def flood(server: ServeProcess, count: int, acknowledged: set[str], enough: asyncio.Event, kill_at: int) -> None:
    """Send Interactions, two requests each, and remember those of which both were acknowledged."""
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        export = channel.unary_unary(EXPORT)

        async def send(number: int) -> None:
            spans = conversation(
                asked=f"Where is order {number}?", tools=[Tool(name="getOrder", arguments={"id": number})]
            )
            try:
                await export(otlp_request(spans[1:]))
                await export(otlp_request(spans[:1]))
            except grpc.aio.AioRpcError:
                return
            acknowledged.add(f"{spans[0].trace_id}-{spans[0].span_id}")
            if len(acknowledged) >= kill_at:
                enough.set()

        for start in range(0, count, 20):
            await asyncio.gather(*(send(number) for number in range(start, start + 20)))
            if server.process.returncode is not None:
                return


async def ended(ledger_file: Path, wanted: set[str], evaluators: int) -> Counter[tuple[str, str]]:
    """How many records each (Interaction, evaluator) has, once all wanted ones have all of theirs."""
    async with asyncio.timeout(60):
        while True:
            with Ledger.open(f"sqlite:///{ledger_file}", create=False) as ledger:
                records = Counter((record.interaction_id, record.evaluator) for record in ledger.records())
            complete = Counter(interaction_id for interaction_id, _ in records)
            if all(complete[interaction_id] >= evaluators for interaction_id in wanted):
                return records
            await asyncio.sleep(0.2)


@pytest.mark.parametrize(("kill_at", "processes"), [(5, 2), (150, 2), (390, 2), (150, 1)])
async def test_nothing_acknowledged_is_lost_or_judged_twice(tmp_path: Path, kill_at: int, processes: int) -> None:
    """kill -9 amid a flood, early and late, then a second kill amid the replay: each evaluator has one record each."""
    config = write_config(tmp_path, server={"processes": processes})
    acknowledged: set[str] = set()
    enough = asyncio.Event()
    async with serving(config) as server:
        sending = asyncio.create_task(flood(server, 400, acknowledged, enough, kill_at))
        await enough.wait()
        await server.kill()
        await sending
    async with serving(config) as server:
        await asyncio.sleep(0.35)  # amid the first batch that settles
        await server.kill()
    async with serving(config):
        records = await ended(tmp_path / "data" / "ledger.db", acknowledged, evaluators=2)
    assert len(acknowledged) >= kill_at
    assert set(records.values()) == {1}


async def test_evaluations_that_wait_for_a_judge_survive_a_kill(tmp_path: Path) -> None:
    """Killed while judges are being asked: the others are asked after the restart, and each ends once."""
    with ScriptedModel('{"reason": "it does", "score": 0.8}') as model:
        config = write_config(
            tmp_path,
            judge_models={"default": {"model": "openai/scripted", "api_base": model.base_url, "api_key": "none"}},
            evaluators={"polite": {"judge": {"criterion": "the reply is polite"}, "agents": ["*"]}},
        )
        acknowledged: set[str] = set()
        enough = asyncio.Event()
        async with serving(config) as server:
            await flood(server, 40, acknowledged, enough, 40)
            await model.wait_for_requests(5, timeout=60)
            await server.kill()
        async with serving(config):
            records = await ended(tmp_path / "data" / "ledger.db", acknowledged, evaluators=3)
        assert len(acknowledged) == 40
        assert set(records.values()) == {1}
