"""OpenLLMetry: what its spans are, and what stands in the envelopes of its frameworks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind, Mark
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, ToolCallPart
from otel_eval.signals import Scope, SpanEvent
from otel_eval.testing.spans import span

LC_AGENT = "traceloop.association.properties.lc_agent_name"
KIND, NAME = "traceloop.span.kind", "traceloop.entity.name"
INPUT, OUTPUT = "traceloop.entity.input", "traceloop.entity.output"


def read(
    kind: str | None, attributes: dict[str, Any], *, name: str = "s", scope: str = "traceloop", **more: Any
) -> Facts:
    """The facts of a span of that ``traceloop.span.kind``."""
    own = {"traceloop.span.kind": kind, **attributes}
    facts = facts_of(span(name, attributes=own, scope=Scope(scope), **more))
    assert facts is not None
    return facts


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"traceloop.span.kind": "workflow"}, Kind.WORKFLOW),
        ({"traceloop.span.kind": "workflow", "gen_ai.operation.name": "invoke_agent"}, Kind.AGENT),
        ({"traceloop.span.kind": "agent"}, Kind.AGENT),
        ({"gen_ai.operation.name": "invoke_agent", "gen_ai.workflow.nodes": ("model", "tools")}, Kind.WORKFLOW),
        ({"traceloop.span.kind": "task", "traceloop.entity.name": "bob", LC_AGENT: "bob"}, Kind.AGENT),
        ({"traceloop.span.kind": "task", "traceloop.entity.name": "model", LC_AGENT: "bob"}, Kind.STEP),
        ({"traceloop.span.kind": "task"}, Kind.STEP),
        ({"traceloop.span.kind": "task", "gen_ai.operation.name": "execute_tool"}, Kind.TOOL),
        ({"traceloop.span.kind": "tool"}, Kind.TOOL),
        ({"traceloop.span.kind": "handoff", "gen_ai.operation.name": "handoff"}, Kind.HANDOFF),
        ({"traceloop.span.kind": "server"}, None),
        ({"traceloop.span.kind": "session"}, None),
        ({"traceloop.workflow.name": "stamped on everything"}, None),
        ({"traceloop.entity.path": "a", "gen_ai.request.model": "m", "gen_ai.prompt.0.content": "hi"}, Kind.MODEL),
    ],
)
def test_kinds(attributes: dict[str, Any], kind: Kind | None) -> None:
    """``traceloop.span.kind`` decides, more exactly with an operation; names that the SDK stamps decide nothing."""
    facts = facts_of(span("s", attributes=attributes))
    assert (None if facts is None else facts.kind) == kind


@pytest.mark.parametrize(
    ("taken", "given", "asked", "reply"),
    [
        ('{"args": ["hi"], "kwargs": {}}', '"hello"', "hi", "hello"),
        ('{"args": [], "kwargs": {"question": "hi"}}', '{"answer": "hello"}', "hi", "hello"),
        ('{"args": ["SupportAgent", "hi"], "kwargs": {}}', '"hello"', "hi", "hello"),
        ('{"args": ["Hi"], "kwargs": {}}', '"hello"', "Hi", "hello"),
        ('{"args": ["Yes", "s-1"], "kwargs": {}}', '"hello"', "Yes", "hello"),
        ('{"args": ["SupportAgent", "Yes", "s-1"], "kwargs": {}}', '"hello"', "Yes", "hello"),
        ('{"args": ["Yes", "en"], "kwargs": {}}', '"hello"', None, "hello"),
        (
            '{"args": [], "kwargs": {"message": "hi"}}',
            '{"message": {"role": "assistant", "content": "hello"}}',
            "hi",
            "hello",
        ),
        ("hi", "hello", "hi", "hello"),
        ('{"args": [], "kwargs": {}}', None, None, None),
    ],
    ids=[
        "positional",
        "named",
        "method",
        "one-word",
        "one-word-and-session",
        "method-of-one-word-and-session",
        "two-words",
        "llama-index-ts",
        "agno",
        "closure-and-stream",
    ],
)
def test_what_an_agent_was_asked_and_replied(
    taken: str, given: str | None, asked: str | None, reply: str | None
) -> None:
    """Out of a function's arguments and return value, in whatever the framework wraps them."""
    session = {"traceloop.association.properties.session_id": "s-1"}
    facts = read("agent", {INPUT: taken, OUTPUT: given, **session}, name="bob.agent")
    said = [facts.reply, *(message.text for message in facts.output or ())]
    assert (facts.asked, next((text for text in said if text is not None), None)) == (asked, reply)
    assert facts.weak_agent == "bob"


@pytest.mark.parametrize(
    ("taken", "asked"),
    [
        ("Is o_9 late?", "Is o_9 late?"),
        (
            [
                {
                    "lc": 1,
                    "id": ["langchain", "schema", "messages", "HumanMessage"],
                    "kwargs": {"content": "Is o_9 late?"},
                }
            ],
            None,
        ),
        ({}, None),
    ],
    ids=["text", "messages", "nothing"],
)
def test_langchains_own_arguments_are_no_question(taken: Any, asked: str | None) -> None:
    """The name of a chain stands beside what was passed to it."""
    envelope = {"inputs": taken, "tags": [], "metadata": {"thread_id": "t-1"}, "kwargs": {"name": "RunnableSequence"}}
    facts = read("workflow", {INPUT: json.dumps(envelope)})
    said = [message.text for message in facts.input or ()]
    assert (facts.asked, said) == (asked, ["Is o_9 late?"] if isinstance(taken, list) else [])


def test_the_entrypoint_of_langgraphs_functional_api_is_the_agent() -> None:
    """Its graph has the class's name, whatever the program calls its function."""
    graph = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "langgraph"}
    root = span("LangGraph.workflow", attributes=graph | {"gen_ai.agent.name": "LangGraph", KIND: "workflow"})
    ran = {"node": "refunds", "triggers": ["__start__"]}
    told = {f"traceloop.association.properties.langgraph_{key}": value for key, value in ran.items()}
    entry = span("execute_task refunds", parent=root, attributes={KIND: "task", NAME: "refunds", **told})
    chat = span("ChatOpenAI.chat", parent=entry, attributes={"gen_ai.operation.name": "chat"})
    (found,) = assemble([root, entry, chat])
    assert found.agent == "refunds"


def test_langchains_state_is_a_conversation() -> None:
    """The outermost chain's envelopes hold the state that went in and came out."""
    ai = {"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {"content": "hello", "type": "ai"}}
    facts = read(
        "workflow",
        {
            INPUT: json.dumps({"inputs": {"messages": [{"role": "user", "content": "hi"}]}, "tags": [], "kwargs": {}}),
            OUTPUT: json.dumps({"outputs": {"messages": [ai]}, "kwargs": {}}),
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "bob",
            "traceloop.association.properties.thread_id": "t1",
        },
    )
    assert [message.text for message in (*(facts.input or ()), *(facts.output or ()))] == ["hi", "hello"]
    assert (facts.agent, facts.session) == ("bob", "t1")


MESSAGE = {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"]}


@pytest.mark.parametrize(
    ("entity", "attributes", "tool", "arguments", "result", "error"),
    [
        ("f", {INPUT: '{"args": [], "kwargs": {"a": 1}}', OUTPUT: '{"b": 2}'}, "f", {"a": 1}, {"b": 2}, None),
        ("f", {INPUT: '{"args": [], "kwargs": {}}', OUTPUT: '"done"'}, "f", {}, "done", None),
        (
            "f",
            {
                INPUT: json.dumps({"input_str": "{'a': 1}", "tags": [], "metadata": {}, "inputs": {"a": 1}, "kwargs": {}}),
                OUTPUT: json.dumps(
                    {"output": {**MESSAGE, "kwargs": {"content": "2", "type": "tool", "tool_call_id": "c"}}, "kwargs": {}}
                ),
            },
            "f", {"a": 1}, "2", None,
        ),
        (
            "f",
            {
                INPUT: json.dumps({"input_str": "{'a': 1}", "tags": None, "metadata": {}, "inputs": None, "kwargs": {}}),
                OUTPUT: json.dumps({"output": "done", "kwargs": {}}),
            },
            "f", {"a": 1}, "done", None,
        ),
        (
            "DynamicStructuredTool",
            {
                INPUT: '{"args": ["{\\"a\\": 1}"]}',
                OUTPUT: json.dumps({**MESSAGE, "kwargs": {"content": "2", "name": "f", "tool_call_id": "c"}}),
            },
            "f", {"a": 1}, "2", None,
        ),
        ("DynamicStructuredTool", {INPUT: '{"args": ["{\\"a\\": 1}"]}'}, None, {"a": 1}, MISSING, None),
        (
            "FunctionTool",
            {
                INPUT: '{"args": [], "kwargs": {"a": 1}}',
                OUTPUT: '{"tool_name": "f", "raw_input": {}, "raw_output": 2, "is_error": false}',
            },
            "f", {"a": 1}, 2, None,
        ),
        (
            "f",
            {INPUT: '{"tool_name": "f", "arguments": {"a": 1}}', OUTPUT: '{"result": "2"}'},
            "f", {"a": 1}, "2", None,
        ),
        (
            "f",
            {INPUT: '{"tool_name": "f", "arguments": null}', OUTPUT: '{"result": "no such file", "is_error": true}'},
            "f", {}, {"is_error": True, "text": "no such file"}, "no such file",
        ),
        ("f", {INPUT: '{"a": 1}', OUTPUT: "done"}, "f", {"a": 1}, "done", None),
        ("f", {}, "f", MISSING, MISSING, None),
    ],
    ids=[
        "decorator", "no-arguments", "langchain", "langchain-without-inputs", "langchain-js", "langchain-js-failed",
        "llama-index", "mcp", "mcp-failed", "agno", "content-off",
    ],
)  # fmt: skip
def test_tools(
    entity: str, attributes: dict[str, Any], tool: str | None, arguments: Any, result: Any, error: str | None
) -> None:
    """A tool's name, arguments and result without the envelopes; a class's name is no tool's."""
    facts = read("tool", {"traceloop.entity.name": entity, **attributes}, name=f"{entity}.tool")
    assert (facts.tool, facts.arguments, facts.result, facts.error) == (tool, arguments, result, error)


def test_a_tool_that_raised() -> None:
    """The exception's message is the error."""
    raised = SpanEvent("exception", 1, {"exception.type": "ValueError", "exception.message": "down"})
    facts = read("tool", {"traceloop.entity.name": "f"}, status="error", events=(raised,))
    assert facts.error is not None
    assert "down" in facts.error


@pytest.mark.parametrize(
    ("kind", "attributes", "mark"),
    [
        ("agent", {INPUT: '{"args": ["a long que'}, Mark(field="input", kind=GapKind.TRUNCATED)),
        ("agent", {OUTPUT: '"a long repl'}, Mark(field="output", kind=GapKind.TRUNCATED)),
        ("tool", {INPUT: '{"args": ["a lo'}, Mark(field="arguments", kind=GapKind.TRUNCATED)),
        ("tool", {OUTPUT: '{"result": "a lo'}, Mark(field="result", kind=GapKind.TRUNCATED)),
        ("tool", {OUTPUT: '"a long resu'}, Mark(field="result", kind=GapKind.TRUNCATED)),
    ],
)
def test_what_is_cut_is_marked(kind: str, attributes: dict[str, Any], mark: Mark) -> None:
    """OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT leaves JSON without an end: a gap, no text of anybody's."""
    facts = read(kind, attributes)
    assert mark in facts.marks
    assert (facts.asked, facts.reply) == (None, None)


def test_content_that_is_off_names_the_switch() -> None:
    """Nothing of the content is there, and the setting that would bring it is."""
    facts = read("agent", {"traceloop.entity.name": "bob"})
    assert (facts.agent, facts.asked, facts.input, facts.reply) == ("bob", None, None, None)
    assert facts.setting == "TRACELOOP_TRACE_CONTENT=true"


def test_old_flattened_messages() -> None:
    """``gen_ai.prompt.N.*`` until 0.50: numbers sort as numbers, tool calls have an index of their own."""
    facts = facts_of(
        span(
            "openai.chat",
            attributes={
                "llm.request.type": "chat",
                "gen_ai.request.model": "m",
                "gen_ai.prompt.10.role": "tool",
                "gen_ai.prompt.10.tool_call_id": "c1",
                "gen_ai.prompt.10.content": "2",
                "gen_ai.prompt.2.role": "user",
                "gen_ai.prompt.2.content": "hi",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.tool_calls.0.id": "c2",
                "gen_ai.completion.0.tool_calls.0.name": "f",
                "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
                "gen_ai.usage.prompt_tokens": 7,
                "traceloop.association.properties.session_id": "s1",
            },
        )
    )
    assert facts is not None
    assert facts.kind is Kind.MODEL
    assert [message.role for message in facts.input or ()] == ["user", "tool"]
    assert [part for message in facts.output or () for part in message.parts] == [
        ToolCallPart(name="f", arguments={"a": 1}, call_id="c2")
    ]
    assert (facts.usage.input_tokens, facts.session) == (7, "s1")


def test_an_inner_agent_of_langchain_is_a_nested_interaction() -> None:
    """A tool's inner graph is written twice, side by side: without content, and as a chain with the agent's name."""
    name = {LC_AGENT: "carol", "traceloop.span.kind": "task", "gen_ai.operation.name": "execute_task"}
    taken = {"inputs": {"messages": [{"role": "user", "content": "sub"}]}}
    given = {"outputs": {"messages": [{"role": "user", "content": "sub"}, {"role": "assistant", "content": "inner"}]}}
    graph = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bob", "gen_ai.workflow.nodes": ("model",)}
    root = span("invoke_agent bob", attributes=graph)
    chain = {"traceloop.span.kind": "workflow", "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bob"}
    outer = span("bob.workflow", parent=root, attributes={**chain, INPUT: '{"inputs": {"input": "hi"}}'})
    tool = span(
        "execute_tool f", parent=outer, attributes={"traceloop.span.kind": "tool", "traceloop.entity.name": "f"}
    )
    inner = {**graph, "gen_ai.agent.name": "carol"}
    carol = {**name, "traceloop.entity.name": "carol", INPUT: json.dumps(taken), OUTPUT: json.dumps(given)}
    spans = [
        root,
        outer,
        tool,
        span("invoke_agent carol", parent=tool, attributes=inner),
        span("execute_task carol", parent=tool, attributes=carol),
    ]
    found = assemble(spans)
    assert [(each.agent, each.asked, each.reply) for each in found] == [("bob", "hi", None), ("carol", "sub", "inner")]
    assert found[1].parent_id == found[0].id


def test_turns_of_the_openai_agents_sdk_until_0_45() -> None:
    """Each turn is an agent's span below the first one's; the last one's answer is the reply."""
    taken = json.dumps({"args": [], "kwargs": {"agent": {"name": "bob"}, "input": [{"role": "user", "content": "hi"}]}})
    own = {
        "traceloop.span.kind": "agent",
        INPUT: taken,
        OUTPUT: '"ModelResponse(output=[ResponseOutputMessage(id=1)])"',
    }
    first = span("bob.agent", attributes=own)
    tool = {"traceloop.span.kind": "tool", "gen_ai.completion.tool.name": "f", INPUT: '{"a": 1}', OUTPUT: "2"}
    last = {**own, "gen_ai.completion.roles": ("assistant",), "gen_ai.completion.contents": ("hello",)}
    spans = [first, span("f.tool", parent=first, attributes=tool), span("bob.agent", parent=first, attributes=last)]
    (found,) = assemble(spans)
    assert (found.agent, found.asked, found.reply) == ("bob", "hi", "hello")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("f", {"a": 1}, "2")]


@pytest.mark.parametrize("kind", ["agent", "tool"])
def test_javascripts_switch_is_in_its_configuration(kind: str) -> None:
    """Its packages read no variable."""
    made = span("x", scope=Scope("@traceloop/node-server-sdk"), attributes={"traceloop.span.kind": kind})
    facts = facts_of(made)
    assert facts is not None
    assert facts.setting == "traceContent: true"


@pytest.mark.parametrize(
    ("kind", "more", "session"),
    [
        ("workflow", {}, "t-1"),
        ("task", {}, None),
        ("workflow", {"traceloop.association.properties.session_id": "s-2"}, "s-2"),
    ],
)
def test_the_conversation_in_the_metadata_beside_the_input(
    kind: str, more: dict[str, str], session: str | None
) -> None:
    """Until 0.47 LangChain's thread stands nowhere else; what is associated comes first."""
    told = {"inputs": {"input": "hi"}, "tags": [], "metadata": {"thread_id": "t-1"}, "kwargs": {}}
    assert read(kind, {"traceloop.entity.name": "x", INPUT: json.dumps(told), **more}).session == session


def test_langchains_structured_answer_is_the_reply_and_the_call_that_gives_it_none() -> None:
    """``ToolStrategy``: the model hands the object over as a tool's arguments."""
    order = {"order_id": "o_9", "cents": 4999}
    asks = {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "Order", "args": order}]}
    told = {"type": "tool", "name": "Order", "tool_call_id": "c1", "content": "Returning structured response: …"}
    state = {"messages": [{"type": "human", "content": "Describe it."}, asks, told], "structured_response": order}
    agent = span(
        "helper.workflow",
        attributes={
            "traceloop.span.kind": "workflow",
            "gen_ai.operation.name": "invoke_agent",
            OUTPUT: json.dumps({"outputs": state, "kwargs": {}}),
        },
        scope=Scope("opentelemetry.instrumentation.langchain"),
    )
    (found,) = assemble([agent])
    assert found.reply is not None
    assert (json.loads(found.reply), found.tool_calls) == (order, ())
