"""Claude Code and the Claude Agent SDK."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import LogRecord, Scope, Span, SpanEvent
from otel_eval.testing.spans import span

SCOPE = Scope("com.anthropic.claude_code.tracing")


def typed(kind: str, attributes: dict[str, Any], **fields: Any) -> Span:
    """A span of Claude Code's."""
    return span(f"claude_code.{kind}", attributes={"span.type": kind, **attributes}, scope=SCOPE, **fields)


def read(kind: str, attributes: dict[str, Any], **fields: Any) -> Facts:
    """The facts of such a span."""
    facts = facts_of(typed(kind, attributes, **fields))
    assert facts is not None
    return facts


def record(of: Span, event: str, second: int, **attributes: Any) -> LogRecord:
    """A log record of Claude Code's under a span."""
    return LogRecord(
        trace_id=of.trace_id,
        span_id=of.span_id,
        event_name=event,
        time_ns=second,
        body=f"claude_code.{event}",
        attributes=attributes,
        scope=Scope("com.anthropic.claude_code.events"),
    )


def output(**attributes: Any) -> tuple[SpanEvent, ...]:
    """The event that holds what a tool gave back."""
    return (SpanEvent(name="tool.output", time_ns=1, attributes=attributes),)


@pytest.mark.parametrize("standard", [{}, {"gen_ai.operation.name": "invoke_agent"}])
def test_a_turn(standard: dict[str, str]) -> None:
    """The reply comes from the last call of the model, the tool's result from its event."""
    turn = typed("interaction", {"user_prompt": "List files", "session.id": "s1", **standard})
    (found,) = assemble(
        [
            turn,
            typed("llm_request", {"input_tokens": 5, "cache_read_tokens": 37, "output_tokens": 17}, parent=turn),
            typed(
                "tool",
                {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": '{"command":"ls"}'},
                events=output(output="a.txt"),
                parent=turn,
            ),
            typed("tool.execution", {}, parent=turn),
            typed(
                "llm_request",
                {"response.model_output": "There is a.txt."},
                parent=turn,
                started_ns=turn.started_ns + 5,
            ),
        ]
    )
    assert (found.agent, found.session) == ("claude_code", "s1")
    assert (found.asked, found.reply) == ("List files", "There is a.txt.")
    assert [(c.name, c.arguments, c.result, c.call_id) for c in found.tool_calls] == [
        ("Bash", {"command": "ls"}, "a.txt", "t1")
    ]
    assert (found.usage.input_tokens, found.usage.cache_read_tokens) == (42, 37)


def test_turns_of_one_client_are_interactions_of_their_own() -> None:
    """A long-lived client has many in one trace."""
    session = span("work")
    turns = [typed("interaction", {"user_prompt": text}, parent=session) for text in ("One", "Two")]
    assert {found.asked for found in assemble([session, *turns])} == {"One", "Two"}


def test_redacted_content() -> None:
    """``<REDACTED>`` is a gap with the settings, not content."""
    turn = typed("interaction", {"user_prompt": "<REDACTED>"})
    (found,) = assemble([turn])
    gap = found.gap("asked")
    assert gap is not None
    assert gap.kind is GapKind.REDACTED
    assert "OTEL_LOG_USER_PROMPTS=1" in (gap.setting or "")


def test_details_alone_are_not_the_whole_arguments() -> None:
    """Without the input the command is known, and that more is missing."""
    facts = read("tool", {"tool_name": "Bash", "full_command": "ls"})
    assert facts.arguments == {"full_command": "ls"}
    assert [(mark.field, mark.kind) for mark in facts.marks] == [("arguments", GapKind.TRUNCATED)]
    assert facts.result is MISSING


def test_a_failed_tool() -> None:
    """The span's own word for it, besides the status."""
    assert read("tool", {"tool_name": "Bash", "success": "false", "error": "exit 1"}).error == "exit 1"


@pytest.mark.parametrize("kind", ["tool.blocked_on_user", "tool.execution", "hook", "subagent.spawn"])
def test_parts_of_others(kind: str) -> None:
    """Waiting, executing and starting are no calls of their own."""
    assert facts_of(typed(kind, {"tool_name": "Bash"})) is None


def test_another_tracers_span_type() -> None:
    """``span.type`` alone does not make a span Claude Code's."""
    facts = facts_of(span("x", attributes={"span.type": "tool", "tool.name": "find"}))
    assert facts is not None
    assert "claude-code" not in facts.conventions
    assert facts.kind is Kind.TOOL


MCP = {"tool_name": "mcp_tool", "tool_parameters": '{"mcp_server_name":"shop","mcp_tool_name":"getOrder"}'}


def test_records_have_the_reply_and_the_arguments() -> None:
    """A tool of an MCP server has its names in a field of its own there."""
    turn = typed("interaction", {})
    tool = typed(
        "tool", {"tool_name": "mcp__shop__getOrder", "tool_use_id": "t1"}, parent=turn, events=output(output="sent")
    )
    (found,) = assemble(
        [turn, tool],
        [
            record(turn, "user_prompt", 1, prompt="Where is it?"),
            record(turn, "tool_result", 2, tool_use_id="t1", success="true", tool_input='{"id":"o_9"}', **MCP),
            record(turn, "assistant_response", 3, response="It was sent."),
            record(turn, "api_request", 4, model="claude"),
        ],
    )
    assert (found.asked, found.reply) == ("Where is it?", "It was sent.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [
        ("mcp__shop__getOrder", {"id": "o_9"}, "sent")
    ]


def test_an_error_in_a_record_or_on_the_execution() -> None:
    """The tool's own span says that all is well."""
    turn = typed("interaction", {"user_prompt": "Where?"})
    tool = typed("tool", {"tool_name": "Bash", "tool_use_id": "t1", "gen_ai.tool.call.id": "t1"}, parent=turn)
    execution = typed(
        "tool.execution",
        {"tool_use_id": "t1", "gen_ai.tool.call.id": "t1", "error": "exit 1"},
        parent=tool,
        status="error",
    )
    failed = record(turn, "tool_result", 2, tool_name="Bash", tool_use_id="t1", success="false", error="exit 1")
    for spans, records in (([turn, tool, execution], []), ([turn, tool], [failed])):
        (found,) = assemble(spans, records)
        assert [(c.name, c.error) for c in found.tool_calls] == [("Bash", "exit 1")]


def test_a_subagent_is_an_interaction_within() -> None:
    """It runs inside the execution of the tool that started it, and records name that."""
    turn = typed("interaction", {"user_prompt": "Refund o_9"})
    tool = typed("tool", {"tool_name": "Agent", "tool_use_id": "t1"}, parent=turn)
    execution = typed("tool.execution", {"tool_use_id": "t1"}, parent=tool)
    outer, inner = assemble(
        [turn, tool, execution, typed("tool", {"tool_name": "refund", "tool_use_id": "t2"}, parent=execution)],
        [
            record(execution, "assistant_response", 1, response="Refunded."),
            record(execution, "subagent_completed", 2, agent_type="refunds"),
        ],
    )
    assert [call.name for call in outer.tool_calls] == ["Agent"]
    assert (inner.parent_id, inner.agent, inner.reply) == (outer.id, "refunds", "Refunded.")
    assert [call.name for call in inner.tool_calls] == ["refund"]


@pytest.mark.parametrize("prompt", ["<REDACTED>", None])
def test_records_without_content(prompt: str | None) -> None:
    """They change nothing but the kind of the gap."""
    turn = typed("interaction", {})
    told = {} if prompt is None else {"prompt": prompt}
    (found,) = assemble([turn], [record(turn, "user_prompt", 1, **told), record(turn, "tool_result", 2)])
    assert (found.asked, found.tool_calls) == (None, ())
