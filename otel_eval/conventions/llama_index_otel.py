"""LlamaIndex's own OpenTelemetry integration: spans named ``Class.method``, and all they say in events.

Source: llama-index-observability-otel 0.7 with llama-index-core 0.14. An event's name is its class, its attributes are the
model's fields, nested ones with dots, lists as JSON. The steps of a workflow say which event they took, as Python writes it,
cut after 200 characters; so does the run, of the event that it ended with. The result of a tool has no event: it is in the next model call's messages. Nothing turns the
content off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.llama_react import is_react, read_react
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.llama_events import ended_with, is_end_cut
from otel_eval.conventions.reading.llama_messages import read_llama_messages
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, plain, text, unflatten_object
from otel_eval.interaction import GapKind, JsonValue, Message
from otel_eval.signals import Span

_SCOPE = "llamaindex.opentelemetry.tracer"
_RUNS = ("Agent", "AgentWorkflow", "AgentRunner")
_SUMMARY = "llamaindex.step.input_summary"
_AGENT = re.compile(r"\bcurrent_agent_name='([^']+)'")
_CALL = re.compile(
    r"ToolCall\(tool_name='([^']+)', tool_kwargs=(?:(\{.*\}), tool_id='([^']*)'\)$)?", re.S
)  # the rest may be cut
_CALLS = (".call_tool", "Tool.acall", "Tool.call")
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
    summary = text(span.attributes.get(_SUMMARY)) or ""
    if span.name.endswith(_CALLS) and (call := _CALL.match(summary)) is not None:
        return _called(span, call)
    owner, _, method = span.name.rpartition(".")
    is_run = method in ("run", "chat", "achat", "stream_chat", "astream_chat") and owner.endswith(_RUNS)
    if is_run:
        return _agent(span, told)
    if "workflow.output" in told:
        return _workflow(span, told)
    named = _AGENT.search(summary) or _AGENT.search(str(told.get("step.output", {}).get("output", "")))
    return Facts(kind=Kind.STEP, agent=None if named is None else named[1])


def _agent(span: Span, told: Mapping[str, Mapping[str, Any]]) -> Facts:
    start, end = told.get("AgentChatWithStepStartEvent", {}), told.get("AgentChatWithStepEndEvent", {})
    content = Content.of(span)
    return Facts(
        kind=Kind.AGENT,
        weak_agent=span.name.rpartition(".")[0] or None,
        asked=text(start.get("user_msg")),
        reply=text(end.get("response.response")) or _ended_with(content, told),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


def _ended_with(content: Content, told: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The answer in the event that ended the run. An agent that streams has it nowhere else: its model's span ends before."""
    given = told.get("workflow.output", {}).get("output")
    if is_end_cut(given):
        content.mark("output", GapKind.TRUNCATED)
    return ended_with(given)


def _workflow(span: Span, told: Mapping[str, Mapping[str, Any]]) -> Facts:
    """A run of a program's own steps."""
    content = Content.of(span)
    return Facts(
        kind=Kind.WORKFLOW,
        weak_agent=span.name.rpartition(".")[0] or None,
        reply=_ended_with(content, told),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


def _model(span: Span, told: Mapping[str, Mapping[str, Any]]) -> Facts:
    start = told.get("LLMChatStartEvent") or told.get("LLMCompletionStartEvent") or {}
    end = told.get("LLMChatEndEvent") or told.get("LLMCompletionEndEvent") or {}
    asked = start.get("messages", end.get("messages"))
    prompt = text(start.get("prompt", end.get("prompt")))
    inputs = read_llama_messages(asked) if asked is not None else read_messages(prompt or "")
    outputs = _answer(end)
    if is_react(inputs):
        inputs, outputs = read_react(inputs), read_react(outputs)
    return Facts(
        kind=Kind.MODEL,
        input=inputs or None,
        output=outputs or None,
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


def _called(span: Span, call: re.Match[str]) -> Facts:
    """A workflow's step that calls a tool, and the tool's own span below it, which has the error."""
    arguments: JsonValue | Missing = MISSING
    if call[2] is not None and is_object(value := decode_leniently(call[2])):
        arguments = plain(value)
    return Facts(
        kind=Kind.TOOL,
        tool=call[1],
        arguments=arguments,
        error=tool_error_of(span),
        call_id=call[3] or None,
        control_flow=is_control_flow(span),
    )


CONVENTION = Convention(name="llama-index-otel", read=read, scopes=(_SCOPE,))
