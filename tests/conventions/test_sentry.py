"""Sentry's SDKs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.reading.messages import calls_in
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

SCOPE = Scope("@sentry/node", "10.78.0")


def sentry(operation: str, parent: Span | None = None, /, **attributes: Any) -> Span:
    """A span of Sentry's. ``tool__name`` and the like are attributes of ``gen_ai.``."""
    own = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    return span(operation, parent=parent, scope=SCOPE, attributes={"sentry.op": f"gen_ai.{operation}", **own})


def facts(operation: str, **attributes: Any) -> Facts:
    """The facts of such a span."""
    found = facts_of(sentry(operation, **attributes))
    assert found is not None
    return found


def test_an_agent_by_hand() -> None:
    """The agent's and the tools' spans are written by the program, the model's by the integration, which keeps the
    last message."""
    root = sentry("invoke_agent", agent__name="order_agent", operation__name="invoke_agent", request__model="m",
                  request__messages='[{"role":"user","content":"Where is o_9?"}]', response__text="It was sent.")  # fmt: skip
    ask = [{"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id":"o_9"}'}}]
    first = sentry("chat", root, operation__name="chat", response__text='[""]', response__tool_calls=json.dumps(ask),
                   input__messages='[{"role":"user","content":"Where is o_9?"}]', usage__input_tokens=20)  # fmt: skip
    tool = sentry("execute_tool", root, operation__name="execute_tool", tool__name="get_order",
                  tool__input='{"id":"o_9"}', tool__output='{"status":"sent"}')  # fmt: skip
    last = sentry("chat", root, operation__name="chat", response__text='["It was sent."]', usage__input_tokens=30)
    (found,) = assemble([root, first, tool, last])
    assert (found.agent, found.asked, found.reply) == ("order_agent", "Where is o_9?", "It was sent.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [
        ("get_order", {"id": "o_9"}, {"status": "sent"})
    ]
    assert found.usage.input_tokens == 50


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"response__text": '["Hi"]'}, "Hi"),
        ({"response__text": "Hi"}, "Hi"),
        ({"response__text": '{"city":"Paris"}'}, '{"city":"Paris"}'),
        ({"response__object": '{"city":"Paris"}'}, '{"city":"Paris"}'),
        ({"response__text": '[""]'}, ""),
    ],
)
def test_what_was_said(told: dict[str, str], text: str) -> None:
    """A list has a text for each choice; an object stays the text that it was."""
    found = facts("chat", operation__name="chat", **told)
    assert found.output is not None
    assert found.output[0].text == text


@pytest.mark.parametrize("calls", [
    [{"name": "t", "args": {"a": 1}, "type": "tool_call", "id": "c1"}],
    [{"id": "c1", "type": "function", "function": {"name": "t", "arguments": '{"a":1}'}}],
    [{"type": "tool_use", "id": "c1", "name": "t", "input": {"a": 1}}],
])  # fmt: skip
def test_calls_are_the_providers_own(calls: Any) -> None:
    """LangChain's, OpenAI's and Anthropic's."""
    root = sentry("invoke_agent", operation__name="invoke_agent", agent__name="a")
    call = sentry("chat", root, operation__name="chat", response__tool_calls=json.dumps(calls))
    (found,) = assemble([root, call])
    assert [(made.name, made.arguments, made.call_id) for made in found.tool_calls] == [("t", {"a": 1}, "c1")]


def test_a_graph_tells_its_whole_run() -> None:
    """The reply is what the last of its messages says."""
    run = [
        {"role": "assistant", "content": ""},
        {"role": "tool", "content": "sent"},
        {"role": "assistant", "content": "It was."},
    ]
    found = facts("invoke_agent", operation__name="invoke_agent", response__text=json.dumps(run))
    assert (found.kind, found.reply) == (Kind.AGENT, "It was.")


def test_spans_that_tell_nothing_of_agents() -> None:
    """The making of an agent, and what is no work of one's, are ordinary; a chain of LangChain's is no agent."""
    assert facts_of(sentry("create_agent", operation__name="create_agent")) is None
    assert facts_of(span("GET /", attributes={"sentry.op": "http.server"})) is None
    chain = span("chain x", attributes={"sentry.op": "gen_ai.invoke_agent", "langchain.chain.name": "x"})
    told = facts_of(chain)
    assert told is not None
    assert told.kind is Kind.STEP


def test_without_content_the_gap_names_the_switch() -> None:
    """The integrations record neither inputs nor outputs unless they are told to."""
    root = sentry("invoke_agent", operation__name="invoke_agent", agent__name="a")
    (found,) = assemble([root, sentry("chat", root, operation__name="chat", usage__input_tokens=1)])
    gap = found.gap("reply")
    assert gap is not None
    assert "recordOutputs: true" in (gap.setting or "")


def test_a_stream_of_gemini_writes_each_call_twice() -> None:
    """As the API has it, and once more in OpenAI's shape; two equal calls are two all the same."""
    own = [{"name": "roll", "args": {"sides": 66}}, {"name": "roll", "args": {"sides": 66}}]
    again = [{"type": "function", "name": each["name"], "arguments": each["args"]} for each in own]
    found = facts(
        "generate_content", operation__name="generate_content", response__tool_calls=json.dumps([*own, *again])
    )
    assert [(call.name, call.arguments) for call in calls_in(found.output[0])] == [("roll", {"sides": 66})] * 2


ROLL = {"name": "roll", "args": {"sides": 66}, "type": "tool_call"}


def chats(*turns: tuple[list[Any], dict[str, Any]]) -> list[Span]:
    """Calls of a model through LangChain.js below one span of a server: what went in, and what came out."""
    spans = [root := span("POST /chat", scope=SCOPE, seconds=10)]
    for second, (went_in, came_out) in enumerate(turns):
        said = {key: json.dumps(value) for key, value in came_out.items()}
        shown = json.dumps(went_in, separators=(",", ":"))
        call = sentry("chat", root, operation__name="chat", input__messages=shown, **said)
        spans.append(
            replace(call, started_ns=root.started_ns + second * 10**9, ended_ns=root.started_ns + second * 10**9 + 1)
        )
    return spans


def in_langchain(each: Span) -> Span:
    """The same, as written by Sentry's integration for LangChain.js."""
    return replace(each, attributes={**each.attributes, "sentry.origin": "auto.ai.langchain"})


def test_words_beside_a_request_that_the_history_lacks() -> None:
    """The next call is shown the words and the tool's result, and is of the same loop."""
    ask = {"role": "user", "content": "roll and tell"}
    shown = [ask, {"role": "assistant", "content": "Let me look. "}, {"role": "tool", "content": "rolled 66"}]
    first = ([ask], {"response__text": ["Let me look. "], "response__tool_calls": [{**ROLL, "id": "c1"}]})
    (found,) = assemble(chats(first, (shown, {"response__text": ["You got 66"]})))
    assert (found.asked, found.reply) == ("roll and tell", "You got 66")
    assert [(call.name, call.result) for call in found.tool_calls] == [("roll", "rolled 66")]


def test_the_same_request_again_after_its_results() -> None:
    """Where histories lack the requests, results before a request say that it is another one."""
    ask, empty = {"role": "user", "content": "roll"}, {"role": "assistant", "content": ""}
    rolled = [{"role": "tool", "content": f"rolled {n}"} for n in (1, 2, 3)]
    (found,) = assemble(
        chats(
            ([ask], {"response__tool_calls": [{**ROLL, "id": "c1"}, {**ROLL, "id": "c2"}]}),
            ([ask, empty, *rolled[:2]], {"response__tool_calls": [{**ROLL, "id": "c3"}]}),
            ([ask, empty, *rolled[:2], empty, rolled[2]], {"response__text": ["All rolled"]}),
        )
    )
    assert [(call.call_id, call.result) for call in found.tool_calls] == [
        ("c1", "rolled 1"),
        ("c2", "rolled 2"),
        ("c3", "rolled 3"),
    ]


def test_contents_in_parts_of_langchain() -> None:
    """They are JSON; ``[]`` is an answer without any, and what a user typed stays a text."""
    parts = json.dumps([{"type": "text", "text": "what is this?"}])
    for typed, asked in ((parts, "what is this?"), ("[]", "[]"), ("[1]", "[1]")):
        ask = {"role": "user", "content": typed}
        shown = [ask, {"role": "assistant", "content": "[]"}, {"role": "tool", "content": "rolled 66"}]
        first = ([ask], {"response__tool_calls": [{**ROLL, "id": "c1"}]})
        spans = chats(first, (shown, {"response__text": ["You got 66"]}))
        (found,) = assemble([spans[0], *map(in_langchain, spans[1:])])
        assert (found.asked, found.reply) == (asked, "You got 66")
        assert [(call.name, call.result) for call in found.tool_calls] == [("roll", "rolled 66")]
