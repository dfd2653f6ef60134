"""Vercel AI SDK's own attributes, ``ai.*``: 3.3 to 6 built in, 7 through ``LegacyOpenTelemetry`` of ``@ai-sdk/otel``.

``ai.generateText`` and its kin are the agent's spans, ``….doGenerate`` and ``….doStream`` the model's calls, and
``ai.toolCall`` the tools'. ``ai.result.*`` until 3.3, ``ai.response.*`` since; arguments are ``args`` until 4,
``input`` since 5. 7's ``OpenTelemetry`` writes the semantic conventions instead (scope ``gen_ai``), which :mod:`.genai`
reads.
Source: ai 3.3.44, 4.3.19, 5.0.277, 6.0.326 and @ai-sdk/otel 1.0.173.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.messages import calls_in, read_message, read_messages
from otel_eval.conventions.reading.reasons import all_ask_for_tools
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text
from otel_eval.interaction import Failure, Message, Part, ReasoningPart, TextPart
from otel_eval.signals import Span

SETTING = "experimental_telemetry: {isEnabled: true, recordInputs: true, recordOutputs: true}"

_AGENTS = (
    "ai.generateText",
    "ai.streamText",
    "ai.generateObject",
    "ai.streamObject",
    "ai.workflowAgent.stream",  # 7
)
_MODELS = tuple(f"{agent}.{call}" for agent in _AGENTS for call in ("doGenerate", "doStream"))
_TOOL = "ai.toolCall"
KINDS: dict[str, Kind] = {
    **dict.fromkeys(_AGENTS, Kind.AGENT),
    **dict.fromkeys(_MODELS, Kind.MODEL),
    _TOOL: Kind.TOOL,
}
"""All else (embeddings, reranking, speech, transcription) is no agent's work."""

USAGE_KEYS = {
    "input_tokens": ("ai.usage.inputTokens", "ai.usage.promptTokens", "gen_ai.usage.input_tokens"),
    "output_tokens": ("ai.usage.outputTokens", "ai.usage.completionTokens", "gen_ai.usage.output_tokens"),
    "cache_read_tokens": ("ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens"),
    "cache_write_tokens": ("ai.usage.inputTokenDetails.cacheWriteTokens",),
    "reasoning_tokens": ("ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens"),
}


def read(span: Span) -> Facts | None:
    """What the span says in ``ai.*``; None without an operation of the SDK's."""
    attributes = span.attributes
    operation = text(attributes.get("ai.operationId")) or _operation_in_name(span)
    if operation is None:
        return None
    kind = KINDS.get(operation, Kind.OTHER)
    if kind is Kind.OTHER:
        return Facts(kind=kind)
    content = Content.of(span)
    return _tool(span, content) if kind is Kind.TOOL else _conversation(span, kind, operation, content)


def _operation_in_name(span: Span) -> str | None:
    """The operation where the attribute that names it is missing: dropped by a limit."""
    return span.name if span.name in KINDS and any(key.startswith("ai.") for key in span.attributes) else None


def _conversation(span: Span, kind: Kind, operation: str, content: Content) -> Facts:
    attributes = span.attributes
    system, inputs = _prompt(content) if kind is Kind.AGENT else (None, None)
    outputs, reasons = _output(content), _finish_reasons(attributes)
    return Facts(
        kind=kind,
        agent=first_text(attributes, ("ai.telemetry.functionId", "resource.name")),
        input=inputs if inputs is not None else content.messages("input", "ai.prompt.messages"),
        output=outputs,
        reply=_reply(outputs) if kind is Kind.AGENT and not all_ask_for_tools(reasons) else None,
        system=system,
        model=first_text(attributes, ("ai.response.model", "gen_ai.response.model", "ai.model.id")),
        response_id=first_text(attributes, ("ai.response.id", "gen_ai.response.id")) if kind is Kind.MODEL else None,
        finish_reasons=reasons,
        usage=usage_of(attributes, USAGE_KEYS),
        aggregated=kind is Kind.AGENT,
        failure=failure_of(span) or (Failure(message="the finish reason is error") if "error" in reasons else None),
        fatal_tools=operation == "ai.streamText" and "ai.usage.completionTokens" in attributes,  # until 4
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _prompt(content: Content) -> tuple[str | None, tuple[Message, ...] | None]:
    """``ai.prompt``: ``{"system", "prompt"}`` or ``{"system", "messages"}``; ``prompt`` may be a list of messages since 5."""
    prompt = content.value("input", "ai.prompt")
    if not is_object(prompt):
        return None, None
    instructions = prompt.get("system", prompt.get("instructions"))
    said = [message.text for message in read_messages(instructions, "system") if message.text]
    messages = read_messages(prompt.get("messages") or ())
    asked = prompt.get("prompt")
    if isinstance(asked, str):  # as it was typed, even where it looks like JSON
        messages += (Message(role="user", parts=(TextPart(text=asked),)),)
    elif asked is not None:
        messages += read_messages(asked)
    return "\n".join(said) or None, messages or None


def _output(content: Content) -> tuple[Message, ...] | None:
    """The text, or the object of a structured answer, and the tool calls; none where it says that nothing was said."""
    parts: list[Part] = []
    spoken = _text(content, "ai.response.text", "ai.result.text")
    if spoken is None:
        spoken = _text(content, "ai.response.object", "ai.result.object")
    reasoning = _text(content, "ai.response.reasoning")
    if reasoning:
        parts.append(ReasoningPart(text=reasoning))
    calls = content.value("output", "ai.response.toolCalls", "ai.result.toolCalls")
    asked = read_message({"role": "assistant", "tool_calls": calls}) if isinstance(calls, list) else None
    if spoken is not None and (spoken or asked is None):
        parts.append(TextPart(text=spoken))
    if asked is not None:
        parts.extend(calls_in(asked))
    return (Message(role="assistant", parts=tuple(parts)),) if parts else None


def _text(content: Content, *keys: str) -> str | None:
    for key in keys:
        raw = content.attributes.get(key)
        if isinstance(raw, str) and not content.hidden("output", raw):
            return raw
    return None


def _reply(outputs: tuple[Message, ...] | None) -> str | None:
    return None if outputs is None else outputs[0].text


def _finish_reasons(attributes: Any) -> tuple[str, ...]:
    found = first_text(attributes, ("ai.response.finishReason", "ai.finishReason"))
    return (found,) if found is not None else ()


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    result = content.result("result", "ai.toolCall.result")
    return Facts(
        kind=Kind.TOOL,
        tool=text(attributes.get("ai.toolCall.name")),
        arguments=content.json("arguments", "ai.toolCall.args"),
        result=result,
        error=tool_error_of(span) or error_in_result(decode_leniently(result)),
        call_id=text(attributes.get("ai.toolCall.id")),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(name="vercel-ai", read=read, prefixes=("ai.",))
