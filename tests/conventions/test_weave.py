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
    frame = span("workflow Agent workflow", attributes=told, scope=AGENTS)
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
