"""Records of AWS's distribution of OpenTelemetry: with agent observability on (AgentCore) it moves content out of spans.

Whatever instrumentation wrote a span, its exporter takes the attributes and events with content away and writes them, one
record a span, under the name of the span's scope: ``{"input": {"messages": [{"role", "content"}]}, "output": …}``. The
content of an event is its attributes, an attribute's is its value; their names are lost, and of several events of one name
all but the last.
Source: aws-opentelemetry-distro 0.21 (``llo_handler.py``), with Strands 1.62 in both of its formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from otel_eval.conventions import events
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, fill
from otel_eval.conventions.genai import tool_events
from otel_eval.conventions.reading.answers import answer_messages
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.messages import asked_for, results_in
from otel_eval.conventions.reading.payloads import Payload, input_payload, output_payload
from otel_eval.conventions.reading.tool_payloads import tool_arguments, tool_outcome
from otel_eval.conventions.reading.values import containers, is_object
from otel_eval.frozen import changed
from otel_eval.interaction import Message
from otel_eval.signals import LogRecord, Span

_OPENINFERENCE = "openinference.instrumentation."


def read(span: Span) -> Facts | None:
    """Nothing: what is left of the spans is their own conventions'."""
    return None


def read_log(record: LogRecord) -> Facts | None:
    """What was on the span before; None for other records."""
    if not record.scope.name or record.event_name != record.scope.name:
        return None
    body = containers(record.body)
    if not is_object(body) or not body or not body.keys() <= {"input", "output"}:
        return None
    given, said = list(_entries(body.get("input"))), list(_entries(body.get("output")))
    if not given and not said:
        return None
    if record.scope.name.startswith(_OPENINFERENCE):
        return _payloads(given[:1], said[:1])
    before = [_event(role, raw) for role, raw in said if is_object(raw) and "message" not in raw]
    answers = [_answer(raw) for _, raw in said if not is_object(raw) or "message" in raw]
    facts = reduce(events.follow, [*(_given(role, raw) for role, raw in given), *answers], Facts(kind=Kind.STEP))
    if [role for role, raw in given if is_object(raw)] == ["tool"]:
        facts = fill(facts, tool_events(facts))
    if not facts.input:
        return facts
    return changed(facts, input=_in_order(facts.input, [message for told in before for message in told.input or ()]))


def _payloads(given: Sequence[tuple[str, Any]], said: Sequence[tuple[str, Any]]) -> Facts:
    """What OpenInference wrote first, whole: ``input.value`` and ``output.value``. The messages after it lost their roles."""
    taken = [input_payload(raw) for _, raw in given]
    gave = [_gave(raw) for _, raw in said]
    outcome = [tool_outcome(raw) for _, raw in said]
    return Facts(
        kind=Kind.STEP,
        input=next((payload.messages for payload in taken), None),
        asked=next((payload.text for payload in taken), None),
        output=next((payload.messages for payload in gave), None),
        reply=next((payload.text for payload in gave), None),
        arguments=next((tool_arguments(raw) for _, raw in given), MISSING),
        result=next((told.result for told in outcome), MISSING),
        error=next((told.error for told in outcome), None),
    )


def _gave(raw: Any) -> Payload:
    """What a model's client gave, or a function."""
    answer = answer_messages(containers(raw))
    return Payload(messages=answer) if answer else output_payload(raw)


def _entries(side: Any) -> Iterator[tuple[str, Any]]:
    messages = side.get("messages") if is_object(side) else None
    for message in messages if isinstance(messages, list) else ():
        if is_object(message) and "content" in message:
            yield str(message.get("role")), message["content"]


def _given(role: str, raw: Any) -> Facts:
    """An event, or an attribute: instructions, messages or a bare text."""
    if is_object(raw):
        return _event(role, raw)
    content = Content({"raw": raw})
    if role == "system":
        return Facts(kind=Kind.OTHER, system=content.instructions("raw"), marks=content.marks)
    return Facts(kind=Kind.OTHER, input=content.messages("input", "raw", role=role), marks=content.marks)


def _answer(raw: Any) -> Facts:
    if is_object(raw):
        return events.facts_of_event(events.CHOICE, raw, raw)
    content = Content({"raw": raw})
    return Facts(kind=Kind.OTHER, output=content.messages("output", "raw", role="assistant"), marks=content.marks)


def _event(role: str, raw: Mapping[str, Any]) -> Facts:
    name = f"gen_ai.{role}.message"
    return events.facts_of_event(name, raw, raw) if name in events.ROLE_EVENTS else Facts(kind=Kind.OTHER)


def _in_order(given: Sequence[Message], earlier: Sequence[Message]) -> tuple[Message, ...]:
    """With what the model said before in its place: before the results that it asked for, else before the user."""
    wanted = {call.call_id for call in asked_for(earlier)}
    answers = [message for message in given if wanted & {result.call_id for result in results_in(message)}]
    last = answers or [message for message in given if message.role == "user"]
    return (*(message for message in given if message not in last), *earlier, *last)


CONVENTION = Convention(name="aws-distro", read=read, read_log=read_log)
