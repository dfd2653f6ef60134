"""What LangGraph's metadata say of a run."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.reading.langgraph import agent_in, entrypoint_in
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span


@pytest.mark.parametrize(
    ("name", "node", "triggers", "expected"),
    [
        ("refunds", "refunds", ["__start__"], "refunds"),
        ("refunds", "refunds", '["__start__"]', "refunds"),
        ("ChatOpenAI", "refunds", ["__start__"], None),
        ("refunds", "refunds", ["branch:to:refunds"], None),
        ("look_up", "look_up", ["__pregel_push"], None),
        ("__start__", "__start__", ["__start__"], None),
        (None, None, None, None),
    ],
    ids=["entrypoint", "in-json", "inside", "node", "task", "a-graphs-start", "nothing"],
)
def test_entrypoints(name: str | None, node: str | None, triggers: Any, expected: str | None) -> None:
    """Only the functional API's own function starts a run by itself."""
    assert entrypoint_in(name, node, triggers) == expected


def test_an_agent_in_a_graph() -> None:
    """Named after the node that it is in the outer graph."""
    assert agent_in("agent", "boss:1|agent:2") == "boss"


RAN = '{"langgraph_node": "refunds", "langgraph_triggers": ["__start__"]}'
LANGFUSE = "langfuse.observation."
LANGSMITH = "langsmith.metadata.langgraph_"


@pytest.mark.parametrize(
    ("scope", "kinds", "told"),
    [
        ("openinference.instrumentation.langchain", ("openinference.span.kind", "CHAIN", "LLM"), {"metadata": RAN}),
        ("mlflow", ("mlflow.spanType", "CHAIN", "CHAT_MODEL"), {"metadata": RAN}),
        (
            "langsmith",
            ("langsmith.span.kind", "chain", "llm"),
            {f"{LANGSMITH}node": "refunds", f"{LANGSMITH}triggers": '["__start__"]'},
        ),
        (
            "langfuse-sdk",
            (f"{LANGFUSE}type", "chain", "generation"),
            {
                f"{LANGFUSE}metadata.langgraph_node": "refunds",
                f"{LANGFUSE}metadata.langgraph_triggers": '["__start__"]',
            },
        ),
    ],
    ids=["openinference", "mlflow", "langsmith", "langfuse"],
)
def test_the_functional_apis_agent(scope: str, kinds: tuple[str, str, str], told: dict[str, str]) -> None:
    """The graph around an entrypoint is called ``LangGraph`` by every tracer."""
    key, chain, model = kinds

    def run(name: str, kind: str, parent: Span | None = None, **more: str) -> Span:
        return span(name, parent=parent, scope=Scope(scope), attributes={key: kind, **more})

    root = run("LangGraph", chain)
    entry = run("refunds", chain, root, **told)
    (found,) = assemble([root, entry, run("ChatOpenAI", model, entry)])
    assert found.agent == "refunds"
