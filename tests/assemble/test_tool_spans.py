"""Spans of one tool call that lie beside one another."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}


def tool(name: str, parent: Span, at: float, seconds: float, call_id: str | None = None, **more: Any) -> Span:
    """A tool's span that starts ``at`` seconds after its agent's."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **more}
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    return span(
        name, parent=parent, attributes=attributes, seconds=seconds, started_ns=parent.started_ns + int(at * 1e9)
    )


@pytest.mark.parametrize(
    ("outer", "inner", "calls"),
    [
        (("mcp__shop__refund", 1, 1, "c1"), ("refund", 1.2, 0.5, None), 1),
        (("refund", 1, 1, "c1"), ("refund", 1.2, 0.5, "c1"), 1),
        (("mcp__shop__refund", 1, 1, "c1"), ("fund", 1.2, 0.5, None), 2),
        (("mcp__shop__refund", 1, 1, "c1"), ("refund", 1.2, 5, None), 2),
        (("mcp__shop__refund", 1, 1, None), ("refund", 1.2, 0.5, None), 2),
        (("refund", 1, 1, "c1"), ("refund", 1.2, 0.5, "c2"), 2),
        (("refund", 1, 1, "c1"), ("refund", 2.5, 0.5, "c1"), 2),
    ],
    ids=["server", "twice", "another name", "longer", "unnamed call", "parallel", "again"],
)
def test_a_call_written_twice_is_one(outer: tuple[Any, ...], inner: tuple[Any, ...], calls: int) -> None:
    """By the id of the call, or as an MCP server's span within the client's, where no context reached the server."""
    root = span("agent", attributes=AGENT, seconds=10)
    (found,) = assemble([root, tool(outer[0], root, *outer[1:]), tool(inner[0], root, *inner[1:])])
    assert len(found.tool_calls) == calls


@pytest.mark.parametrize(
    ("other", "calls"),
    [
        ({}, 2),
        ({"gen_ai.tool.call.arguments": None}, 2),
        ({"gen_ai.tool.call.arguments": '{"sides": 8}'}, 4),
        ({"gen_ai.tool.call.result": "five"}, 4),
        ({"scope": "one"}, 4),
        ({"later": 3}, 4),
    ],
    ids=["twice", "without arguments", "other arguments", "other results", "one instrumentation", "later"],
)
def test_calls_that_two_instrumentations_wrote_without_an_id(other: dict[str, Any], calls: int) -> None:
    """Beside each other, and each of two equal calls at once takes one."""
    root = span("agent", attributes=AGENT, seconds=10, scope=Scope(name="one"))
    told = {"gen_ai.tool.call.arguments": '{"sides": 6}', "gen_ai.tool.call.result": "four"}
    more = {**other}
    scope, start = Scope(name=more.pop("scope", "two")), more.pop("later", 0) + 1.1
    spans = [tool("roll", root, at, 1, **told) for at in (1, 1.2)]
    copies = [replace(tool("roll", root, at, 1, **{**told, **more}), scope=scope) for at in (start, start + 0.2)]
    (found,) = assemble([root, *spans, *copies])
    assert [call.name for call in found.tool_calls] == ["roll"] * calls


def test_one_server_span_for_each_call() -> None:
    """Calls side by side each take one, and what it says."""
    root = span("agent", attributes=AGENT, seconds=10)
    spans = [tool("mcp__shop__find", root, 1, 2, call_id) for call_id in ("c1", "c2")]
    served = [tool("find", root, 1.5, 0.5, **{"gen_ai.tool.call.result": said}) for said in ("one", "two")]
    (found,) = assemble([root, *spans, *served])
    assert sorted(str(call.result) for call in found.tool_calls) == ["one", "two"]


def test_a_server_span_of_an_agent_within() -> None:
    """It lies below the outer agent, the call below the inner one."""
    root = span("agent", attributes=AGENT, seconds=10)
    inner = span("agent", parent=root, attributes={**AGENT, "gen_ai.agent.name": "refunds"}, seconds=9)
    outer_found, inner_found = assemble(
        [root, inner, tool("mcp__shop__find", inner, 1, 1, "c1"), tool("find", root, 1.2, 0.5)]
    )
    assert outer_found.tool_calls == ()
    assert [call.name for call in inner_found.tool_calls] == ["mcp__shop__find"]


@pytest.mark.parametrize(
    ("written", "name", "calls"),
    [
        ("get_the_status_of_an_ord", "get_the_status_of_an_order", 1),
        ("get_the_status_of_an_order", "get_the_status_of_an_ord", 1),
        ("get_ord...", "get_order", 1),
        ("search", "search_web", 2),
    ],
    ids=["span", "request", "dots", "another tool"],
)
def test_a_cut_name_is_of_the_call_whose_id_it_has(written: str, name: str, calls: int) -> None:
    """A short one may be another tool's: ids that are numbers in a turn come again."""
    root = span("agent", attributes=AGENT, seconds=10)
    asks = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": name, "arguments": {"id": 7}}]}]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(asks)}
    (found,) = assemble([root, span("chat", parent=root, attributes=chat), tool(written, root, 2, 1, "c1")])
    assert len(found.tool_calls) == calls
