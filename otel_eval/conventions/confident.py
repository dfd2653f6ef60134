"""DeepEval's attributes for Confident AI: ``confident.span.*``, which programs write on spans of their own.

``confident.span.type`` is ``agent``, ``llm``, ``tool`` or ``retriever``; inputs and outputs are JSON, or texts as they
are. Its integrations add the like to other instrumentations' spans, which are read as theirs, with the trace's thread
and user from here.
Source: deepeval 4.3.1 (tracing.otel).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import first_text, text
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {"agent": Kind.AGENT, "llm": Kind.MODEL, "tool": Kind.TOOL, "custom": Kind.WORKFLOW}
"""A retriever is no agent's work. A span without a type is a step of the program's."""

_OTHERS = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind")
_USAGE_KEYS: dict[str, tuple[str, ...]] = {
    "input_tokens": ("confident.llm.input_token_count", "gen_ai.usage.input_tokens"),
    "output_tokens": ("confident.llm.output_token_count", "gen_ai.usage.output_tokens"),
}


def read(span: Span) -> Facts | None:
    """What the span says in ``confident.span.*``; None for another instrumentation's."""
    attributes = span.attributes
    if any(key in attributes for key in _OTHERS):
        return None
    kind = KINDS.get(text(attributes.get("confident.span.type")) or "custom", Kind.OTHER)
    content = Content.of(span)
    name = {Kind.AGENT: "confident.agent.name", Kind.TOOL: "confident.tool.name"}.get(kind, "confident.span.name")
    whole = ("confident.trace.input", "confident.trace.output") if kind in (Kind.AGENT, Kind.WORKFLOW) else ("", "")
    observed = Observed(
        kind=kind,
        name=first_text(attributes, (name, "confident.span.name")) or span.name or None,
        taken=content.value("input", "confident.span.input", whole[0], twice=False),
        given=content.value("output", "confident.span.output", whole[1], twice=False),
        given_raw=text(attributes.get("confident.span.output")),
        failure=failure_in(span, kind),
        model=text(attributes.get("confident.llm.model")),
        usage=usage_of(attributes, _USAGE_KEYS),
        session=text(attributes.get("confident.trace.thread_id")),
    )
    return facts_of(observed, span, content)


CONVENTION = Convention(name="confident", read=read, prefixes=("confident.span.",))
