"""Guardrails AI: a guard, its steps and the model's call in them, all with OpenInference's kind ``GUARDRAIL``.

``type`` tells them apart. The call has OpenInference's messages and tokens; what the guard gave is the answer as its
validators left it. ``user.id`` and its likes are ``unknown`` where no baggage has them.
Source: guardrails-ai 0.11.0 (telemetry).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import failure_of, is_control_flow
from otel_eval.conventions.reading.values import text
from otel_eval.signals import Span

_CALL = "guardrails/guard/step/call"
_GUARD = "guardrails/guard"
_USAGE_KEYS: dict[str, tuple[str, ...]] = {
    "input_tokens": ("llm.token_count.prompt",),
    "output_tokens": ("llm.token_count.completion",),
}


def read(span: Span) -> Facts | None:
    """What a guard or a model's call in one says; steps and validators are ordinary spans."""
    kind_name = text(span.attributes.get("type"))
    if kind_name == _CALL:
        return _call(span)
    return _guard(span) if kind_name == _GUARD else Facts(kind=Kind.OTHER)


def _call(span: Span) -> Facts:
    content = Content.of(span)
    return Facts(
        kind=Kind.MODEL,
        user_id=_user(span),
        input=content.numbered("input", "llm.input_messages.", "user"),
        output=content.numbered("output", "llm.output_messages.", "assistant"),
        usage=usage_of(span.attributes, _USAGE_KEYS),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


def _guard(span: Span) -> Facts:
    return Facts(
        kind=Kind.WORKFLOW,
        weak_agent=text(span.attributes.get("guard.name")),
        user_id=_user(span),
        reply=text(span.attributes.get("output.value")),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
    )


def _user(span: Span) -> str | None:
    return "" if span.attributes.get("user.id") == "unknown" else None


CONVENTION = Convention(name="guardrails_ai", read=read, scopes=("guardrails-ai",))
