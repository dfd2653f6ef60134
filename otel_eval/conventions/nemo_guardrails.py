"""NeMo Guardrails: ``guardrails.request``, the rails and actions in it, and the model's calls of those.

Source: nemoguardrails 0.24 (``tracing/``, ``guardrails/telemetry.py``). ``LLMRails`` writes its spans afterwards, from its log:
what the user and the bot said are events of the request, a prompt is one text in which ``[cyan]User[/]`` precedes a message,
the operation is the task (``self_check_input``, ``general``). The user's message is not told of a request that a rail
stopped. The IORails engine writes the request's messages as attributes, and GenAI's spans of its model calls. The legacy
format has counters in place of content. A request whose model failed is told by IORails alone.
"""

from __future__ import annotations

import re

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import number, text
from otel_eval.interaction import Message, TextPart, Usage
from otel_eval.signals import Span

SETTING = "tracing.enable_content_capture: true"
LEGACY_SETTING = f"tracing.span_format: opentelemetry, {SETTING}"

_REQUEST = "guardrails.request"
_STEPS = ("guardrails.rail", "guardrails.action")
_LEGACY_SCOPE = "nemo_guardrails"
_LEGACY_CALL = "LLM: "
_ASKED = ("guardrails.user_message", "guardrails.utterance.user.finished")
_SAID = "guardrails.utterance.bot.started"
_SPEAKER = re.compile(r"(?:^|\n)\[cyan\](\w+)\[/\]\n")
_ROLES = {"User": "user", "Bot": "assistant", "System": "system", "Developer": "system", "Tool": "tool"}


def read(span: Span) -> Facts | None:
    """What a request or a model's call says, in either format; rails and actions are steps."""
    if span.name == _REQUEST:
        return _request(span)
    if span.name in _STEPS:
        return Facts(kind=Kind.STEP)
    if "llm.cache.hit" in span.attributes:
        return _call(span)
    return _legacy(span) if span.scope.name == _LEGACY_SCOPE else None


def _request(span: Span) -> Facts:
    content = Content.of(span)
    taken = read_messages(content.value("input", "guardrails.request.input", twice=False)) or None
    reply = text(span.attributes.get("guardrails.request.output"))
    asked = _said(span, *_ASKED)
    said = _said(span, _SAID)
    if said:
        reply = "\n".join(said)
    return Facts(
        kind=Kind.WORKFLOW,
        input=taken,
        asked=asked[-1] if asked else None,
        reply=reply,
        failure=failure_of(span),
        marks=content.marks,
        setting="" if taken or said or asked else SETTING,
    )


def _said(span: Span, *names: str) -> list[str]:
    told = (event.attributes.get("content") for event in span.events if event.name in names)
    return [said for said in told if isinstance(said, str)]


def _call(span: Span) -> Facts:
    """A call under ``LLMRails``; its model and tokens stand under GenAI's names."""
    prompts = _said(span, "gen_ai.content.prompt")
    taken = _messages(prompts[0]) if prompts else None
    return Facts(
        kind=Kind.MODEL,
        input=taken,
        new_from=len(taken) if taken else None,  # a check's prompt is no question: the request tells what was asked
        failure=failure_of(span),
        setting="" if taken else SETTING,
    )


def _messages(prompt: str) -> tuple[Message, ...]:
    """What was sent, each message after its speaker's name; a plain text is a user's."""
    first, *rest = _SPEAKER.split(prompt)
    if first.strip() or not rest:
        return (Message(role="user", parts=(TextPart(text=prompt),)),)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return tuple(Message(role=_ROLES.get(who, who.lower()), parts=(TextPart(text=said),)) for who, said in pairs)


def _legacy(span: Span) -> Facts | None:
    if span.name == "interaction":
        return Facts(kind=Kind.WORKFLOW, failure=failure_of(span), setting=LEGACY_SETTING)
    if span.name.startswith(("rail: ", "action: ")):
        return Facts(kind=Kind.STEP)
    if not span.name.startswith(_LEGACY_CALL):
        return None
    model = span.name.removeprefix(_LEGACY_CALL)
    counts = {
        field: number(span.attributes.get(f"llm_call_{model}_{key}_tokens_total"))
        for field, key in (("input_tokens", "prompt"), ("output_tokens", "completion"))
    }
    usage = Usage(**{field: int(count) for field, count in counts.items() if count is not None})
    return Facts(kind=Kind.MODEL, model=model, usage=usage, setting=LEGACY_SETTING)


CONVENTION = Convention(
    name="nemo-guardrails",
    read=read,
    prefixes=("llm.cache.hit",),
    scopes=(_LEGACY_SCOPE,),
    names=("guardrails.",),
)
