"""OpenTelemetry's agent for Java: Bedrock, whose messages are log records."""

from __future__ import annotations

from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import Interaction
from otel_eval.signals import LogRecord, Scope, Span
from otel_eval.testing.spans import log_record, model_span

BEDROCK = Scope("io.opentelemetry.aws-sdk-2.2")


def record(of: Span, name: str, **body: Any) -> LogRecord:
    """A message."""
    return log_record(f"gen_ai.{name}", span=of, body=body, scope=BEDROCK)


def calls(**own: Any) -> list[dict[str, Any]]:
    """What a model asked for."""
    return [{"name": "refund", "id": "tooluse_1", "type": "function", **own}]


def turn(
    asked: dict[str, Any], arguments: dict[str, Any], result: dict[str, Any], said: dict[str, Any]
) -> list[Interaction]:
    """Two calls of a model, each in a trace of its own."""
    first = model_span(scope=BEDROCK)
    last = model_span(scope=BEDROCK, started_ns=first.ended_ns + 1)
    return assemble(
        [first, last],
        [
            record(first, "user.message", **asked),
            record(first, "choice", finish_reason="tool_use", index=0, toolCalls=calls(**arguments)),
            record(last, "user.message", **asked),
            record(last, "assistant.message", toolCalls=calls(**arguments)),
            record(last, "tool.message", id="tooluse_1", **result),
            record(last, "choice", finish_reason="end_turn", index=0, **said),
        ],
    )


def test_a_choice_that_holds_the_answer_itself() -> None:
    """Calls and text stand in the record, not in a message within."""
    (found,) = turn({"content": "Refund o_9"}, {"arguments": '{"id":"o_9"}'}, {"content": "done"}, {"content": "Done."})
    assert (found.asked, found.reply) == ("Refund o_9", "Done.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("refund", {"id": "o_9"}, "done")
    ]
    lone = model_span(scope=BEDROCK)
    asking = record(lone, "choice", finish_reason="tool_use", index=0, toolCalls=calls(arguments='{"id":"o_9"}'))
    (found,) = assemble([lone], [record(lone, "user.message", content="Refund o_9"), asking])
    assert [(call.name, call.arguments) for call in found.tool_calls] == [("refund", {"id": "o_9"})]


def test_no_answer_that_is_not_captured_is_empty() -> None:
    """Records without content are those of a model that said nothing; what went in tells the two apart."""
    (found,) = turn({}, {}, {}, {})
    assert (found.asked, found.reply) == (None, None)
    assert [call.name for call in found.tool_calls] == ["refund"]
    assert {gap.field for gap in found.gaps if gap.setting} >= {"asked", "reply"}
    (found,) = turn({"content": "Refund o_9"}, {"arguments": '{"id":"o_9"}'}, {"content": "done"}, {})
    assert found.reply == ""
