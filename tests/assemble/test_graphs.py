"""Graphs of agents: whose run it is, what a handoff is, and counting each call once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Span
from otel_eval.testing.spans import agent_span, message, span


def chain(name: str, kind: str = "CHAIN", at: float = 0, seconds: float = 9, **fields: Any) -> Span:
    """A LangChain run as OpenInference writes it."""
    parent = fields.pop("parent", None)
    more = {} if parent is None else {"started_ns": parent.started_ns + round(at * 1e9)}
    attributes = {"openinference.span.kind": kind, **fields.pop("attributes", {})}
    return span(name, parent=parent, seconds=seconds, attributes=attributes, **more, **fields)


def tool(name: str, parent: Span, at: float) -> Span:
    """A tool's run."""
    attributes = {"tool.name": name, "input.value": "{}", "output.value": "done"}
    return chain(name, "TOOL", at, 0.1, parent=parent, attributes=attributes)


def test_agents_in_a_row_go_by_the_first() -> None:
    """Neither by the graph around them nor by the one that had the last word."""
    graph = chain("swarm", attributes={"input.value": json.dumps({"messages": [["user", "Where is o_9?"]]})})
    first = chain("triage", "AGENT", 1, 2, parent=graph)
    inner = chain("triage_loop", "AGENT", 1, 2, parent=first)
    last = chain("refunds", "AGENT", 4, 2, parent=graph)
    (found,) = assemble([graph, first, inner, last])
    assert found.agent == "triage_loop"


@pytest.mark.parametrize(
    ("name", "is_tool"),
    [
        ("transfer_to_refunds", False),
        ("transfer_back_to_triage", False),
        ("handoff_to_refunds", False),
        ("transfer_to_savings", True),
        ("transfer_to_agent", True),
        ("refunds", True),
    ],
)
def test_handing_over_to_a_node_is_no_tool(name: str, is_tool: bool) -> None:
    """Where nothing but the graph's nodes has the agents' names."""
    graph = chain("triage", "AGENT", attributes={"input.value": json.dumps({"messages": [["user", "Where is o_9?"]]})})
    node = chain("refunds", parent=graph, at=3)
    (found,) = assemble([graph, node, tool(name, graph, 1)])
    assert [call.name for call in found.tool_calls] == ([name] if is_tool else [])


def test_a_call_that_an_outer_agent_was_shown_counts_once() -> None:
    """It has no span there, and the same id and arguments; another's of the same id counts for itself."""
    call = {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"id": 9}}
    other = {"type": "tool_call", "id": "c2", "name": "find", "arguments": {"id": 8}}
    shown = [message("assistant", call), message("assistant", other), message("assistant", "Done.")]
    outer = agent_span(agent="outer", reply=None, attributes={"gen_ai.output.messages": json.dumps(shown)}, seconds=9)
    inner = agent_span(agent="inner", parent=outer, seconds=5)
    find = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"id": 9}',
    }
    spans = [outer, inner, span("execute_tool find", parent=inner, seconds=1, attributes=find)]
    top, nested = assemble(spans)
    assert (len(top.tool_calls), len(nested.tool_calls)) == (2, 1)
    assert top.totals.tool_calls == 2
