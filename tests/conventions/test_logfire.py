"""Logfire's own integrations, which say what a span is in its template."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Kind
from otel_eval.conventions.reading.messages import calls_in
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, span

AGENTS = Scope("logfire.openai_agents", "4.0.0")
OPENAI = Scope("logfire.openai", "4.0.0")


def fire(template: str, parent: Span | None = None, scope: Scope = AGENTS, **attributes: Any) -> Span:
    """A span of Logfire's; values that are no texts are written as JSON."""
    written = {key: value if isinstance(value, str | int) else json.dumps(value) for key, value in attributes.items()}
    return span(template, parent=parent, scope=scope, attributes={"logfire.msg_template": template, **written})


def event(role: str, content: str | None = None, **more: Any) -> dict[str, Any]:
    """One of the events in a list."""
    said = {} if content is None else {"content": content}
    return {"event.name": f"gen_ai.{role}.message", "role": role, **said, **more}


CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": 9}'}}
ASKED = [event("system", "Be brief."), event("user", "Where is order 9?")]


def run(error: Any = None) -> list[Span]:
    """An agent of OpenAI's that calls a tool and answers."""
    trace = fire("OpenAI Agents trace: {name}", name="Agent workflow", group_id="s-1")
    agent = fire("Agent run: {name!r}", trace, name="support", **({} if error is None else {"error": error}))
    first = fire(
        "Responses API with {gen_ai.request.model!r}",
        agent,
        events=[*ASKED, event("assistant", tool_calls=[CALL])],
        **{"gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 5, "response_id": "r1"},
    )
    tool = fire("Function: {name}", agent, name="get_order", input='{"id": 9}', output='{"status": "sent"}')
    second = fire(
        "Responses API with {gen_ai.request.model!r}",
        agent,
        events=[
            *ASKED,
            event("assistant", tool_calls=[CALL]),
            event("tool", '{"status": "sent"}', id="c1", name="get_order"),
            *([] if error else [event("assistant", "It was sent.")]),
        ],
        **{"gen_ai.request.model": "gpt-4o", "response_id": "r2"},
    )
    return [trace, agent, first, tool, second]


def test_what_is_not_to_be_told_reads_null() -> None:
    """Without sensitive data a function's input and output are null: missing, not a result."""
    facts = facts_of(fire("Function: {name}", name="get_order", input="null", output="null"))
    assert facts is not None
    assert (facts.arguments, facts.result) == (MISSING, MISSING)


def test_a_streamed_chat_completion_is_a_response_among_messages() -> None:
    """OpenAI Agents writes what it streamed as one whole response behind the messages sent."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sent."}]}
    request = {"messages": [{"role": "user", "content": "Where?"}, {"object": "response", "output": [said]}]}
    facts = facts_of(fire("Chat completion with {gen_ai.request.model!r}", request_data=request))
    assert facts is not None
    assert facts.input is not None
    assert facts.output is not None
    assert ([m.text for m in facts.input], [m.text for m in facts.output]) == (["Where?"], ["Sent."])


def test_openai_agents_are_read_whole() -> None:
    """The trace is a frame, the agent has the name, what was said stands in the model's events."""
    (found,) = assemble(run())
    assert (found.agent, found.session, found.asked, found.reply, found.system, found.failed) == (
        "support", "s-1", "Where is order 9?", "It was sent.", "Be brief.", False,
    )  # fmt: skip
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("get_order", {"id": 9}, {"status": "sent"})
    ]
    assert len(found.model_calls) == 2


def test_an_agents_error_stands_in_an_attribute() -> None:
    """OpenAI Agents' errors leave the span's status as it is."""
    (found,) = assemble(run(error={"message": "Max turns exceeded", "data": {"max_turns": 2}}))
    assert (str(found.failure), found.reply) == ("Max turns exceeded", None)


@pytest.mark.parametrize(
    ("template", "scope", "kind"),
    [
        ("Agent run: {name!r}", AGENTS, Kind.AGENT),
        ("OpenAI Agents trace: {name}", AGENTS, Kind.WORKFLOW),
        ("Function: {name}", AGENTS, Kind.TOOL),
        ("Handoff: {from_agent} → {to_agent}", AGENTS, Kind.HANDOFF),
        ("Guardrail {name!r} {triggered=}", AGENTS, None),
        ("Custom span: {name}", AGENTS, None),
        ("Function: {name}", Scope("logfire"), None),
        ("GET {url}", Scope("logfire.httpx"), None),
    ],
)
def test_kinds_by_template(template: str, scope: Scope, kind: Kind | None) -> None:
    """The template of an integration's span says what it is; a program's own spans are ordinary."""
    found = facts_of(fire(template, scope=scope))
    assert (None if found is None else found.kind) is kind


def test_a_failed_tool() -> None:
    """The tool's own error, not the sentence around it."""
    error = {"message": "Error running tool (non-fatal)", "data": {"tool_name": "t", "error": "no such order"}}
    found = facts_of(fire("Function: {name}", name="t", input="{}", error=error))
    assert found is not None
    assert found.error == "no such order"


def test_requests_and_responses_of_the_clients() -> None:
    """OpenAI's and Anthropic's clients: the request and the response in two objects."""
    found = facts_of(
        fire(
            "Message with {request_data[model]!r}",
            scope=Scope("logfire.anthropic"),
            request_data={"model": "claude", "system": "Be brief.", "messages": [{"role": "user", "content": "hi"}]},
            response_data={
                "message": {"role": "assistant", "content": "hello"},
                "usage": {"input_tokens": 3, "output_tokens": 1},
            },
        )
    )
    assert found is not None
    assert (found.kind, found.model, found.system) == (Kind.MODEL, "claude", "Be brief.")
    assert ([said.text for said in found.input or ()], [said.text for said in found.output or ()]) == (
        ["hi"],
        ["hello"],
    )
    assert (found.usage.input_tokens, found.usage.output_tokens) == (3, 1)


def test_a_stream_is_one_call() -> None:
    """The request's span ends before the stream does; a record that repeats the request brings what was said."""
    request = {"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    asked = fire("Chat Completion with {request_data[model]!r}", scope=OPENAI, request_data=request)
    told = fire(
        "streaming response from {request_data[model]!r} took {duration:.2f}s",
        asked,
        scope=OPENAI,
        request_data=request,
        response_data={"combined_chunk_content": "hello", "chunk_count": 2},
    )
    (found,) = assemble([asked, told])
    assert (found.asked, found.reply, len(found.model_calls)) == ("hi", "hello", 1)


def test_mcp_client_and_server_are_one_call_with_the_frameworks() -> None:
    """A function's span, the client's request and the server's handling of it are one tool call."""
    agent = fire("Agent run: {name!r}", name="support")
    function = fire("Function: {name}", agent, name="get_order", input='{"id": 9}', output='{"status": "sent"}')
    params = {"name": "get_order", "arguments": {"id": 9}}
    client = fire(
        "MCP request: tools/call get_order",
        function,
        scope=Scope("logfire.mcp"),
        request={"method": "tools/call", "params": params},
        response={"content": [{"type": "text", "text": "sent"}], "isError": False},
    )
    server = fire(
        "MCP server handle request: tools/call",
        client,
        scope=Scope("logfire.mcp"),
        request={"method": "tools/call", "params": params},
    )
    listing = fire(
        "MCP request: tools/list", agent, scope=Scope("logfire.mcp"), request={"method": "tools/list", "params": None}
    )
    (found,) = assemble([agent, function, client, server, listing])
    assert [(call.name, call.result) for call in found.tool_calls] == [("get_order", {"status": "sent"})]


def test_an_mcp_error() -> None:
    """``isError`` in the response is the tool's error."""
    found = facts_of(
        fire(
            "MCP request: tools/call t",
            scope=Scope("logfire.mcp"),
            request={"method": "tools/call", "params": {"name": "t"}},
            response={"content": [{"type": "text", "text": "no such order"}], "isError": True},
        )
    )
    assert found is not None
    assert (found.tool, found.error) == ("t", "no such order")


def test_a_streams_outcome_is_in_a_record_after_it() -> None:
    """The request's span has ended before anything came; the record repeats the request, and lasts no time."""
    work = span("work", seconds=5)
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    asked = replace(
        fire("Chat Completion with {request_data[model]!r}", work, scope=OPENAI, request_data=request), ended_ns=2
    )
    record = fire(
        "streaming response from {request_data[model]!r} took {duration:.2f}s",
        work,
        scope=OPENAI,
        request_data=request,
        response_data={"combined_chunk_content": "hello"},
    )
    after = work.started_ns + SECOND_NS
    (found,) = assemble([work, asked, replace(record, started_ns=after, ended_ns=after)])
    assert (found.asked, found.reply, len(found.model_calls)) == ("hi", "hello", 1)


def test_anthropics_arguments_within_an_envelope() -> None:
    """Until Logfire 4 a block's ``input`` was written with its name."""
    function = {"name": "find", "arguments": '{"input": {"id": 9}}'}
    found = facts_of(
        fire(
            "Message with {request_data[model]!r}",
            scope=Scope("logfire.anthropic"),
            request_data={"messages": []},
            response_data={"message": {"role": "assistant", "tool_calls": [{"function": function}]}},
        )
    )
    assert found is not None
    assert found.output is not None
    assert [(part.name, part.arguments) for part in calls_in(found.output[0])] == [("find", {"id": 9})]


def test_an_image_beside_a_question_is_attached_to_it() -> None:
    """Logfire 5 writes each part of a message as an event of its own."""
    parts = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    ]
    events = [event("system", "Be brief."), event("user", "What is this?"), event("user", parts[1]["image_url"])]
    call = fire(
        "Responses API with {gen_ai.request.model!r}",
        events=[*events, event("assistant", "A pixel.")],
        raw_input=[{"role": "user", "content": parts}],
    )
    (found,) = assemble([call])
    assert (found.asked, found.reply, found.system) == ("What is this?", "A pixel.", "Be brief.")
    assert len(found.attachments) == 1


def test_a_failure_stays_one_where_its_reader_stops_reading() -> None:
    """The Claude Agent SDK's result says that the run failed; the program raises, and the generator is closed around that."""
    closed = SpanEvent(name="exception", time_ns=SECOND_NS, attributes={"exception.type": "GeneratorExit"})
    run = {"gen_ai.operation.name": "invoke_agent", "error.type": "500"}
    failed = span(
        "invoke_agent", scope=Scope("logfire.claude_agent_sdk"), status="error", attributes=run, events=(closed,)
    )
    left = replace(failed, attributes={"gen_ai.operation.name": "invoke_agent"})
    found = [facts_of(each) for each in (failed, left)]
    assert [None if each is None else (each.failure and each.failure.type, each.control_flow) for each in found] == [
        ("500", False),
        (None, True),
    ]
