"""LangWatch's SDKs: ``langwatch.span.type``, with ``langwatch.input`` and ``.output`` as ``{"type", "value"}`` in JSON.

Models are written by OpenInference's and others' instrumentations; the SDK's own spans of them have the type ``llm`` and
their tokens in ``langwatch.metrics``. The trace's metadata stand on its root, a conversation as ``thread_id``.
Source: langwatch 1.4.0 for Python, 0.16.1 for JavaScript.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text
from otel_eval.interaction import Usage
from otel_eval.signals import Span

SETTING = "capture_input=True, capture_output=True"

KINDS: dict[str, Kind] = {
    "agent": Kind.AGENT,
    "llm": Kind.MODEL,
    "tool": Kind.TOOL,
    "evaluation": Kind.EVALUATOR,
    **dict.fromkeys(("span", "chain", "workflow", "task", "component", "module"), Kind.WORKFLOW),
}
"""All else (retrieval, prompts, guardrails, servers and clients) is no agent's work."""


_SESSIONS = (
    "langwatch.thread.id",
    "langwatch.session.id",
    "langwatch.langgraph.thread_id",  # of LangChain's metadata, in JavaScript
    "langwatch.langgraph.session_id",
)
_TYPES = frozenset({"text", "json", "raw", "list", "chat_messages"})


def read(span: Span) -> Facts | None:
    """What the span says in ``langwatch.*``; None for one that another instrumentation made of its own."""
    attributes = span.attributes
    kind_name = text(attributes.get("langwatch.span.type"))
    if kind_name is None or "openinference.span.kind" in attributes or "gen_ai.operation.name" in attributes:
        return None
    kind = KINDS.get(kind_name, Kind.OTHER)
    content = Content.of(span)
    observed = Observed(
        kind=kind,
        name=span.name or None,
        taken=_value(content.value("input", "langwatch.input", twice=False)),
        given=_value(content.value("output", "langwatch.output", twice=False)),
        failure=failure_in(span, kind),
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model")),
        usage=_usage(attributes),
        session=first_text(attributes, _SESSIONS),
        setting=SETTING,
    )
    return facts_of(observed, span, content)


def _value(told: Any) -> Any:
    """What the value's envelope holds: a text, messages, an object, or a list of such envelopes."""
    if not is_object(told) or set(told) != {"type", "value"}:
        return told
    value = told["value"]
    if is_object(value) and set(value) == {"type", "value"} and value["type"] in _TYPES:
        return _value(value)  # JavaScript's callback for LangChain puts what a tool gave into two
    if told["type"] == "list" and isinstance(value, list):
        return [_value(item) for item in value]
    return MISSING if value is None else value


def _usage(attributes: Mapping[str, Any]) -> Usage:
    metrics = decode_leniently(attributes.get("langwatch.metrics"))
    if is_object(metrics) and is_object(metrics.get("value")):  # as JavaScript writes it
        metrics = metrics["value"]
    return counted(metrics) if is_object(metrics) else usage_of(attributes)


CONVENTION = Convention(name="langwatch", read=read, prefixes=("langwatch.span.type",))
