"""LlamaIndex's own OpenTelemetry integration: spans named ``Class.method``, and all they say in events.

Source: llama-index-observability-otel 0.7 with llama-index-core 0.14. An event's name is its class, its attributes are the
model's fields, nested ones with dots, lists as JSON. The result of a tool has no event: it is in the next model call's
messages. Nothing turns the content off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.content import Content
from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.llama_messages import read_llama_messages
from otel_eval.conventions.messages import read_messages
from otel_eval.conventions.trouble import failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.values import first_text, text, unflatten_object
from otel_eval.interaction import Message
from otel_eval.signals import Span

_SCOPE = "llamaindex.opentelemetry.tracer"
_RUNS = ("Agent", "AgentWorkflow", "AgentRunner")
_MODEL = ("model_dict.model", "model_dict.model_name", "response.raw.model")


def read(span: Span) -> Facts | None:
    """An agent's run, a model call or a tool call by the events on the span; else a step."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    told = {event.name: event.attributes for event in span.events}  # the last of a name: what a stream ended with
    if any(name.startswith(("LLMChat", "LLMCompletion")) for name in told):
        return _model(span, told)
    if "AgentToolCallEvent" in told:
        return _tool(span, told["AgentToolCallEvent"])
    owner, _, method = span.name.rpartition(".")
    is_run = method in ("run", "chat", "achat", "stream_chat", "astream_chat") and owner.endswith(_RUNS)
    return _agent(span, told) if is_run else Facts(kind=Kind.STEP)


def _agent(span: Span, told: Mapping[str, Mapping[str, Any]]) -> Facts:
    start, end = told.get("AgentChatWithStepStartEvent", {}), told.get("AgentChatWithStepEndEvent", {})
    return Facts(
        kind=Kind.AGENT,
        weak_agent=span.name.rpartition(".")[0] or None,
        asked=text(start.get("user_msg")),
        reply=text(end.get("response.response")),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=Content.of(span).marks,
    )


def _model(span: Span, told: Mapping[str, Mapping[str, Any]]) -> Facts:
    start = told.get("LLMChatStartEvent") or told.get("LLMCompletionStartEvent") or {}
    end = told.get("LLMChatEndEvent") or told.get("LLMCompletionEndEvent") or {}
    asked = start.get("messages", end.get("messages"))
    prompt = text(start.get("prompt", end.get("prompt")))
    return Facts(
        kind=Kind.MODEL,
        input=(read_llama_messages(asked) if asked is not None else read_messages(prompt or "")) or None,
        output=_answer(end) or None,
        model=first_text({**start, **end}, _MODEL),
        response_id=text(end.get("response.raw.id")),
        failure=failure_of(span),
        marks=Content.of(span).marks,
    )


def _answer(end: Mapping[str, Any]) -> tuple[Message, ...]:
    message = unflatten_object(end, "response.message.")
    if message:
        return read_llama_messages({"role": "assistant", **message}, "assistant")
    said = text(end.get("response.text"))
    return read_messages(said, "assistant") if said is not None else ()


def _tool(span: Span, told: Mapping[str, Any]) -> Facts:
    content = Content(told)
    return Facts(
        kind=Kind.TOOL,
        tool=text(told.get("tool.name")),
        arguments=content.json("arguments", "arguments"),
        error=tool_error_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


CONVENTION = Convention(name="llama-index-otel", read=read, scopes=(_SCOPE,))
