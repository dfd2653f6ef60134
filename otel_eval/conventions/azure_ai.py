"""Agents of Microsoft Foundry, as Azure's SDKs call them.

``azure-ai-projects`` asks a Foundry agent over the Responses API, and writes ``invoke_agent`` for each request. A function
is the caller's to run, who hands over its result in the next request: so a request is what elsewhere the call of a model
is, and a turn has as many as it takes. With content off the messages keep their shape: ``{"type": "tool_call", "id": …}``.

``azure-ai-agents`` keeps threads: a run of one is many requests (:mod:`otel_eval.assemble.threads`), each a span, also one for
each message and step of a list. The span of a listed step has the ids of thread and run exchanged; its event has not.
Source: azure-ai-agents 1.1 (``telemetry/_ai_agents_instrumentor.py``), azure-ai-projects 2.0 to 2.10
(``telemetry/_responses_instrumentor.py``), azure-core-tracing-opentelemetry 1.0.0b13.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions import events
from otel_eval.conventions.facts import TOOL_CALLS, Convention, Facts, Kind, Mark, Thread
from otel_eval.conventions.reading.content import usage_of
from otel_eval.conventions.reading.messages import read_message
from otel_eval.conventions.reading.values import decode_leniently, is_object, text
from otel_eval.interaction import GapKind, Message
from otel_eval.signals import Span, SpanEvent

_FOUNDRY = "microsoft.foundry"
_AGENTS, _THREAD, _RUN = "az.ai.agents", "gen_ai.thread.id", "gen_ai.thread.run.id"
_STEP = "gen_ai.run_step.tool_calls"
_REQUESTS = {
    "start_thread_run": Kind.AGENT,
    "process_thread_run": Kind.AGENT,
    **dict.fromkeys(
        (
            "create_thread",
            "create_message",
            "get_thread_run",
            "submit_tool_outputs",
            "list_messages",
            "list_run_steps",
        ),
        Kind.STEP,
    ),
}
_ENDED = frozenset({"completed", "failed", "cancelled", "expired", "incomplete"})
_AGENTS_SETTING = "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"
_SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"


def read(span: Span) -> Facts | None:
    """A request to a Foundry agent, or to a model beside it, and what is done with a thread; None for all else."""
    attributes = span.attributes
    if attributes.get("gen_ai.system") == _AGENTS:
        return _about_a_thread(span)
    if attributes.get("gen_ai.provider.name") != _FOUNDRY or "az.namespace" not in attributes:
        return None
    if attributes.get("gen_ai.operation.name") not in ("invoke_agent", "chat", "responses"):
        return None
    shapes = {field: _is_shape(attributes.get(f"gen_ai.{field}.messages")) for field in ("input", "output")}
    fields = [field for field, shape in shapes.items() if shape]
    hidden: dict[str, Any] = dict.fromkeys(fields, ())
    if fields:
        hidden["marks"] = tuple(Mark(field=field, kind=GapKind.NOT_CAPTURED) for field in (*fields, TOOL_CALLS))
    return Facts(kind=Kind.MODEL, usage=usage_of(attributes), setting=_SETTING, **hidden)


def _about_a_thread(span: Span) -> Facts | None:
    operation = span.attributes.get("gen_ai.operation.name")
    kind = _REQUESTS.get(operation) if isinstance(operation, str) else None
    told = next((event.attributes for event in span.events if _THREAD in event.attributes), span.attributes)
    thread, run = text(told.get(_THREAD)), text(told.get(_RUN))
    if kind is None or thread is None:
        return Facts(kind=Kind.OTHER)
    if kind is Kind.AGENT:
        thread, run = text(span.attributes.get(_THREAD)) or thread, text(span.attributes.get(_RUN)) or span.span_id
    if operation == "list_messages" and run is None:
        return Facts(kind=Kind.OTHER)  # what was put in has a span of its own
    messages = [message for event in span.events if (message := _message(event)) is not None]
    return Facts(
        kind=kind,
        thread=Thread(id=thread, run=run, ended=span.attributes.get("gen_ai.thread.run.status") in _ENDED),
        session=thread,
        input=tuple(message for message in messages if message.role in ("user", "tool")),
        output=tuple(message for message in messages if message.role == "assistant"),
        usage=usage_of(span.attributes),
        setting=_AGENTS_SETTING,
    )


def _message(event: SpanEvent) -> Message | None:
    """The message of an event, or the calls that a step made; None for others, and without content."""
    role = "assistant" if event.name == _STEP else events.ROLE_EVENTS.get(event.name)
    body = decode_leniently(event.attributes.get("gen_ai.event.content"))
    if role is None or role == "system" or not is_object(body):
        return None
    message = read_message({**body, "role": role, "content": _text_in(body.get("content"))}, role)
    return message if message.parts else None


def _text_in(content: object) -> object:
    """``{"text": {"value": …}}``; a message that is put in has its text alone."""
    inner = content.get("text") if is_object(content) else None
    return inner.get("value") if is_object(inner) else content


def _is_shape(raw: object) -> bool:
    """Whether the messages have parts, and no part says anything."""
    messages = decode_leniently(raw)
    parts = (
        [part for message in messages if is_object(message) for part in message.get("parts") or ()]
        if isinstance(messages, list)
        else []
    )
    return bool(parts) and all(is_object(part) and part.keys() <= {"type", "id"} for part in parts)


CONVENTION = Convention(name="azure-ai", read=read, prefixes=("gen_ai.provider.name", "gen_ai.thread."))
