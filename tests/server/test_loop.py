"""The judge's own model calls come back as telemetry, in every disguise: they are never judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import grpc
import pytest

from otel_eval.signals import Scope, Span
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.server import RunningServer, running
from otel_eval.testing.sink import Sink
from otel_eval.testing.spans import agent_span, conversation, message, model_span, new_span_id, new_trace_id

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Judge:
    """Remembers what it was sent; always content."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __call__(self, system: str, user: str) -> str:
        self.calls.append((system, user))
        return '{"reason": "fine", "score": 1.0}'


def whole(spans: Sequence[Span]) -> list[Span]:
    return list(spans)


def without_roots(spans: Sequence[Span]) -> list[Span]:
    return [span for span in spans if not span.name.startswith("evaluation ")]


def stripped(spans: Sequence[Span]) -> list[Span]:
    """As a pipeline that renames scopes and takes every attribute of ours out would pass them on."""
    return [
        replace(
            span,
            scope=Scope("gateway"),
            attributes={key: value for key, value in span.attributes.items() if not key.startswith("otel_eval")},
        )
        for span in spans
    ]


def stripped_without_roots(spans: Sequence[Span]) -> list[Span]:
    return stripped(without_roots(spans))


def below_ours(spans: Sequence[Span]) -> list[Span]:
    """An instrumented gateway goes on from our spans."""
    judge_calls = [span for span in spans if not span.name.startswith("evaluation ")]
    return [model_span(parent=span, messages=[message("user", "judge this")], output=[message("assistant", "1")])
            for span in judge_calls]  # fmt: skip


async def send(server: RunningServer, spans: Sequence[Span]) -> None:
    async with grpc.aio.insecure_channel(server.server.grpc or "") as channel:
        await channel.unary_unary(EXPORT)(otlp_request(spans))


def config(sink: Sink) -> dict[str, object]:
    return {
        "exporters": {"otlp": {"endpoint": sink.endpoint}},
        "completion": {"idle": "1s"},
        "evaluators": {
            "fine": {
                "judge": {"criterion": "the reply is fine"},
                "agents": {"*": {"trigger_on_incomplete": True, "nested": True}},
            }
        },
    }


async def judged_once(server: RunningServer, sink: Sink) -> list[Span]:
    """Have one Interaction judged; the spans that came out."""
    await send(server, conversation())
    await server.wait_for_interactions(1)
    await server.wait_for_evaluations(server.interactions[0].id)
    await sink.wait_for(lambda sink: len(sink.spans) >= 2)
    return list(sink.spans)


async def quiet(server: RunningServer) -> None:
    """Send another agent's trace and wait until it is judged: what came before it has been seen to by then."""
    last = conversation(agent="last")
    await send(server, last)
    await server.wait_for_evaluations(f"{last[0].trace_id}-{last[0].span_id}")
    async with asyncio.timeout(10):
        while server.server.pipeline.open_traces:  # noqa: ASYNC110 - the pipeline has no event for being empty
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("disguise", [whole, without_roots, stripped, stripped_without_roots, below_ours])
async def test_our_own_output_is_not_judged(disguise: Callable[[Sequence[Span]], list[Span]]) -> None:
    """Two Interactions were an agent's, two calls were made, whatever came back through the shared collector."""
    judge = Judge()
    async with Sink() as sink, running(config(sink), complete=judge) as server:
        ours = await judged_once(server, sink)
        await send(server, disguise(ours))
        await quiet(server)
        assert [interaction.agent for interaction in server.interactions] == ["support-agent", "last"]
        assert len(judge.calls) == 2
        assert len(server.records) == 2


async def test_a_gateways_own_trace_of_our_call_is_not_judged() -> None:
    """A gateway that starts a trace of its own, as an agent even, is known by the fingerprint in the system message."""
    judge = Judge()
    async with Sink() as sink, running(config(sink), complete=judge) as server:
        await judged_once(server, sink)
        ((system, user),) = judge.calls
        instructions = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": system}])}
        gateway = agent_span(
            agent="gateway", trace_id=new_trace_id(), span_id=new_span_id(), asked=user, attributes=instructions
        )
        bare = model_span(
            messages=[message("system", system), message("user", user)], output=[message("assistant", "{}")]
        )
        await send(server, [gateway])
        await send(server, [bare])
        await quiet(server)
        assert [interaction.agent for interaction in server.interactions] == ["support-agent", "last"]
        assert len(judge.calls) == 2


async def test_a_user_who_quotes_the_fingerprint_is_judged() -> None:
    """Nobody dodges judgement by quoting what a judge was sent: only a system message counts."""
    judge = Judge()
    async with Sink() as sink, running(config(sink), complete=judge) as server:
        await judged_once(server, sink)
        ((system, _),) = judge.calls
        quoting = conversation(asked=f"Say exactly this: {system}", reply=system, agent="quoting")
        await send(server, quoting)
        await server.wait_for_evaluations(f"{quoting[0].trace_id}-{quoting[0].span_id}")
        assert len(judge.calls) == 2
