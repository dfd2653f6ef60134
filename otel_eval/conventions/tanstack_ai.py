"""TanStack AI's middleware for OpenTelemetry: a span for each run of ``chat()``, below it the model's calls, within
them the tools'.

``tanstack.ai.iterations`` marks a run that ended, ``tanstack.ai.iteration`` a call of the model,
``tanstack.ai.tool.outcome`` a tool's. A tool's values stand as messages; of a run they stand under Langfuse's names
alone. What a model asked for is in no message, and a failed tool's result is ``null``.
Source: @tanstack/ai 0.58.0 (``middlewares/otel.ts``).
"""

from __future__ import annotations

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, tool_error_of
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import is_object, text
from otel_eval.interaction import JsonValue, Message
from otel_eval.signals import Span

SETTING = "otelMiddleware({captureContent: true})"


def read(span: Span) -> Facts | None:
    """What the span says; None for a run that never ended, which is read as the model's call that it looks like."""
    attributes, content = span.attributes, Content.of(span)
    if "tanstack.ai.tool.outcome" in attributes:
        return _tool(span, content)
    if "tanstack.ai.iteration" in attributes:
        return Facts(
            kind=Kind.MODEL,
            input=content.messages("input", "gen_ai.input.messages"),
            output=_said(content, "gen_ai.output.messages"),
            marks=content.marks,
            setting=SETTING,
        )
    if "tanstack.ai.iterations" not in attributes:
        return None
    said = _said(content, "langfuse.observation.output")
    return Facts(
        kind=Kind.AGENT,
        input=content.messages("input", "langfuse.observation.input"),
        output=said,
        reply=None if said is None else said[-1].text,
        aggregated=True,
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _said(content: Content, key: str) -> tuple[Message, ...] | None:
    return content.messages("output", key, role="assistant") or None


def _tool(span: Span, content: Content) -> Facts:
    failed = span.attributes["tanstack.ai.tool.outcome"] == "error"
    return Facts(
        kind=Kind.TOOL,
        tool=text(span.attributes.get("gen_ai.tool.name")),
        arguments=_value(content, "arguments", "gen_ai.input.messages"),
        result=MISSING if failed else _value(content, "result", "gen_ai.output.messages"),
        error=tool_error_of(span) or ("tanstack.ai.tool.outcome is error" if failed else None),
        call_id=text(span.attributes.get("gen_ai.tool.call.id")),
        input=(),
        output=(),
        marks=content.marks,
        setting=SETTING,
    )


def _value(content: Content, field: str, key: str) -> JsonValue | Missing:
    """What the one message holds: JSON in a text."""
    told = content.value(field, key)
    message = told[0] if isinstance(told, list) and len(told) == 1 else None
    if not is_object(message) or "content" not in message or content.hidden(field, message["content"]):
        return MISSING
    return result_value(message["content"])


CONVENTION = Convention(name="tanstack-ai", read=read, prefixes=("tanstack.ai.",))
