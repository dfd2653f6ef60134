"""Microsoft's Prompt flow: ``span_type`` with ``inputs`` and ``output``, which are what a function took and gave.

A flow, or a traced function, is around the calls of its models; a tool is a function like any other, so what it is called
stands with the model that asked for it. A streamed answer is ``llm.generated_message`` besides the list of its pieces.
Source: promptflow-tracing 1.18.5, which writes nothing without ``PF_DISABLE_TRACING=false``.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import text
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {
    "LLM": Kind.MODEL,
    "Flow": Kind.WORKFLOW,
    "Function": Kind.WORKFLOW,
    "LangChain": Kind.WORKFLOW,
}
"""All else is no agent's work."""

_USAGE_KEYS: dict[str, tuple[str, ...]] = {
    "input_tokens": ("llm.usage.prompt_tokens",),
    "output_tokens": ("llm.usage.completion_tokens",),
}


def read(span: Span) -> Facts | None:
    """What the span says; None for a span of another's."""
    attributes = span.attributes
    if attributes.get("framework") != "promptflow":
        return None
    kind = KINDS.get(text(attributes.get("span_type")) or "", Kind.OTHER)
    content = Content.of(span)
    outputs = ("llm.generated_message", "output") if kind is Kind.MODEL else ("output",)
    observed = Observed(
        kind=kind,
        name=span.name or None,
        taken=content.value("input", "inputs", twice=False),
        given=content.value("output", *outputs, twice=False),
        given_raw=text(attributes.get("output")),
        failure=failure_in(span, kind),
        model=text(attributes.get("llm.response.model")),
        usage=usage_of(attributes, _USAGE_KEYS),
    )
    return facts_of(observed, span, content)


CONVENTION = Convention(name="promptflow", read=read, scopes=("promptflow",))
