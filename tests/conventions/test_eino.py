"""Eino: the callbacks ``apmplus``, ``tls`` and ``otel`` of eino-ext."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Interaction, ToolCallPart, Usage
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

CALLBACKS = "github.com/cloudwego/eino-ext/callbacks/"
USER = {"role": "user", "content": "Where is order 81?"}
CALLS = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id":81}'}}],
}
REPLY = {"role": "assistant", "content": "It is paid."}


def component(component: str, name: str, parent: Span | None = None, at: float = 0, **attributes: Any) -> Span:
    """A span of ``apmplus``: the outermost is a workflow; ``input`` and ``output`` are its own attributes, as JSON."""
    told: dict[str, Any] = {
        "gen_ai.span.kind": "workflow" if parent is None else component.lower(),
        "gen_ai.system": "eino",
        "runinfo.component": component,
        "runinfo.name": name,
    }
    for key, value in attributes.items():
        told[f"gen_ai.{key.replace('__', '.')}"] = value if isinstance(value, str | int) else json.dumps(value)
    return span(
        name or component,
        parent=parent,
        scope=Scope(CALLBACKS + "apmplus", ""),
        attributes=told,
        started_ns=START_NS + round(at * SECOND_NS),
        seconds=9 if parent is None or component == "Graph" else 0.5,
    )


def facts(*args: Any, **fields: Any) -> Facts:
    """The facts of such a span."""
    found = facts_of(component(*args, **fields))
    assert found is not None
    return found


def only(*spans: Span) -> Interaction:
    """The only Interaction of these spans."""
    (found,) = assemble(spans)
    return found


def run(outer: Span) -> list[Span]:
    """What is below a graph that asks for a tool and answers."""
    graph = component("Graph", "ReAct", outer, 0.1)
    asked = {"prompt__0__role": "system", "prompt__0__content": "Be brief.", "prompt__1__role": "user"}
    asked["prompt__1__content"] = "Where is order 81?"
    tokens = {"usage__prompt_tokens": 7, "usage__completion_tokens": 2}
    node = component("ToolsNode", "Tools", graph, 2, prompt__0__role="user", prompt__0__content=CALLS)
    return [
        outer,
        component("Lambda", "", outer, 0.05, prompt__0__role="user", prompt__0__content='{"Messages":[]}'),
        graph,
        component("ChatModel", "ChatModel", graph, 1, completion__0__content=[CALLS], **asked, **tokens),
        node,
        component("Tool", "find", node, 2.1, prompt__0__content='"{\\"id\\":81}"', completion__0__content='"paid"'),
        component(
            "ChatModel",
            "ChatModel",
            graph,
            3,
            prompt__3__role="tool",
            prompt__3__content="paid",
            completion__0__role="assistant",
            completion__0__content="It is paid.",
            **asked,
            **tokens,
        ),
    ]


@pytest.mark.parametrize(
    "given",
    [
        [USER],
        {"Messages": [USER], "EnableStreaming": False},
        {"query": "Where is order 81?", "history": None},
        [{"query": "Where is order 81?", "history": None}],
    ],
)
def test_a_graph_is_one_invocation(given: Any) -> None:
    """The outermost component is the agent's, whatever it takes; those within are steps."""
    outer = component("Chain", "shop", input=given, output=[REPLY], session__id="s1", user__id="u1")
    found = only(*run(outer))
    assert (found.agent, found.session, found.user_id) == ("shop", "s1", "u1")
    assert (found.asked, found.reply, found.system) == ("Where is order 81?", "It is paid.", "Be brief.")
    (call,) = found.tool_calls
    assert (call.name, call.call_id, call.arguments, call.result) == ("find", "c1", {"id": 81}, "paid")
    assert found.usage == Usage(input_tokens=14, output_tokens=4)


def test_a_graph_without_a_name_has_none() -> None:
    """What Eino calls a component is not what the program calls its agent."""
    assert only(*run(component("Graph", "", input=[USER], output=[REPLY]))).agent is None


def test_calls_that_a_model_asks_for() -> None:
    """A message without a text stands as JSON in the place of the first, streamed or not."""
    for role in ({}, {"completion__0__role": "assistant"}):
        model = facts("ChatModel", "ChatModel", completion__0__content=[CALLS], **role)
        assert model.output is not None
        assert model.output[0].parts == (ToolCallPart(name="find", arguments={"id": 81}, call_id="c1"),)


@pytest.mark.parametrize(
    ("given", "gave"),
    [
        ('"{\\"id\\":81}"', '"{\\"state\\":\\"paid\\"}"'),
        ({"ArgumentsInJSON": '{"id":81}'}, {"Response": '{"state":"paid"}'}),
        ('"{\\"id\\":81}"', ['{"state":', '"paid"}']),
    ],
)
def test_values_of_a_tool(given: Any, gave: Any) -> None:
    """JSON in quotes, in an object around it, or in the pieces of a stream."""
    tool = facts("Tool", "find", prompt__0__content=given, completion__0__content=gave)
    assert (tool.kind, tool.tool, tool.arguments, tool.result) == (Kind.TOOL, "find", {"id": 81}, {"state": "paid"})


@pytest.mark.parametrize("part", ["ChatTemplate", "Retriever", "Lambda", "Embedding"])
def test_other_components_are_ordinary_spans(part: str) -> None:
    """A template's variables are no message."""
    assert facts_of(component(part, "x", span(), prompt__0__role="user", prompt__0__content="{}")) is None


def plain(operation: str, name: str, system: str | None = None) -> Facts:
    """The facts of a span of ``otel``, which has no content."""
    attributes = {"gen_ai.operation.name": operation, "gen_ai.system": system}
    found = facts_of(span(name, scope=Scope(CALLBACKS + "otel", ""), attributes=attributes))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("operation", "name", "system", "kind"),
    [
        ("invoke_agent", "shop", None, Kind.AGENT),
        ("chat", "ChatModel", "openai", Kind.MODEL),
        ("execute_tool", "find", "find", Kind.TOOL),
        ("execute_tool", "ToolsNode", None, Kind.STEP),
    ],
)
def test_kinds_of_the_otel_callback(operation: str, name: str, system: str | None, kind: Kind) -> None:
    """The node that runs tools is called a tool as they are, but has no type."""
    found = plain(operation, name, system)
    assert (found.kind, found.setting) == (kind, None)


@pytest.mark.parametrize(("name", "agent"), [("shop", "shop"), ("Graph", None), ("ReAct", None)])
def test_names_of_the_otel_callback(name: str, agent: str | None) -> None:
    """A graph's span is an agent's, called as the program calls the graph, if it does."""
    assert plain("invoke_agent", name).weak_agent == agent


def tls(component: str, name: str, kind: str, parent: Span | None = None, at: float = 0, **attributes: Any) -> Span:
    """A span of ``tls``."""
    told = {"gen_ai.span.kind": kind, "gen_ai.system": "eino", "runinfo.component": component, "runinfo.name": name}
    for key, value in attributes.items():
        told[key.replace("__", ".")] = value if isinstance(value, str) else json.dumps(value)
    return span(
        name,
        parent=parent,
        scope=Scope(CALLBACKS + "tls", ""),
        attributes=told,
        started_ns=START_NS + round(at * SECOND_NS),
        seconds=9 if parent is None else 0.5,
    )


LENS_USER = {"role": "user", "parts": [{"type": "text", "content": "Where is order 81?"}]}
LENS_CALL = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "find", "arguments": {"id": 81}}]}
LENS_REPLY = {"role": "assistant", "parts": [{"type": "text", "content": "It is paid."}]}


@pytest.mark.parametrize(
    ("asked", "calls", "replied"),
    [
        ([USER], [CALLS], [REPLY]),
        ([LENS_USER], [LENS_CALL], [LENS_REPLY]),
        (
            [USER],
            [CALLS | {"content": ""}, {"role": "assistant"}],
            [REPLY | {"content": piece} for piece in ("It is", " paid", ".")] + [{"role": "assistant"}],
        ),
        (
            [LENS_USER],
            [
                {
                    "role": "assistant",
                    "parts": [{"type": "tool_call", "id": "c1", "name": "find", "arguments": '{"id"'}],
                },
                {"role": "assistant", "parts": [{"type": "tool_call", "id": "", "name": "", "arguments": ":8"}]},
                {"role": "assistant", "parts": [{"type": "tool_call", "id": "", "name": "", "arguments": 1}]},
                {"role": "assistant", "parts": [{"type": "tool_call", "id": "", "name": "", "arguments": "}"}]},
            ],
            [
                {"role": "assistant", "parts": [{"type": "text", "content": "It is "}]},
                {"role": "assistant", "parts": [{"type": "text", "content": "paid."}]},
            ],
        ),
    ],
)
def test_a_run_that_the_tls_callback_wrote(asked: list[Any], calls: list[Any], replied: list[Any]) -> None:
    """Messages with texts or parts, whole or as they were streamed; the flattened ones only sum them up."""
    outer = tls(
        "Graph",
        "desk",
        "CHAIN",
        input__value=[USER],
        output__value={"stream": [REPLY | {"content": "It is"}, REPLY | {"content": " paid."}]},
    )
    summary = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "[tool call: find]"}
    said = {f"gen_ai__{way}__messages": value for way, value in (("input", asked), ("output", calls))}
    found = only(
        outer,
        tls("Lambda", "prepare", "TASK", outer, 0.1, input__value="x", output__value="y"),
        tls("ChatModel", "ChatModel", "LLM", outer, 1, **said, **summary),
        tls(
            "Tool",
            "find",
            "TOOL",
            outer,
            2,
            gen_ai__tool__call__arguments='{"id":81}',
            gen_ai__tool__call__result='{"state":"paid"}',
            gen_ai__tool_call__id="c1",
            input__value='{"id":81}',
        ),
        tls("ChatModel", "ChatModel", "LLM", outer, 3, gen_ai__input__messages=asked, gen_ai__output__messages=replied),
    )
    assert (found.agent, found.asked, found.reply) == ("desk", "Where is order 81?", "It is paid.")
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.result, call.call_id) == ("find", {"id": 81}, {"state": "paid"}, "c1")
    asking = facts_of(tls("ChatModel", "ChatModel", "LLM", outer, 1, **said, **summary))
    assert asking is not None
    assert asking.output is not None
    (message,) = asking.output
    assert message.parts == (ToolCallPart(name="find", arguments={"id": 81}, call_id="c1"),)
    assert {gap.field for gap in found.gaps} <= {"usage", "system", "session"}


def test_a_chain_that_the_tls_callback_puts_around_a_model() -> None:
    """It has the model's messages besides, and is no second call of it."""
    told: dict[str, Any] = {"gen_ai__input__messages": [LENS_USER], "gen_ai__output__messages": [LENS_REPLY]}
    turn = tls(
        "ChatModel", "agent.turn", "CHAIN", input__value="Where is order 81?", output__value="It is paid.", **told
    )
    found = only(turn, tls("ChatModel", "llm.request", "LLM", turn, 1, **told))
    assert (found.asked, found.reply, len(found.model_calls)) == ("Where is order 81?", "It is paid.", 1)


def test_a_span_that_a_program_starts_through_the_tls_callback() -> None:
    """It is the program's own: what it calls a tool is one, whatever the system."""
    own = span(
        "mine",
        scope=Scope(CALLBACKS + "tls", ""),
        attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"},
    )
    told = facts_of(own)
    assert told is not None
    assert told.kind is Kind.TOOL
