"""Our verdicts come back through the shared collector after their trace was closed."""

from __future__ import annotations

import asyncio

from otel_eval.loop_guard import SCOPE_NAME
from otel_eval.signals import Scope
from otel_eval.testing import Sink, conversation, otlp_request, running, send, span


async def test_what_comes_back_late_is_counted_as_ours() -> None:
    """The counter that warns of late telemetry does not grow by our own spans."""
    agent = conversation()
    returned = span("evaluation calm", parent=agent[0], scope=Scope(SCOPE_NAME))
    async with Sink() as sink:
        config = {
            "exporters": {"otlp": {"endpoint": sink.endpoint}},
            "emit": {"metrics_interval": "100ms"},
            "evaluators": {"calm": {"check": "should_not_fail", "agents": ["*"]}},
        }
        async with running(config) as server:
            await send(server.grpc_endpoint, "traces", [otlp_request(agent)])
            await server.wait_for_evaluations(f"{agent[0].trace_id}-{agent[0].span_id}")
            async with asyncio.timeout(10):
                while server.server.pipeline.open_traces:  # noqa: ASYNC110 - it has no event for being empty
                    await asyncio.sleep(0.02)
            await send(server.grpc_endpoint, "traces", [otlp_request([returned])])
            await sink.wait_for(lambda sink: sink.counted("otel_eval.spans.dropped", otel_eval__reason="own"))
            assert sink.counted("otel_eval.spans.dropped", otel_eval__reason="late") == 0
