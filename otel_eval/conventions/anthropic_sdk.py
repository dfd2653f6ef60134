"""Anthropic's SDKs and platform: the standard's attributes, and what deviates from them.

``anthropic.messages.create`` is a model's call, ``anthropic.messages.tool_runner`` an agent without a name, and
``anthropic.tool_use``, ``.mcp_tool_use`` and ``.custom_tool_use`` are tools, whose result stands in
``anthropic.tool_result.content``. Requests to other parts of the API have no operation: they are no agent's work, though
some name a model. Content over a limit loses its oldest parts first. Platform spans of the same call lie below the SDK's.
Source: anthropic 2.14.0 for Python.
"""

from __future__ import annotations

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import tool_error_of
from otel_eval.conventions.reading.values import text
from otel_eval.interaction import GapKind
from otel_eval.signals import Span

SETTING = "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"

_SCOPES = ("com.anthropic.sdk", "com.anthropic.claude-platform")
_KINDS = {"invoke_agent": Kind.AGENT, "chat": Kind.MODEL, "execute_tool": Kind.TOOL}


def read(span: Span) -> Facts | None:
    """What the standard's attributes do not say; the rest is for their convention."""
    if not span.scope.name.startswith(_SCOPES):
        return None
    operation = span.attributes.get("gen_ai.operation.name")
    kind = _KINDS.get(operation) if isinstance(operation, str) else None
    if kind is None:
        return Facts(kind=Kind.OTHER) if operation is None else None
    content = Content.of(span)
    if span.attributes.get("anthropic.content.truncated") is True:
        for field in ("arguments", "result") if kind is Kind.TOOL else ("system", "input"):
            content.mark(field, GapKind.TRUNCATED)
    if kind is not Kind.TOOL:
        reason = text(span.attributes.get("anthropic.message.stop_reason"))
        return Facts(
            kind=kind, finish_reasons=() if reason is None else (reason,), marks=content.marks, setting=SETTING
        )
    result = content.result("result", "anthropic.tool_result.content", "gen_ai.tool.call.result")
    error = tool_error_of(span)
    if error is not None and result is not MISSING:  # the error that the model was shown
        error = result if isinstance(result, str) else str(result)
    return Facts(kind=kind, result=result, error=error, marks=content.marks, setting=SETTING)


CONVENTION = Convention(name="anthropic-sdk", read=read, scopes=_SCOPES)
