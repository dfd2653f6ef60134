"""goose, a coding agent in Rust: the standard's attributes, with the texts of a turn beside them, and tools as MCP has them.

``trace_input`` and ``trace_output`` of a turn's span are what was asked and answered. A result of a tool is MCP's, one that
failed stands in ``output`` alone where goose still wrote that. A model is called to sum a conversation up as well.
Source: goose's main branch of 2026 (``crates/goose/src/agents/gen_ai_telemetry.rs``, ``state_machine``,
``crates/goose-agent``).
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import tool_error_of
from otel_eval.conventions.reading.languages import RUST_KEYS, rust_module
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import is_object, text
from otel_eval.interaction import JsonValue
from otel_eval.signals import Span

CRATES = ("goose::", "goose_agent::")
SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
"""No other value turns it on."""


def read(span: Span) -> Facts | None:
    """What goose says beyond the semantic conventions; None for spans of other crates, and for what is not an agent's."""
    if not rust_module(span).startswith(CRATES):
        return None
    attributes = span.attributes
    match attributes.get("gen_ai.operation.name"):
        case "invoke_agent":
            return Facts(
                kind=Kind.AGENT,
                asked=text(attributes.get("trace_input")),
                reply=text(attributes.get("trace_output")),
                setting=SETTING,
            )
        case "chat":
            if attributes.get("goose.chat.purpose") == "compaction":
                return Facts(kind=Kind.OTHER)
            return Facts(kind=Kind.MODEL, setting=SETTING)
        case "execute_tool":
            return _tool(span, Content.of(span))
    return None


def _tool(span: Span, content: Content) -> Facts:
    result = _said(content.value("result", "gen_ai.tool.call.result"))
    told = content.value("result", "output")
    error = tool_error_of(span)
    if is_object(told) and told.get("status") == "error":
        said = _said(told.get("value", told.get("error")))
        error = str(said) if said is not MISSING and said else error or "the tool failed"
    return Facts(kind=Kind.TOOL, result=result, error=error, marks=content.marks, setting=SETTING)


def _said(result: Any) -> JsonValue | Missing:
    """What MCP's result holds; anything else as it is."""
    if result is MISSING or result is None:
        return MISSING
    return result_value(result["content"] if is_object(result) and isinstance(result.get("content"), list) else result)


CONVENTION = Convention(name="goose", read=read, prefixes=("goose.", "gen_ai."), needs=RUST_KEYS)
