"""LangGraph's own metadata of a run, which LangChain's callbacks pass on to every tracer.

``langgraph_node`` is the node that the run is in, ``langgraph_checkpoint_ns`` the way there from the outermost graph:
``boss:<id>|agent:<id>`` is the node ``agent`` of the graph that is the node ``boss``.
``langgraph_triggers`` is why the node runs: nodes of a graph follow one another, an entrypoint of the functional API starts.
Source: langgraph 1.2 (``pregel/_algo.py``, ``func/``), langgraph-supervisor 0.0.31.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.reading.values import decode_leniently

_MODELS = "agent"
"""The node that calls the model in ``create_react_agent``'s graphs; ``create_agent`` names its agents outright."""

_START = "__start__"


def agent_in(node: str | None, namespace: str | None) -> str | None:
    """The node as which a prebuilt agent was put into another graph, of a run in the node that calls its model."""
    path = (namespace or "").split("|")
    if node != _MODELS or len(path) < 2 or not path[-1].startswith(f"{_MODELS}:"):
        return None
    return path[-2].partition(":")[0] or None


def entrypoint_in(name: str | None, node: str | None, triggers: Any) -> str | None:
    """The function that ``@entrypoint`` decorates, of the run named ``name`` that calls it.

    Of the functional API nothing else tells what the agent is called: the graph around it is always ``LangGraph``. In a
    graph that has nodes only ``__start__`` itself starts so.
    """
    return node if name == node != _START and decode_leniently(triggers) in ([_START], (_START,)) else None
