"""Tracy (JetBrains, for Kotlin and Java): ``OpenAI-generation`` and the like, with messages numbered as OpenLLMetry's were.

What is not a text is the provider's JSON as it stands: an answer of OpenAI's, unless it was streamed, in its quotes or as
``null``, content of Anthropic's in quotes or as a list of blocks. What a model asked for is ``gen_ai.completion.N.tool.M.*``,
of Anthropic's without the second number, and stands in no later prompt. Hidden, ``REDACTED`` is each content.
Source: tracy 0.1.0 and its main branch of 2026 (``tracing/openai``, ``tracing/anthropic``, ``tracing/core``).
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import failure_of, is_control_flow
from otel_eval.conventions.reading.messages import read_message
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text, unflatten
from otel_eval.interaction import GapKind, Message
from otel_eval.signals import Span

SETTING = "TracingManager.traceSensitiveContent()"
OPENAI, ANTHROPIC = "OpenAI-generation", "Anthropic-generation"
NAMES = (OPENAI, ANTHROPIC)
PROMPTS, COMPLETIONS = "gen_ai.prompt.", "gen_ai.completion."

_HIDDEN = "REDACTED"


def read(span: Span) -> Facts | None:
    """A model's call; None for spans of the same name that say nothing under the numbered names (Langfuse)."""
    if span.name not in NAMES:
        return None
    prompts, completions = unflatten(span.attributes, PROMPTS), unflatten(span.attributes, COMPLETIONS)
    if not prompts:
        return None
    content, attributes, openai = Content.of(span), span.attributes, span.name == OPENAI
    streamed = not any(_has(each, "finish_reason") for each in completions)
    return Facts(
        kind=Kind.MODEL,
        input=_messages(content, "input", prompts, "user", quoted=not openai),
        output=_messages(content, "output", completions, "assistant", quoted=openai and not streamed)
        if completions
        else None,
        finish_reasons=tuple(str(each["finish_reason"]) for each in completions if _has(each, "finish_reason")),
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model")),
        response_id=text(attributes.get("gen_ai.response.id")),
        usage=usage_of(attributes),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _has(item: Any, key: str) -> bool:
    return is_object(item) and text(item.get(key)) is not None


def _messages(content: Content, field: str, items: list[Any], role: str, *, quoted: bool) -> tuple[Message, ...]:
    told = [item for item in items if is_object(item)]
    if any(item.get("content") == _HIDDEN for item in told):
        content.mark(field, GapKind.REDACTED)
    return tuple(read_message({"role": role, **_shaped(item, quoted)}, role) for item in told)


def _shaped(item: dict[str, Any], quoted: bool) -> dict[str, Any]:
    """As OpenAI has it."""
    shaped: dict[str, Any] = {key: item[key] for key in ("role", "tool_call_id") if key in item}
    said = item.get("content")
    if isinstance(said, str) and said not in ("null", _HIDDEN):
        is_json = said.startswith('[{"') or (quoted and said[:1] == '"')
        shaped["content"] = decode_leniently(said) if is_json else said
    tools = item.get("tool")
    calls = [tool for tool in (tools if isinstance(tools, list) else [tools]) if is_object(tool) and _has(tool, "name")]
    if calls:
        shaped["tool_calls"] = [_call(tool) for tool in calls]
    return shaped


def _call(tool: dict[str, Any]) -> dict[str, Any]:
    call, arguments = tool.get("call"), tool.get("arguments")
    return {
        "id": call.get("id") if is_object(call) else None,
        "type": "function",
        "function": {"name": tool["name"], "arguments": None if arguments == _HIDDEN else arguments},
    }


CONVENTION = Convention(name="tracy", read=read, names=NAMES)
