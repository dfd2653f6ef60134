"""An Interaction as a JSON object and back, without loss: what the ledger stores and the command line prints.

The keys are those of ``otel-eval interactions --format jsonl``; a tool call's ``id`` is its call id. ``failed`` is
written for readers and ignored when read, since it follows from ``failure``. Unknown keys are ignored, missing ones take
the domain's default, so that a newer reader takes what an older writer stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from otel_eval.interaction import (
    Attachment,
    Failure,
    Gap,
    GapKind,
    Interaction,
    JsonValue,
    Link,
    Message,
    ModelCall,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolCallPart,
    ToolResultPart,
    Totals,
    Usage,
)

T = TypeVar("T")


def to_json(interaction: Interaction) -> dict[str, JsonValue]:
    """The Interaction as plain dicts, lists and scalars: ``from_json(to_json(x)) == x``."""
    return {
        "id": interaction.id,
        "trace_id": interaction.trace_id,
        "span_id": interaction.span_id,
        "parent_id": interaction.parent_id,
        "agent": interaction.agent,
        "role": interaction.role,
        "session": interaction.session,
        "user_id": interaction.user_id,
        "asked": interaction.asked,
        "reply": interaction.reply,
        "failed": interaction.failed,
        "failure": _failure_json(interaction.failure),
        "tool_calls": [_tool_call_json(call) for call in interaction.tool_calls],
        "model_calls": [_model_call_json(call) for call in interaction.model_calls],
        "model": interaction.model,
        "usage": _usage_json(interaction.usage),
        "totals": {
            "tool_calls": interaction.totals.tool_calls,
            "model_calls": interaction.totals.model_calls,
            "usage": _usage_json(interaction.totals.usage),
        },
        "gaps": [_gap_json(gap) for gap in interaction.gaps],
        "conventions": list(interaction.conventions),
        "system": interaction.system,
        "history": [message_json(message) for message in interaction.history],
        "attachments": [_part_json(attachment) for attachment in interaction.attachments],
        "resource": dict(interaction.resource),
        "attributes": dict(interaction.attributes),
        "links": [{"trace_id": link.trace_id, "span_id": link.span_id} for link in interaction.links],
        "started_ns": interaction.started_ns,
        "ended_ns": interaction.ended_ns,
        "complete": interaction.complete,
    }


def from_json(value: Mapping[str, Any]) -> Interaction:
    """The Interaction that :func:`to_json` wrote. Raises KeyError without an id, ValueError for an unknown gap or part."""
    return Interaction(
        id=value["id"],
        trace_id=value["trace_id"],
        span_id=value["span_id"],
        parent_id=value.get("parent_id"),
        agent=value.get("agent"),
        role=value.get("role"),
        session=value.get("session"),
        user_id=value.get("user_id"),
        asked=value.get("asked"),
        reply=value.get("reply"),
        failure=_failure(value.get("failure")),
        tool_calls=_each(value, "tool_calls", _tool_call),
        model_calls=_each(value, "model_calls", _model_call),
        model=value.get("model"),
        usage=_usage(value.get("usage")),
        totals=_totals(value.get("totals")),
        gaps=_each(value, "gaps", _gap),
        conventions=tuple(value.get("conventions") or ()),
        system=value.get("system"),
        history=_each(value, "history", message_of_json),
        attachments=_each(value, "attachments", _attachment),
        resource=dict(value.get("resource") or {}),
        attributes=dict(value.get("attributes") or {}),
        links=_each(value, "links", _link),
        started_ns=value.get("started_ns"),
        ended_ns=value.get("ended_ns"),
        complete=bool(value.get("complete", True)),
    )


def message_json(message: Message) -> dict[str, JsonValue]:
    """One message: ``{"role": …, "parts": [{"type": …, …}]}``."""
    return {"role": message.role, "parts": [_part_json(part) for part in message.parts]}


def message_of_json(value: Mapping[str, Any]) -> Message:
    """The message that :func:`message_json` wrote. Raises ValueError for a part of an unknown type."""
    return Message(role=value["role"], parts=_each(value, "parts", _part))


def _each(value: Mapping[str, Any], key: str, read: Callable[[Mapping[str, Any]], T]) -> tuple[T, ...]:
    return tuple(read(item) for item in value.get(key) or ())


def _tool_call_json(call: ToolCall) -> dict[str, JsonValue]:
    return {
        "id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "result": call.result,
        "error": call.error,
        "span_id": call.span_id,
        "started_ns": call.started_ns,
        "ended_ns": call.ended_ns,
        "gaps": [_gap_json(gap) for gap in call.gaps],
    }


def _tool_call(value: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        name=value["name"],
        arguments=value.get("arguments"),
        result=value.get("result"),
        error=value.get("error"),
        call_id=value.get("id"),
        span_id=value.get("span_id"),
        started_ns=value.get("started_ns"),
        ended_ns=value.get("ended_ns"),
        gaps=_each(value, "gaps", _gap),
    )


def _model_call_json(call: ModelCall) -> dict[str, JsonValue]:
    return {
        "span_id": call.span_id,
        "model": call.model,
        "response_id": call.response_id,
        "finish_reasons": list(call.finish_reasons),
        "usage": _usage_json(call.usage),
        "failure": _failure_json(call.failure),
        "started_ns": call.started_ns,
        "ended_ns": call.ended_ns,
    }


def _model_call(value: Mapping[str, Any]) -> ModelCall:
    return ModelCall(
        span_id=value.get("span_id"),
        model=value.get("model"),
        response_id=value.get("response_id"),
        finish_reasons=tuple(value.get("finish_reasons") or ()),
        usage=_usage(value.get("usage")),
        failure=_failure(value.get("failure")),
        started_ns=value.get("started_ns"),
        ended_ns=value.get("ended_ns"),
    )


def _failure_json(failure: Failure | None) -> JsonValue:
    return None if failure is None else {"type": failure.type, "message": failure.message}


def _failure(value: Mapping[str, Any] | None) -> Failure | None:
    return None if value is None else Failure(type=value.get("type"), message=value.get("message"))


def _usage_json(usage: Usage) -> dict[str, JsonValue]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def _usage(value: Mapping[str, Any] | None) -> Usage:
    value = value or {}
    return Usage(
        input_tokens=value.get("input_tokens"),
        output_tokens=value.get("output_tokens"),
        cache_read_tokens=value.get("cache_read_tokens"),
        cache_write_tokens=value.get("cache_write_tokens"),
        reasoning_tokens=value.get("reasoning_tokens"),
    )


def _totals(value: Mapping[str, Any] | None) -> Totals:
    value = value or {}
    return Totals(
        tool_calls=value.get("tool_calls"),
        model_calls=value.get("model_calls"),
        usage=_usage(value.get("usage")),
    )


def _gap_json(gap: Gap) -> dict[str, JsonValue]:
    return {"field": gap.field, "kind": gap.kind.value, "setting": gap.setting}


def _gap(value: Mapping[str, Any]) -> Gap:
    return Gap(field=value["field"], kind=GapKind(value["kind"]), setting=value.get("setting"))


def _link(value: Mapping[str, Any]) -> Link:
    return Link(trace_id=value["trace_id"], span_id=value["span_id"])


def _part_json(part: Part) -> dict[str, JsonValue]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ReasoningPart():
            return {"type": "reasoning", "text": part.text}
        case ToolCallPart():
            return {"type": "tool_call", "name": part.name, "arguments": part.arguments, "id": part.call_id}
        case ToolResultPart():
            return {
                "type": "tool_result",
                "id": part.call_id,
                "name": part.name,
                "result": part.result,
                "failed": part.failed,
            }
        case Attachment():
            return {
                "type": "attachment",
                "modality": part.modality,
                "mime_type": part.mime_type,
                "name": part.name,
                "size": part.size,
            }


def _part(value: Mapping[str, Any]) -> Part:
    match value.get("type"):
        case "text":
            return TextPart(text=value["text"])
        case "reasoning":
            return ReasoningPart(text=value["text"])
        case "tool_call":
            return ToolCallPart(name=value["name"], arguments=value.get("arguments"), call_id=value.get("id"))
        case "tool_result":
            return ToolResultPart(
                call_id=value.get("id"),
                name=value.get("name"),
                result=value.get("result"),
                failed=bool(value.get("failed")),
            )
        case "attachment":
            return _attachment(value)
        case other:
            raise ValueError(f"a message part of the unknown type {other!r}")


def _attachment(value: Mapping[str, Any]) -> Attachment:
    return Attachment(
        modality=value["modality"],
        mime_type=value.get("mime_type"),
        name=value.get("name"),
        size=value.get("size"),
    )
