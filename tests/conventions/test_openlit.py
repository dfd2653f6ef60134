"""OpenLIT's own attributes, old and new, and what it leaves out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, ToolCallPart
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, agent_span, message, model_span, span

SCOPE = Scope("openlit.instrumentation.openai", "1.45.0")


def lit(name: str = "s", parent: Span | None = None, events: tuple[SpanEvent, ...] = (), **attributes: Any) -> Span:
    """A span of OpenLIT's."""
    return span(
        name, parent=parent, scope=SCOPE, events=events, attributes={"telemetry.sdk.name": "openlit", **attributes}
    )


def facts(*args: Any, **attributes: Any) -> Facts:
    """The facts of such a span."""
    found = facts_of(lit(*args, **attributes))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("names", "ids", "arguments", "calls"),
    [
        ("get_order", "c1", '{"id": 9}', [("get_order", {"id": 9}, "c1")]),
        ("a, a", "c1, c2", '{"city": "Rome, Italy"}, {"city": "Oslo"}',
         [("a", {"city": "Rome, Italy"}, "c1"), ("a", {"city": "Oslo"}, "c2")]),
        ("a, b", "c1, c2", '{"city": "Ro', [("a", None, "c1"), ("b", None, "c2")]),
        ("a", None, None, [("a", None, None)]),
        ("a, b", "c1", "{}, {}", None),
        ("", "", "", None),
    ],
)  # fmt: skip
def test_tools_that_a_model_asked_for(names: Any, ids: Any, arguments: Any, calls: Any) -> None:
    """Names, ids and arguments are listed side by side, content captured or not; lists that do not fit tell nothing."""
    found = facts(
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.tool.name": names,
            "gen_ai.tool.call.id": ids,
            "gen_ai.tool.args": arguments,
        }
    )
    made = [
        (part.name, part.arguments, part.call_id)
        for said in found.output or ()
        for part in said.parts
        if isinstance(part, ToolCallPart)
    ]
    assert (made or None) == calls


def test_names_of_offered_tools_are_no_calls() -> None:
    """Of the Responses API, OpenLIT for JavaScript writes the names of all tools; what was asked for is nowhere."""
    found = facts(
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.tool.name": "a, b",
            "openai.api.type": "responses",
            "gen_ai.response.finish_reasons": ["completed"],
            "gen_ai.output.messages": '[{"role":"assistant","parts":[],"finish_reason":"completed"}]',
        }
    )
    assert found.output is None


def test_a_history_without_requests() -> None:
    """The next call's history holds the tool's answer and not the model's request: they are joined by id."""
    root = agent_span(asked=None, reply=None)
    asked = message("user", "Where is order 9?")
    first = model_span(
        parent=root,
        messages=[asked],
        output=[message("assistant", {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {"id": 9}})],
    )
    second = model_span(
        parent=root,
        messages=[asked, message("tool", {"type": "tool_call_response", "id": "c1", "response": "sent"})],
        output=[message("assistant", "It was sent.")],
        started_ns=root.started_ns + 1,
    )
    (found,) = assemble([root, first, second])
    assert [(call.name, call.arguments, call.result, call.gaps) for call in found.tool_calls] == [
        ("get_order", {"id": 9}, "sent", ())
    ]


def test_one_point_thirty_three_writes_a_transcript() -> None:
    """Until 1.33 all messages were one text in an event, with a speaker at the beginning of a line."""
    events = (
        SpanEvent("gen_ai.content.prompt", 0, {"gen_ai.prompt": "system: be kind\nuser: hi\nthere"}),
        SpanEvent("gen_ai.content.completion", 0, {"gen_ai.completion": "hello"}),
    )
    found = facts(events=events, **{"gen_ai.operation.name": "chat"})
    assert [(said.role, said.text) for said in found.input or ()] == [("system", "be kind"), ("user", "hi\nthere")]
    assert [said.text for said in found.output or ()] == ["hello"]


def test_function_called_with_tools_is_no_answer() -> None:
    """Until 1.33 that sentence stood for whatever was answered to a request with tools: hidden, not said."""
    event = SpanEvent("gen_ai.content.completion", 0, {"gen_ai.completion": "Function called with tools"})
    found = facts(events=(event,), **{"gen_ai.operation.name": "chat"})
    assert found.output is None
    assert [(mark.field, mark.kind) for mark in found.marks] == [("output", GapKind.REDACTED)]


def test_the_first_of_several_choices_is_the_answer() -> None:
    """Until 1.33 the events of several choices were numbered."""
    events = tuple(
        SpanEvent(f"gen_ai.content.completion.{index}", 0, {"gen_ai.completion": said})
        for index, said in enumerate(("one", "two"))
    )
    found = facts(events=events, **{"gen_ai.operation.name": "chat"})
    assert [said.text for said in found.output or ()] == ["one"]


def test_workflows_carry_inputs_and_outputs() -> None:
    """LangChain's chains and agents: the whole state as JSON."""
    inputs = json.dumps({"messages": [{"type": "human", "content": "hi"}]})
    outputs = json.dumps({"messages": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "hello"}]})
    found = facts(
        **{
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "shop",
            "gen_ai.workflow.input": inputs,
            "gen_ai.workflow.output": outputs,
        }
    )
    assert (found.kind, found.agent) == (Kind.AGENT, "shop")
    assert [said.text for said in found.input or ()] == ["hi"]
    assert [said.text for said in found.output or ()] == ["hi", "hello"]


def test_a_cut_workflow_is_marked() -> None:
    """``max_content_length`` ends what it cuts with three dots."""
    found = facts(**{"gen_ai.operation.name": "invoke_agent", "gen_ai.workflow.input": '{"messages": [{"type": "hu...'})
    assert found.input is None
    assert [(mark.field, mark.kind) for mark in found.marks] == [("input", GapKind.TRUNCATED)]


@pytest.mark.parametrize(
    ("result", "expected", "error"),
    [
        ("content='18C' name='get_weather' tool_call_id='c1'", "18C", None),
        ("content='{\"a\": 1}' tool_call_id='c1'", {"a": 1}, None),
        ("content='Error: no' name='t' tool_call_id='c1' status='error'", None, "Error: no"),
        ("content = what the text is about", "content = what the text is about", None),
        ("content='\\x' tool_call_id='c1'", "content='\\x' tool_call_id='c1'", None),
        ("18C", "18C", None),
    ],
)
def test_tool_results(result: str, expected: Any, error: str | None) -> None:
    """LangChain's tool messages come as their ``str()``; another text is a text."""
    found = facts(
        **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.result": result}
    )
    assert found.error == error
    if error is None:
        assert found.result == expected


def test_old_agents_and_tasks() -> None:
    """1.33: CrewAI's agents by their role; a task's description is a prompt of the framework's."""
    agent = facts(**{"gen_ai.operation.name": "agent", "gen_ai.agent.role": "Refunder\n"})
    task = facts(
        **{"gen_ai.operation.name": "agent", "gen_ai.agent.task": "refund", "gen_ai.agent.actual_output": "done"}
    )
    assert (agent.kind, agent.agent) == (Kind.AGENT, "Refunder")
    assert (task.kind, task.prompt, task.reply) == (Kind.STEP, "refund", "done")


def test_mcp_calls() -> None:
    """OpenLIT's MCP spans have names of their own; only a tool's call is one."""
    found = facts(**{"mcp.method": "call_tool", "mcp.tool.name": "get_order", "mcp.tool.arguments": '{"id": 9}'})
    assert (found.kind, found.tool, found.arguments) == (Kind.TOOL, "get_order", {"id": 9})
    assert facts_of(lit(**{"mcp.method": "list_tools"})) is None


@pytest.mark.parametrize(
    ("scope", "name", "expected"),
    [
        ("openlit.instrumentation.langgraph", "agent", Kind.STEP),
        ("openlit.instrumentation.langgraph", "retrieve", Kind.STEP),
        ("openlit.instrumentation.langgraph", "refund_agent", Kind.AGENT),
        ("openlit.instrumentation.langchain", "agent", Kind.STEP),
        ("openlit.instrumentation.langchain", "shop", Kind.AGENT),
        ("openlit.instrumentation.crewai", "agent", Kind.AGENT),
    ],
)
def test_a_graphs_nodes_are_written_as_agents(scope: str, name: str, expected: Kind) -> None:
    """All but those of tools: the node that calls the model is no agent within the agent."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    found = facts_of(span(f"invoke_agent {name}", scope=Scope(scope), attributes=attributes))
    assert found is not None
    assert found.kind is expected


def test_a_loop_of_one_point_thirty_three() -> None:
    """What was asked for is in Python's words, an answer without a text is ``None``, and the history lacks the request."""

    def call(prompt: str, completion: str, second: int, **more: str) -> Span:
        events = (
            SpanEvent("gen_ai.content.prompt", attributes={"gen_ai.prompt": prompt}),
            SpanEvent("gen_ai.content.completion", attributes={"gen_ai.completion": completion}),
        )
        made = lit("chat m", events=events, **{"gen_ai.operation.name": "chat", **more})
        return replace(made, started_ns=made.started_ns + second * SECOND_NS)

    asks = """[{'id': 'c1', 'function': {'arguments': '{"id": 9}', 'name': 'find'}, 'type': 'function'}]"""
    first = call("system: Be brief.\nuser: Where is it?", "None", 0, **{"gen_ai.response.tool_calls": asks})
    second = call("system: Be brief.\nuser: Where is it?\nassistant: None\ntool: sent", "It was sent.", 5)
    (found,) = assemble([first, second])
    assert (found.asked, found.reply) == ("Where is it?", "It was sent.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("find", {"id": 9}, "sent")]


JS_LANGCHAIN = Scope("@openlit/instrumentation-langchain", "1.0.0")


def test_tools_by_the_names_of_their_classes() -> None:
    """In JavaScript a LangChain tool has its class's name; the model's request has its own, and an object is no result."""
    root = lit(
        "invoke_agent order_agent", **{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "order_agent"}
    )
    call = span("chat", parent=root, attributes={
        "telemetry.sdk.name": "openlit", "gen_ai.operation.name": "chat", "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": '["{\\"id\\": 9}"]',
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [
            {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {"id": 9}}]}])})  # fmt: skip
    tool = span("execute_tool DynamicStructuredTool", parent=root, attributes={
        "telemetry.sdk.name": "openlit", "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "DynamicStructuredTool", "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"id": 9}', "gen_ai.tool.call.result": "[object ToolMessage]"})  # fmt: skip
    (found,) = assemble([root, call, tool])
    (made,) = found.tool_calls
    assert (made.name, made.arguments, made.result) == ("get_order", {"id": 9}, None)
    assert [gap.field for gap in made.gaps] == ["result"]


@pytest.mark.parametrize(("name", "kind"), [("agent", Kind.STEP), ("order_agent", Kind.AGENT)])
def test_nodes_of_graphs_in_javascript(name: str, kind: Kind) -> None:
    """As in Python, the node that calls the model is no agent."""
    found = facts_of(span(f"invoke_agent {name}", scope=JS_LANGCHAIN, attributes={
        "telemetry.sdk.name": "openlit", "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}))  # fmt: skip
    assert found is not None
    assert found.kind is kind


GRAPH = Scope("openlit.instrumentation.langgraph")


def graph(name: str, **attributes: Any) -> Span:
    return span(
        f"invoke_workflow {name}",
        attributes={"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name, **attributes},
        scope=GRAPH,
    )


def node(parent: Span, name: str, **fields: Any) -> Span:
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hello?"}]}])
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, "gen_ai.input.messages": asked}
    return span(f"invoke_agent {name}", parent=parent, attributes=attributes, **fields)


def test_a_graph_that_is_awaited_has_no_model_calls_and_no_name_but_its_own() -> None:
    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hi."}]}])
    root = graph("helper", **{"gen_ai.output.messages": said, "gen_ai.conversation.id": "s1"})
    (found,) = assemble([root, node(root, "model"), node(root, "Patch.before_agent")])
    assert (found.agent, found.asked, found.reply, found.session) == ("helper", "Hello?", "Hi.", "s1")


def test_a_graph_that_raises_has_failed() -> None:
    root = span(
        "invoke_workflow helper",
        attributes={"gen_ai.workflow.name": "helper", "error.type": "APIError"},
        status="error",
        status_message="APIError: on fire",
        scope=GRAPH,
    )
    (found,) = assemble([root, node(root, "model", status="error")])
    assert (found.agent, found.reply) == ("helper", None)
    assert found.failure is not None


def test_all_that_a_graph_streamed_is_no_reply() -> None:
    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hello?Hello?Hi."}]}])
    root = graph("helper", **{"gen_ai.output.messages": said, "gen_ai.request.stream": True})
    inner = span(
        "invoke_workflow helper",
        parent=root,
        attributes={
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "helper",
            "gen_ai.workflow.input": '{"messages": [["user", "Hello?"]]}',
        },
        scope=Scope("openlit.instrumentation.langchain"),
    )
    chat = span(
        "chat m",
        parent=inner,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": "Hi."}]}]
            ),
        },
        scope=Scope("openlit.instrumentation.langchain"),
    )
    (found,) = assemble([root, inner, node(root, "model"), chat])
    assert (found.agent, found.asked, found.reply) == ("helper", "Hello?", "Hi.")


def test_what_chooses_the_next_node_is_no_agent() -> None:
    root = graph("swarm", **{"gen_ai.output.messages": '[{"role": "assistant", "content": "Done."}]'})
    chosen = span(
        "invoke_agent route_to_active_agent",
        parent=root,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "route_to_active_agent",
            "gen_ai.workflow.output": '"desk"',
        },
        scope=Scope("openlit.instrumentation.langchain"),
    )
    (found,) = assemble([root, chosen, node(root, "model")])
    assert (found.agent, found.reply) == ("swarm", "Done.")


def test_the_tool_message_in_a_command_is_the_result() -> None:
    gave = "Command(update={'messages': [ToolMessage(content='five days', tool_call_id='c1')]})"
    found = facts_of(
        span(
            "execute_tool task",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "task",
                "gen_ai.tool.call.result": gave,
            },
            scope=Scope("openlit.instrumentation.langchain"),
        )
    )
    assert found is not None
    assert found.result == "five days"


def test_what_raised_is_known_by_its_name() -> None:
    """CrewAI 1: the attributes are written after the call, and not at all when it raises."""
    crew = span(
        "invoke_workflow crew", attributes={"error.type": "RuntimeError"}, status="error", scope=Scope("openlit.crewai")
    )
    agent = span("invoke_agent helper", parent=crew, attributes={"error.type": "RuntimeError"}, status="error")
    (found,) = assemble([crew, agent])
    assert (found.agent, found.failure is not None) == ("helper", True)


def test_a_method_of_a_flow_is_no_agent() -> None:
    """CrewAI: an agent has its role for a name."""
    scope = Scope("openlit.instrumentation.crewai")
    flow = span("invoke_workflow F", attributes={"gen_ai.operation.name": "invoke_workflow"}, scope=scope)
    method = span("invoke_agent one", parent=flow, attributes={"gen_ai.operation.name": "invoke_agent"})
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hello?"}]}])
    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hi."}]}])
    agent = span(
        "invoke_agent helper",
        parent=flow,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "helper",
            "gen_ai.input.messages": asked,
            "gen_ai.output.messages": said,
        },
    )
    (found,) = assemble([flow, method, agent])
    assert (found.agent, found.asked, found.reply) == ("helper", "Hello?", "Hi.")


AGNO = Scope("openlit.instrumentation.agno", "1.45.0")


def agno(name: str, operation: str, parent: Span | None = None, **attributes: Any) -> Span:
    """A span of OpenLIT's for Agno, with its texts as messages."""
    own = {"gen_ai.operation.name": operation, **attributes}
    return replace(lit(name, parent, **own), scope=AGNO)


def said(role: str, text: str) -> str:
    """Messages with one text."""
    return json.dumps([message(role, text)])


def test_agnos_team_is_an_agent_around_its_members() -> None:
    """What the tool that asks a member gives is a generator when its span ends, and told to the model."""
    reply = {"gen_ai.output.messages": said("assistant", "Five days, says the expert.")}
    team = agno(
        "invoke_workflow boss",
        "invoke_workflow",
        **{"gen_ai.workflow.name": "boss", "gen_ai.agno.team.agents": '["expert"]', **reply},
        **{"gen_ai.input.messages": said("user", "How long?")},
    )
    call = {"type": "tool_call", "id": "c1", "name": "delegate", "arguments": {"task": "days?"}}
    asked, asks = message("user", "How long?"), message("assistant", call)
    answer = message("tool", {"type": "tool_call_response", "id": "c1", "response": "Five days."})
    given = "<async_generator object _get_delegate_task_function.<locals>.delegate at 0x7ff04bd29210>"
    tool = agno(
        "execute_tool delegate",
        "execute_tool",
        team,
        **{"gen_ai.tool.name": "delegate", "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": given},
    )
    member = agno(
        "invoke_agent expert",
        "invoke_agent",
        team,
        **{"gen_ai.agent.name": "expert", "gen_ai.input.messages": said("user", "days?")},
        **{"gen_ai.output.messages": said("assistant", "Five days.")},
    )
    last = message("assistant", "Five days, says the expert.")
    calls = [
        model_span(parent=team, messages=[asked], output=[asks]),
        model_span(parent=team, messages=[asked, asks, answer], output=[last], started_ns=team.started_ns + 1),
    ]
    outer, inner = assemble([team, tool, member, *calls])
    assert (outer.agent, outer.reply) == ("boss", "Five days, says the expert.")
    assert [(call.name, call.result) for call in outer.tool_calls] == [("delegate", "Five days.")]
    assert (inner.agent, inner.parent_id, inner.asked, inner.reply) == ("expert", outer.id, "days?", "Five days.")


def test_an_object_that_agno_gave_back_is_told_by_the_model() -> None:
    """As Python writes it, on the agent's span; in JSON in the model's answer."""
    agent = agno(
        "invoke_agent helper",
        "invoke_agent",
        **{"gen_ai.agent.name": "helper", "gen_ai.output.messages": said("assistant", "order_id='o_9' cents=4999")},
    )
    answer = model_span(
        parent=agent, messages=[message("user", "Describe it.")], output=[message("assistant", '{"a": 1}')]
    )
    (found,) = assemble([agent, answer])
    assert found.reply == '{"a": 1}'
    (alone,) = assemble([agent])
    gap = alone.gap("reply")
    assert (alone.reply, gap is not None) == (None, True)


def test_a_haystack_pipelines_answer_is_a_message_in_pythons_words() -> None:
    """The text in it is the reply."""
    said = "ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text='Five days.')], _name=None)"
    attributes = {
        "telemetry.sdk.name": "openlit",
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.output.messages": said,
    }
    root = span("invoke_workflow pipeline", attributes=attributes, scope=Scope("openlit.instrumentation.haystack"))
    model = {"gen_ai.operation.name": "chat", "telemetry.sdk.name": "openlit"}
    [found] = assemble([root, span("chat m", parent=root, attributes=model)])
    assert found.reply == "Five days."


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"helper": {"messages": "[ChatMessage(_role=<ChatRole.USER: 'user'>)]"}}, "helper"),
        ({"prompt": {"question": "How long?"}}, "pipeline"),
        ({"one": {"messages": "[]"}, "two": {"messages": "[]"}}, "pipeline"),
        ("cut {", "pipeline"),
    ],
)
def test_a_haystack_pipeline_has_the_name_of_the_component_that_is_given_messages(given: Any, name: str) -> None:
    """OpenLIT names all of them ``pipeline``."""
    attributes = {
        "telemetry.sdk.name": "openlit",
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.framework.pipeline.input_data": given if isinstance(given, str) else json.dumps(given),
    }
    root = span("invoke_workflow pipeline", attributes=attributes, scope=Scope("openlit.instrumentation.haystack"))
    model = {"gen_ai.operation.name": "chat", "telemetry.sdk.name": "openlit"}
    [found] = assemble([root, span("chat m", parent=root, attributes=model)])
    assert found.agent == name
