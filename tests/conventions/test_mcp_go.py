"""mcp-go's spans of tools on a server."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Span
from otel_eval.testing.spans import agent_span, span, tool_span

CALL = {"mcp.method": "tools/call", "mcp.session.id": "x"}


def served(parent: Span, **fields: Any) -> list[Span]:
    """The client's, the server's and the handler's span of one call."""
    client = span("mcp.tools/call", parent=parent, attributes={"mcp.method": "tools/call"}, kind=3)
    server = span("mcp.tools/call", parent=client, attributes={**CALL, "mcp.tool.name": "find"}, kind=2, **fields)
    return [client, server, span("tool.find", parent=server, attributes={"mcp.tool.name": "find"})]


def test_a_served_call_is_a_tool_call() -> None:
    """The server knows the tool's name, and that it failed."""
    agent = agent_span(seconds=9)
    (found,) = assemble([agent, *served(agent, status="error", status_message="tool returned error result")])
    assert [(call.name, call.error) for call in found.tool_calls] == [("find", "tool returned error result")]


def test_a_call_that_the_agent_has_a_span_of() -> None:
    """It is one call, however many spans it has."""
    agent = agent_span(seconds=9)
    tool = tool_span("find", parent=agent, seconds=3)
    (found,) = assemble([agent, tool, *served(tool)])
    assert [call.name for call in found.tool_calls] == ["find"]


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("mcp.tools/list", {"mcp.method": "tools/list"}),
        ("mcp.tools/call", {"mcp.method": "tools/call"}),
        ("tool.find", {"mcp.tool.name": "find"}),
    ],
)
def test_other_spans_of_its(name: str, attributes: dict[str, str]) -> None:
    """A list of tools, a client's span and a handler's."""
    assert facts_of(span(name, attributes=attributes)) is None
