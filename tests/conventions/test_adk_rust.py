"""ADK-Rust: Google ADK's names on spans of another shape, none of which has a status."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind
from otel_eval.signals import Span, SpanEvent
from otel_eval.testing.spans import START_NS, span

INSTRUCTIONS = {"role": "user", "parts": [{"text": "Be kind."}]}
QUESTION = {"role": "user", "parts": [{"text": "Where is 81?"}]}
CALL = {"role": "model", "parts": [{"name": "find", "args": {"id": 81}, "id": "c1"}]}
RETRY = "Provider request failed with retryable error; retrying"


def adk(name: str, module: str, parent: Span | None, at: int, **fields: Any) -> Span:
    """One of its spans, that many seconds after the beginning."""
    attributes = {"target": module, **fields.pop("attributes", {})}
    return span(name, parent=parent, attributes=attributes, started_ns=START_NS + at * 1_000_000_000, **fields)


def agent(name: str = "shop", parent: Span | None = None, at: int = 0) -> Span:
    """An invocation of the runner's, or within a tool."""
    told = {"gen_ai.conversation.id": "s1", "adk.user_id": "ada", "agent.name": name}
    if parent is None:
        return adk("agent.execute", "adk_runner::runner", None, at, attributes=told, seconds=60)
    return adk("execute", "adk_tool::agent_tool", parent, at, attributes={"agent_tool.name": name}, seconds=20)


def call(parent: Span, at: int, contents: list[Any], said: Any = None, **fields: Any) -> tuple[Span, Span]:
    """The span with the request and the response, and the one of the provider with the tokens."""
    request = {"model": "gpt", "contents": contents, "config": None}
    told = {"gcp.vertex.agent.session_id": "s1", "gcp.vertex.agent.llm_request": json.dumps(request)}
    if said is not None:
        told["gcp.vertex.agent.llm_response"] = json.dumps(said)
    outer = adk("call_llm", "adk_agent::llm_agent", parent, at, attributes=told, **fields)
    tokens = {"gen_ai.request.model": "gpt", "gen_ai.usage.input_tokens": 21, "gen_ai.usage.cache_read_tokens": 4}
    return outer, adk("gen_ai.generate", "adk_telemetry::spans", outer, at, attributes=tokens if said else {})


def tool(parent: Span, at: int, name: str, *events: SpanEvent) -> Span:
    """A tool's span, which has its name."""
    told = {"tool.name": name, "gcp.vertex.agent.session_id": "s1"}
    return adk(f"execute_tool {name}", "adk_agent::llm_agent", parent, at, attributes=told, events=events, seconds=30)


def pieces(*texts: str) -> dict[str, Any]:
    """An answer as it was streamed."""
    return {"role": "model", "parts": [{"text": text} for text in texts]}


def given(response: Any) -> dict[str, Any]:
    """What a model is told of a tool."""
    return {"role": "function", "parts": [{"functionResponse": {"name": "find", "response": response}, "id": "c1"}]}


@pytest.mark.parametrize(
    ("response", "result", "error"),
    [({"place": "lost"}, {"place": "lost"}, None), ({"error": "tool.internal: down"}, None, "tool.internal: down")],
)
def test_a_turn_with_a_tool(response: Any, result: Any, error: str | None) -> None:
    """What was called and given stands in requests alone; instructions are no message of a user's."""
    own = agent()
    first = call(own, 1, [INSTRUCTIONS, QUESTION], CALL)
    last = call(own, 9, [INSTRUCTIONS, QUESTION, CALL, given(response)], pieces("It is ", "go", "ne."))
    (found,) = assemble((own, *first, tool(own, 3, "find"), *last))
    assert (found.agent, found.session, found.user_id, found.model) == ("shop", "s1", "ada", "gpt")
    assert (found.asked, found.reply, found.system, found.history) == ("Where is 81?", "It is gone.", "Be kind.", ())
    assert [(made.name, made.arguments, made.result, made.error) for made in found.tool_calls] == [
        ("find", {"id": 81}, result, error)
    ]
    assert (len(found.model_calls), found.usage.input_tokens, found.usage.cache_read_tokens) == (2, 42, 8)


def test_a_further_turn_has_a_history() -> None:
    """The model answered between the user's messages."""
    own = agent()
    contents = [INSTRUCTIONS, {"role": "user", "parts": [{"text": "Hello"}]}, pieces("Hi"), QUESTION]
    (found,) = assemble((own, *call(own, 1, contents, pieces("Gone."))))
    assert (found.asked, [said.text for said in found.history]) == ("Where is 81?", ["Hello", "Hi"])


def test_an_agent_within_a_tool() -> None:
    """It has a span, in a tool's; its tokens are its own."""
    own = agent()
    outer = tool(own, 3, "find")
    inner = agent("finder", outer, 4)
    spans = (*call(own, 1, [QUESTION], CALL), outer, inner, *call(inner, 5, [QUESTION], pieces("Gone.")))
    first, nested = assemble((own, *spans))
    assert (nested.agent, nested.reply, nested.parent_id) == ("finder", "Gone.", first.id)
    assert (first.usage.input_tokens, nested.usage.input_tokens) == (21, 21)


@pytest.mark.parametrize(("attempt", "message"), [("3", "HTTP 500"), ("2", None)])
def test_a_model_that_was_asked_to_the_last_try(attempt: str, message: str | None) -> None:
    """Its error is that of the last try; where others were left, nothing says why there is no response."""
    told = {"attempt": attempt, "max_retries": "3", "error": "HTTP 500"}
    own = agent()
    retried = SpanEvent(name=RETRY, time_ns=START_NS, attributes=told)
    (found,) = assemble((own, *call(own, 1, [QUESTION], events=(retried,))))
    assert (found.failure.message if found.failure else None) == message
    (found,) = assemble((own, *call(own, 1, [QUESTION], pieces("Gone."), events=(retried,))))
    assert found.failure is None


def test_a_cut_request() -> None:
    """What was asked stands at its end, and the switch is a limit."""
    own = agent()
    cut = json.dumps({"model": "gpt", "contents": [INSTRUCTIONS, QUESTION]})[:60] + "...[truncated 49 bytes]"
    told = {"gcp.vertex.agent.llm_request": cut, "gcp.vertex.agent.llm_response": json.dumps(pieces("Gone."))}
    (found,) = assemble((own, adk("call_llm", "adk_agent::llm_agent", own, 1, attributes=told)))
    assert (found.asked, found.reply) == (None, "Gone.")
    assert {gap.kind for gap in found.gaps if gap.field == "asked"} == {GapKind.TRUNCATED}


def test_arguments_of_a_debug_event() -> None:
    """Where messages have none."""
    event = SpanEvent(name="tool_call", time_ns=START_NS, attributes={"tool.name": "find", "tool.args": '{"id":81}'})
    own = agent()
    (found,) = assemble((own, tool(own, 1, "find", event)))
    assert [(made.name, made.arguments) for made in found.tool_calls] == [("find", {"id": 81})]
