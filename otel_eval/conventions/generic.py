"""Instrumentations that nobody here knows: a span that names its kind, and inputs and outputs under the usual names.

Only spans that no other convention recognises come here (``Convention.fallback``). What is read is what cannot mean
anything else: a kind that is one of a few words, and a text, messages or a tool's values beside it. An object that is no
message is left alone: better a gap than an invention. Seen so in VoltAgent, Flue and hand-written tracers (``span.type``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import failure_of, tool_error_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.payloads import Payload, input_payload, output_payload
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.conventions.reading.tool_payloads import tool_arguments, tool_outcome
from otel_eval.conventions.reading.values import containers, first_text, is_object
from otel_eval.frozen import changed
from otel_eval.interaction import Message, TextPart
from otel_eval.signals import Span

KIND_KEYS = (
    "span.type",
    "span_type",
    "span.kind",
    "entity.type",
    "agent.span.type",
    "llm.span.kind",
    "voltagent.span.type",
    "flue.span.type",
)
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("agent", "agent_run", "invoke_agent"), Kind.AGENT),
    **dict.fromkeys(("llm", "model", "generation", "chat", "chat_model", "llm_call"), Kind.MODEL),
    **dict.fromkeys(("tool", "tool_call", "execute_tool"), Kind.TOOL),
    **dict.fromkeys(("workflow", "chain"), Kind.WORKFLOW),
}
"""Words that say what a span is. ``function``, ``task`` or ``client`` say too little."""

_INPUTS = ("input.value", "input", "agent.input", "agent.messages", "llm.input", "llm.messages")
_OUTPUTS = ("output.value", "output", "agent.output", "llm.output", "llm.response")
_ARGUMENTS = ("tool.arguments", "tool.call.arguments", "tool.input", "tool.args", "tool.parameters")
_RESULTS = ("tool.result", "tool.call.result", "tool.output", "tool.response")
_GIVEN, _GAVE = (*_INPUTS, "gen_ai.input"), (*_OUTPUTS, "gen_ai.output")
_TOOL_GIVEN, _TOOL_GAVE = (*_ARGUMENTS, *_INPUTS[:2]), (*_RESULTS, *_OUTPUTS[:2])
_USAGE = {
    "input_tokens": ("usage.input_tokens", "usage.prompt_tokens", "llm.usage.prompt_tokens", "llm.usage.input_tokens"),
    "output_tokens": (
        "usage.output_tokens",
        "usage.completion_tokens",
        "llm.usage.completion_tokens",
        "llm.usage.output_tokens",
    ),
}


def read(span: Span) -> Facts | None:
    """What the span says under names that cannot mean anything else; None where its kind is not told."""
    attributes = span.attributes
    kind = kind_of(attributes)
    if kind is None:
        return None
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    given, gave = _first(content, "input", _INPUTS), _first(content, "output", _OUTPUTS)
    name = first_text(attributes, ("agent.name", "agent_name", "entity.name"))
    if kind is Kind.MODEL:
        return Facts(
            kind=kind,
            input=_messages(given, "user"),
            output=_messages(gave, "assistant"),
            model=first_text(attributes, ("llm.model", "llm.model_name", "model", "model_name", "model.name")),
            usage=usage_of(attributes, _USAGE),
            failure=failure_of(span),
            marks=content.marks,
        )
    taken = input_payload(given) if given is not None else None
    made = output_payload(gave, structured=False) if gave is not None else None
    return Facts(
        kind=kind,
        agent=name if kind is Kind.AGENT else None,
        weak_agent=span.name or None,
        input=taken.messages if taken is not None else None,
        asked=taken.text if taken is not None else None,
        output=made.messages if made is not None else None,
        reply=made.text if made is not None else None,
        failure=failure_of(span),
        marks=content.marks,
    )


def told_elsewhere(facts: Facts, span: Span) -> Facts | None:
    """What a span whose kind another convention tells says under the names of this one, where it says it nowhere else.

    People take a kind from one convention and the names of inputs and outputs from another. None where there is nothing.
    """
    content = Content(span.attributes)
    if facts.kind is Kind.TOOL:
        given = _first(content, "arguments", _TOOL_GIVEN) if facts.arguments is MISSING else None
        gave = _first(content, "result", _TOOL_GAVE) if facts.result is MISSING else None
        if given is None and gave is None:
            return None
        return changed(_tool(span, content), tool=None, call_id=None)
    if facts.kind not in (Kind.AGENT, Kind.WORKFLOW, Kind.MODEL):
        return None
    given = _first(content, "input", _GIVEN) if facts.input is None and facts.asked is None else None
    gave = _first(content, "output", _GAVE) if facts.output is None and facts.reply is None else None
    if given is None and gave is None:
        return None
    if facts.kind is Kind.MODEL:
        taken, made = _messages(given, "user"), _messages(gave, "assistant")
    else:
        taken = _said(input_payload(given), "user") if given is not None else None
        made = _said(output_payload(gave, structured=False), "assistant") if gave is not None else None
    return Facts(kind=facts.kind, input=taken, output=made, marks=content.marks)


def _said(payload: Payload, role: str) -> tuple[Message, ...] | None:
    if payload.text is not None:
        return (Message(role=role, parts=(TextPart(text=payload.text),)),)
    return payload.messages


def kind_of(attributes: Mapping[str, Any]) -> Kind | None:
    """The kind that the first of the known keys with a known word tells; None where they contradict one another."""
    told = {KINDS[word] for key in KIND_KEYS if (word := str(attributes.get(key, "")).lower()) in KINDS}
    return told.pop() if len(told) == 1 else None


def _first(content: Content, field: str, keys: Iterable[str]) -> Any:
    for key in keys:
        raw = content.attributes.get(key)
        if raw is not None and raw != "" and not content.hidden(field, raw):
            return None if content.cut(field, raw) and field in ("input", "output") else raw
    return None


def _messages(raw: Any, role: str) -> tuple[Message, ...] | None:
    """Messages, or a text; nothing of an object that holds neither a role nor a list of messages."""
    value = containers(raw)
    if isinstance(value, str):
        return None if is_placeholder(value) else read_messages(value, role) or None
    if is_object(value) and "role" not in value and not isinstance(value.get("messages"), list):
        return None
    if isinstance(value, list) and not all(is_object(item) and "role" in item for item in value):
        return None
    return read_messages(value, role) or None


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    given, gave = _first(content, "arguments", _TOOL_GIVEN), _first(content, "result", _TOOL_GAVE)
    outcome = None if gave is None else tool_outcome(gave)
    return Facts(
        kind=Kind.TOOL,
        tool=first_text(attributes, ("tool.name", "tool_name", "entity.name", "function.name")) or span.name or None,
        arguments=MISSING if given is None else tool_arguments(given),
        result=MISSING if outcome is None else outcome.result,
        error=tool_error_of(span) or (outcome.error if outcome is not None else None),
        call_id=first_text(attributes, ("tool.call.id", "tool_call.id", "tool.call_id", "tool.id")),
        marks=content.marks,
    )


CONVENTION = Convention(name="generic", read=read, prefixes=KIND_KEYS, fallback=True)
