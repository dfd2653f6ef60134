"""HoneyHive's SDK: ``honeyhive_event_type``, a function's arguments one by one in ``honeyhive_inputs.*``.

What it gave is ``honeyhive_outputs.result``, an object or array spread over further keys. Its processor marks the spans of
other instrumentations as well; those are read as theirs. A failure makes another span, ``{name}_error``.
Source: honeyhive 1.7.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import is_control_flow
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import containers, first_text, text, unflatten_object
from otel_eval.interaction import Failure
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {"model": Kind.MODEL, "tool": Kind.TOOL, "chain": Kind.WORKFLOW, "session": Kind.WORKFLOW}

_OTHERS = ("openinference.span.kind", "gen_ai.operation.name", "gen_ai.system", "traceloop.span.kind")


def read(span: Span) -> Facts | None:
    """What the span says in ``honeyhive_*``; None for one that is only marked."""
    attributes = span.attributes
    kind_name = text(attributes.get("honeyhive_event_type"))
    if kind_name is None or any(key in attributes for key in _OTHERS) or _repeats_a_failure(span):
        return None
    kind = KINDS.get(kind_name, Kind.OTHER)
    content = Content.of(span)
    failure = None if is_control_flow(span) else _failure(span, kind)
    given = unflatten_object(attributes, "honeyhive_outputs.")
    observed = Observed(
        kind=kind,
        name=first_text(attributes, ("honeyhive_event_name",)) or span.name or None,
        taken=_arguments(attributes),
        given=MISSING if not given else given["result"] if set(given) == {"result"} else given,
        failure=failure,
        model=first_text(attributes, ("honeyhive_config.model", "honeyhive_metadata.model")),
        usage=counted(unflatten_object(attributes, "honeyhive_metadata.")),
        session=text(attributes.get("honeyhive.session_id")),
    )
    return facts_of(observed, span, content)


def _repeats_a_failure(span: Span) -> bool:
    return "honeyhive_error" in span.attributes and span.name.endswith("_error")


def _arguments(attributes: Mapping[str, Any]) -> Any:
    """The arguments by name; objects and arrays are JSON, or spread over further keys."""
    taken = unflatten_object(attributes, "honeyhive_inputs.")
    return {name: containers(value) for name, value in taken.items()} if taken else MISSING


def _failure(span: Span, kind: Kind) -> Failure | None:
    told = failure_in(span, kind)
    if told is not None:
        return told
    message = text(span.attributes.get("honeyhive_error"))
    return None if message is None else Failure(type=text(span.attributes.get("honeyhive_error_type")), message=message)


CONVENTION = Convention(name="honeyhive", read=read, prefixes=("honeyhive_event_type",))
