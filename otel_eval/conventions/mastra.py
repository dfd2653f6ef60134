"""Mastra's exporter: what it writes beside the semantic conventions, in ``mastra.*``.

``mastra.span.type`` says what a span is. What went in and came out is ``mastra.<type>.input`` and ``.output`` since 1.0, and
``input`` and ``output`` before; tools and the model's calls have the standard's attributes since 1.0. A model's call
(``model_inference`` since 1.0) holds the text that came out but neither its input nor the tool calls: those are in the
``model_step`` and ``model_generation`` around it, the provider's whole response in the step's ``mastra.metadata.body``.
``@mastra/langfuse`` has them under Langfuse's names.
Source: @mastra/otel-exporter 0.3.3 and 1.4.0, @mastra/langfuse 1.5.
"""

from __future__ import annotations

import re
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import answer_messages
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.messages import calls_in, read_message, read_messages, results_in
from otel_eval.conventions.reading.payloads import Payload, input_payload, output_payload
from otel_eval.conventions.reading.values import containers, decode_leniently, first_text, is_object, plain, text
from otel_eval.interaction import Message, Part, TextPart
from otel_eval.json_text import dumps
from otel_eval.signals import Span

SETTING = "tracingOptions: {hideInput: false, hideOutput: false}"

KINDS: dict[str, Kind] = {
    "agent_run": Kind.AGENT,
    "workflow_run": Kind.WORKFLOW,
    "model_generation": Kind.STEP,  # around the calls of one run; before 1.0 it is the call, see below
    "llm_generation": Kind.MODEL,  # until 0.2
    "model_step": Kind.STEP,
    "model_inference": Kind.MODEL,
    "tool_call": Kind.TOOL,
    "mcp_tool_call": Kind.TOOL,
    "client_tool_call": Kind.TOOL,
    "provider_tool_call": Kind.TOOL,
}
"""All else is a step that has no meaning of its own: chunks, processors, memory, a workflow's steps and branches."""


def read(span: Span) -> Facts | None:
    """What the span says beyond the standard's attributes; None without ``mastra.span.type``."""
    kind_name = text(span.attributes.get("mastra.span.type"))
    if kind_name is None:
        return None
    kind = KINDS.get(kind_name)
    if kind is None:
        return Facts(kind=Kind.EVALUATOR if kind_name.startswith("scorer") else Kind.OTHER)
    if kind_name == "model_generation" and span.attributes.get("gen_ai.operation.name") in ("chat", "tool_selection"):
        kind = Kind.MODEL
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    if kind in (Kind.AGENT, Kind.WORKFLOW):
        return _agent(span, kind, content, kind_name)
    return _model(span, kind, content, kind_name)


def _raw(content: Content, field: str, kind_name: str) -> Any:
    for key in (f"mastra.{kind_name}.{field}", field, *(f"langfuse.{of}.{field}" for of in ("observation", "trace"))):
        raw = content.attributes.get(key)
        if raw is not None and not content.hidden(field, raw):
            return raw
    return None


def _agent(span: Span, kind: Kind, content: Content, kind_name: str) -> Facts:
    attributes = span.attributes
    raw = _raw(content, "input", kind_name)
    taken = _taken(raw)
    given = _said(_raw(content, "output", kind_name))
    return Facts(
        kind=kind,
        agent=first_text(attributes, ("gen_ai.agent.name", "gen_ai.agent.id", "agent.id"))
        if kind is Kind.AGENT
        else None,
        weak_agent=_quoted(span.name) or first_text(attributes, ("gen_ai.workflow.name", "workflow.id")),
        input=taken.messages,
        asked=taken.text,
        output=given.messages,
        reply=given.text,
        system=content.instructions("gen_ai.system_instructions"),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _quoted(name: str) -> str | None:
    """``agent run: 'order_agent'`` as the spans were called before 1.0; ``invoke_workflow name`` since."""
    if name.endswith("'") and "'" in name[:-1]:
        return name[:-1].rpartition("'")[2] or None
    return name.partition(" ")[2] or None


def _taken(raw: Any) -> Payload:
    """A plain text as it was typed, or messages in JSON; neither where a run goes on that waited for a user."""
    value = containers(raw)
    if is_object(value) and "approved" in value and "toolCallId" in value:
        return Payload()
    if isinstance(raw, str) and isinstance(value, dict | list):
        found = input_payload(value)
        return Payload(text=raw) if found == Payload() else found
    return Payload(text=raw) if isinstance(raw, str) and raw else Payload()


def _said(raw: Any) -> Payload:
    """``{"text", "object", "files"}``: the object of a structured answer counts where there is no text."""
    value = decode_leniently(raw)
    if is_object(value) and not value.get("text") and (built := value.get("object")) is not None:
        return Payload(text=built if isinstance(built, str) else dumps(plain(built)).decode())
    return output_payload(raw) if raw is not None else Payload()


def _model(span: Span, kind: Kind, content: Content, kind_name: str) -> Facts:
    attributes = span.attributes
    lossy = kind_name == "model_step"  # its input has "[tool: name]" where calls and results were
    raw = None if lossy else _raw(content, "input", kind_name)
    taken = (read_messages(raw) or None) if raw is not None else None
    if lossy and "openinference.span.kind" in attributes:  # whose messages are that input's
        taken = tuple(said for said in read_messages(_raw(content, "input", kind_name)) if not _is_shortened(said))
    outputs = _answer(decode_leniently(_raw(content, "output", kind_name)))
    if outputs is None:
        body = decode_leniently(attributes.get("mastra.metadata.body"))
        outputs = (answer_messages(body) or None) if is_object(body) else None
    return Facts(
        kind=kind,
        agent=text(attributes.get("gen_ai.agent.name")),
        input=taken,
        output=outputs,
        reply=_answered(outputs) if kind is Kind.STEP else None,
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _is_shortened(said: Message) -> bool:
    """Whether all that is left of a tool's results, or of the calls of tools, is their names."""
    texts = [said.text, *(part.result for part in results_in(said))]
    return said.role in ("assistant", "tool") and any(
        isinstance(each, str) and _SHORTENED.search(each) for each in texts
    )


_SHORTENED = re.compile(r"(?:\[tool(?:-result)?: [^\]\n]+\])+$")


def _answer(value: Any) -> tuple[Message, ...] | None:
    if not is_object(value):
        return None
    asked = read_message({"role": "assistant", "tool_calls": value.get("toolCalls")})
    calls = calls_in(asked)
    spoken = value.get("text")
    parts: list[Part] = [TextPart(text=spoken)] if isinstance(spoken, str) and (spoken or not calls) else []
    parts.extend(calls)
    return (Message(role="assistant", parts=tuple(parts)),) if parts else None


def _answered(outputs: tuple[Message, ...] | None) -> str | None:
    texts = [message.text for message in outputs or () if message.text]
    return texts[-1] if texts else None


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    result = content.result("result", "gen_ai.tool.call.result", "mastra.tool_call.output", "gen_ai.tool.output")
    error = tool_error_of(span)
    if error is None and result is not MISSING:
        error = error_in_result(result)
    return Facts(
        kind=Kind.TOOL,
        tool=text(attributes.get("gen_ai.tool.name")) or _quoted(span.name),
        arguments=content.json(
            "arguments", "gen_ai.tool.call.arguments", "mastra.tool_call.input", "gen_ai.tool.input"
        ),
        result=result,
        error=error,
        call_id=text(attributes.get("gen_ai.tool.call.id")),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(name="mastra", read=read, prefixes=("mastra.span.type",))
