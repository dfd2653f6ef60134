"""Microsoft Agent Framework: workflows around agents."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, agent_span, message, model_span, span

FRAMEWORK = Scope("agent_framework")


def handing_over(flow: Span) -> list[Span]:
    """A desk that hands over without a word, and whom it hands over to, each below the span of its executor."""
    call = {"type": "tool_call", "id": "c1", "name": "handoff_to_billing", "arguments": {}}
    spans: list[Span] = []
    turns: list[tuple[str, Any, str | None]] = [("desk", call, None), ("billing", "Refunded.", "Refunded.")]
    for at, (name, said, reply) in enumerate(turns):
        started = START_NS + 10 * at * SECOND_NS
        run = span(f"executor.process {name}", parent=flow, started_ns=started, attributes={"executor.id": name})
        agent = agent_span(agent=name, asked="My order broke", reply=reply, session=None, parent=run)
        asking = [message("user", "My order broke")]
        spans += [run, agent, model_span(parent=agent, messages=asking, output=[message("assistant", said)])]
    return spans


@pytest.mark.parametrize("name", ["workflow.run", "workflow_invoke"])
def test_agents_of_a_workflow_that_hand_over_are_one_interaction(name: str) -> None:
    """The workflow's span has no content, and no operation; it is around both."""
    told = {"workflow.id": "w1", "workflow.name": "Handoff"}
    flow = span(name, attributes=told, scope=FRAMEWORK, seconds=60)

    found = assemble([flow, *handing_over(flow)])

    assert [(each.agent, each.asked, each.reply) for each in found if each.parent_id is None] == [
        ("desk", "My order broke", "Refunded.")
    ]
    assert found[0].span_id == flow.span_id


def test_what_builds_a_workflow_is_none() -> None:
    """Neither is the passing on of a message."""
    names = ("workflow.build", "executor.process first", "message.send", "edge_group.process SingleEdgeGroup")
    assert assemble([span(name, scope=FRAMEWORK, attributes={"workflow.id": "w1"}) for name in names]) == ()
