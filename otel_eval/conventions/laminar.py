"""Laminar: ``lmnr.span.type`` with ``lmnr.span.input`` and ``lmnr.span.output`` in JSON; models also in the standard's.

Laminar for JavaScript writes no type on traced functions, and what they raised as an exception on a span whose status is
unset. Spans of other tracers under it have ``lmnr.span.path`` alone.
Source: lmnr 0.8.2 (Python), @lmnr-ai/lmnr 0.8.44 (JavaScript).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import first_text, text
from otel_eval.interaction import Failure
from otel_eval.signals import Span

_SCOPE = "lmnr."

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
    """What the span says in ``lmnr.*``; None for a span of another tracer."""
    attributes = span.attributes
    kind_name = text(attributes.get("lmnr.span.type"))
    if kind_name is None and (not span.scope.name.startswith(_SCOPE) or "gen_ai.operation.name" in attributes):
        return None
    kind = KINDS.get((kind_name or "DEFAULT").upper(), Kind.OTHER)
    content = Content.of(span)
    observed = Observed(
        kind=kind,
        name=span.name or None,
        taken=content.value("input", "lmnr.span.input", twice=False),
        given=content.value("output", "lmnr.span.output", twice=False),
        failure=_failure(span, kind),
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model")),
        session=text(attributes.get("lmnr.association.properties.session_id")),
        setting="@observe(ignore_input=False, ignore_output=False)",
    )
    return facts_of(observed, span, content)


def _failure(span: Span, kind: Kind) -> Failure | None:
    gave_nothing = "lmnr.span.output" not in span.attributes
    return failure_in(span, kind) or (failure_of(span, exceptions_count=True) if gave_nothing else None)


CONVENTION = Convention(name="laminar", read=read, prefixes=("lmnr.span.type",), scopes=(_SCOPE,))
