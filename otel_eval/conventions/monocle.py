"""Monocle (LF AI & Data; Okahu): ``span.type`` says what a span is, its events ``data.input`` and ``data.output`` what
went in and out.

``agentic.turn`` is the invocation; ``agentic.invocation`` the work of one agent in it, of which the OpenAI Agents SDK has one
for each call of the model. A model's input is a list of objects in JSON, each with the role as its only key; a call of a tool
stands in place of a text, under names that differ with the framework. Entities are numbered: ``entity.1.name``.
Source: monocle_apptrace 0.8.15.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.payloads import input_of
from otel_eval.conventions.reading.values import containers, first_text, is_object, text
from otel_eval.interaction import Message
from otel_eval.signals import Span

_SCOPE = "monocle_apptrace"
KINDS: dict[str, Kind] = {
    "agentic.turn": Kind.AGENT,
    "agentic.invocation": Kind.STEP,
    "agentic.tool.invocation": Kind.TOOL,
    "agentic.mcp.invocation": Kind.TOOL,
    "agentic.delegation": Kind.HANDOFF,
    "inference": Kind.MODEL,
    "inference.framework": Kind.MODEL,
    "custom": Kind.WORKFLOW,
}
"""All else is no agent's work: ``workflow`` around everything, ``inference.modelapi`` within a framework's model call."""

_NAMES = ("tool_name", "tool_function", "name")
_ARGUMENTS = ("tool_arguments", "args", "arguments")
_IDS = ("tool_id", "call_id", "id")


def read(span: Span) -> Facts | None:
    """What the span says by its type; None for another instrumentation's."""
    attributes = span.attributes
    kind_name = text(attributes.get("span.type"))
    if kind_name is None or not span.scope.name.startswith(_SCOPE):
        return None
    kind = KINDS.get(kind_name, Kind.OTHER)
    session = text(attributes.get("scope.agentic.session"))
    if kind is Kind.MODEL:
        return _model(span, session)
    taken, given = (
        _event(span, "data.input").get("input", MISSING),
        _event(span, "data.output").get("response", MISSING),
    )
    observed = Observed(
        kind=kind,
        name=span.name if kind is Kind.WORKFLOW else text(attributes.get("entity.1.name")),
        agent=_agent(attributes),
        taken=containers(taken) if kind in (Kind.TOOL, Kind.WORKFLOW) else _asked(taken),
        given=_result(given) if kind is Kind.WORKFLOW else containers(given),
        failure=failure_in(span, kind),
        session=session,
    )
    return facts_of(observed, span, Content.of(span))


def _event(span: Span, name: str) -> Mapping[str, Any]:
    return next((event.attributes for event in span.events if event.name == name), {})


def _agent(attributes: Mapping[str, Any]) -> str | None:
    """The name of the entity that is an agent."""
    for place in ("1", "2"):
        if str(attributes.get(f"entity.{place}.type")).startswith("agent."):
            return text(attributes.get(f"entity.{place}.name"))
    return None


def _asked(taken: Any) -> Any:
    """The last of what was passed on: a text, or messages."""
    items = containers(taken)
    last = containers(items[-1]) if isinstance(items, list) and items else items
    return last if not isinstance(last, str) else {"input": last}


def _result(given: Any) -> Any:
    value = containers(given)
    return value["result"] if is_object(value) and set(value) == {"result"} else value


def _model(span: Span, session: str | None) -> Facts:
    attributes, failure = span.attributes, failure_in(span, Kind.MODEL)
    taken = containers(_event(span, "data.input").get("input"))
    given = containers(_event(span, "data.output").get("response"))
    metadata = _event(span, "metadata")
    asked = list(_each(taken)) if isinstance(taken, list) else []
    said = list(_each([given])) if failure is None else []
    reason = text(metadata.get("finish_reason"))
    return Facts(
        kind=Kind.MODEL,
        session=session,
        input=read_messages(asked) or input_of(taken).messages,
        output=_one(read_messages(said, "assistant")),
        model=text(attributes.get("entity.2.name")),
        finish_reasons=() if reason is None else (reason,),
        usage=counted(metadata),
        failure=failure,
    )


def _one(messages: tuple[Message, ...]) -> tuple[Message, ...] | None:
    parts = tuple(part for message in messages for part in message.parts)
    return (Message(role="assistant", parts=parts),) if parts else None


def _each(items: list[Any]) -> Iterator[dict[str, Any]]:
    for raw in items:
        item = containers(raw)
        if not is_object(item):
            continue
        if "call_id" in item and "output" in item:  # OpenAI's responses
            yield {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}
        elif (call := _call(item)) is not None:
            yield {"role": "assistant", "tool_calls": [call]}
        else:
            for role, said in item.items():
                yield _message("assistant" if role == "tools" else role, said)


def _message(role: str, said: Any) -> dict[str, Any]:
    """A text, or one or several calls of tools, each perhaps in JSON once more."""
    value = containers(said) if role in ("assistant", "ai") else said
    listed = value if isinstance(value, list) else [value]
    calls = [call for item in listed if (call := _call(containers(item))) is not None]
    return (
        {"role": role, "tool_calls": calls} if calls and len(calls) == len(listed) else {"role": role, "content": said}
    )


def _call(item: Any) -> dict[str, Any] | None:
    if not is_object(item) or (name := first_text(item, _NAMES)) is None:
        return None
    key = next((key for key in _ARGUMENTS if key in item), None)
    return None if key is None else {"id": first_text(item, _IDS), "name": name, "arguments": item[key]}


CONVENTION = Convention(name="monocle", read=read, scopes=(_SCOPE,))
