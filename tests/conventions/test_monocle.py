"""Monocle: types of spans, what went in and out in their events, and calls of tools in place of texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.reading.messages import calls_in, results_in
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Usage
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, START_NS, span

SCOPE = Scope("monocle_apptrace", "0.8.15")
ARGUMENTS = json.dumps({"order": "o_9"})


def traced(kind: str, taken: Any, given: Any, parent: Span | None = None, at: int = 0, **more: Any) -> Span:
    """A span with both its events."""
    metadata = {"prompt_tokens": 12, "completion_tokens": 5, "finish_reason": "stop"} if kind == "inference" else {}
    events = tuple(
        SpanEvent(name=name, time_ns=START_NS, attributes=attributes)
        for name, attributes in (("data.input", {"input": taken}), ("data.output", given), ("metadata", metadata))
    )
    status = more.pop("status", "ok")
    attributes = {
        "span.type": kind,
        "scope.agentic.session": "s-1",
        **{key.replace("__", "."): more[key] for key in more},
    }
    started = START_NS + at * SECOND_NS
    return span(
        "work", parent=parent, scope=SCOPE, status=status, started_ns=started, attributes=attributes, events=events
    )


def test_a_turn_of_the_openai_agents_sdk() -> None:
    """One Interaction: the runner's turn, with a span of the agent's for each call of the model, and each of those twice."""
    name = {"entity__1__name": "bob", "entity__1__type": "agent.openai_agents"}
    whole = span("workflow", scope=SCOPE, attributes={"span.type": "workflow", "entity.1.name": "shop"})
    turn = traced("agentic.turn", ["Refund o_9."], {"response": "It is refunded."}, whole, **name)
    asked = [json.dumps({"system": "Be brief."}), json.dumps({"user": "Refund o_9."})]
    call = {"tool_name": "refund", "tool_arguments": ARGUMENTS, "tool_id": "c1"}
    done = [
        json.dumps({"tool_function": "refund", "tool_arguments": ARGUMENTS, "call_id": "c1"}),
        json.dumps({"call_id": "c1", "output": "refunded"}),
    ]
    first = traced("agentic.invocation", [{"role": "user", "content": "Refund o_9."}], {}, turn, 1, **name)
    last = traced(
        "agentic.invocation", [{"role": "user", "content": "Refund o_9."}], {"response": "x"}, turn, 3, **name
    )
    model = {"entity__2__name": "gpt-4o", "entity__2__type": "model.llm.gpt-4o"}
    tool = {"entity__1__name": "refund", "entity__2__name": "bob", "entity__2__type": "agent.openai_agents"}
    outer = traced("inference", asked, {"response": json.dumps({"tools": [call]})}, first, 1, **model)
    spans = [
        *(whole, turn, first, last, outer),
        traced("inference", asked, {"response": json.dumps({"tools": [call]})}, outer, 1, **model),
        traced("agentic.tool.invocation", ARGUMENTS, {"response": "refunded"}, first, 2, **tool),
        traced("inference", [*asked, *done], {"response": '{"assistant": "It is refunded."}'}, last, 3, **model),
    ]
    (found,) = assemble(spans)
    assert (found.agent, found.session, found.asked) == ("bob", "s-1", "Refund o_9.")
    assert (found.reply, found.system, found.model) == ("It is refunded.", "Be brief.", "gpt-4o")
    assert [(made.name, made.arguments, made.result) for made in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "refunded")
    ]
    assert found.usage == Usage(input_tokens=24, output_tokens=10)


@pytest.mark.parametrize(
    "said",
    [
        {"assistant": [{"tool_name": "find", "tool_arguments": ARGUMENTS, "tool_id": "c1"}]},
        {"tools": [{"tool_name": "find", "tool_arguments": ARGUMENTS, "tool_id": "c1"}]},
        {"ai": {"name": "find", "args": {"order": "o_9"}, "id": "c1", "type": "tool_call"}},
        {"ai": json.dumps([{"name": "find", "args": {"order": "o_9"}, "id": "c1"}])},
        {"tool_function": "find", "tool_arguments": ARGUMENTS, "call_id": "c1"},
    ],
    ids=["chat", "responses", "langchain", "langchain-input", "responses-input"],
)
def test_a_call_of_a_tool(said: dict[str, Any]) -> None:
    """Under each framework's names, in an answer and in the input of the next call."""
    item = json.dumps(said)
    found = facts_of(traced("inference", ['{"user": "hi"}', item], {"response": item}))
    assert found is not None
    assert found.input is not None
    assert found.output is not None
    for message in (found.input[1], found.output[0]):
        assert [(call.name, call.arguments, call.call_id) for call in calls_in(message)] == [
            ("find", {"order": "o_9"}, "c1")
        ]


def test_results_and_texts_that_are_json() -> None:
    """What is no call is said as it stands."""
    items = [
        '{"user": "{\\"name\\": 1}"}',
        '{"assistant": "{\\"name\\": \\"bob\\"}"}',
        '{"call_id": "c1", "output": "[]"}',
    ]
    found = facts_of(traced("inference", items, {"response": '{"assistant": "[1]"}'}))
    assert found is not None
    assert found.input is not None
    assert [message.text for message in found.input[:2]] == ['{"name": 1}', '{"name": "bob"}']
    assert [result.call_id for result in results_in(found.input[2])] == ["c1"]
    assert [message.text for message in found.output or ()] == ["[1]"]


def test_a_decorated_function_that_failed() -> None:
    """The text of the error is no answer of the model's."""
    failed = {"response": "Error code: 500", "error_code": "x"}
    function = traced("custom", '{"args": ["Refund it all."], "kwargs": {}}', {"error_code": "x"}, status="error")
    call = traced("inference", ['{"user": "Refund it all."}'], failed, function, status="error")
    (found,) = assemble([function, call])
    assert (found.asked, found.reply, found.failed) == ("Refund it all.", None, True)


def test_kinds() -> None:
    """Plumbing is none of the agent's work."""
    kinds = ["agentic.turn", "agentic.delegation", "custom", "workflow", "inference.modelapi", "http.process"]
    found = [facts_of(traced(kind, "a", {"response": "b"})) for kind in kinds]
    assert [facts and facts.kind for facts in found] == [Kind.AGENT, Kind.HANDOFF, Kind.WORKFLOW, None, None, None]
