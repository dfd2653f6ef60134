"""mcp-go's tracer: ``mcp.tools/call`` of a server, with the tool's name in ``mcp.tool.name`` and nothing of its content.

Within it ``tool.NAME`` is the handler, around it, with trace context in headers or ``_meta``, the client's span of the same
name, which does not say which tool. Neither tells more, and neither is read.
Source: mark3labs/mcp-go 1.2.1 (``server/tracing.go``, ``client/tracing.go``).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.failures import tool_error_of
from otel_eval.conventions.reading.values import text
from otel_eval.signals import Span


def read(span: Span) -> Facts | None:
    """A server's call of a tool; None for all else."""
    name = text(span.attributes.get("mcp.tool.name"))
    if name is None or span.attributes.get("mcp.method") != "tools/call" or span.name != "mcp.tools/call":
        return None
    return Facts(kind=Kind.TOOL, tool=name, error=tool_error_of(span))


CONVENTION = Convention(name="mcp-go", read=read, prefixes=("mcp.method",))
