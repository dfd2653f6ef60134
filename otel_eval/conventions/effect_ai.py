"""Effect's AI packages (TypeScript): the semantic conventions' attributes on calls of a model, and nothing of what was said.

``LanguageModel.generateText`` and its kin are the model's calls, a ``Chat``'s spans of the same names around them the same
calls, and ``Toolkit.handle`` within them a tool's: its name in ``tool``, its arguments in ``parameters``, its result
nowhere. The scope is the service's name. An agent is what the program writes a span of.
Source: @effect/ai 0.37 and effect 4.1 (``ai/Chat.ts``, ``ai/LanguageModel.ts``, ``ai/Toolkit.ts``, ``ai/Telemetry.ts``).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, tool_error_of
from otel_eval.conventions.reading.values import text
from otel_eval.signals import Span

SETTING = "a Telemetry.CurrentSpanTransformer that writes gen_ai.input.messages and gen_ai.output.messages"

_TOOL = "Toolkit.handle"
_METHODS = ("generateText", "streamText", "generateObject")
_CALLS = frozenset(f"{module}.{method}" for module in ("LanguageModel", "Chat") for method in _METHODS)


def read(span: Span) -> Facts | None:
    """What the span is; what it says of the model is for the semantic conventions."""
    if span.name in _CALLS:
        return Facts(kind=Kind.MODEL, failure=failure_of(span), setting=SETTING)
    tool = text(span.attributes.get("tool"))
    if span.name != _TOOL or tool is None:
        return None
    content = Content.of(span)
    return Facts(
        kind=Kind.TOOL,
        tool=tool,
        arguments=content.json("arguments", "parameters"),
        error=tool_error_of(span),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(name="effect-ai", read=read, names=(_TOOL, "LanguageModel.", "Chat."))
