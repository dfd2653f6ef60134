"""Where frameworks' instrumentations of OpenInference call things by another name."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.reading.messages import results_in
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

LANGCHAIN = Scope("openinference.instrumentation.langchain")


def graph(name: str, kind: str = "AGENT", parent: Span | None = None, **metadata: Any) -> Span:
    """A span of a graph."""
    own = {"openinference.span.kind": kind, "metadata": json.dumps(metadata)}
    if "tool.name" in metadata:
        own["tool.name"] = metadata.pop("tool.name")
    return span(name, parent=parent, attributes=own, scope=LANGCHAIN)


@pytest.mark.parametrize(
    ("name", "metadata", "expected"),
    [
        ("order_agent", {"thread_id": "t"}, Kind.AGENT),
        ("agent", {"langgraph_node": "agent"}, Kind.STEP),
        ("refund_agent", {"langgraph_node": "refund_agent"}, Kind.AGENT),
        ("Todo.before_agent", {"langgraph_node": "Todo.before_agent", "lc_agent_name": "shop"}, Kind.STEP),
        ("Todo.after_agent", {"langgraph_node": "Todo.after_agent", "lc_agent_name": "shop"}, Kind.STEP),
        ("order_agent", {"langgraph_node": "node", "lc_agent_name": "order_agent"}, Kind.AGENT),
        ("ask_agent", {"langgraph_node": "tools", "tool.name": "ask_agent"}, Kind.TOOL),
        ("route_to_active_agent", {"langgraph_node": "__start__"}, Kind.STEP),
        ("AgentExecutor", {}, Kind.AGENT),
        ("RunnableParallel<agent_scratchpad>", {}, Kind.STEP),
        ("ToolsAgentOutputParser", {}, Kind.STEP),
    ],
)
def test_what_langchain_calls_an_agent(name: str, metadata: dict[str, str], expected: Kind) -> None:
    """A node named ``agent`` is the step of a graph that calls the model."""
    facts = facts_of(graph(name, **metadata))
    assert facts is not None
    assert facts.kind is expected


def test_the_standards_name_comes_before_a_nodes() -> None:
    """Strands' processor gives every agent the same node."""
    own = {"openinference.span.kind": "AGENT", "graph.node.id": "strands_agent", "gen_ai.agent.name": "order_agent"}
    facts = facts_of(span("invoke_agent order_agent", attributes=own))
    assert facts is not None
    assert facts.agent == "order_agent"


def test_a_named_graph_is_the_agent_of_its_node() -> None:
    """The graph's name is the agent's, whatever its nodes are called."""
    root = graph("order_agent", thread_id="t")
    node = graph("agent", parent=root, langgraph_node="agent", thread_id="t")
    [found] = assemble([root, node])
    assert found.agent == "order_agent"


def test_a_stream_object_is_no_reply() -> None:
    """An instrumentation that does not follow streams writes the object's repr."""
    facts = facts_of(
        span(
            "Completions",
            attributes={"openinference.span.kind": "LLM", "output.value": "<groq.Stream object at 0x7f1c>"},
        )
    )
    assert facts is not None
    assert facts.output is None


def test_instructors_create_is_a_model_call() -> None:
    """Its structured answer is the reply, although it is called a chain."""
    call = span(
        "instructor.create",
        attributes={
            "openinference.span.kind": "CHAIN",
            "instructor.response_model": "Reply",
            "llm.model_name": "m",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "hi",
            "output.value": '{"mood": "good", "score": 3}',
        },
    )
    [found] = assemble([call])
    assert (found.asked, found.reply, found.model) == ("hi", '{"mood": "good", "score": 3}', "m")


def test_bedrocks_failed_results_are_in_the_request_alone() -> None:
    """The flattened messages do not say that a tool failed; the instructions stand in them alone."""
    failed = {"toolUseId": "c1", "content": [{"text": "down"}], "status": "error"}
    request = [
        {"role": "user", "content": [{"text": "Where is o_9?"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {"id": 9}}}]},
        {"role": "user", "content": [{"toolResult": failed}]},
    ]
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Be brief.",
        "llm.input_messages.1.message.role": "tool",
        "llm.input_messages.1.message.content": "down",
        "llm.input_messages.1.message.tool_call_id": "c1",
        "input.value": json.dumps(request),
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Sorry.",
    }
    (found,) = assemble([span("bedrock.converse", attributes=attributes)])
    assert [(call.name, call.arguments, call.result, call.error) for call in found.tool_calls] == [
        ("find", {"id": 9}, None, "down")
    ]
    assert (found.system, found.asked, found.reply) == ("Be brief.", "Where is o_9?", "Sorry.")


def test_bedrocks_results_are_in_the_request_alone_in_javascript() -> None:
    """The flattened message of a result has its id, and nothing that the tool gave."""
    gave = {"toolUseId": "c1", "content": [{"json": {"total": 12.5}}]}
    request = [
        {"role": "user", "content": [{"text": "Where is o_9?"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {"id": 9}}}]},
        {"role": "user", "content": [{"toolResult": gave}]},
    ]
    call = "llm.input_messages.1.message.tool_calls.0.tool_call."
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Where is o_9?",
        "llm.input_messages.1.message.role": "assistant",
        call + "id": "c1",
        call + "function.name": "find",
        call + "function.arguments": '{"id": 9}',
        "llm.input_messages.2.message.role": "user",
        "llm.input_messages.2.message.tool_call_id": "c1",
        "input.value": json.dumps({"modelId": "m", "messages": request}),
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "There.",
    }
    (found,) = assemble([span("bedrock.converse", attributes=attributes)])
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("find", {"id": 9}, {"total": 12.5})
    ]
    assert (found.asked, found.reply) == ("Where is o_9?", "There.")


@pytest.mark.parametrize("key", ["agno.agent", "agno.team", "agent.name"])
def test_an_agents_name(key: str) -> None:
    """Agno's agents and teams had names of their own until 0.1.10."""
    scope = Scope("openinference.instrumentation.agno")
    facts = facts_of(span("shop.run", attributes={"openinference.span.kind": "AGENT", key: "shop"}, scope=scope))
    assert facts is not None
    assert facts.agent == "shop"


def test_the_instructions_of_an_agent_stand_in_its_flattened_messages() -> None:
    """Google ADK 2 under its instrumentation: Gemini's request has them beside its contents, which hold the user's
    message alone."""
    request = {"model": "gemini-2.0-flash", "contents": [{"parts": [{"text": "Where is it?"}], "role": "user"}]}
    own = {
        "openinference.span.kind": "LLM",
        "gen_ai.agent.name": "order_agent",
        "input.value": json.dumps({**request, "config": {"system_instruction": "Be brief."}}),
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Be brief.",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.contents.0.message_content.type": "text",
        "llm.input_messages.1.message.contents.0.message_content.text": "Where is it?",
    }
    (found,) = assemble([span("invoke_agent order_agent", attributes=own, scope=Scope("gcp.vertex.agent"))])
    assert (found.asked, found.system) == ("Where is it?", "Be brief.")


def crew(*told: str) -> list[Span]:
    """A crew whose models nothing instruments; one agent does one task after the other."""
    scope, own = Scope("openinference.instrumentation.crewai"), {"crew_id": "c1"}
    tasks = [
        {"id": str(place), "description": text, "agent_role": f"helper {place}"} for place, text in enumerate(told)
    ]
    root = span(
        "Crew_c1.kickoff",
        scope=scope,
        attributes={**own, "openinference.span.kind": "CHAIN", "crew_inputs": "", "crew_tasks": json.dumps(tasks)},
    )
    return [root] + [
        span(
            f"helper {place}._execute_core",
            parent=root,
            scope=scope,
            attributes={
                **own,
                "openinference.span.kind": "AGENT",
                "graph.node.id": f"helper {place}",
                "input.value": json.dumps({"agent": {"role": f"helper {place}"}, "context": "", "tools": []}),
                "output.value": json.dumps({"description": text, "raw": f"{text} Done.", "agent": f"helper {place}"}),
            },
        )
        for place, text in enumerate(told)
    ]


def test_a_crew_was_asked_what_its_task_says() -> None:
    """Where no model's span has the prompt around it; also where the task was not done, which its agent's span alone
    tells."""
    (found,) = assemble(crew("Refund o_9."))
    assert (found.asked, found.reply, found.agent) == ("Refund o_9.", "Refund o_9. Done.", "helper 0")
    kickoff, agent = crew("Refund o_9.")
    (failed,) = assemble([kickoff, replace(agent, status="error", attributes={**agent.attributes, "output.value": ""})])
    assert (failed.asked, failed.reply) == ("Refund o_9.", None)


def test_each_agent_of_a_crew_was_asked_what_its_own_task_says() -> None:
    """Not what the first of all tasks says."""
    agents = {facts.agent: facts.prompt for each in crew("Refund o_9.", "Write to Ann.") if (facts := facts_of(each))}
    assert agents == {None: None, "helper 0": "Refund o_9.", "helper 1": "Write to Ann."}


def test_messages_that_were_converted_are_read_as_they_were_written() -> None:
    """The processor for pydantic-ai joins the results in one message to one, under the last one's id."""
    results = [
        {"type": "tool_call_response", "id": call_id, "name": "roll", "result": said}
        for call_id, said in (("c1", "four"), ("c2", "two"))
    ]
    own = {
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": results}]),
        "llm.input_messages.0.message.role": "tool",
        "llm.input_messages.0.message.tool_call_id": "c2",
        "llm.input_messages.0.message.contents.0.message_content.text": "four",
        "llm.input_messages.0.message.contents.1.message_content.text": "two",
    }
    facts = facts_of(span("chat m", attributes=own, scope=Scope("pydantic-ai")))
    assert facts is not None
    told = [(part.call_id, part.result) for said in facts.input or () for part in results_in(said)]
    assert told == [("c1", "four"), ("c2", "two")]
