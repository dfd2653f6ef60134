"""AgentOps: decorated functions (``agentops.span.kind``, ``agentops.agent.input``) around model calls in ``gen_ai.*``.

What was taken is ``{"args": […], "kwargs": {…}}``. The spans ``tool_call.x`` below a model's are what it asked for; the call
itself is a span only where the tool is decorated.
Source: agentops 0.4.21 (``semconv/span_attributes.py``, ``sdk/decorators``, ``instrumentation``).
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.observed import Observed, facts_of
from otel_eval.conventions.reading.values import first_text, text
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {
    "agent": Kind.AGENT,
    **dict.fromkeys(("session", "workflow", "operation", "task", "chain"), Kind.WORKFLOW),
    "tool": Kind.TOOL,
    "llm": Kind.MODEL,
}
"""All else (guardrails, HTTP, texts) is no agent's work."""

_REQUESTED = "tool_call."


def read(span: Span) -> Facts | None:
    """What a decorated function's span says; None without a kind, and for a model's call, which is the standard's."""
    attributes = span.attributes
    name = text(attributes.get("agentops.span.kind"))
    if name is None:
        return None
    word = name.rpartition(".")[2].lower()  # AgentOpsSpanKindValues.TOOL
    kind = KINDS.get(word, Kind.OTHER)
    if kind is Kind.MODEL:
        return None
    if kind is Kind.OTHER or (kind is Kind.TOOL and span.name.startswith(_REQUESTED)):
        return Facts(kind=Kind.OTHER)
    content = Content.of(span)
    observed = Observed(
        kind=kind,
        name=first_text(attributes, ("agent.name", "agentops.entity.name", "operation.name", "tool.name"))
        or span.name.removesuffix(f".{word}"),
        taken=content.value("input", f"agentops.{word}.input", "agentops.entity.input", "tool.parameters"),
        given=_given(content, f"agentops.{word}.output", "agentops.entity.output", "tool.result"),
        failure=failure_of(span),
        call_id=text(attributes.get("tool.call.id")),
    )
    return facts_of(observed, span, content)


def _given(content: Content, *keys: str) -> Any:
    """A text as it stands, even one that is a number in JSON."""
    found = content.value("output", *keys)
    return found if found is MISSING or isinstance(found, (dict, list)) else first_text(content.attributes, keys)


CONVENTION = Convention(name="agentops", read=read, prefixes=("agentops.",))
