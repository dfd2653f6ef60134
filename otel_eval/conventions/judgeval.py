"""Judgment Labs' SDK: ``judgment.span_kind`` with ``judgment.input`` and ``judgment.output``; models also in ``gen_ai.*``.

A span is exported when it starts, again with each of its children, and once more when it has ended: under the same id, with
``judgment.update_id`` counting. A function that gives a generator has the output ``<generator>``.
Source: judgeval 1.6.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import first_text, text
from otel_eval.interaction import Usage
from otel_eval.signals import Span

SETTING = "observe(record_input=True, record_output=True)"

KINDS: dict[str, Kind] = {
    "agent": Kind.AGENT,
    "llm": Kind.MODEL,
    "tool": Kind.TOOL,
    "span": Kind.WORKFLOW,
    "function": Kind.WORKFLOW,
    "chain": Kind.WORKFLOW,
}
"""All else is no agent's work."""

_USAGE_KEYS: dict[str, tuple[str, ...]] = {
    "input_tokens": ("judgment.usage.non_cached_input_tokens",),
    "output_tokens": ("judgment.usage.output_tokens",),
    "cache_read_tokens": ("judgment.usage.cache_read_input_tokens",),
    "cache_write_tokens": ("judgment.usage.cache_creation_input_tokens",),
}


def read(span: Span) -> Facts | None:
    """What the span says in ``judgment.*``; None without a kind."""
    attributes = span.attributes
    kind_name = text(attributes.get("judgment.span_kind"))
    if kind_name is None:
        return None
    kind = KINDS.get(kind_name, Kind.OTHER)
    content = Content.of(span)
    given = content.value("output", "judgment.output", "gen_ai.completion", twice=False)
    observed = Observed(
        kind=kind,
        name=span.name or None,
        taken=content.value("input", "judgment.input", "gen_ai.prompt", twice=False),
        given=MISSING if given == "<generator>" else given,
        given_raw=text(attributes.get("judgment.output")),
        failure=failure_in(span, kind),
        model=first_text(attributes, ("judgment.llm.model", "gen_ai.response.model", "gen_ai.request.model")),
        usage=_usage(attributes),
        session=text(attributes.get("judgment.session_id")),
        setting=SETTING,
    )
    return facts_of(observed, span, content)


def _usage(attributes: Mapping[str, Any]) -> Usage:
    """Its input tokens are those that no cache had."""
    told = usage_of(attributes, _USAGE_KEYS)
    if told.input_tokens is None:
        return told
    cached = (told.cache_read_tokens or 0) + (told.cache_write_tokens or 0)
    return Usage(
        input_tokens=told.input_tokens + cached,
        output_tokens=told.output_tokens,
        cache_read_tokens=told.cache_read_tokens,
        cache_write_tokens=told.cache_write_tokens,
    )


CONVENTION = Convention(name="judgeval", read=read, prefixes=("judgment.span_kind",))
