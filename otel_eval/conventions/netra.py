"""Netra's SDK: ``netra.span.type`` on the spans of decorated functions, ``netra.entity.type`` on those without a type.

What a function took stands in ``input`` as ``{name: value}``, each value that is no list and no object as a text; what
it gave in ``output``, empty while it runs and where it raised: then ``netra.entity.error`` says why. Its own
instrumentation of models writes ``gen_ai.prompt.N`` and ``gen_ai.completion.N`` with a message for each call of a
tool: ``{"name", "arguments"}`` in JSON with ``tool_call_id``. Session, user and the agent that a span runs under are
on every span.
Source: netra-sdk 1.2.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import containers, decode_leniently, is_object, text, unflatten
from otel_eval.interaction import Failure, Message
from otel_eval.signals import Span

SETTING = "Netra.init(trace_content=True)"

KINDS: dict[str, Kind] = {"AGENT": Kind.AGENT, "GENERATION": Kind.MODEL, "TOOL": Kind.TOOL, "SPAN": Kind.STEP}
"""All else is no agent's work."""

_ENTITIES: dict[str, Kind] = {"workflow": Kind.WORKFLOW, "agent": Kind.AGENT, "task": Kind.TOOL, "span": Kind.STEP}
_MODELS = "netra.instrumentation."


def read(span: Span) -> Facts | None:
    """What the span of a function says, or of a model where its own instrumentation wrote it; else None."""
    attributes = span.attributes
    entity = text(attributes.get("netra.entity.type"))
    name = text(attributes.get("netra.span.type"))
    if entity is None and name is None:
        return _model(span) if span.scope.name.startswith(_MODELS) else None
    kind = _ENTITIES.get(entity or "", Kind.OTHER) if name in (None, "SPAN") else KINDS.get(str(name), Kind.OTHER)
    content = Content.of(span)
    given = content.value("output", "output", twice=False)
    observed = Observed(
        kind=kind,
        name=span.name or None,
        agent=text(attributes.get("netra.agent.name")),
        taken=_taken(content, kind),
        given=MISSING if given == "" else given,
        given_raw=text(attributes.get("output")),
        failure=_failure(span, kind),
        usage=usage_of(attributes),
        session=text(attributes.get("netra.session_id")),
        setting=SETTING,
    )
    return facts_of(observed, span, content)


def _failure(span: Span, kind: Kind) -> Failure | None:
    """Its status stays unset."""
    error = text(span.attributes.get("netra.entity.error"))
    return failure_in(span, kind) or (None if error is None else Failure(message=error))


def _taken(content: Content, kind: Kind) -> Any:
    """A tool's arguments are not told where one of them may have been no text: the model's call says which."""
    taken = content.value("arguments" if kind is Kind.TOOL else "input", "input", twice=False)
    if kind is Kind.TOOL and is_object(taken) and any(_is_other(value) for value in taken.values()):
        return MISSING
    return taken


def _is_other(value: Any) -> bool:
    return isinstance(value, str) and (
        value in ("None", "True", "False") or not isinstance(decode_leniently(value), str)
    )


def _model(span: Span) -> Facts | None:
    """The messages only; the rest is as the semantic conventions have it."""
    taken = _messages(span, "gen_ai.prompt.")
    if taken is None:
        return None
    given = _messages(span, "gen_ai.completion.") or ()
    parts = tuple(part for message in given for part in message.parts)
    return Facts(
        kind=Kind.MODEL,
        input=taken,
        output=(Message(role="assistant", parts=parts),) if parts else None,
        agent=text(span.attributes.get("netra.agent.name")),
        session=text(span.attributes.get("netra.session_id")),
        setting=SETTING,
    )


def _messages(span: Span, prefix: str) -> tuple[Message, ...] | None:
    items = list(_each(unflatten(span.attributes, prefix)))
    return read_messages(items, "assistant") if items else None


def _each(items: list[Any]) -> Iterator[dict[str, Any]]:
    for item in items:
        if not is_object(item) or "content" not in item:
            continue  # a finish reason alone
        call = containers(item["content"]) if item.get("role") == "assistant" and "tool_call_id" in item else None
        if is_object(call) and "name" in call:
            yield {"role": "assistant", "tool_calls": [{"id": item["tool_call_id"], **call}]}
        else:
            yield item


CONVENTION = Convention(name="netra", read=read, prefixes=("netra.",), scopes=(_MODELS,))
