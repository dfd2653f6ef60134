"""VoltAgent (JavaScript): ``entity.type`` says whose span it is, ``span.type`` what it is; without one it is the
entity's run.

What went in and came out stands in ``input`` and ``output``: a text as it was typed, messages of a user interface, or JSON.
The span ``llm:…`` is around all rounds of a run, between which the tools' spans stand beside it: it has the messages that
went in, no answer, and the tokens of the last round, so that the agent's totals count. Content is always there.
Source: @voltagent/core 2.10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.conventions.reading.values import containers, first_text, is_object, text
from otel_eval.interaction import Message
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {"llm": Kind.MODEL, "tool": Kind.TOOL, "scorer": Kind.EVALUATOR}
"""By ``span.type``. All else (memory, retrievers, guardrails, a workflow's steps) has no meaning of its own."""
ENTITIES: dict[str, Kind] = {"agent": Kind.AGENT, "workflow": Kind.WORKFLOW}


def read(span: Span) -> Facts | None:
    """What the span says; None for a span of no entity."""
    attributes = span.attributes
    entity = ENTITIES.get(str(attributes.get("entity.type")))
    if entity is None:
        return None
    kind_name = text(attributes.get("span.type"))
    kind = KINDS.get(kind_name, Kind.OTHER) if kind_name is not None else entity
    if kind in (Kind.OTHER, Kind.EVALUATOR):
        return Facts(kind=kind)
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    if kind is Kind.MODEL:
        return Facts(
            kind=kind,
            session=_session(attributes),
            input=content.messages("input", "llm.messages"),
            model=text(attributes.get("llm.model")),
            failure=failure_of(span),
            control_flow=is_control_flow(span),
            marks=content.marks,
        )
    return _run(span, kind, content)


def _run(span: Span, kind: Kind, content: Content) -> Facts:
    attributes = span.attributes
    name = first_text(attributes, ("entity.name", "entity.id"))
    typed, sent = _taken(attributes.get("input"))
    given = attributes.get("output")
    reply = given if isinstance(given, str) and not content.hidden("output", given) else None
    return Facts(
        kind=kind,
        agent=name if kind is Kind.AGENT else None,
        weak_agent=name,
        session=_session(attributes),
        asked=typed,
        input=content.messages("input", "agent.messages") or sent,
        reply=reply,
        system=text(attributes.get("agent.instructions")),
        model=text(attributes.get("ai.model.name")),
        usage=counted({key.removeprefix("usage."): value for key, value in attributes.items() if key[:6] == "usage."}),
        aggregated=True,
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


def _session(attributes: Mapping[str, Any]) -> str | None:
    return first_text(attributes, ("conversation.id", "voltagent.conversation_id"))


def _taken(raw: Any) -> tuple[str | None, tuple[Message, ...] | None]:
    """The text as it was typed, or the messages."""
    if not isinstance(raw, str) or is_placeholder(raw):
        return None, None
    value = containers(raw)
    if isinstance(value, list) and value and all(is_object(item) and "role" in item for item in value):
        return None, read_messages(value) or None
    return raw or None, None


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    result = content.result("result", "output")
    return Facts(
        kind=Kind.TOOL,
        session=_session(attributes),
        tool=first_text(attributes, ("tool.name", "span.label")),
        arguments=content.json("arguments", "input"),
        result=result,
        error=tool_error_of(span) or (None if result is MISSING else error_in_result(result)),
        call_id=text(attributes.get("tool.call.id")),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


CONVENTION = Convention(name="voltagent", read=read, prefixes=("entity.type",))
