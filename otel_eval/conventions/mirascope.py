"""Mirascope's ``ops``: ``mirascope.type``, traced functions beside the standard's spans of models.

A traced function has its arguments in JSON and what it gave as a text. A ``response_resume`` goes on after tools; the model's
own span is below it where ``ops.instrument_llm()`` was called, else it stands for the model's call itself.
Source: mirascope 2.8.2.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.observed import Observed, facts_of
from otel_eval.conventions.reading.values import decode_leniently, text
from otel_eval.signals import Span


def read(span: Span) -> Facts | None:
    """What the span says in ``mirascope.*``; the standard's spans of models only have the session from here."""
    attributes = span.attributes
    kind_name = text(attributes.get("mirascope.type"))
    if kind_name is None:
        return None
    content = Content.of(span)
    session = text(attributes.get("mirascope.ops.session.id"))
    failure = failure_of(span)
    if kind_name.startswith("response_"):
        said = {"role": "assistant", "content": decode_leniently(attributes.get("mirascope.response.content"))}
        return Facts(
            kind=Kind.MODEL,
            session=session,
            input=read_messages(content.value("input", "mirascope.response.messages", twice=False)) or None,
            output=read_messages([said], "assistant") or None,
            model=text(attributes.get("mirascope.response.model_id")),
            usage=counted(decode_leniently(attributes.get("mirascope.response.usage"))),
            failure=failure,
            marks=content.marks,
        )
    observed = Observed(
        kind=Kind.WORKFLOW,
        name=text(attributes.get("mirascope.fn.qualname")) or span.name or None,
        taken=content.value("input", "mirascope.trace.arg_values", twice=False),
        given=content.value("output", "mirascope.trace.output", twice=False),
        given_raw=text(attributes.get("mirascope.trace.output")),
        failure=failure,
        session=session,
    )
    return facts_of(observed, span, content)


CONVENTION = Convention(name="mirascope", read=read, prefixes=("mirascope.type",))
