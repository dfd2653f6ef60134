"""OpenAI's SDK for JavaScript: calls of a stream that are run together, under OpenInference, Langfuse and LangSmith."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.conventions.reading.messages import calls_in
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope
from otel_eval.testing.spans import span

JAVASCRIPT = Scope("@arizeai/openinference-instrumentation-openai")
CALL = "llm.output_messages.0.message.tool_calls.0.tool_call."


def calls(name: str, arguments: str, call_id: str, offered: tuple[str, ...]) -> list[Any]:
    """The calls in the answer of a model's span, as name, arguments and id."""
    tools = [{"type": "function", "function": {"name": tool}} for tool in offered]
    told = {
        "openinference.span.kind": "LLM",
        "llm.invocation_parameters": json.dumps({"tools": tools}),
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Let me look.",
        CALL + "id": call_id,
        CALL + "function.name": name,
        CALL + "function.arguments": arguments,
    }
    facts = facts_of(span("OpenAI Chat Completions", attributes=told, scope=JAVASCRIPT))
    assert facts is not None
    assert [message.text for message in facts.output or ()] == ["Let me look."]
    return [(call.name, call.arguments, call.call_id) for said in facts.output or () for call in calls_in(said)]


@pytest.mark.parametrize(
    ("name", "arguments", "call_id", "expected"),
    [
        ("rollroll", '{"n":6}{"n":8}', "call_1call_2", [("roll", {"n": 6}, "call_1"), ("roll", {"n": 8}, "call_2")]),
        ("rollflip", "{}{}", "call_1call_22", [("roll", {}, None), ("flip", {}, None)]),
        ("roll", '{"n":6}', "call_1", [("roll", {"n": 6}, "call_1")]),
    ],
)
def test_calls_that_were_run_together(name: str, arguments: str, call_id: str, expected: list[Any]) -> None:
    """They come apart by what was offered, with ids where these are of one length."""
    assert calls(name, arguments, call_id, ("roll", "flip")) == expected


def test_what_cannot_be_told_apart_stays() -> None:
    """Names that can be cut in two ways, and names that nobody offered."""
    together = [("aaa", '{"n":6}{"n":8}', "c1c2")]
    assert calls(*together[0], ("a", "aa")) == together
    assert calls(*together[0], ("b",)) == together


def function(name: str, *required: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """A tool as OpenAI is offered it."""
    schema = {"type": "object", "properties": {key: {} for key in (*required, *optional)}, "required": [*required]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


WEATHER, TIME, PLACE = (
    function("weather", "city", optional=("unit",)),
    function("time", "zone"),
    function("place", "city"),
)
TOGETHER = '{"city":"Oslo"}{"zone":"CET"}'


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([WEATHER, TIME], [("weather", {"city": "Oslo"}), ("time", {"zone": "CET"})]),
        ([{"type": "function", "function": {"name": "time"}}], [("time", {"city": "Oslo"}), ("time", {"zone": "CET"})]),
        ([WEATHER, PLACE, TIME], [("time", TOGETHER)]),
        ([WEATHER], [("time", TOGETHER)]),
        (None, [("time", TOGETHER)]),
    ],
)
def test_langfuse_keeps_the_last_name(tools: Any, expected: list[Any]) -> None:
    """The others are those of the tools that alone take what was passed."""
    attributes = {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": json.dumps({"messages": [{"role": "user", "content": "Hi"}], "tools": tools}),
        "langfuse.observation.output": json.dumps(
            {"tool_calls": [{"function": {"name": "time", "arguments": TOGETHER}}]}
        ),
    }
    facts = facts_of(span("OpenAI.chat", attributes=attributes))
    assert facts is not None
    assert [(call.name, call.arguments) for said in facts.output or () for call in calls_in(said)] == expected


def test_langsmith_keeps_the_first_id() -> None:
    """It is the first call's, the others have none; the text beside them stays."""
    call = {"index": 0, "id": "call_12345", "function": {"name": "weathertime", "arguments": TOGETHER}}
    said = {"role": "assistant", "content": "Let me look.", "tool_calls": [call]}
    attributes = {
        "langsmith.span.kind": "llm",
        "gen_ai.prompt": json.dumps({"messages": [{"role": "user", "content": "Hi"}], "tools": [WEATHER, TIME]}),
        "gen_ai.completion": json.dumps({"choices": [{"index": 0, "message": said}]}),
    }
    facts = facts_of(span("ChatOpenAI", attributes=attributes))
    assert facts is not None
    assert [(each.name, each.arguments, each.call_id) for said in facts.output or () for each in calls_in(said)] == [
        ("weather", {"city": "Oslo"}, "call_12345"),
        ("time", {"zone": "CET"}, None),
    ]
    assert [message.text for message in facts.output or ()] == ["Let me look."]
