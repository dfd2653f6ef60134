"""opencode: one span ``SessionPrompt.prompt`` for each invocation, a stream of the Vercel AI SDK for each step within.

The content stands in ``ai.*``, which :mod:`.vercel_ai` reads; what is told here is what those spans are in opencode. Making
a title for the session is a call of a model that belongs to no invocation.
Source: opencode 1.18.33 with ``experimental.openTelemetry``.
"""

from __future__ import annotations

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import containers, is_object, text
from otel_eval.interaction import JsonValue
from otel_eval.signals import Span

SCOPE = "opencode"
NAME = "opencode"
SETTING = "experimental: {openTelemetry: true} in opencode.json"

_KINDS: dict[object, Kind] = {
    "ai.streamText": Kind.STEP,
    "ai.generateText": Kind.STEP,
    "ai.streamText.doStream": Kind.MODEL,
    "ai.generateText.doGenerate": Kind.MODEL,
}
"""The SDK's name for the agent is that of a function of opencode's, ``session.llm``."""
_ENVELOPE = frozenset({"title", "output", "metadata"})


def read(span: Span) -> Facts | None:
    """What the span is in opencode; None where the SDK's attributes tell all, and for other programs' spans."""
    if span.scope.name != SCOPE:
        return None
    if span.name == "SessionPrompt.prompt":
        return Facts(kind=Kind.AGENT, agent=NAME, setting=SETTING)
    if span.name == "SessionPrompt.ensureTitle":
        return Facts(kind=Kind.EVALUATOR)  # left out, with the model's call below
    if span.name == "Tool.execute" and "tool.name" in span.attributes:  # where a subagent runs, beside ``ai.toolCall``
        return Facts(
            kind=Kind.TOOL,
            agent=NAME,
            tool=text(span.attributes["tool.name"]),
            call_id=text(span.attributes.get("tool.call_id")),
            session=text(span.attributes.get("session.id")),
            setting=SETTING,
        )
    operation = span.attributes.get("ai.operationId")
    if operation in _KINDS:
        return Facts(kind=_KINDS[operation], agent=NAME)
    if operation == "ai.toolCall":
        return Facts(kind=Kind.TOOL, agent=NAME, result=_result(span.attributes.get("ai.toolCall.result")))
    return None


def _result(raw: object) -> JsonValue | Missing:
    """What the tool gave: its output without the envelope in which opencode's tools give it."""
    told = containers(raw)
    if is_object(told) and told.keys() >= _ENVELOPE and isinstance(told["output"], str):
        return result_value(told["output"])
    return MISSING


CONVENTION = Convention(name="opencode", read=read, scopes=(SCOPE,))
