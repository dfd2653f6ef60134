"""Model calls that a program logs through Traceloop's SDK for Go, in the names that OpenLLMetry had before GenAI's.

``llm.prompts.N.*`` and ``llm.completions.N.*``; what is around them is OpenLLMetry's (``traceloop.span.kind``). There is no
switch: what the program logs is written. A call that fails never ends its span.
Source: go-openllmetry/traceloop-sdk 0.1.0 and later (``LogPrompt``, ``LogCompletion``).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.values import first_text, text
from otel_eval.signals import Span

TYPES = frozenset({"chat", "completion"})
PROMPTS, COMPLETIONS = "llm.prompts.", "llm.completions."


def read(span: Span) -> Facts | None:
    """What the span says of a model call; None where GenAI's or OpenInference's names say it."""
    attributes = span.attributes
    if attributes.get("llm.request.type") not in TYPES or "gen_ai.system" in attributes:
        return None
    content = Content.of(span)
    taken, given = content.numbered("input", PROMPTS, "user"), content.numbered("output", COMPLETIONS, "assistant")
    if taken is None and given is None:
        return None
    return Facts(
        kind=Kind.MODEL,
        agent=text(attributes.get("llm.agent.name")),
        input=taken,
        output=given,
        model=first_text(attributes, ("llm.response.model", "llm.request.model")),
        usage=usage_of(attributes),
        failure=failure_of(span),
        marks=content.marks,
    )


CONVENTION = Convention(name="openllmetry-sdk", read=read, prefixes=("llm.request.type",))
