"""Rig for Rust: spans that never have a status, and none of the agent's below a span of the program's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Span, SpanEvent
from otel_eval.testing.spans import START_NS, span

SECOND = 1_000_000_000
ENGINE = "rig_agent::agent::engine"
SETTING = "AgentBuilder::record_content_telemetry(true)"
TOKENS = {"gen_ai.usage.input_tokens": "21", "gen_ai.usage.output_tokens": "9"}
"""tracing-opentelemetry writes numbers without a sign as texts."""


def rig(name: str, module: str, at: float = 0, **fields: Any) -> Span:
    """One of Rig's spans, that many seconds after the beginning, as tracing-opentelemetry exports it."""
    attributes = {"code.module.name": module, "target": module, "thread.id": 1, "busy_ns": 5, "idle_ns": 5}
    attributes |= {"gen_ai.operation.name": name} | fields.pop("attributes", {})
    return span(name, attributes=attributes, started_ns=START_NS + round(at * SECOND), **fields)


def run(module: str = "rig_agent::agent::telemetry", events: tuple[str, ...] = (), **attributes: Any) -> Span:
    """An agent's span; the messages of log lines are its events."""
    return rig(
        "invoke_agent",
        module,
        attributes={"gen_ai.agent.name": "shop", **attributes},
        events=tuple(SpanEvent(name=name, time_ns=START_NS, attributes={"level": "INFO"}) for name in events),
        seconds=60,
    )


def message(role: str, **part: Any) -> dict[str, Any]:
    return {"role": role, "parts": [part]}


def chat(parent: Span | None, at: float, agent: str = "shop", **attributes: Any) -> Span:
    """A model's span, with the provider's name where Rig sent the request."""
    told = {"rig.completion_parent": True, "gen_ai.agent.name": agent, "gen_ai.provider.name": "openai"}
    told |= {"gen_ai.request.model": "gpt", **attributes}
    return rig("chat", "rig::agent_chat", at, parent=parent, attributes=told)


def tool(parent: Span | None, at: float, name: str, **attributes: Any) -> Span:
    """A tool's span."""
    told = {"gen_ai.tool.name": name, "gen_ai.tool.call.id": f"call-{name}", "gen_ai.tool.call.arguments": '{"id":81}'}
    return rig(
        "execute_tool", "rig_agent::agent::telemetry", at, parent=parent, attributes=told | attributes, seconds=20
    )


def said(*messages: dict[str, Any]) -> str:
    return json.dumps(messages)


def only(*spans: Span) -> Interaction:
    (found,) = assemble(spans)
    return found


def test_a_run_is_what_its_span_says() -> None:
    """Texts are texts, even where a user and a model write JSON; the tokens are read out of texts."""
    own = run(**{"gen_ai.prompt": '{"id": 81}', "gen_ai.completion": '{"ok": true}', **TOKENS})
    found = only(own, chat(own, 1, **TOKENS, **{"gen_ai.response.model": "gpt-2"}))
    assert (found.agent, found.asked, found.reply, found.failure) == ("shop", '{"id": 81}', '{"ok": true}', None)
    assert (found.usage.input_tokens, found.model) == (21, "gpt-2")


@pytest.mark.parametrize(
    ("attributes", "events", "failed"),
    [
        ({"gen_ai.prompt": "Hello"}, (), True),
        ({}, ("Current conversation Turns: 1/6",), True),
        ({"gen_ai.prompt": "Hello", "gen_ai.completion": ""}, ("Current conversation Turns: 2/6",), True),
        ({}, (), False),
        ({}, ("Current conversation Turns: 1/6", "Agent run finished"), False),
        (TOKENS, ("Current conversation Turns: 1/6",), False),
        ({"gen_ai.prompt": "Hello", "gen_ai.completion": "Hi", **TOKENS}, (), False),
    ],
)
def test_a_run_that_fails_ends_without_an_answer(
    attributes: dict[str, str], events: tuple[str, ...], *, failed: bool
) -> None:
    """No status says so: neither tokens nor an answer were written, or no log line of the end came after that of a turn."""
    found = only(run(events=events, **attributes))
    assert found.reply == ("Hi" if attributes.get("gen_ai.completion") == "Hi" else None)
    assert (str(found.failure) if found.failure else None) == ("the run ended without an answer" if failed else None)


@pytest.mark.parametrize(
    ("attributes", "failed"),
    [
        ({}, True),
        ({"gen_ai.provider.name": None}, False),  # a model of the program's own, which may write nothing
        ({"rig.completion_parent": None}, False),  # before 0.41 each provider wrote what it liked
        (TOKENS, False),
        ({"gen_ai.response.id": "r1"}, False),
        ({"gen_ai.output.messages": said(message("assistant", type="text", content="Hi"))}, False),
    ],
)
def test_a_model_call_that_fails_tells_nothing_of_a_response(attributes: dict[str, Any], *, failed: bool) -> None:
    """In a span of the program's own, Rig opens none for the agent."""
    handler = span("POST /chat", seconds=9)
    asked = said(message("user", type="text", content="Hello"))
    found = only(handler, chat(handler, 1, **{"gen_ai.input.messages": asked, **attributes}))
    assert (found.agent, found.asked) == ("shop", "Hello")
    assert (found.failure is not None) is failed


def test_a_failed_tool() -> None:
    """What stands for its result is what the model was told of the error, where content is on."""
    own = run(**TOKENS)
    failed = {"gen_ai.tool.call.outcome": "error", "gen_ai.tool.error.type": "timeout"}
    found = only(
        own,
        tool(own, 1, "find", **failed, **{"gen_ai.tool.call.result": "the tool failed"}),
        tool(own, 2, "look", **failed),
        tool(own, 3, "see", **{"gen_ai.tool.call.outcome": "success", "gen_ai.tool.call.result": '"the tool failed"'}),
    )
    assert [(call.name, call.result, call.error) for call in found.tool_calls] == [
        ("find", None, "the tool failed"),
        ("look", None, "timeout"),
        ("see", "the tool failed", None),
    ]


def test_structured_output_is_no_tool_call() -> None:
    """A tool of that name that does not hand over the output is one."""
    own = run(**{"gen_ai.prompt": "It is 7 degrees.", "gen_ai.completion": '{"degrees":7}', **TOKENS})
    call = {"type": "tool_call", "id": "c1", "name": "submit", "arguments": {"degrees": 7}}
    asked = {"gen_ai.output.messages": said(message("assistant", **call)), **TOKENS}
    handing = [{"name": "submit", "description": "Submit the structured data you extracted from the provided text."}]
    found = only(own, chat(own, 1, **asked, **{"gen_ai.tool.definitions": json.dumps(handing)}))
    assert (found.reply, found.tool_calls) == ('{"degrees":7}', ())
    other = [{"name": "submit", "description": "Files a form."}]
    found = only(own, chat(own, 1, **asked, **{"gen_ai.tool.definitions": json.dumps(other)}))
    assert [made.name for made in found.tool_calls] == ["submit"]


def test_chat_is_a_span_with_the_agents_name() -> None:
    """``Agent::chat`` is traced as a function, so that Rig opens no span of its own."""
    own = span("chat", attributes={"target": "rig_agent::agent::completion", "agent_name": "shop"}, seconds=9)
    turn = {"gen_ai.input.messages": said(message("user", type="text", content="Hello")), **TOKENS}
    turn["gen_ai.output.messages"] = said(message("assistant", type="text", content="Hi"))
    found = only(own, chat(own, 1, **turn))
    assert (found.span_id, found.agent, found.asked, found.reply) == (own.span_id, "shop", "Hello", "Hi")


def test_an_agent_that_is_a_tool_is_an_interaction_of_its_own() -> None:
    """It has no span: its model calls, below the tool's, have its name."""
    own = run(**{"gen_ai.prompt": "Help me.", "gen_ai.completion": "Gone, they say.", **TOKENS})
    call = {"type": "tool_call", "id": "call-refunds", "name": "refunds", "arguments": {"id": 81}}
    first = chat(own, 1, **{"gen_ai.output.messages": said(message("assistant", **call)), **TOKENS})
    outer = tool(own, 3, "refunds", **{"gen_ai.tool.call.result": "Gone."})
    look = {"type": "tool_call", "id": "call-find", "name": "find", "arguments": {"id": 81}}
    question = message("user", type="text", content="Where is 81?")
    given = message("user", type="tool_call_response", id="call-find", response="lost")
    inner = (
        chat(
            outer,
            4,
            "refunds",
            **TOKENS,
            **{
                "gen_ai.input.messages": said(question),
                "gen_ai.output.messages": said(message("assistant", **look)),
            },
        ),
        tool(outer, 6, "find", **{"gen_ai.tool.call.result": "lost"}),
        chat(
            outer,
            8,
            "refunds",
            **TOKENS,
            **{
                "gen_ai.input.messages": said(question, message("assistant", **look), given),
                "gen_ai.output.messages": said(message("assistant", type="text", content="Gone.")),
            },
        ),
    )
    outermost, nested = assemble((own, first, outer, *inner))
    assert (outermost.agent, [made.name for made in outermost.tool_calls]) == ("shop", ["refunds"])
    assert (outermost.usage.input_tokens, outermost.totals.usage.input_tokens) == (21, 63)
    assert (nested.agent, nested.asked, nested.reply) == ("refunds", "Where is 81?", "Gone.")
    assert [(made.name, made.result, made.span_id) for made in nested.tool_calls] == [
        ("find", "lost", inner[1].span_id)
    ]
    assert nested.parent_id == outermost.id


def test_content_is_off_until_it_is_asked_for() -> None:
    """The gaps name the switch."""
    own = run(**TOKENS)
    found = only(own, chat(own, 1, **TOKENS), tool(own, 2, "find", **{"gen_ai.tool.call.arguments": None}))
    settings = {gap.field: gap.setting for gap in found.gaps if gap.field != "session"}
    assert settings == dict.fromkeys(("asked", "reply", "system", "history"), SETTING)
    assert {gap.setting for gap in found.tool_calls[0].gaps} == {SETTING}


def test_until_rig_0_39_what_a_run_did_is_in_traces_of_its_own() -> None:
    """Model spans without content are no Interactions, and that there may have been tool calls is a gap."""
    own = run("rig::agent::prompt_request", **{"gen_ai.prompt": "Hello", "gen_ai.completion": "Hi", **TOKENS})
    lost = {"rig.completion_parent": None, "gen_ai.provider.name": None, **TOKENS}
    found = only(own, chat(None, 1, **lost), tool(None, 2, "find", **{"gen_ai.tool.call.result": "lost"}))
    assert (found.asked, found.reply, found.tool_calls) == ("Hello", "Hi", ())
    (gap,) = [gap for gap in found.gaps if gap.field == "tool_calls"]
    assert (gap.kind, gap.setting) == (GapKind.NOT_CAPTURED, "rig 0.40 or a span of your own around the run")
    streamed = run("rig::agent::prompt_request::streaming", **{"gen_ai.prompt": "Hello", "gen_ai.completion": "Hi"})
    assert "tool_calls" not in {gap.field for gap in only(streamed).gaps}


def test_other_crates_are_left_alone() -> None:
    """A program's own span by the standard is no run of Rig's, so that an answer may be missing."""
    own = span(
        "agent", attributes={"target": "shop::agent", "gen_ai.operation.name": "invoke_agent", "gen_ai.prompt": "Hello"}
    )
    assert only(own).failure is None
