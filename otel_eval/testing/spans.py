"""Spans and log records of an agent as OpenTelemetry's GenAI conventions write them, for tests.

Every builder returns :class:`otel_eval.signals.Span` or ``LogRecord``, frozen; ``attributes`` are added to (or, with a value
of None, taken from) those that the builder writes. :mod:`otel_eval.testing.otlp` makes request bytes of them.

Source: OpenTelemetry GenAI semantic conventions 1.41 (``gen_ai.input.messages`` and friends as JSON strings).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_eval.signals import LogRecord, Resource, Scope, Span, SpanEvent

SECOND_NS = 1_000_000_000
START_NS = 1_750_000_000 * SECOND_NS
SHOP = Resource({"service.name": "shop", "service.version": "1.4.2", "deployment.environment.name": "test"})
SCOPE = Scope("shop.agent", "1.0")
_INTERNAL, _CLIENT = 1, 3


def new_trace_id() -> str:
    """A random trace id, 32 hex digits."""
    return uuid.uuid4().hex


def new_span_id() -> str:
    """A random span id, 16 hex digits."""
    return uuid.uuid4().hex[:16]


def message(role: str, *parts: str | Mapping[str, Any]) -> dict[str, Any]:
    """One message; text as a bare string, other parts as the convention has them."""
    shaped = [{"type": "text", "content": part} if isinstance(part, str) else dict(part) for part in parts]
    return {"role": role, "parts": shaped}


def span(name: str = "work", *, parent: Span | None = None, seconds: float = 1.0, **fields: Any) -> Span:
    """Any span. With a parent: in its trace, with its resource and scope, starting when it starts, unless told otherwise."""
    started_ns = fields.pop("started_ns", START_NS if parent is None else parent.started_ns)
    attributes = {key: value for key, value in fields.pop("attributes", {}).items() if value is not None}
    whole: dict[str, Any] = {
        "trace_id": new_trace_id() if parent is None else parent.trace_id,
        "span_id": new_span_id(),
        "parent_id": None if parent is None else parent.span_id,
        "name": name,
        "kind": _INTERNAL,
        "started_ns": started_ns,
        "ended_ns": started_ns + round(seconds * SECOND_NS),
        "attributes": attributes,
        "resource": SHOP if parent is None else parent.resource,
        "scope": SCOPE if parent is None else parent.scope,
    }
    return Span(**{**whole, **fields})


def agent_span(
    *,
    asked: str | None = "Where is my order?",
    reply: str | None = "It was delivered yesterday.",
    agent: str | None = "support-agent",
    session: str | None = "session-1",
    system: str | None = None,
    failure: str | None = None,
    parent: Span | None = None,
    attributes: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Span:
    """``invoke_agent``. ``asked`` and ``reply`` of None: content capture is off. ``failure`` is the error's message."""
    own = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent,
        "gen_ai.conversation.id": session,
        "gen_ai.input.messages": None if asked is None else json.dumps([message("user", asked)]),
        "gen_ai.output.messages": None if reply is None else json.dumps([message("assistant", reply)]),
        "gen_ai.system_instructions": None if system is None else json.dumps([{"type": "text", "content": system}]),
        **(attributes or {}),
    }
    return span(f"invoke_agent {agent}", parent=parent, attributes=own, **_failed(fields, own, failure))


def model_span(
    *,
    parent: Span | None = None,
    messages: Sequence[Mapping[str, Any]] | None = None,
    output: Sequence[Mapping[str, Any]] | None = None,
    model: str = "gpt-4o-mini",
    input_tokens: int | None = 100,
    output_tokens: int | None = 20,
    failure: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Span:
    """``chat``. ``messages`` are the whole history that the model was sent, ``output`` what it answered."""
    own = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": model,
        "gen_ai.response.model": model,
        "gen_ai.usage.input_tokens": input_tokens,
        "gen_ai.usage.output_tokens": output_tokens,
        "gen_ai.input.messages": None if messages is None else json.dumps(messages),
        "gen_ai.output.messages": None if output is None else json.dumps(output),
        **(attributes or {}),
    }
    return span(f"chat {model}", parent=parent, attributes=own, **{"kind": _CLIENT, **_failed(fields, own, failure)})


def tool_span(
    name: str = "getOrder",
    arguments: Any = None,
    result: Any = None,
    *,
    error: str | None = None,
    call_id: str | None = None,
    parent: Span | None = None,
    attributes: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Span:
    """``execute_tool``. A failed one has an error and no result."""
    own = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": None if arguments is None else json.dumps(arguments),
        "gen_ai.tool.call.result": None if result is None or error is not None else json.dumps(result),
        **(attributes or {}),
    }
    return span(f"execute_tool {name}", parent=parent, attributes=own, **_failed(fields, own, error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool call of a :func:`conversation`."""

    name: str
    arguments: Any = None
    result: Any = None
    error: str | None = None


def conversation(
    *,
    asked: str = "Where is my order?",
    reply: str = "It was delivered yesterday.",
    tools: Iterable[Tool | str] = (),
    agent: str = "support-agent",
    session: str | None = "session-1",
    failure: str | None = None,
    parent: Span | None = None,
    started_ns: int = START_NS,
    resource: Resource | None = None,
    **agent_fields: Any,
) -> tuple[Span, ...]:
    """One whole Interaction, the agent span first: a model call before each tool call, and one for the reply.

    A span takes 0.1 s, one after another. With a ``failure`` the last model call and the agent fail, and there is no reply.
    """
    calls = [Tool(name=tool) if isinstance(tool, str) else tool for tool in tools]
    step = SECOND_NS // 10
    if resource is not None:
        agent_fields["resource"] = resource
    root = agent_span(
        asked=asked, reply=None if failure else reply, agent=agent, session=session, failure=failure, parent=parent,
        started_ns=started_ns, seconds=0.1 * (2 * len(calls) + 1), **agent_fields,
    )  # fmt: skip
    spans, history, now = [root], [message("user", asked)], started_ns
    for index, call in enumerate(calls):
        call_id = f"call_{index}"
        request = {"type": "tool_call", "id": call_id, "name": call.name, "arguments": call.arguments}
        said = message("assistant", request)
        spans.append(model_span(parent=root, messages=list(history), output=[said], started_ns=now, seconds=0.1))
        spans.append(
            tool_span(
                call.name,
                call.arguments,
                call.result,
                error=call.error,
                call_id=call_id,
                parent=root,
                started_ns=now + step,
                seconds=0.1,
            )
        )
        response = {"type": "tool_call_response", "id": call_id, "response": call.error or call.result}
        history += [said, message("tool", response)]
        now += 2 * step
    output = None if failure else [message("assistant", reply)]
    spans.append(
        model_span(parent=root, messages=list(history), output=output, failure=failure, started_ns=now, seconds=0.1)
    )
    return tuple(spans)


def log_record(
    event_name: str,
    *,
    span: Span | None = None,
    body: Any = None,
    attributes: Mapping[str, Any] | None = None,
    **fields: Any,
) -> LogRecord:
    """A log record, of the span where one is given."""
    whole: dict[str, Any] = {
        "trace_id": None if span is None else span.trace_id,
        "span_id": None if span is None else span.span_id,
        "event_name": event_name,
        "time_ns": START_NS if span is None else span.started_ns,
        "severity_number": 9,
        "body": body,
        "attributes": dict(attributes or {}),
        "resource": SHOP if span is None else span.resource,
        "scope": SCOPE if span is None else span.scope,
    }
    return LogRecord(**{**whole, **fields})


def _failed(fields: dict[str, Any], own: dict[str, Any], failure: str | None) -> dict[str, Any]:
    if failure is None:
        return fields
    own.setdefault("error.type", "RuntimeError")
    raised = SpanEvent("exception", 0, {"exception.type": "RuntimeError", "exception.message": failure})
    return {"status": "error", "status_message": failure, "events": (raised,), **fields}
