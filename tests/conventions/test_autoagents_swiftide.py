"""AutoAgents and Swiftide for Rust: runs without model calls, and model calls without runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Span, SpanEvent
from otel_eval.testing.spans import START_NS, span

GONE = json.dumps({"response": "Gone.", "tool_calls": [], "done": True})


def task(*tools: dict[str, Any], **attributes: Any) -> Interaction:
    """A run, with its first round and the tools below it."""
    ids = {"submission_id": "s", "actor_id": "a"}
    told = {"actor_name": "shop", "task.description": "Where is 81?", "task.result": GONE, **attributes}
    own = span("autoagents.task", attributes=ids | told, seconds=9)
    turn = span("autoagents.turn", parent=own, attributes=ids)
    spans = [
        span(
            "autoagents.tool_call",
            parent=own,
            **{**each, "attributes": ids | each["attributes"], "started_ns": own.started_ns + place},
        )
        for place, each in enumerate(tools)
    ]
    (found,) = assemble((own, turn, *spans))
    return found


def test_a_run_of_autoagents() -> None:
    """Its result is the executor's object, and no model call is told of."""
    found = task()
    assert (found.agent, found.asked, found.reply, found.failure) == ("shop", "Where is 81?", "Gone.", None)
    assert {gap.field: gap.kind for gap in found.gaps}["model_calls"] is GapKind.NOT_CAPTURED


@pytest.mark.parametrize(
    ("result", "reply"),
    [('"Gone."', "Gone."), ('{"answer": "Gone.", "sure": true}', "Gone."), ("Gone.", "Gone."), (None, None)],
)
def test_the_result_of_a_programs_own_executor(result: str | None, reply: str | None) -> None:
    """Whatever it gave, as JSON."""
    assert task(**{"task.result": result}).reply == reply


def test_tools_of_autoagents() -> None:
    """One that failed has its error in the status, as the object that a model is told of."""
    error = json.dumps({"error": "Tool execution failed: down"})
    found = task(
        {
            "attributes": {
                "tool_name": "find",
                "tool_call_id": "c1",
                "tool.arguments": '{"id": 81}',
                "tool.result": '"lost"',
            }
        },
        {
            "attributes": {"tool_name": "look", "tool.arguments": "{}", "error.message": error},
            "status": "error",
            "status_message": error,
        },
    )
    calls = {call.name: (call.arguments, call.result, call.error) for call in found.tool_calls}  # began at one moment
    assert calls == {"find": ({"id": 81}, "lost", None), "look": ({}, None, "Tool execution failed: down")}


def test_langfuses_provider_of_autoagents_says_the_same() -> None:
    """There a run is a mere span: what it is its own name tells."""
    langfuse = {"langfuse.observation.type": "span", "langfuse.observation.input": '"Where is 81?"'}
    found = task(**langfuse, **{"langfuse.observation.output": GONE, "langfuse.trace.name": "shop"})
    assert (found.agent, found.asked, found.reply) == ("shop", "Where is 81?", "Gone.")


def test_what_autoagents_was_told_to_redact() -> None:
    """Is a gap, and says so."""
    found = task(**{"task.description": "[REDACTED]", "task.result": "[REDACTED]"})
    assert (found.asked, found.reply) == (None, None)
    gaps = {gap.field: (gap.kind, gap.setting) for gap in found.gaps}
    assert gaps["asked"] == gaps["reply"] == (GapKind.REDACTED, "RedactionConfig::default()")


def generation(parent: Span, at: int, messages: list[Any], **said: Any) -> Span:
    """A model's call of Swiftide's, with what was said in the event."""
    response = {"id": "6f0c", "message": None, "tool_calls": None, "usage": None, **said}
    event = SpanEvent(
        name="event src/openai/chat_completion.rs:455",
        time_ns=START_NS,
        attributes={
            "level": "DEBUG",
            "langfuse.model": "gpt",
            "langfuse.input": json.dumps({"model": "gpt", "messages": messages}),
            "langfuse.output": json.dumps(response),
            "langfuse.usage": json.dumps({"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30}),
        },
    )
    return span(
        "complete", parent=parent, attributes={"langfuse.type": "GENERATION"}, events=(event,), started_ns=START_NS + at
    )


def test_an_agent_of_swiftide_is_the_loop_of_its_models_calls() -> None:
    """Its own span cannot be told from a program's function, but it is the loop's."""
    own = span("agent.query", attributes={"target": "swiftide_agents::agent"}, seconds=9)
    told = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Where is 81?"}]
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id":81}'}}
    asked = [
        *told,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "lost"},
    ]
    first = generation(own, 1, told, tool_calls=[{"id": "c1", "name": "find", "args": '{"id":81}'}])
    (found,) = assemble((own, first, generation(own, 2, asked, message="Gone.")))
    assert (found.span_id, found.asked, found.reply) == (own.span_id, "Where is 81?", "Gone.")
    assert (found.system, found.model, found.usage.input_tokens) == ("Be kind.", "gpt", 42)
    assert [(made.name, made.arguments, made.result) for made in found.tool_calls] == [("find", {"id": 81}, "lost")]
