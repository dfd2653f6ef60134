"""Claude Code and the Claude Agent SDK."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span, SpanEvent
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
    assert (found.agent, found.session) == ("claude-code", "s1")
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
