"""Weave's spans of conversations, and of the OpenAI Agents SDK."""

from __future__ import annotations

import json

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope
from otel_eval.testing.spans import message, span

AGENTS = Scope("weave.openai_agents")
CONVERSATION = Scope("weave.conversation")


@pytest.mark.parametrize(("conversation", "session"), [("trace_1", None), ("s1", "s1")], ids=["the run's", "a group's"])
def test_a_runs_own_id_is_no_session(conversation: str, session: str | None) -> None:
    """Without a group the processor for the OpenAI Agents SDK writes the SDK's trace as the conversation."""
    told = {"weave.openai_agents.trace_id": "trace_1", "gen_ai.conversation.id": conversation}
    frame = span("workflow x", attributes=told | {"weave.openai_agents.task.workflow_name": "x"}, scope=AGENTS)
    named = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
    agent = span("invoke_agent shop", attributes=told | named, parent=frame)
    turn = span("shop turn 1", attributes=told | {"weave.openai_agents.turn.agent_name": "shop"}, parent=agent)
    said = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([message("user", "Where is it?")]),
        "gen_ai.output.messages": json.dumps([message("assistant", "Here.")]),
    }
    model = span("chat m", attributes=told | said, parent=turn)
    (found,) = assemble([frame, agent, turn, model])
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", session, "Where is it?", "Here.")


def test_agents_in_a_row_are_one_run() -> None:
    """The runner's span frames the agents that it went to, one after the other; handing over is no tool call."""
    frame = span("workflow x", attributes={"weave.openai_agents.task.workflow_name": "x"}, scope=AGENTS)
    spans = [frame]
    for at, (name, reply) in enumerate((("triage", None), ("refunds", "Done."))):
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        spans.append(span(name, attributes=told, parent=frame, started_ns=frame.started_ns + at))
        asked = [message("user", "Refund order 81")]
        said = message("assistant", reply or {"type": "tool_call", "id": "c1", "name": "transfer_to_refunds"})
        made = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(asked)}
        spans.append(span("chat m", attributes=made | {"gen_ai.output.messages": json.dumps([said])}, parent=spans[-1]))
    over = {"weave.openai_agents.handoff.from_agent": "triage", "weave.openai_agents.handoff.to_agent": "refunds"}
    spans.append(span("handoff triage -> refunds", attributes=over, parent=spans[1]))
    found = next(each for each in assemble(spans) if each.parent_id is None)
    assert (found.agent, found.asked, found.reply, found.tool_calls) == ("triage", "Refund order 81", "Done.", ())


@pytest.mark.parametrize(
    ("scope", "setting"),
    [
        (AGENTS, "RunConfig(trace_include_sensitive_data=True)"),
        (CONVERSATION, "start_conversation(include_content=True)"),
    ],
)
def test_gaps_name_the_switch(scope: Scope, setting: str) -> None:
    """Both write content unless told not to, each in a way of its own."""
    found = facts_of(span("chat m", scope=scope, attributes={"gen_ai.operation.name": "chat"}))
    assert found is not None
    assert found.setting == setting
