"""MLflow's spans over OTLP: every value in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import span

SCOPE = Scope("mlflow.tracing.provider")


def traced(kind: str, name: str, taken: Any = None, given: Any = None, **fields: Any) -> Span:
    """A span of MLflow's."""
    attributes = {"mlflow.spanType": json.dumps(kind), **fields.pop("more", {})}
    for key, value in (("mlflow.spanInputs", taken), ("mlflow.spanOutputs", given)):
        if value is not None:
            attributes[key] = json.dumps(value)
    return span(name, attributes=attributes, scope=SCOPE, **fields)


def read(*args: Any, **fields: Any) -> Facts:
    """The facts of such a span."""
    facts = facts_of(traced(*args, **fields))
    assert facts is not None
    return facts


@pytest.mark.parametrize("kind", ["AGENT", "UNKNOWN", "CHAIN"])
def test_a_turn(kind: str) -> None:
    """The outermost function is the invocation, also without a type."""
    agent = traced(kind, "shop", {"user": "Where is it?"}, "Here.", more={"session.id": '"s1"'})
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 81}'}}
    answer = {"id": "r1", "choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}
    usage = {"mlflow.chat.tokenUsage": '{"input_tokens": 42, "output_tokens": 17, "total_tokens": 59}'}
    request = {"model": "m", "messages": [{"role": "user", "content": "Where is it?"}]}
    (found,) = assemble(
        [
            agent,
            traced("CHAT_MODEL", "Completions", request, answer, parent=agent, more=usage),
            traced("TOOL", "find", {"id": 81}, "paid", parent=agent),
        ]
    )
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "s1", "Where is it?", "Here.")
    assert [(c.name, c.arguments, c.result, c.call_id) for c in found.tool_calls] == [
        ("find", {"id": 81}, "paid", "c1")
    ]
    assert (found.usage.input_tokens, found.model_calls[0].response_id) == (42, "r1")


def test_a_text_that_looks_like_json_is_a_text() -> None:
    """A reply is encoded once: the text inside is left alone."""
    assert read("AGENT", "shop", None, '{"id": 81}').reply == '{"id": 81}'


def test_anthropics_instructions_stand_beside_the_messages() -> None:
    """``system`` of the request is the system message, and content blocks are the answer."""
    request = {"system": "Be kind.", "messages": [{"role": "user", "content": "Hi"}]}
    answer = {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Hello"}], "model": "claude"}
    facts = read("CHAT_MODEL", "Messages.create", request, answer)
    assert (facts.system, facts.model) == ("Be kind.", "claude")
    assert [message.text for message in facts.output or ()] == ["Hello"]


def test_langchains_generations() -> None:
    """A batch of one as LangChain gives it."""
    request = [[{"content": "Hi", "type": "human"}]]
    answer = {"generations": [[{"text": "Hello", "message": {"content": "Hello", "type": "ai"}}]]}
    facts = read("CHAT_MODEL", "ChatOpenAI", request, answer)
    assert [message.text for message in (*(facts.input or ()), *(facts.output or ()))] == ["Hi", "Hello"]


def test_a_tool_that_raised() -> None:
    """The exception is the error."""
    event = SpanEvent(
        name="exception", time_ns=1, attributes={"exception.type": "RuntimeError", "exception.message": "down"}
    )
    facts = read("TOOL", "find", {"id": 81}, status="error", events=(event,))
    assert (facts.error, facts.result) == ("RuntimeError: down", MISSING)


@pytest.mark.parametrize(
    ("operation", "kind"),
    [("CHAIN", Kind.WORKFLOW), ("UNKNOWN", Kind.WORKFLOW), ("EVALUATOR", Kind.EVALUATOR), ("invoke_agent", Kind.AGENT)],
)
def test_in_the_standards_names(operation: str, kind: Kind) -> None:
    """Types without an operation stand there under their own name."""
    facts = facts_of(span("x", attributes={"gen_ai.operation.name": operation}, scope=SCOPE))
    assert facts is not None
    assert facts.kind is kind


@pytest.mark.parametrize("kind", ["RETRIEVER", "EMBEDDING", "PARSER", "GUARDRAIL"])
def test_other_types_are_no_agents_work(kind: str) -> None:
    """They are left out."""
    assert facts_of(traced(kind, "x", "in", "out")) is None


def test_a_method_is_no_agents_name() -> None:
    """An agent's span that is named after a method has a weak name only."""
    assert read("AGENT", "Agent.execute_task").agent is None
    assert read("AGENT", "shop").agent == "shop"


@pytest.mark.parametrize(
    ("name", "metadata", "kind"),
    [
        ("LangGraph", {}, Kind.WORKFLOW),
        ("model", {"langgraph_node": "model", "lc_agent_name": "shop"}, Kind.STEP),
        ("shop", {"lc_agent_name": "shop"}, Kind.AGENT),
    ],
)
def test_langgraph(name: str, metadata: dict[str, str], kind: Kind) -> None:
    """A node is a step of its graph, and what LangChain names as the agent is one."""
    facts = read("CHAIN", name, {"messages": []}, more={"metadata": json.dumps(metadata)})
    assert facts.kind is kind


def test_a_span_of_another_instrumentations() -> None:
    """Without a type of MLflow's it is what its own attributes say: OpenInference's, for Agno."""
    attributes = {"mlflow.spanType": "null", "openinference.span.kind": "TOOL", "tool.name": "find"}
    found = facts_of(span("find", attributes=attributes, scope=Scope("openinference.instrumentation.agno")))
    assert found is not None
    assert (found.kind, found.tool) == (Kind.TOOL, "find")


def test_an_agents_name_is_among_its_fields() -> None:
    """The span is named after the method."""
    assert read("AGENT", "Agent.run", {"user_prompt": "hi"}, more={"name": '"shop"'}).agent == "shop"


def test_smolagents() -> None:
    """Values are in an envelope, and a decorated function's name stands nowhere."""
    agent = traced("AGENT", "ToolCallingAgent.run", {"task": "hi"}, {"_value": "hello"}, more={"name": '"shop"'})
    how = {"sanitize_inputs_outputs": True, "kwargs": {"id": 9}}
    tool = traced("TOOL", "SimpleTool.__call__", how, {"_value": "sent"}, parent=agent)
    final = traced(
        "TOOL", "FinalAnswerTool.__call__", {"kwargs": {"answer": "hello"}}, {"_value": "hello"}, parent=agent
    )
    (found,) = assemble([agent, tool, final])
    assert (found.agent, found.asked, found.reply) == ("shop", "hi", "hello")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("(unknown)", {"id": 9}, "sent")]
