"""AutoAgents, for Rust: the events of a run as spans; of its model calls there are none.

``autoagents.task`` is one run with its texts, ``autoagents.tool_call`` a tool, ``autoagents.turn`` a round of both. A
result is the executor's, as JSON: ``{"response", "tool_calls", "done"}``. Its provider for Langfuse writes the same as
Langfuse's, where a run is a mere span. Content is always written, unless it is told to redact it.
Source: autoagents-telemetry 0.4.0 (``runner/mapper.rs``, ``providers/langfuse.rs``), autoagents-core 0.4.0.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.payloads import Payload, output_payload
from otel_eval.conventions.reading.values import decode_leniently, is_object, text
from otel_eval.signals import Span

SETTING = "RedactionConfig::default()"


def read(span: Span) -> Facts | None:
    """What the span says by its name; None for others that have a submission's id."""
    match span.name:
        case "autoagents.task":
            return _task(span, Content.of(span))
        case "autoagents.tool_call":
            return _tool(span, Content.of(span))
        case "autoagents.turn":
            return Facts(kind=Kind.STEP)
    return None


def _task(span: Span, content: Content) -> Facts:
    asked = content.attributes.get("task.description")
    hidden = content.hidden("input", asked)
    gave = _given(content)
    return Facts(
        kind=Kind.AGENT,
        agent=text(content.attributes.get("actor_name")),
        input=(),
        asked=asked if isinstance(asked, str) and asked and not hidden else None,
        output=gave.messages or (None if gave.text is None else ()),
        reply=gave.text,
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _given(content: Content) -> Payload:
    """The response of an executor that comes with the framework; else whatever a program's own gave."""
    raw = content.attributes.get("task.result")
    if not isinstance(raw, str) or content.hidden("output", raw):
        return Payload()
    value: Any = decode_leniently(raw)
    if is_object(value) and {"response", "done"} <= value.keys() and isinstance(value["response"], str):
        return Payload(text=value["response"])
    return output_payload(value if isinstance(value, str) else raw)


def _tool(span: Span, content: Content) -> Facts:
    told = tool_error_of(span)
    error = None if told is None else error_in_result(told) or told  # as JSON, ``{"error"}``
    return Facts(
        kind=Kind.TOOL,
        tool=text(content.attributes.get("tool_name")),
        arguments=content.json("arguments", "tool.arguments"),
        result=content.result("result", "tool.result") if error is None else MISSING,
        error=error,
        call_id=text(content.attributes.get("tool_call_id")),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(name="autoagents", read=read, prefixes=("submission_id",))
