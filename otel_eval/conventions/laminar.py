"""Laminar: ``lmnr.span.type`` with ``lmnr.span.input`` and ``lmnr.span.output`` in JSON; models also in the standard's.

Source: lmnr 0.8.2.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import first_text, text
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {
    "DEFAULT": Kind.WORKFLOW,  # a traced function
    "PIPELINE": Kind.WORKFLOW,
    "EXECUTOR": Kind.WORKFLOW,
    "LLM": Kind.MODEL,
    "CACHED": Kind.MODEL,
    "TOOL": Kind.TOOL,
    "EVALUATOR": Kind.EVALUATOR,
    "HUMAN_EVALUATOR": Kind.EVALUATOR,
}


def read(span: Span) -> Facts | None:
    """What the span says in ``lmnr.*``; None without a type."""
    attributes = span.attributes
    kind_name = text(attributes.get("lmnr.span.type"))
    if kind_name is None:
        return None
    kind = KINDS.get(kind_name.upper(), Kind.OTHER)
    content = Content.of(span)
    observed = Observed(
        kind=kind,
        name=span.name or None,
        taken=content.value("input", "lmnr.span.input", twice=False),
        given=content.value("output", "lmnr.span.output", twice=False),
        failure=failure_in(span, kind),
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model")),
        session=text(attributes.get("lmnr.association.properties.session_id")),
        setting="@observe(ignore_input=False, ignore_output=False)",
    )
    return facts_of(observed, span, content)


CONVENTION = Convention(name="laminar", read=read, prefixes=("lmnr.span.type",))
