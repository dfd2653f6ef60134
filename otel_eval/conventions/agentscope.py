"""AgentScope: the standard's attributes, with a tool's result as the framework's own object around its blocks.

Until 1.0 the object was a ``ToolResponse`` (``content``, ``metadata``, ``is_interrupted``, …); since 2.0 its last
chunk, which has a ``state``: a tool that raised is ``error``, one that nobody allowed ``denied``. The span's status is
OK in all of them.

For Java it writes the standard's alone, and what an agent or a model raised as an exception event without a status.
Source: agentscope 2.0.11 (TracingMiddleware), io.agentscope:agentscope 1.0.9 (TelemetryTracer).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import is_object
from otel_eval.signals import Span

_FAILED = frozenset({"error", "denied", "interrupted"})


def read(span: Span) -> Facts | None:
    """What is in the object that the tool gave; None for all that is written as the standard says."""
    kind = kind_of(span)
    if kind is not Kind.TOOL:
        java = kind in (Kind.AGENT, Kind.MODEL) and "agentscope.function.name" in span.attributes
        failure = failure_of(span, exceptions_count=True) if java and not is_control_flow(span) else None
        return None if kind is None or failure is None else Facts(kind=kind, failure=failure)
    content = Content.of(span)
    told = content.value("result", "gen_ai.tool.call.result", twice=False)
    if not is_object(told) or not isinstance(told.get("content"), list) or "metadata" not in told:
        return None
    result = result_value(told["content"])
    error = tool_error_of(span) or error_in_result(result)
    if error is None and told.get("state") in _FAILED:
        error = result if isinstance(result, str) and result else str(told["state"])
    return Facts(kind=Kind.TOOL, result=result, error=error, marks=content.marks)


CONVENTION = Convention(name="agentscope", read=read, prefixes=("agentscope.function.",), scopes=("agentscope",))
