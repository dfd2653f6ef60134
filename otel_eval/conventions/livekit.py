"""LiveKit Agents: ``agent_turn`` is the invocation, ``llm_node`` a step around the model's call, ``function_tool`` a tool.

Content is ``lk.*`` until 1.2 and ``lk.pii.*`` since; since 1.5 the standard's attributes stand beside it, and the model's
call is ``llm_request`` below the step, in either. What is heard and spoken (speech to text, text to speech, turn
detection) names models, too, and is no agent's work.
Source: livekit-agents 1.8.9, and ``telemetry/trace_types.py`` of 1.2.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.messages import calls_in, read_message, read_messages
from otel_eval.conventions.reading.values import first_text, is_object
from otel_eval.interaction import Message, Part, TextPart
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {
    "agent_turn": Kind.AGENT,
    "llm_node": Kind.STEP,
    "llm_request": Kind.MODEL,
    "function_tool": Kind.TOOL,
    "judge_evaluation": Kind.EVALUATOR,
}
_NO_WORK = ("tts", "stt", "vad", "eou", "user_", "on_", "start_", "drain_", "agent_speaking", "keyterm")
_SCOPE = "livekit-agents"


def read(span: Span) -> Facts | None:
    """What the span says in ``lk.*``; None for what the standard's attributes say alone."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind = KINDS.get(span.name)
    if kind is None:
        return Facts(kind=Kind.OTHER) if span.name.startswith(_NO_WORK) else None
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    if kind is Kind.EVALUATOR:
        return Facts(kind=kind)
    outputs = _output(content)
    return Facts(
        kind=kind,
        agent=first_text(span.attributes, ("gen_ai.agent.name", "lk.agent_label")) if kind is Kind.AGENT else None,
        weak_agent=first_text(span.attributes, ("lk.agent_name",)),
        input=content.messages("input", *_both("chat_ctx")),
        asked=_text(content, "input", "user_input") if kind is Kind.AGENT else None,
        output=outputs,
        reply=outputs[-1].text if outputs and kind is Kind.AGENT else None,
        system=_text(content, "system", "instructions"),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


def _both(name: str) -> tuple[str, str]:
    return f"lk.pii.{name}", f"lk.{name}"


def _text(content: Content, field: str, name: str) -> str | None:
    for key in _both(name):
        raw = content.attributes.get(key)
        if isinstance(raw, str) and raw and not content.hidden(field, raw):
            return raw
    return None


def _output(content: Content) -> tuple[Message, ...] | None:
    said = _text(content, "output", "response.text")
    parts: list[Part] = [] if said is None else [TextPart(text=said)]
    calls: Any = content.value("output", *_both("response.function_calls"))
    if isinstance(calls, list):
        asked = [item for item in calls if is_object(item)]
        parts.extend(calls_in(read_message({"role": "assistant", "tool_calls": asked})))
    elif isinstance(calls, str) and said is None:
        return read_messages(calls, "assistant") or None
    return (Message(role="assistant", parts=tuple(parts)),) if parts else None


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    result = content.result("result", *_both("function_tool.output"))
    error = tool_error_of(span)
    if attributes.get("lk.function_tool.is_error") is True:
        error = str(result) if result is not MISSING else error or "lk.function_tool.is_error"
    return Facts(
        kind=Kind.TOOL,
        tool=first_text(attributes, ("lk.function_tool.name", "gen_ai.tool.name")),
        arguments=content.json("arguments", *_both("function_tool.arguments")),
        result=result,
        error=error,
        call_id=first_text(attributes, ("lk.function_tool.id", "gen_ai.tool.call.id")),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


CONVENTION = Convention(name="livekit", read=read, prefixes=("lk.",), scopes=(_SCOPE,))
