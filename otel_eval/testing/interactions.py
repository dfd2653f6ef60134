"""Interactions for tests, without any telemetry."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from otel_eval.identity import interaction_id
from otel_eval.interaction import Failure, Gap, GapKind, Interaction, JsonValue, ModelCall, ToolCall, Totals, Usage

_START_NS = 1_750_000_000_000_000_000
_SECOND_NS = 1_000_000_000


def tool_call(
    name: str, arguments: JsonValue = None, result: JsonValue = None, *, error: str | None = None, **fields: Any
) -> ToolCall:
    """One tool call: ``tool_call("getOrder", {"orderId": "o_9"}, {"status": "delivered"})``."""
    return ToolCall(name=name, arguments=arguments, result=result, error=error, **fields)


def interaction(
    *,
    asked: str | None = "Where is my order?",
    reply: str | None = "It was delivered yesterday.",
    tool_calls: Iterable[ToolCall | str] = (),
    model_calls: int | Iterable[ModelCall] = 1,
    agent: str | None = "support-agent",
    failure: Failure | str | None = None,
    seconds: float = 1.0,
    input_tokens: int | None = 100,
    output_tokens: int | None = 20,
    missing: Mapping[str, GapKind] | Iterable[str] = (),
    **fields: Any,
) -> Interaction:
    """An Interaction of an agent that went well, changed where the test says so.

    ``tool_calls`` takes tool calls, or bare names. ``missing`` names the fields that the telemetry does not carry: they
    become None (or empty) with a gap, not captured unless the mapping says otherwise. Everything else of
    :class:`Interaction` is taken by its name.
    """
    trace_id = fields.pop("trace_id", None) or uuid.uuid4().hex
    span_id = fields.pop("span_id", None) or uuid.uuid4().hex[:16]
    calls = tuple(ToolCall(name=call) if isinstance(call, str) else call for call in tool_calls)
    models = _model_calls(model_calls)
    usage = fields.pop("usage", Usage(input_tokens=input_tokens, output_tokens=output_tokens))
    started_ns = fields.pop("started_ns", _START_NS)
    whole: dict[str, Any] = {
        "id": interaction_id(trace_id, span_id),
        "trace_id": trace_id,
        "span_id": span_id,
        "agent": agent,
        "asked": asked,
        "reply": reply,
        "tool_calls": calls,
        "model_calls": models,
        "failure": Failure(message=failure) if isinstance(failure, str) else failure,
        "model": "scripted",
        "usage": usage,
        "totals": Totals(tool_calls=len(calls), model_calls=len(models), usage=usage),
        "session": "session-1",
        "resource": {"service.name": "shop"},
        "started_ns": started_ns,
        "ended_ns": started_ns + round(seconds * _SECOND_NS),
        "conventions": ("genai",),
    }
    whole.update(fields)
    _blank(whole, missing)
    return Interaction(**whole)


def _model_calls(calls: int | Iterable[ModelCall]) -> tuple[ModelCall, ...]:
    if isinstance(calls, int):
        return tuple(ModelCall(model="scripted") for _ in range(calls))
    return tuple(calls)


def _blank(whole: dict[str, Any], missing: Mapping[str, GapKind] | Iterable[str]) -> None:
    kinds = missing if isinstance(missing, Mapping) else dict.fromkeys(missing, GapKind.NOT_CAPTURED)
    empty: dict[str, Any] = {"tool_calls": (), "model_calls": (), "history": (), "usage": Usage()}
    for field in kinds:
        whole[field] = empty.get(field)
    totals: Totals = whole["totals"]
    whole["totals"] = Totals(
        tool_calls=None if "tool_calls" in kinds else totals.tool_calls,
        model_calls=None if "model_calls" in kinds else totals.model_calls,
        usage=Usage() if "usage" in kinds else totals.usage,
    )
    gaps = tuple(Gap(field=field, kind=kind) for field, kind in kinds.items())
    whole["gaps"] = (*whole.get("gaps", ()), *gaps)
