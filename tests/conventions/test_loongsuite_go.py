"""LoongSuite for Go: a key for each value that a component took or gave."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind, Mark
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

USER = {"role": "user", "content": "Where is order 81?"}


def hook(rule: str, operation: str, kind: str | None, parent: Span | None = None, **fields: Any) -> Span:
    """A span of that rule's hook."""
    attributes = {"gen_ai.operation.name": operation, "gen_ai.span.kind": kind, **fields.pop("told", {})}
    scope = Scope(f"pkg/rules/{rule}/setup.go", "1.5")
    return span(operation, parent=parent, scope=scope, attributes=attributes, **fields)


def facts(*args: Any, **told: Any) -> Facts | None:
    """The facts of such a span; two underscores in a name are a dot."""
    return facts_of(hook(*args, told={key.replace("__", "."): value for key, value in told.items()}))


@pytest.mark.parametrize(
    ("rule", "operation", "kind", "read"),
    [
        ("adk-go", "invoke_agent", "workflow", Kind.WORKFLOW),
        ("langchain", "agentExecutor", "agent", Kind.AGENT),
        ("eino", "graph", "workflow", Kind.WORKFLOW),
        ("eino", "chain", "task", Kind.STEP),
        ("eino", "graph", None, Kind.STEP),
        ("eino", "tool_node", "tool", Kind.STEP),
        ("eino", "execute_tool", None, Kind.TOOL),
        ("eino", "chat", "generation", Kind.MODEL),
        ("eino", "prompt", "task", None),
        ("eino", "embeddings", "embedding", None),
    ],
)
def test_kinds(rule: str, operation: str, kind: str | None, read: Kind | None) -> None:
    """The kind decides, but for Eino's node around the tools and what is no agent's work."""
    found = facts(rule, operation, kind)
    assert (None if found is None else found.kind) == read


def test_a_graph_of_eino() -> None:
    """Its values stand beside GenAI's names of messages."""
    graph = hook("eino", "graph", "workflow", told={"gen_ai.input.name": "shop"}, seconds=9)
    asked = {"gen_ai.input.messages": json.dumps([USER]), "gen_ai.request.model": "m"}
    given = {"gen_ai.input.tool_name": "find", "gen_ai.input.arguments": '{"id": 81}', "gen_ai.output.response": "paid"}
    later = START_NS + 3 * SECOND_NS
    (found,) = assemble(
        [
            graph,
            hook("eino", "chat", "generation", graph, told=asked),
            hook("eino", "execute_tool", "tool", graph, told=given, started_ns=START_NS + SECOND_NS),
            hook(
                "eino",
                "chat",
                "generation",
                graph,
                told=asked | {"gen_ai.output.messages": "It is paid."},
                started_ns=later,
            ),
        ]
    )
    assert (found.agent, found.asked, found.reply) == ("shop", "Where is order 81?", "It is paid.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("find", {"id": 81}, "paid")]


def test_what_a_runner_was_given() -> None:
    """ADK's runner, Agent Framework's and Crush's agents name the user's message, the session and the user."""
    found = facts(
        "adk-go",
        "invoke_agent",
        "workflow",
        gen_ai__other_input__user_message="Where is it?",
        gen_ai__other_input__session_id="s1",
        gen_ai__other_input__user_id="u1",
    )
    assert found is not None
    assert (found.asked, found.session, found.user_id) == ("Where is it?", "s1", "u1")


def test_values_of_a_langchaingo_executor() -> None:
    """Whatever a chain takes and gives."""
    found = facts(
        "langchain",
        "agentExecutor",
        "agent",
        gen_ai__other_input__input="Where is it?",
        gen_ai__other_output__output="It is paid.",
    )
    assert found is not None
    assert (found.asked, found.reply) == ("Where is it?", "It is paid.")


@pytest.mark.parametrize(
    ("told", "name", "arguments", "result"),
    [
        (
            {"gen_ai__tool__name": "find", "gen_ai__tool__input": '{"id": 81}', "gen_ai__tool__output": "x"},
            "find",
            {"id": 81},
            "x",
        ),
        ({"gen_ai__other_input__tool": "find", "gen_ai__other_input__log": "…"}, "find", MISSING, MISSING),
    ],
)
def test_tools(told: dict[str, str], name: str, arguments: Any, result: Any) -> None:
    """Agent Framework has names of its own for them, LangChainGo says which tool alone."""
    found = facts("langchain", "agentAction", "tool", **told)
    assert found is not None
    assert (found.tool, found.arguments, found.result) == (name, arguments, result)


def test_hidden_values_are_marked() -> None:
    """What a processor put in place of a value is none."""
    found = facts("adk-go", "invoke_agent", "workflow", gen_ai__other_input__user_message="[REDACTED]")
    assert found is not None
    assert (found.asked, found.marks) == (None, (Mark(field="input", kind=GapKind.REDACTED),))


def test_other_hooks_are_ordinary_spans() -> None:
    """Databases, queues and servers are hooked as well."""
    assert facts_of(span("SELECT", scope=Scope("pkg/rules/databasesql/setup.go", "1.5"))) is None
