"""Anthropic's SDK: where it deviates from the standard."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import message, span

SDK = Scope("com.anthropic.sdk.python")


def called(name: str, operation: str | None, attributes: dict[str, Any], **fields: Any) -> Span:
    """A span of the SDK's."""
    own = {} if operation is None else {"gen_ai.operation.name": operation}
    return span(f"anthropic.{name}", attributes={**own, **attributes}, scope=fields.pop("scope", SDK), **fields)


ASKED = {"gen_ai.input.messages": json.dumps([message("user", "Where is it?")])}
HERE = {"gen_ai.output.messages": json.dumps([message("assistant", "Here.")])}
PAID = {"anthropic.tool_result.content": '[{"type":"text","text":"{\\"status\\":\\"paid\\"}"}]'}


def test_a_tool_runners_turn() -> None:
    """The runner is the agent, without a name; a platform's span of the same call is not a second one."""
    runner = called("messages.tool_runner", "invoke_agent", {"gen_ai.request.model": "claude"})
    call = called("messages.create", "chat", {"gen_ai.request.model": "claude", **ASKED, **HERE}, parent=runner)
    served = called(
        "messages.create",
        "chat",
        {"gen_ai.request.model": "claude", "anthropic.message.stop_reason": "end_turn"},
        parent=call,
        scope=Scope("com.anthropic.claude-platform"),
    )
    tool = called(
        "custom_tool_use find",
        "execute_tool",
        {"gen_ai.tool.name": "find", "gen_ai.tool.call.arguments": '{"id":81}', **PAID},
        parent=runner,
    )
    (found,) = assemble([runner, call, served, tool])
    assert (found.agent, found.asked, found.reply) == (None, "Where is it?", "Here.")
    assert len(found.model_calls) == 1
    assert found.model_calls[0].finish_reasons == ("end_turn",)
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("find", {"id": 81}, {"status": "paid"})]


def test_a_failed_tools_error_is_what_the_model_was_shown() -> None:
    """The span says ``tool_error``; the words stand in the result."""
    attributes = {"error.type": "tool_error", "anthropic.tool_result.content": '[{"type":"text","text":"down"}]'}
    facts = facts_of(called("custom_tool_use find", "execute_tool", attributes, status="error"))
    assert facts is not None
    assert facts.error == "down"


def test_requests_without_an_operation_are_no_calls() -> None:
    """Counting tokens and opening a session name a model, and call none."""
    for name in ("messages.count_tokens", "sessions.create"):
        assert facts_of(called(name, None, {"gen_ai.request.model": "claude", "gen_ai.agent.name": "a"})) is None


def test_content_over_the_limit_is_a_gap() -> None:
    """The oldest parts are lost first: the reply is whole where the question is gone."""
    empty = {"gen_ai.input.messages": '[{"role":"user","parts":[]}]'}
    (found,) = assemble([called("messages.create", "chat", {**empty, **HERE, "anthropic.content.truncated": True})])
    assert (found.asked, found.reply) == (None, "Here.")
    gap = found.gap("asked")
    assert gap is not None
    assert gap.kind is GapKind.TRUNCATED


def test_content_off() -> None:
    """The gap names the SDK's own setting."""
    runner = called("messages.tool_runner", "invoke_agent", {"gen_ai.request.model": "claude"})
    call = called("messages.create", "chat", {"gen_ai.request.model": "claude"}, parent=runner)
    (found,) = assemble([runner, call])
    gap = found.gap("reply")
    assert gap is not None
    assert gap.setting == "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"
