"""Ax (``@ax-llm/ax``): ``AxGen`` around a program's calls of a model (``AI Chat Request``) and of tools (``Tool: x``).

What was said is in no span: the events of the semantic conventions' names count parts and functions alone, tools have a
name and an id, and tokens stand in an event. A tool that raises ends the program. The scope is the program's tracer.
Source: @ax-llm/ax 24.0.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind, Mark
from otel_eval.conventions.reading.content import usage_of
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.values import text
from otel_eval.interaction import GapKind
from otel_eval.signals import Span

_NO_SETTING = ""
"""None would help, the standard's neither."""

_CALL, _PROGRAM, _TOOL = "AI Chat Request", "AxGen", "Tool: "
_TOKENS = {"input_tokens": ("gen_ai.usage.input_tokens",), "output_tokens": ("gen_ai.usage.output_tokens",)}


def read(span: Span) -> Facts | None:
    """What the span is; the model's name and why it stopped are for the semantic conventions."""
    attributes = span.attributes
    if span.name == _CALL and "gen_ai.request.llm_is_streaming" in attributes:
        told = next((event.attributes for event in span.events if event.name == "gen_ai.usage"), {})
        return Facts(
            kind=Kind.MODEL,
            usage=usage_of(told, _TOKENS),
            failure=failure_of(span),
            marks=(Mark(field="output", kind=GapKind.NOT_CAPTURED),),
            setting=_NO_SETTING,
        )
    if span.name.startswith(_PROGRAM) and "provided_functions" in attributes:
        return Facts(kind=Kind.AGENT, failure=failure_of(span), setting=_NO_SETTING)
    tool = text(attributes.get("tool.name"))
    if span.name.startswith(_TOOL) and tool is not None and "tool.mode" in attributes:
        raised = failure_of(span, exceptions_count=True)  # the status stays unset
        return Facts(
            kind=Kind.TOOL,
            tool=tool,
            call_id=text(attributes.get("function.id")),
            error=None if raised is None else str(raised),
            setting=_NO_SETTING,
        )
    return None


CONVENTION = Convention(name="ax", read=read, names=(_CALL, _PROGRAM, _TOOL))
