"""TruLens: ``ai.observability.*`` on traced functions of an app.

Source: trulens-core and trulens-otel-semconv 2.16 (``trulens.otel.semconv.trace``). A record is one call of the app. What a
function took stands in ``ai.observability.call.kwargs.<name>``, what it gave in ``….call.return``; TruLens' own evaluations
are spans, too.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import decode_leniently, first_text, text
from otel_eval.interaction import Failure
from otel_eval.signals import Span

_BASE = "ai.observability."
_TAKEN = _BASE + "call.kwargs."
_GIVEN = _BASE + "call.return"
_KINDS = {
    "record_root": Kind.AGENT,
    "nested_record_root": Kind.AGENT,
    "agent": Kind.AGENT,
    "generation": Kind.MODEL,
    "tool": Kind.TOOL,
    "mcp": Kind.TOOL,
    **dict.fromkeys(("eval_root", "eval", "eval_decision"), Kind.EVALUATOR),
}
_USAGE = {
    "input_tokens": (_BASE + "cost.num_prompt_tokens", "gen_ai.usage.input_tokens"),
    "output_tokens": (_BASE + "cost.num_completion_tokens", "gen_ai.usage.output_tokens"),
    "reasoning_tokens": (_BASE + "cost.num_reasoning_tokens",),
}


def read(span: Span) -> Facts | None:
    """What the span says in ``ai.observability.*``; None for others."""
    attributes = span.attributes
    name = text(attributes.get(_BASE + "span_type"))
    if name is None:
        return None
    kind = _KINDS.get(name.lower(), Kind.STEP)
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    if kind is Kind.MODEL:
        return _model(span, content)
    return Facts(
        kind=kind,
        agent=text(attributes.get(_BASE + "workflow.agent_name")),
        weak_agent=text(attributes.get(_BASE + "app_name")),
        session=text(attributes.get(_BASE + "conversation_id")),
        asked=first_text(attributes, (_BASE + "record_root.input", _BASE + "nested_record_root.input")),
        reply=first_text(attributes, (_BASE + "record_root.output", _BASE + "nested_record_root.output")),
        failure=_failure(span),
        marks=content.marks,
    )


def _failure(span: Span) -> Failure | None:
    told = first_text(span.attributes, (_BASE + "record_root.error", _BASE + "call.error"))
    failure = failure_of(span)
    if told is None or (failure is not None and failure.message is not None):
        return failure
    return Failure(type=failure.type if failure is not None else None, message=told)


def _taken(span: Span) -> dict[str, Any]:
    return {
        key.removeprefix(_TAKEN): decode_leniently(value)
        for key, value in span.attributes.items()
        if key.startswith(_TAKEN)
    }


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    function = text(attributes.get(_BASE + "call.function")) or span.name
    given = content.value("result", _BASE + "mcp.output_content", _GIVEN)
    arguments = content.json("arguments", _BASE + "mcp.input_arguments")
    failure = _failure(span)
    error = None if failure is None else str(failure)
    if error is None and given is not MISSING:
        failed = attributes.get(_BASE + "mcp.output_is_error") is True
        error = str(given) if failed else error_in_result(given)
    return Facts(
        kind=Kind.TOOL,
        tool=text(attributes.get(_BASE + "mcp.tool_name")) or function.rpartition(".")[2],
        arguments=_taken(span) if arguments is MISSING else arguments,
        result=given if given is MISSING else result_value(given),
        error=error,
        marks=content.marks,
    )


def _model(span: Span, content: Content) -> Facts:
    taken = _taken(span)
    asked = next((taken[key] for key in ("messages", "prompt", "input", "query") if key in taken), None)
    said = text(span.attributes.get(_GIVEN))
    return Facts(
        kind=Kind.MODEL,
        input=read_messages(asked) or None,
        output=read_messages(said, "assistant") or None,
        model=text(span.attributes.get(_BASE + "cost.model")),
        usage=usage_of(span.attributes, _USAGE),
        failure=_failure(span),
        marks=content.marks,
    )


CONVENTION = Convention(name="trulens", read=read, prefixes=(_BASE + "span_type",))
