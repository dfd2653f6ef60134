"""LangSmith's runs as spans."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import span

SCOPE = Scope("langsmith")
OPERATIONS = {"llm": "chat", "tool": "execute_tool"}


def run(kind: str, name: str, taken: Any = None, given: Any = None, **fields: Any) -> Span:
    """A run with its inputs and outputs."""
    attributes: dict[str, Any] = {
        "langsmith.span.kind": kind,
        "langsmith.trace.name": name,
        "gen_ai.operation.name": OPERATIONS.get(kind, kind),
        **{f"langsmith.metadata.{key}": value for key, value in fields.pop("metadata", {}).items()},
    }
    for key, value in (("gen_ai.prompt", taken), ("gen_ai.completion", given)):
        if value is not None:
            attributes[key] = json.dumps(value)
    return span(name, attributes=attributes, scope=SCOPE, **fields)


def read(*args: Any, **fields: Any) -> Facts:
    """The facts of a run."""
    facts = facts_of(run(*args, **fields))
    assert facts is not None
    return facts


def raised(message: str) -> tuple[SpanEvent, ...]:
    """The exception event of a failed run: always a bare ``Exception`` around the error's repr and its traceback."""
    said = f"{message}Traceback (most recent call last):\n\n\n  File …"
    return (
        SpanEvent(name="exception", time_ns=1, attributes={"exception.type": "Exception", "exception.message": said}),
    )


HUMAN = {"content": "Where is it?", "type": "human"}
AI = {"content": "Here.", "type": "ai"}
ASKING = {"content": "", "type": "ai", "tool_calls": [{"name": "find", "args": {"id": 81}, "id": "c1"}]}


def constructed(message: dict[str, Any], name: str) -> dict[str, Any]:
    """A message as LangChain serialises it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": message}


@pytest.mark.parametrize(("metadata", "kind"), [({"lc_agent_name": "shop"}, Kind.AGENT), ({}, Kind.WORKFLOW)])
def test_a_graphs_turn(metadata: dict[str, str], kind: Kind) -> None:
    """The root holds the whole turn; its name is the agent's where the telemetry says so, else a weak one."""
    root = run(
        "chain",
        "shop",
        {"messages": [{"role": "user", "content": "Where is it?"}]},
        {"messages": [HUMAN, ASKING, AI]},
        metadata={**metadata, "thread_id": "t1"},
    )
    in_node = {**metadata, "langgraph_node": "model"}
    node = run("chain", "model", {"messages": [HUMAN]}, {"messages": [ASKING]}, parent=root, metadata=in_node)
    model = run(
        "llm",
        "ChatOpenAI",
        {"messages": [[constructed(HUMAN, "HumanMessage")]]},
        {"generations": [[{"text": "", "message": constructed(ASKING, "AIMessage")}]]},
        parent=node,
    )
    tool = run(
        "tool",
        "find",
        {"id": 81},
        {"output": {"content": '{"status": "paid"}', "type": "tool", "tool_call_id": "c1", "status": "success"}},
        parent=root,
    )
    (found,) = assemble([root, node, model, tool])
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "t1", "Where is it?", "Here.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("find", {"id": 81}, {"status": "paid"})]
    root_facts, node_facts = facts_of(root), facts_of(node)
    assert root_facts is not None
    assert node_facts is not None
    assert (root_facts.kind, node_facts.kind) == (kind, Kind.STEP)


def test_traced_functions() -> None:
    """``@traceable`` records arguments by name and the result as ``output``."""
    facts = read("chain", "shop", {"question": "Where is it?"}, {"output": "Here."})
    assert (facts.asked, facts.reply) == ("Where is it?", "Here.")


@pytest.mark.parametrize(
    ("repr_", "kind", "message"),
    [
        ("RuntimeError('down')", "RuntimeError", "down"),
        ('APIError("it\'s down", 500)', "APIError", "it's down"),
        ("Odd(<object>)", "Odd", "<object>"),
        ("KeyError()", "KeyError", None),
    ],
)
def test_a_failure_is_an_exception_event_with_the_status_ok(repr_: str, kind: str, message: str | None) -> None:
    """Its type and message are read out of the error's repr, without the traceback."""
    facts = read("chain", "shop", {"question": "x"}, {}, status="ok", events=raised(repr_))
    assert facts.failure is not None
    assert (facts.failure.type, facts.failure.message) == (kind, message)


def test_an_interrupt_is_no_failure() -> None:
    """LangGraph waits for a human with an exception."""
    facts = read("chain", "shop", {"question": "x"}, {}, events=raised("GraphInterrupt((Interrupt(value='ok?'),))"))
    assert facts.failure is None
    assert facts.control_flow


def test_a_failed_call_has_no_output() -> None:
    """An error in the place of the model's answer is not an empty answer."""
    given = {"generations": [[{"text": "", "message": constructed({"content": "", "type": "ai"}, "AIMessage")}]]}
    assert read("llm", "ChatOpenAI", {}, given, events=raised("APIError('boom')")).output is None


def test_a_tools_error_that_its_node_caught() -> None:
    """A tool message with the status error is the error."""
    given = {"output": {"content": "Error: down", "type": "tool", "tool_call_id": "c1", "status": "error"}}
    assert read("tool", "find", {"input": "{'id': 81}"}, given).error == "Error: down"


def test_hidden_content() -> None:
    """``{}`` is what is left of hidden inputs and outputs: a gap with the setting."""
    root = run("chain", "shop", {}, {})
    tool = run("tool", "find", {}, {}, parent=root)
    model = run("llm", "ChatOpenAI", {}, {}, parent=root)
    (found,) = assemble([root, tool, model])
    gap = found.gap("reply")
    assert gap is not None
    assert (gap.kind, gap.setting) == (
        GapKind.NOT_CAPTURED,
        "LANGSMITH_HIDE_INPUTS=false LANGSMITH_HIDE_OUTPUTS=false",
    )
    assert {gap.field for gap in found.tool_calls[0].gaps} == {"arguments", "result"}


def test_a_tool_without_arguments() -> None:
    """Beside a result, an empty object is what the tool was called with."""
    facts = read("tool", "now", {}, {"output": "noon"})
    assert (facts.arguments, facts.result) == ({}, "noon")
    assert read("tool", "now", {}, {}).arguments is MISSING


@pytest.mark.parametrize("kind", ["retriever", "embedding", "prompt", "parser"])
def test_other_runs_are_no_agents_work(kind: str) -> None:
    """They are left out."""
    assert facts_of(run(kind, "x", {"input": "in"}, {"output": "out"})) is None


def test_a_project_is_no_session() -> None:
    """``langsmith.trace.session_id`` names a project."""
    facts = facts_of(
        span(
            "shop",
            attributes={"langsmith.span.kind": "chain", "langsmith.trace.session_id": "project"},
            scope=SCOPE,
        )
    )
    assert facts is not None
    assert facts.session is None


def test_the_arguments_of_a_tool_of_the_claude_agent_sdk() -> None:
    """They stand under a name; a text there is LangChain's, and read as before."""
    assert read("tool", "mcp__shop__find", {"input": {"id": 9}}, {"content": "sent"}).arguments == {"id": 9}
    assert read("tool", "find", {"input": "{'id': 9}"}, {"output": "sent"}).arguments == {"id": 9}
    assert read("tool", "find", {"input": {"id": 9}, "kind": "x"}, "sent").arguments == {
        "input": {"id": 9},
        "kind": "x",
    }


@pytest.mark.parametrize(
    ("given", "result"),
    [({"outputs": "18C"}, "18C"), ({"outputs": [1]}, [1]), ({"outputs": "18C", "n": 1}, {"outputs": "18C", "n": 1})],
)
def test_the_result_of_a_tool_in_javascript(given: Any, result: Any) -> None:
    """What is no object stands under a name there."""
    assert read("tool", "weather", {"city": "Paris"}, given).result == result


@pytest.mark.parametrize(("said", "failed"), [("API Error: 500 down", True), ("No response requested.", False)])
def test_an_error_that_claude_code_says_itself(said: str, failed: bool) -> None:
    """The model of such an answer is no model."""
    outer = run("chain", "claude.conversation", {"prompt": "hi"}, {"content": said, "role": "assistant"})
    inner = run(
        "llm",
        "claude.assistant.turn",
        {"messages": [{"role": "user", "content": "hi"}]},
        {"role": "assistant", "content": said},
        parent=outer,
    )
    inner = replace(inner, attributes={**inner.attributes, "gen_ai.request.model": "<synthetic>"})
    (found,) = assemble([outer, inner])
    assert (found.failure is not None, found.reply) == (failed, None if failed else said)
