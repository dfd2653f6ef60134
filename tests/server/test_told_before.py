"""What was told of an open trace before a restart is known after it: ids that were handed out stay, as aliases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from otel_eval.signals import Span
from otel_eval.testing import conversation, otlp_request, running, send
from otel_eval.testing.spans import new_span_id, span


def id_of(root: Span) -> str:
    return f"{root.trace_id}-{root.span_id}"


async def test_an_id_that_was_told_before_a_restart_becomes_an_alias(tmp_path: Path) -> None:
    """Its trace was still open for another agent, so that nothing of it was kept but the journal's entries."""
    flow = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "shop"}
    wrapper = span("workflow", attributes=flow, seconds=0.2)
    agent, *rest = conversation(parent=wrapper)
    later = wrapper.ended_ns + 1
    other = replace(conversation(agent="other", parent=wrapper, started_ns=later)[0], parent_id=new_span_id())
    config = {
        "storage": {"directory": str(tmp_path)},
        "evaluators": {"calm": {"check": "should_not_fail", "agents": ["*"]}},
    }
    async with running(config) as server:
        await send(
            server.grpc_endpoint, "traces", [otlp_request([replace(agent, parent_is_remote=True), *rest, other])]
        )
        await server.wait_for_evaluations(id_of(agent))
        assert server.server.pipeline.open_traces == 1
    async with running(config) as server:
        await send(server.grpc_endpoint, "traces", [otlp_request([wrapper])])
        await server.wait_for_evaluations(id_of(wrapper))
        assert (await server.server.ledger.interaction(id_of(agent))).id == id_of(wrapper)
        (current,) = server.server.ledger.ledger.current()
        assert (current.interaction_id, current.revision) == (id_of(wrapper), 2)
