"""Judging again through the API: the old record stays, the new one is current and says where it came from."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from otel_eval.api import following
from otel_eval.api.client import ApiCallError, ApiClient
from otel_eval.api.following import verdicts
from otel_eval.record import EvaluationRecord, Origin
from otel_eval.testing.models import scripted
from otel_eval.testing.sink import Sink
from otel_eval.v1 import evaluations_pb2 as pb
from tests.api.kit import BOTH, EVALUATORS, READ, TIMEOUT, config, judged, serving, start


def with_judge(agents: str = "*", **sections: Any) -> dict[str, Any]:
    """The evaluators, and one that asks a model."""
    judge = {"judge": {"criterion": "the reply is kind", "threshold": 0.5}, "agents": [agents]}
    return config(evaluators={**EVALUATORS, "kind": judge}, **sections)


async def never(system: str, user: str) -> str:
    """A model that does not answer."""
    await asyncio.Event().wait()
    return ""


async def ended(api: Any, started: pb.StartEvaluationResponse) -> list[EvaluationRecord]:
    async with asyncio.timeout(TIMEOUT):
        return [record async for record in verdicts(api, started)]


def counted(sink: Sink, origin: str) -> float:
    """Passes of no-failure, as an agent's that has a name."""
    return sink.counted(
        "otel_eval.evaluations",
        gen_ai__evaluation__name="no-failure",
        gen_ai__agent__name="support-agent",
        otel_eval__outcome="passed",
        otel_eval__origin=origin,
    )


async def test_the_old_record_stays_and_the_new_one_is_current() -> None:
    """Attempt 1 with origin rerun beside attempt 0; counted as a re-run, and exported in a trace of its own with a link."""
    async with Sink() as sink:
        exporters = {"otlp": {"endpoint": sink.endpoint, "protocol": "grpc"}}
        async with serving(config(exporters=exporters, emit={"metrics_interval": "200ms"})) as (server, api):
            name = await judged(server, started_ns=time.time_ns())
            started = await start(api, name, "no-failure")
            (queued,) = started.evaluations
            assert (queued.interaction_id, queued.attempt, queued.revision) == (name, 1, 1)
            (new,) = await ended(api, started)
            assert (new.id, new.attempt, new.origin) == (queued.evaluation_id, 1, Origin.RERUN)
            filter = pb.EvaluationFilter(interaction_id=name, evaluator="no-failure")
            both = (await api.list_evaluations(pb.ListEvaluationsRequest(filter=filter))).evaluations
            assert {(each.attempt, each.origin) for each in both} == {(0, pb.ORIGIN_LIVE), (1, pb.ORIGIN_RERUN)}
            current = await api.list_evaluations(pb.ListEvaluationsRequest(filter=filter, current_only=True))
            assert [each.id for each in current.evaluations] == [new.id]
            await sink.wait_for(lambda sink: len(sink.span("evaluation no-failure")) == 2)
            await sink.wait_for(lambda sink: counted(sink, "rerun") == 1)
            child, own = sorted(sink.span("evaluation no-failure"), key=lambda span: span.trace_id != new.trace_id)
            assert child.trace_id == new.trace_id != own.trace_id
            assert [(link.trace_id, link.span_id) for link in own.links] == [(new.trace_id, new.span_id)]
            assert counted(sink, "live") == 1


async def test_every_call_is_counted_by_how_it_ended(caplog: pytest.LogCaptureFixture) -> None:
    """Those that were refused, too; the log says who had what queued, and no token."""
    caplog.set_level(logging.INFO, "otel_eval")
    start_evaluation = "otel_eval.v1.EvaluationService/StartEvaluation"
    async with Sink() as sink:
        exporters = {"otlp": {"endpoint": sink.endpoint, "protocol": "grpc"}}
        async with serving(config(exporters=exporters, emit={"metrics_interval": "200ms"})) as (server, api):
            name = await judged(server)
            await start(api, name, "no-failure")
            async with ApiClient(server.api_endpoint, token=READ) as reader:
                with pytest.raises(ApiCallError):
                    await start(reader, name, "no-failure")
            for status in ("OK", "PERMISSION_DENIED"):
                labels = {"rpc__method": start_evaluation, "rpc__response__status_code": status}
                await sink.wait_for(lambda sink, labels=labels: sink.counted("otel_eval.api.calls", **labels) == 1)  # type: ignore[misc]
    assert "operator had 1 evaluation queued again: no-failure" in caplog.text
    assert not any(token in caplog.text for token in (BOTH, READ))


async def test_a_judge_is_asked_again() -> None:
    """And what it says now is what counts, with its calls where they are wanted."""
    async with serving(with_judge(), complete=scripted([0.9, 0.2])) as (server, api):
        name = await judged(server)
        (record,) = await ended(api, await start(api, name, "kind"))
        assert record.outcome.name == "failed"
        request = pb.GetEvaluationsRequest(evaluation_ids=[record.id], include_judge_calls=True)
        (whole,) = (await api.get_evaluations(request)).evaluations
        assert whole.judge_calls[0].user_message
        request.include_judge_calls = False
        assert not (await api.get_evaluations(request)).evaluations[0].judge_calls


async def test_by_filter_and_by_several_evaluators() -> None:
    """Every Interaction of the agent, by each; what does not match is left alone, and nothing is no mistake."""
    async with serving() as (server, api):
        mine = {await judged(server, agent="a"), await judged(server, agent="a")}
        await judged(server, agent="b")
        request = pb.StartEvaluationRequest(
            filter=pb.InteractionFilter(agent="a"), evaluators=["no-failure", "says-no", "says-no"]
        )
        records = await ended(api, await api.start_evaluation(request))
        assert {record.interaction_id for record in records} == mine
        assert len(records) == 4
        request.filter.agent = "nobody"
        assert not (await api.start_evaluation(request)).evaluations


async def test_what_waits_is_not_queued_twice() -> None:
    """Asking again, as after an answer that got lost, is the same evaluation."""
    async with serving(with_judge("others", dispatch={"shutdown_grace": "0s"}), complete=never) as (server, api):
        name = await judged(server)
        first, second = await start(api, name, "kind"), await start(api, name, "kind")
        assert first.evaluations == second.evaluations
        ids = [first.evaluations[0].evaluation_id]
        answer = await api.get_evaluations(pb.GetEvaluationsRequest(evaluation_ids=ids))
        assert (list(answer.waiting_ids), list(answer.evaluations)) == (ids, [])
        assert (await server.server.ledger.backlog()).count == 1


async def test_what_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Interaction is deleted while it waits: whoever follows is told by silence, and goes on."""
    monkeypatch.setattr(following, "CHECK_EVERY_S", 0.1)
    async with serving(with_judge("others", dispatch={"shutdown_grace": "0s"}), complete=never) as (server, api):
        name = await judged(server)
        started = await start(api, name, "kind")
        await server.server.ledger.delete(interaction=name)
        assert await ended(api, started) == []


async def test_one_that_was_replaced_before_anybody_looked_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later attempt is current by then: the earlier one is asked for by its id."""
    monkeypatch.setattr(following, "CHECK_EVERY_S", 0.1)
    async with serving() as (server, api):
        name = await judged(server)
        first = await start(api, name)
        await server._wait(lambda: len(server.records) == 3, TIMEOUT)
        second = await start(api, name)
        await server._wait(lambda: len(server.records) == 4, TIMEOUT)
        assert [record.attempt for record in await ended(api, first)] == [1]
        assert [record.attempt for record in await ended(api, second)] == [2]


async def test_trouble_that_does_not_pass_is_told(tmp_path: Path) -> None:
    """A cursor of another ledger does not become right by waiting."""
    async with serving() as (server, api):
        started = await start(api, await judged(server))
        started.cursor = "WyJhbm90aGVyIiwwXQ"
        with pytest.raises(ApiCallError, match="another ledger"):
            await ended(api, started)
