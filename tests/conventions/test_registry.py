"""Which spans are recognised, as what, and which conventions fill the gaps of which."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.sessions import session_of
from otel_eval.conventions.registry import Registry, default_registry, facts_of, note_of
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import log_record, span


def read(attributes: dict[str, Any], *, name: str = "s", scope: str = "") -> Facts | None:
    """The facts of a span with these attributes."""
    return facts_of(span(name, attributes=attributes, scope=Scope(scope)))


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"gen_ai.operation.name": "invoke_agent"}, Kind.AGENT),
        ({"gen_ai.operation.name": "invoke_workflow"}, Kind.WORKFLOW),
        ({"gen_ai.operation.name": "chat"}, Kind.MODEL),
        ({"gen_ai.operation.name": "generate_content"}, Kind.MODEL),
        ({"gen_ai.operation.name": "execute_tool"}, Kind.TOOL),
        ({"gen_ai.operation.name": "something_new"}, Kind.STEP),
        ({"gen_ai.operation.name": "evaluation"}, Kind.EVALUATOR),
        ({"gen_ai.operation.name": "create_agent"}, None),
        ({"gen_ai.operation.name": "embeddings"}, None),
        ({"gen_ai.tool.name": "t"}, Kind.TOOL),
        ({"gen_ai.request.model": "m"}, Kind.MODEL),
        ({"gen_ai.prompt.0.content": "hi"}, Kind.MODEL),
        ({"mcp.method.name": "tools/call", "gen_ai.tool.name": "t"}, Kind.TOOL),
        ({"mcp.method.name": "initialize"}, None),
        ({"openinference.span.kind": "AGENT"}, Kind.AGENT),
        ({"openinference.span.kind": "llm"}, Kind.MODEL),
        ({"openinference.span.kind": "CHAIN"}, Kind.WORKFLOW),
        ({"openinference.span.kind": "EVALUATOR"}, Kind.EVALUATOR),
        ({"openinference.span.kind": "RETRIEVER"}, None),
        ({"llm.input_messages.7.message.role": "user"}, Kind.MODEL),
        ({"http.request.method": "GET", "url.full": "https://x"}, None),
        ({"gen_ai.agent.name": "stamped on everything"}, None),
        ({"gen_ai.response.model": "m", "ag2.span.type": "usage"}, None),
        ({}, None),
    ],
)
def test_kinds(attributes: dict[str, Any], kind: Kind | None) -> None:
    """A span is what its operation or kind says, else what its attributes can only mean; None for an ordinary one."""
    facts = read(attributes)
    assert (None if facts is None else facts.kind) == kind


def test_an_agents_span_stays_one_when_an_sdk_writes_over_it() -> None:
    """A callback that writes its own call's attributes onto the active span does not turn an agent into a model call."""
    facts = read({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}, name="invoke_agent shop")
    assert facts is not None
    assert facts.kind is Kind.AGENT


def test_the_first_convention_decides_and_the_next_fills_gaps() -> None:
    """A span that two conventions wrote has one kind, the first's fields, and what only the second knows."""
    facts = read(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "t",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.id": "c1",
        }
    )
    assert facts is not None
    assert (facts.kind, facts.tool, facts.call_id, facts.conventions) == (
        Kind.TOOL,
        "t",
        "c1",
        ("openinference", "genai"),
    )


@pytest.mark.parametrize(
    ("attributes", "session"),
    [
        ({"gen_ai.conversation.id": "a", "session.id": "b"}, "a"),
        ({"gen_ai.conversation.id": "", "session.id": "b"}, "b"),
        ({"langsmith.trace.session_id": "project", "mcp.session.id": "transport"}, None),
        ({"metadata": '{"thread_id": "t"}'}, "t"),
        ({"traceloop.association.properties.session_id": "x"}, "x"),
    ],
)
def test_sessions(attributes: dict[str, Any], session: str | None) -> None:
    """The conversation's id under its many names; empty ones, projects and transports are none."""
    assert session_of(attributes) == session


def test_users_conventions_come_first() -> None:
    """A convention of a user's decides over ours, and is only offered what its prefixes name."""
    mine = Convention(
        name="mine", prefixes=("acme.",), read=lambda span: Facts(kind=Kind.AGENT, agent=span.attributes["acme.bot"])
    )
    registry = Registry((mine, *default_registry().conventions))
    facts = registry.facts_of(span("x", attributes={"acme.bot": "bob", "gen_ai.operation.name": "chat"}))
    assert facts is not None
    assert (facts.kind, facts.agent, facts.conventions) == (Kind.AGENT, "bob", ("mine", "genai"))
    assert registry.facts_of(span("x", attributes={"other": "bob"})) is None


@pytest.mark.parametrize(
    ("events", "asked", "said"),
    [
        (
            [("gen_ai.content.prompt", {"gen_ai.prompt": '[{"role": "user", "content": "hi"}]'}),
             ("gen_ai.content.completion", {"gen_ai.completion": '[{"role": "assistant", "content": "hello"}]'})],
            "hi", "hello",
        ),
        (
            [("gen_ai.content.prompt", {"gen_ai.prompt": "system: be kind\nuser: hi"}),
             ("gen_ai.content.completion", {"gen_ai.completion": "hello"})],
            "hi", "hello",
        ),
        (
            [("gen_ai.user.message", {"content": '[{"text": "hi"}]'}), ("gen_ai.choice", {"message": "hello", "finish_reason": "end_turn"})],
            "hi", "hello",
        ),
        (
            [("gen_ai.client.inference.operation.details", {"gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]'}),
             ("gen_ai.client.inference.operation.details", {"gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}]'})],
            "hi", "hello",
        ),
    ],
    ids=["G1", "G1 as one text", "G2", "G3 in pieces"],
)  # fmt: skip
def test_span_events_of_every_generation(events: list[tuple[str, dict[str, str]]], asked: str, said: str) -> None:
    """Messages in events of a span are its input and output."""
    facts = facts_of(replace(span("chat m"), events=tuple(SpanEvent(name, 1, told) for name, told in events)))
    assert facts is not None
    assert facts.input is not None
    assert facts.output is not None
    assert (facts.input[-1].text, facts.output[-1].text) == (asked, said)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"role": "assistant"}, False),
        ({}, False),
        ({"role": "assistant", "content": ""}, True),
        ({"content": []}, True),
    ],
)
def test_a_choice_without_a_text_is_unknown_and_one_with_an_empty_text_is_empty(
    message: dict[str, Any], told: bool
) -> None:
    """Without content capture the event is written all the same."""
    note = note_of(log_record("gen_ai.choice", span=span(), body={"finish_reason": "stop", "message": message}))
    assert note is not None
    assert (note.facts.output is not None) is told


def test_a_log_record_without_a_span_is_no_evidence() -> None:
    """Records of other kinds, and such as name no span, are passed over."""
    assert note_of(log_record("gen_ai.choice", body={"message": {"content": "x"}})) is None
    assert note_of(log_record("app.started", span=span())) is None


def test_ordinary_spans_are_not_decoded() -> None:
    """Deciding that a span is no agent's reads no attribute's value."""

    class Keys(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise AssertionError(f"{key} was read")

        get = __getitem__

    ordinary: Span = span("GET /")
    assert facts_of(replace(ordinary, attributes=Keys({"http.route": "/", "server.address": "x"}))) is None


def test_log_records_of_one_moment_are_put_in_the_order_of_a_turn() -> None:
    """Alone in their requests, records of one millisecond tell their order by what they are."""
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    turn = [
        ("gen_ai.system.message", {"content": "Be kind."}),
        ("gen_ai.user.message", {"content": "Where is it?"}),
        ("gen_ai.assistant.message", {"tool_calls": [call]}),
        ("gen_ai.tool.message", {"id": "c1", "content": "here"}),
        ("gen_ai.choice", {"message": {"content": "Here."}}),
    ]
    notes = [note_of(log_record(name, span=span(), body=body)) for name, body in turn]
    orders = [note.order for note in notes if note is not None]
    assert len(orders) == len(turn)
    assert orders == sorted(orders)


def test_a_call_in_an_event_without_a_name_is_none() -> None:
    """Koog hides the names of tools as well."""
    hidden = {"id": "c1", "function": {"name": "HIDDEN:non-empty", "arguments": "HIDDEN:non-empty"}}
    shown = {"id": "c2", "function": {"name": "find", "arguments": "{}"}}
    for calls, names in (([hidden], None), ([hidden, shown], ["find"])):
        note = note_of(log_record("gen_ai.choice", span=span(), body={"message": {"tool_calls": calls}}))
        assert note is not None
        told = [part.name for message in note.facts.output or () for part in message.parts if hasattr(part, "name")]
        assert (told if note.facts.output is not None else None) == names
