"""Strands Agents for TypeScript: what its spans say beyond, and against, the semantic conventions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.reading.messages import calls_in
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Interaction
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import span

STRANDS = Scope("strands-agents")
DETAILS = "gen_ai.client.inference.operation.details"


def work(operation: str, *events: tuple[str, dict[str, Any]], parent: Span | None = None) -> Span:
    """A span of the SDK's, with its events."""
    shown = tuple(SpanEvent(name, 0, fields) for name, fields in events)
    told = {"gen_ai.operation.name": operation}
    return span(operation, attributes=told, events=shown, parent=parent, scope=STRANDS)


def asked(said: str) -> tuple[str, dict[str, Any]]:
    """A user's message, as an event."""
    return "gen_ai.user.message", {"content": json.dumps([{"text": said}])}


def run(said: tuple[str, dict[str, Any]], *, call: str, given: dict[str, Any], result: str | None) -> Interaction:
    """A run in which the model asks for a tool, and which ends there."""
    agent = work("invoke_agent", asked("Wipe sda"), said)
    block = {"type": "toolUse", "name": call, "toolUseId": "c1", "input": given}
    asking = ("gen_ai.choice", {"finish_reason": "toolUse", "message": json.dumps([{"text": "Well. "}, block])})
    taken = ("gen_ai.tool.message", {"role": "tool", "content": json.dumps(given), "id": "c1"})
    gave = [] if result is None else [("gen_ai.choice", {"message": result, "id": "c1"})]
    tool = span(
        "execute_tool",
        attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call, "gen_ai.tool.call.id": "c1"},
        events=tuple(SpanEvent(name, 0, fields) for name, fields in (taken, *gave)),
        parent=agent,
    )
    return assemble([agent, work("chat", asked("Wipe sda"), asking, parent=agent), tool])[0]


@pytest.mark.parametrize(
    "said",
    [
        ("gen_ai.choice", {"message": "Wipe sda", "finish_reason": "interrupt"}),
        (
            DETAILS,
            {
                "gen_ai.output.messages": json.dumps(
                    [
                        {
                            "role": "assistant",
                            "parts": [{"type": "text", "content": "Wipe sda"}],
                            "finish_reason": "interrupt",
                        }
                    ]
                )
            },
        ),
    ],
)
def test_an_interrupted_run_has_no_reply(said: tuple[str, dict[str, Any]]) -> None:
    """The text beside that finish reason is the last message's, which the user said."""
    found = run(said, call="wipe", given={"disk": "sda"}, result=None)
    assert (found.asked, found.reply, found.failure) == ("Wipe sda", None, None)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("wipe", {"disk": "sda"}, None)]


def test_a_structured_answer_is_the_reply() -> None:
    """The call that gives it is no tool's."""
    place = {"city": "Paris", "n": 4}
    said = ("gen_ai.choice", {"message": "", "finish_reason": "toolUse"})
    found = run(said, call="strands_structured_output", given=place, result=json.dumps([{"json": place}]))
    assert json.loads(found.reply or "") == place
    assert found.tool_calls == ()


def test_the_calls_in_a_models_answer() -> None:
    """Blocks of Bedrock's with their type beside their fields."""
    use = {"type": "toolUse", "name": "find", "toolUseId": "c1", "input": {"id": 81}}
    facts = facts_of(work("chat", ("gen_ai.choice", {"finish_reason": "toolUse", "message": json.dumps([use])})))
    assert facts is not None
    calls = [call for said in facts.output or () for call in calls_in(said)]
    assert [(call.name, call.arguments, call.call_id) for call in calls] == [("find", {"id": 81}, "c1")]


def test_a_cycle_is_no_call_of_a_model() -> None:
    """It holds the conversation before the newest message, and an exception where a tool waits for a user."""
    name, fields = asked("Hi")
    events = (SpanEvent(name, 0, fields),)
    assert facts_of(span("cycle", attributes={"agent_loop.cycle_id": "1"}, events=events, scope=STRANDS)) is None


@pytest.mark.parametrize("reason", ["interrupt", "toolUse"])
def test_what_an_agent_said_is_a_gap_where_its_models_span_is_lost(reason: str) -> None:
    """An empty reply would be one of the model's."""
    said = ("gen_ai.choice", {"message": "", "finish_reason": reason})
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "wiper"}
    events = tuple(SpanEvent(name, 0, fields) for name, fields in (asked("Wipe sda"), said))
    (found,) = assemble([span("invoke_agent wiper", attributes=attributes, events=events, scope=STRANDS)])
    assert found.reply is None
    assert found.gap("reply") is not None
