"""LiteLLM's callbacks (``otel``, ``arize_phoenix``, ``langfuse_otel``, …): others' vocabularies, with switches of its own.

Where a program's span is active, the first ``otel`` callback writes onto that span, one call over the other, and of each call
only ``raw_gen_ai_request``: the provider's request and response, a key for each part (``llm.openai.choices``), as Python
writes them. With ``LITELLM_OTEL_V2`` nothing is captured unless the standard's variable says so, and each span has a
``litellm.call_type``; the callbacks before it capture all unless ``turn_off_message_logging`` is set.
Source: litellm 1.60.0, 1.81.16 and 1.110.2.
"""

from __future__ import annotations

import re
from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai import SETTING
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.conventions.reading.answers import answer_messages, counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import containers, text
from otel_eval.signals import Span

FIRST_SETTING = "litellm.turn_off_message_logging = False"

_RAW = "raw_gen_ai_request"
_PART = re.compile(r"llm\.[^.]+\.(\w+)$")


def read(span: Span) -> Facts | None:
    """What kind of span it is, whose call, and how to have its content; the rest is as the other vendor writes it."""
    attributes = span.attributes
    if not span.scope.name.startswith("litellm"):
        return _written_over(span)
    if span.name == _RAW:
        return _raw(span)
    kind = kind_of(span)
    if kind is None and (
        attributes.get("openinference.span.kind") == "LLM"
        or attributes.get("langfuse.observation.type") == "generation"
    ):
        kind = Kind.MODEL
    if kind is None:
        return None
    return Facts(
        kind=kind,
        response_id=text(attributes.get("llm.response.id")),  # Arize's
        setting=SETTING if "litellm.call_type" in attributes else FIRST_SETTING,
    )


def _written_over(span: Span) -> Facts | None:
    """A program's span of an agent, which a model call's attributes do not make a model's."""
    if not span.name.startswith("invoke_agent ") and span.attributes.get("gen_ai.operation.name") != "invoke_agent":
        return None
    return Facts(kind=Kind.AGENT, agent=text(span.attributes.get("gen_ai.agent.name")))


_ANSWERS = ("choices", "candidates", "content", "output", "role")
"""The parts of responses that say what was answered."""


def _raw(span: Span) -> Facts | None:
    """The provider's own request and response; None without a response (a redacted one, a stream)."""
    content = Content.of(span)
    parts: dict[str, Any] = {}
    for key, value in span.attributes.items():
        if (found := _PART.match(key)) is None:
            continue
        if not content.cut("output" if found[1] in _ANSWERS else "input", value):
            parts[found[1]] = containers(value)
    answer = {key: parts[key] for key in _ANSWERS if key in parts}
    asked = next((parts[key] for key in ("messages", "contents", "input") if key in parts), None)
    outputs = answer_messages(answer) if answer else ()
    if not outputs:
        return None
    return Facts(
        kind=Kind.MODEL,
        input=read_messages(asked) or None,
        output=outputs,
        model=text(parts.get("model")),
        response_id=text(parts.get("id")),
        usage=counted(parts.get("usage")),
        marks=content.marks,
        setting=FIRST_SETTING,
    )


CONVENTION = Convention(
    name="litellm", read=read, scopes=("litellm",), prefixes=("litellm.call_id", "litellm.trace_id")
)
