"""Agents of Microsoft Foundry, as Azure's SDKs call them.

``azure-ai-projects`` asks a Foundry agent over the Responses API, and writes ``invoke_agent`` for each request. A function
is the caller's to run, who hands over its result in the next request: so a request is what elsewhere the call of a model
is, and a turn has as many as it takes. With content off the messages keep their shape: ``{"type": "tool_call", "id": …}``.
Source: azure-ai-projects 2.0 to 2.10 (``telemetry/_responses_instrumentor.py``), azure-core-tracing-opentelemetry 1.0.0b13.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import TOOL_CALLS, Convention, Facts, Kind, Mark
from otel_eval.conventions.reading.content import usage_of
from otel_eval.conventions.reading.values import decode_leniently, is_object
from otel_eval.interaction import GapKind
from otel_eval.signals import Span

_FOUNDRY = "microsoft.foundry"
_SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"


def read(span: Span) -> Facts | None:
    """A request to a Foundry agent, or to a model beside it; None for all else."""
    attributes = span.attributes
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


def _is_shape(raw: object) -> bool:
    """Whether the messages have parts, and no part says anything."""
    messages = decode_leniently(raw)
    parts = (
        [part for message in messages if is_object(message) for part in message.get("parts") or ()]
        if isinstance(messages, list)
        else []
    )
    return bool(parts) and all(is_object(part) and part.keys() <= {"type", "id"} for part in parts)


CONVENTION = Convention(name="azure-ai", read=read, prefixes=("gen_ai.provider.name",))
