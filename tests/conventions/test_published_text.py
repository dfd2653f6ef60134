"""Instrumentations that were written from the text of OpenTelemetry's GenAI conventions: its examples, and what is allowed.

Source: semantic-conventions-genai (``examples-llm-calls.md``, ``examples-agent-interactions.md``, the JSON schemas of messages).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Interaction
from otel_eval.signals import LogRecord, Resource, Span, SpanEvent
from otel_eval.testing.spans import agent_span, message, model_span, span, tool_span


def only(spans: list[Span], logs: list[LogRecord] | None = None) -> Interaction:
    """The one Interaction."""
    (found,) = assemble(spans, logs or [])
    return found


def turn(*parts: Any, asked: Any = None, output: list[dict[str, Any]] | None = None, **attributes: Any) -> Interaction:
    """An agent that answers with the parts, in one call of a model."""
    agent = agent_span(asked=None, reply=None)
    said = output or [{"role": "assistant", "parts": list(parts)}]
    call = model_span(parent=agent, messages=[message("user", *(asked or ["hi"]))], output=said, attributes=attributes)
    return only([agent, call])


CODE = {"type": "code_interpreter", "code": "1 + 1", "container_id": "cntr_1"}
RAN = {"type": "code_interpreter", "outputs": [{"type": "logs", "logs": "2"}]}


@pytest.mark.parametrize("call_id", ["call_1", None])
def test_a_tool_that_the_provider_ran_is_a_call_and_the_text_after_it_the_reply(call_id: str | None) -> None:
    """The example of built-in tools: request, response and answer are one message; what the tool took has its own names."""
    found = turn(
        {"type": "server_tool_call", "id": call_id, "name": "code_interpreter", "server_tool_call": CODE},
        {"type": "server_tool_call_response", "id": call_id, "server_tool_call_response": RAN},
        {"type": "text", "content": "It is 2."},
    )
    (call,) = found.tool_calls
    assert (call.name, call.arguments) == ("code_interpreter", {"code": "1 + 1", "container_id": "cntr_1"})
    assert (call.result, call.gaps) == ({"outputs": [{"type": "logs", "logs": "2"}]}, ())
    assert (found.reply, found.gap("reply")) == ("It is 2.", None)


def test_a_request_that_nobody_answered_is_still_no_answer() -> None:
    """One of two calls was the program's to make."""
    found = turn(
        {"type": "server_tool_call", "id": "s", "name": "web_search", "server_tool_call": {"type": "x", "query": "q"}},
        {"type": "server_tool_call_response", "id": "s", "server_tool_call_response": {"type": "x", "results": []}},
        {"type": "text", "content": "Let me look."},
        {"type": "tool_call", "id": "c", "name": "getOrder", "arguments": {}},
    )
    assert found.reply is None
    assert [call.name for call in found.tool_calls] == ["web_search", "getOrder"]


@pytest.mark.parametrize(
    ("search", "arguments", "result"),
    [
        (
            [
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]},
            ],
            {"query": "q"},
            [{"url": "u"}],
        ),
    ],
)
def test_anthropics_searches_are_answered_in_the_message(search: list[Any], arguments: Any, result: Any) -> None:
    """Anthropic's blocks under the standard's names."""
    found = turn(output=[{"role": "assistant", "content": [*search, {"type": "text", "text": "Found."}]}])
    assert found.reply == "Found."
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("web_search", arguments, result)
    ]


@pytest.mark.parametrize(
    ("item", "name", "arguments", "result", "error"),
    [
        ({"type": "web_search_call", "id": "w", "action": {"query": "q"}}, "web_search", {"query": "q"}, None, None),
        (
            {"type": "code_interpreter_call", "id": "w", "code": "1", "outputs": [{"logs": "1"}]},
            "code_interpreter",
            {"code": "1"},
            [{"logs": "1"}],
            None,
        ),
        (
            {"type": "mcp_call", "id": "w", "name": "roll", "arguments": '{"n": 6}', "output": "4"},
            "roll",
            {"n": 6},
            "4",
            None,
        ),
        (
            {"type": "mcp_call", "id": "w", "name": "roll", "arguments": "{}", "error": "down"},
            "roll",
            {},
            None,
            "down",
        ),
    ],
)
def test_items_of_openais_own_tools_are_calls(
    item: dict[str, Any], name: str, arguments: Any, result: Any, error: str | None
) -> None:
    """A program that puts OpenAI's output items where the standard has messages. What a search found is not there: a gap."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Found."}]}
    found = turn(output=[item, said])
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.result, call.error) == (name, arguments, result, error)
    assert (call.gap("result") is not None) == (result is None and error is None)
    assert found.reply == "Found."


SAID = [message("assistant", "First."), message("assistant", "Second.")]


@pytest.mark.parametrize(
    ("output", "attributes", "reply"),
    [
        (SAID, {"gen_ai.response.finish_reasons": ["stop", "stop"]}, "First."),
        (SAID, {"gen_ai.request.choice.count": 2}, "First."),
        ([{**said, "finish_reason": "stop"} for said in SAID], {}, "First."),
        (SAID, {"gen_ai.response.finish_reasons": ["stop"]}, "First.\nSecond."),
        ([SAID[0], {**SAID[1], "finish_reason": "stop"}], {}, "First.\nSecond."),
    ],
)
def test_of_several_choices_the_first_is_the_reply(output: list[Any], attributes: dict[str, Any], reply: str) -> None:
    """As programs take it. Messages of which one alone ended are pieces of a stream."""
    assert turn(output=output, **attributes).reply == reply


def test_an_event_of_another_choice_is_not_the_reply() -> None:
    """``index`` of ``gen_ai.choice``; the pieces of a stream of Google's SDK are numbered, too, and have no message."""

    def choice(index: int, text: str) -> SpanEvent:
        said = {"index": index, "message": json.dumps({"role": "assistant", "content": text}), "finish_reason": "stop"}
        return SpanEvent("gen_ai.choice", index, said)

    call = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    asked = SpanEvent("gen_ai.user.message", 0, {"content": "hi"})
    found = only([span("chat m", attributes=call, events=(asked, choice(0, "First."), choice(1, "Second.")))])
    assert found.reply == "First."


def test_what_was_spoken_is_read_from_its_transcript() -> None:
    """A recording is an attachment, what was said in it the question and the reply."""
    heard = {
        "type": "blob",
        "modality": "audio",
        "mime_type": "audio/wav",
        "content": "AAAA",
        "transcript": "Where is it?",
    }
    spoken = {"type": "uri", "modality": "audio", "uri": "gs://b/a.wav", "transcript": "On its way."}
    found = turn(spoken, asked=[heard])
    assert (found.asked, found.reply) == ("Where is it?", "On its way.")
    assert [each.modality for each in found.attachments] == ["audio"]
    said = {"role": "assistant", "content": None, "audio": {"id": "a", "data": "AAAA", "transcript": "On its way."}}
    assert turn(output=[said]).reply == "On its way."


def test_a_summary_of_what_was_said_before_is_neither_asked_nor_replied() -> None:
    """``compaction``: the model's own, of turns that it is not shown any more."""
    summary = {"type": "compaction", "id": "cmp_1", "content": "The user asked for o_9."}
    found = turn(summary, {"type": "text", "content": "Sent."}, asked=[summary, "And o_10?"])
    assert (found.asked, found.reply) == ("And o_10?", "Sent.")


@pytest.mark.parametrize(
    "operation",
    ["agent", "invokeAgent", "invoke-agent", "INVOKE_AGENT", "agent.run", "run_agent"],
)
def test_an_agents_operation_is_known_however_it_is_spelled(operation: str) -> None:
    """ "Otherwise, a custom value MAY be used": the words of people who did not look up the value."""
    found = only([agent_span(attributes={"gen_ai.operation.name": operation})])
    assert (found.agent, found.asked, found.model_calls) == ("support-agent", "Where is my order?", ())


@pytest.mark.parametrize(
    "operation", ["converse", "messages.create", "streamText", "chatCompletion", "generate_live_content", "Chat"]
)
def test_a_custom_operation_with_a_model_and_messages_is_a_models_call(operation: str) -> None:
    """Whatever it is called, a model was sent messages or gave some."""
    agent = agent_span(asked=None, reply=None)
    named = {"gen_ai.operation.name": operation}
    call = model_span(
        parent=agent, messages=[message("user", "hi")], output=[message("assistant", "hello")], attributes=named
    )
    found = only([agent, call])
    assert (found.asked, found.reply, len(found.model_calls)) == ("hi", "hello", 1)


@pytest.mark.parametrize("operation", ["search_memory", "apply_guardrail", "upsert_memory", "run_step"])
def test_what_an_agent_does_beside_its_models_and_tools_is_no_call(operation: str) -> None:
    """Memory and guardrails, some of which name a model."""
    beside = {"gen_ai.operation.name": operation, "gen_ai.request.model": "m", "gen_ai.memory.query.text": "q"}
    agent = agent_span()
    found = only([agent, span(operation, parent=agent, attributes=beside)])
    assert (found.reply, found.tool_calls, found.model_calls) == ("It was delivered yesterday.", (), ())


def test_a_span_with_an_agents_name_and_messages_is_the_agents() -> None:
    """Without an operation, and without a model that could have been sent them."""
    agent = replace(agent_span(attributes={"gen_ai.operation.name": None}), name="handle")
    call = model_span(
        parent=agent, messages=[message("user", "Where is my order?")], output=[message("assistant", "Sent.")]
    )
    found = only([agent, call])
    assert (found.agent, found.span_id, len(found.model_calls)) == ("support-agent", agent.span_id, 1)


@pytest.mark.parametrize(
    ("given", "gave"),
    [
        ({"input.value": "hi"}, {"output.value": "hello"}),
        ({"input": '[{"role": "user", "content": "hi"}]'}, {"output": '{"role": "assistant", "content": "hello"}'}),
        ({"gen_ai.input": '{"question": "hi"}'}, {"gen_ai.output": '{"answer": "hello"}'}),
        ({"gen_ai.input.messages": '{"question": "hi"}'}, {"gen_ai.output.messages": '{"answer": "hello"}'}),
        ({"gen_ai.input.messages": '"hi"'}, {"gen_ai.output.messages": '"hello"'}),
        (
            {"gen_ai.input.messages.0.role": "user", "gen_ai.input.messages.0.parts.0.content": "hi"},
            {"gen_ai.output.messages.0.role": "assistant", "gen_ai.output.messages.0.content": "hello"},
        ),
        (
            {"gen_ai.input.messages": json.dumps(json.dumps([message("user", "hi")]))},
            {"gen_ai.output.messages": '{"choices": [{"index": 0, "message": {"content": "hello"}}]}'},
        ),
        (
            {"gen_ai.input.messages": [{"role": "user", "parts": '[{"type": "text", "content": "hi"}]'}]},
            {"gen_ai.output.messages": [{"role": "assistant", "parts": '{"type": "text", "content": "hello"}'}]},
        ),
    ],
)
def test_content_is_read_where_people_put_it(given: Mapping[str, Any], gave: Mapping[str, Any]) -> None:
    """The standard's operation, and the content under a name or in a shape of somebody's own."""
    found = only([agent_span(asked=None, reply=None, attributes={**given, **gave})])
    assert (found.asked, found.reply) == ("hi", "hello")
    assert {gap.field for gap in found.gaps}.isdisjoint({"asked", "reply", "history"})


def test_what_a_user_typed_in_quotes_stays_in_quotes() -> None:
    """``gen_ai.prompt`` is a text, not JSON."""
    found = only([agent_span(asked=None, reply="ok", attributes={"gen_ai.prompt": '"hi"'})])
    assert found.asked == '"hi"'


def test_names_of_other_conventions_do_not_come_before_the_standards() -> None:
    """What an attribute of the standard's says counts, whatever stands beside it."""
    found = only([agent_span(attributes={"input.value": "{}", "output.value": "x", "output": "y"})])
    assert (found.asked, found.reply) == ("Where is my order?", "It was delivered yesterday.")


def test_a_tools_values_are_read_under_other_names() -> None:
    """``input.value`` beside ``gen_ai.tool.name``."""
    agent = agent_span()
    attributes = {"input.value": '{"id": 81}', "output.value": '{"status": "paid"}'}
    (call,) = only([agent, tool_span("getOrder", parent=agent, attributes=attributes)]).tool_calls
    assert (call.arguments, call.result, call.gaps) == ({"id": 81}, {"status": "paid"}, ())


@pytest.mark.parametrize("kind", ["toolCall", "tool-call", "TOOL_CALL"])
def test_kinds_of_parts_are_known_however_they_are_spelled(kind: str) -> None:
    """A request and its result in camel case."""
    asked = {"type": kind, "toolCallId": "c", "toolName": "getOrder", "args": {"id": 81}}
    gave = {"type": "toolCallResponse", "toolCallId": "c", "result": "paid"}
    agent = agent_span(asked=None, reply=None)
    said = [message("assistant", asked)]
    first = model_span(parent=agent, messages=[message("user", "hi")], output=said, seconds=0.1)
    history = [message("user", "hi"), *said, message("tool", gave)]
    last = model_span(
        parent=agent,
        messages=history,
        output=[message("assistant", "Paid.")],
        started_ns=first.ended_ns + 1,
        seconds=0.1,
    )
    found = only([agent, first, last])
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("getOrder", {"id": 81}, "paid")]


def test_messages_in_a_record_without_a_body_are_its_attributes() -> None:
    """``gen_ai.user.message`` with its fields where a span's event has them."""
    call = model_span(messages=None, output=None)

    def record(name: str, **fields: Any) -> LogRecord:
        return LogRecord(trace_id=call.trace_id, span_id=call.span_id, event_name=name, attributes=fields)

    said = json.dumps({"role": "assistant", "content": "hello"})
    found = only([call], [record("gen_ai.user.message", content="hi"), record("gen_ai.choice", index=0, message=said)])
    assert (found.asked, found.reply) == ("hi", "hello")


def test_passing_control_is_no_tool_call() -> None:
    """``gen_ai.transfer.mode``: the agent that takes over has the last word, whatever the tool is called."""
    agent = agent_span(agent="triage", asked="Weather?", reply=None)
    wants = {"type": "tool_call", "id": "c", "name": "route", "arguments": {}}
    asks = model_span(parent=agent, messages=[message("user", "Weather?")], output=[message("assistant", wants)])
    mode = {"gen_ai.transfer.mode": "pass_control", "gen_ai.transfer.target.name": "weather"}
    route = tool_span("route", {}, "ok", call_id="c", parent=agent, attributes=mode)
    other = agent_span(agent="weather", asked="Weather?", reply="Sunny.", parent=agent)
    outer, inner = assemble([agent, asks, route, other], [])
    assert (outer.agent, outer.reply, outer.tool_calls) == ("triage", "Sunny.", ())
    assert (inner.agent, inner.parent_id) == ("weather", outer.id)


@pytest.mark.parametrize(
    ("told", "shown", "result", "error"),
    [
        ({"gen_ai.tool.call.result": '{"content": [{"type": "text", "text": "paid"}]}'}, "paid", "paid", None),
        (
            {"gen_ai.tool.call.result": '{"content": [{"type": "text", "text": "{}"}], "isError": false}'},
            "{}",
            {},
            None,
        ),
        ({"error.type": "tool_error"}, "no such order", None, "no such order"),
        ({"error.type": "tool_error"}, None, None, "tool_error"),
    ],
)
def test_a_tool_of_mcp_gives_its_content(
    told: dict[str, Any], shown: str | None, result: Any, error: str | None
) -> None:
    """``CallToolResult`` is an envelope; of a failure the span has the type alone, the model was shown the words."""
    agent = agent_span(asked=None, reply=None)
    wants = {"type": "tool_call", "id": "c", "name": "getOrder", "arguments": {}}
    history = [message("user", "hi"), message("assistant", wants)]
    if shown is not None:
        history.append(message("tool", {"type": "tool_call_response", "id": "c", "response": shown}))
    call = span(
        "tools/call getOrder",
        parent=agent,
        attributes={"mcp.method.name": "tools/call", "gen_ai.tool.name": "getOrder", **told},
    )
    said = model_span(parent=agent, messages=history, output=[message("assistant", "ok")])
    (found,) = only([agent, call, said]).tool_calls
    assert (found.result, found.error) == (result, error)


def test_a_guardrail_with_a_model_is_a_step_until_it_has_messages() -> None:
    """The kind of a custom operation follows from what it has."""
    named = {"gen_ai.operation.name": "self_check", "gen_ai.request.model": "m"}
    assert [
        str(facts.kind) if (facts := facts_of(span("x", attributes=attributes))) is not None else None
        for attributes in (named, {**named, "gen_ai.output.messages": "[]"}, {"gen_ai.operation.name": "self_check"})
    ] == ["step", "model", "step"]


def test_a_remote_agent_is_one_interaction_of_two_services() -> None:
    """The caller's ``invoke_agent`` of kind CLIENT, HTTP and A2A between, and the agent's own in its process."""
    caller = agent_span(agent="support", asked="Refund 81.", reply="Refunded.")
    client = agent_span(agent="refunds", asked=None, reply=None, parent=caller, kind=3)
    task = {"a2a.method.name": "SendMessage", "gen_ai.agent.name": "refunds", "gen_ai.conversation.id": "context-9"}
    sent = span("SendMessage", parent=client, attributes=task, kind=3)
    there = Resource({"service.name": "refunds"})
    served = span("SendMessage", parent=sent, attributes=task, kind=2, resource=there)
    agent = agent_span(agent="refunds", asked="refund 81", reply="ok", session="context-9", parent=served)
    call = model_span(parent=agent, messages=[message("user", "refund 81")], output=[message("assistant", "ok")])
    outer, inner = assemble([caller, client, sent, served, agent, call], [])
    assert (outer.agent, outer.asked, outer.reply, outer.model_calls) == ("support", "Refund 81.", "Refunded.", ())
    assert (inner.agent, inner.asked, inner.reply, len(inner.model_calls)) == ("refunds", "refund 81", "ok", 1)
    assert (inner.parent_id, inner.span_id) == (outer.id, client.span_id)


@pytest.mark.parametrize("told", [{"error.type": "_OTHER"}, {"error.type": "tool_error"}])
def test_a_failure_without_words_has_those_that_the_model_was_shown(told: dict[str, str]) -> None:
    """A fallback value, and MCP's, say nothing of what went wrong."""
    agent = agent_span(asked=None, reply=None)
    wants = message("assistant", {"type": "tool_call", "id": "c", "name": "getOrder", "arguments": {}})
    gave = message("tool", {"type": "tool_call_response", "id": "c", "response": "no such order"})
    tool = tool_span("getOrder", {}, None, call_id="c", parent=agent, attributes=told)
    said = model_span(
        parent=agent, messages=[message("user", "hi"), wants, gave], output=[message("assistant", "Sorry.")]
    )
    (call,) = only([agent, tool, said]).tool_calls
    assert (call.result, call.error) == (None, "no such order")


@pytest.mark.parametrize(
    ("response", "result"), [('"paid"', "paid"), ('{"a": 1}', {"a": 1}), ('"paid" he said', '"paid" he said')]
)
def test_a_result_that_is_json_in_a_message_is_decoded_as_on_a_span(response: str, result: Any) -> None:
    """Programs write as JSON whatever their tools give, texts among it."""
    agent = agent_span(asked=None, reply=None)
    wants = message("assistant", {"type": "tool_call", "id": "c", "name": "getOrder", "arguments": {}})
    first = model_span(parent=agent, messages=[message("user", "hi")], output=[wants], seconds=0.1)
    gave = message("tool", {"type": "tool_call_response", "id": "c", "response": response})
    last = model_span(
        parent=agent,
        messages=[message("user", "hi"), wants, gave],
        output=[message("assistant", "ok")],
        started_ns=first.ended_ns + 1,
        seconds=0.1,
    )
    (call,) = only([agent, first, last]).tool_calls
    assert call.result == result
    told = {"gen_ai.tool.call.result": response}
    (call,) = only([agent, tool_span("getOrder", {}, None, parent=agent, attributes=told)]).tool_calls
    assert call.result == result
