"""LlamaIndex under OpenLLMetry: steps of a state machine, all of one name, told apart by what they gave back.

Source: opentelemetry-instrumentation-llamaindex 0.40 to 0.62 with llama-index-core 0.14. A root is ``Class.workflow``, all
below it ``Class.task``. Steps take nothing that JSON can hold and give an event: ``AgentInput`` and ``AgentSetup``
(``input``, ``current_agent_name``), ``AgentOutput`` (``response``, ``tool_calls``), ``ToolCallResult``
(``tool_name``, ``tool_output``), ``StopEvent`` (``result``). Model calls have spans if the model's own SDK is
instrumented, too. A run that raises loses its root: the instrumentation ends only spans that came to an end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.openllmetry import KIND, OUTPUT, SETTING
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, tool_error_of
from otel_eval.conventions.reading.llama_messages import read_llama_messages
from otel_eval.conventions.reading.tool_payloads import tool_outcome
from otel_eval.conventions.reading.values import is_object, text
from otel_eval.interaction import Message
from otel_eval.signals import Span

_SCOPE = "opentelemetry.instrumentation.llamaindex"
_RUNS = ("Agent", "AgentWorkflow", "AgentRunner", "AgentWorker")
_HANDOFF = "handoff"
"""The tool with which AgentWorkflow passes on to another of its agents."""


def read(span: Span) -> Facts | None:
    """What a root or a step says; the rest (retrievers, query engines, tools' own spans) is for OpenLLMetry's convention."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind, content = span.attributes.get(KIND), Content.of(span)
    if kind == "task" and text(span.attributes.get("tool.name")):
        return _tool(span, content)
    if kind == "workflow" and span.name.removesuffix(".workflow").endswith(_RUNS):
        return _step(span, content, Kind.AGENT)
    return _step(span, content, Kind.STEP) if kind == "task" else None


def _step(span: Span, content: Content, kind: Kind) -> Facts:
    event = content.value("output", OUTPUT)
    event = event if is_object(event) else {}
    inner = event.get("result")
    ended = inner if is_object(inner) and "response" in inner else None  # a StopEvent
    said = _response(ended if ended is not None else event)
    took = event.get("input") if "current_agent_name" in event else None
    return Facts(
        kind=kind,
        agent=text((ended or event).get("current_agent_name")),
        input=read_llama_messages(took) or None if isinstance(took, list) else None,
        reply=said.text if said is not None and (ended is not None or not event.get("tool_calls")) else None,
        failure=failure_of(span) if kind is Kind.AGENT else None,
        marks=content.marks,
        setting=SETTING,
    )


def _response(event: Mapping[str, Any]) -> Message | None:
    response = event.get("response")
    messages = read_llama_messages(response, "assistant") if is_object(response) else ()
    return messages[0] if messages else None


def _tool(span: Span, content: Content) -> Facts:
    name = text(span.attributes.get("tool.name"))
    arguments = content.json("arguments", "tool.arguments")
    handed = name == _HANDOFF and is_object(arguments) and "to_agent" in arguments
    event = content.value("result", OUTPUT)
    event = event if is_object(event) else {}
    outcome = tool_outcome(event["tool_output"]) if is_object(event.get("tool_output")) else None
    return Facts(
        kind=Kind.HANDOFF if handed else Kind.TOOL,
        tool=name,
        arguments=arguments,
        result=outcome.result if outcome is not None else MISSING,
        error=tool_error_of(span) or (outcome.error if outcome is not None else None),
        call_id=text(event.get("tool_id")),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(name="openllmetry-llama-index", read=read, scopes=(_SCOPE,))
