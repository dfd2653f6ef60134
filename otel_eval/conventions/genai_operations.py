"""What a span of OpenTelemetry's GenAI conventions stands for: by the name of its operation, else by what it has.

Source: the values of ``gen_ai.operation.name`` in semantic conventions 1.26 to 1.41 and semantic-conventions-genai (2026), and
those that frameworks made up. Searches of memories and the like are steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from otel_eval.conventions import events
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.reading.values import text
from otel_eval.signals import Span

AGENT_SPAN = "invoke_agent "
"""So begins the name of an agent's span."""

OPERATIONS: dict[str, Kind] = {
    "invoke_agent": Kind.AGENT,
    **dict.fromkeys(("agent", "agent_run", "run_agent", "agent_invoke", "agent_invocation", "call_agent"), Kind.AGENT),
    "agent_call": Kind.AGENT,  # Gemini CLI
    "invoke_workflow": Kind.WORKFLOW,
    "invoke_swarm": Kind.WORKFLOW,  # Strands
    "invoke_graph": Kind.WORKFLOW,
    "execute_tool": Kind.TOOL,
    "tool_call": Kind.TOOL,
    "handoff": Kind.HANDOFF,
    "agent_handoff": Kind.HANDOFF,  # OpenAI Agents SDK, OpenTelemetry's own instrumentation of it
    **dict.fromkeys(
        (
            "chat",
            "chat_completion",
            "generate_content",
            "text_completion",
            "completion",
            "generate",
            "response",
            "llm_call",
            "call_llm",  # tRPC-Agent-Go until 0.3
            "llm_request",
            "chat.completions",  # Semantic Kernel for .NET until 1.20
            "text.completions",
            "acompletion",  # LiteLLM's call types, where its callback writes over a span of the program's
            "atext_completion",
            "responses",
            "aresponses",
            "anthropic_messages",
        ),
        Kind.MODEL,
    ),
    **dict.fromkeys(
        (
            "plan",
            "execute_task",
            "agent_step",
            "execute_event_loop_cycle",
            "invoke_node",
            "framework",
            "model_generation",
        ),
        Kind.STEP,
    ),
    **dict.fromkeys(("apply_guardrail", "run_guardrail", "guardrail"), Kind.CHECK),
    **dict.fromkeys(("evaluation", "experiment"), Kind.EVALUATOR),
    **dict.fromkeys(
        (
            "create_agent",
            "embeddings",
            "embedding",
            "aembedding",
            "retrieval",
            "vector_db_retrieve",
            "rerank",
            "arerank",
            "model_chunk",
            "moderation",
        ),
        Kind.OTHER,
    ),
}


def kind_of(span: Span) -> Kind | None:
    """By the operation's name, else by the attributes that only one kind of span has."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if attributes.get("gen_ai.tool.name") == "(merged tools)":
        return Kind.OTHER  # Google ADK's span around tools that ran side by side
    if attributes.get("ag2.span.type") == "usage":
        return Kind.OTHER  # AG2's record of tokens that the model's span beside it has counted
    if attributes.get("gen_ai.transfer.mode") == "pass_control":
        return Kind.HANDOFF
    if isinstance(operation, str) and operation:
        kind = OPERATIONS.get(operation) or _spelled(operation)
        if kind is Kind.MODEL and span.name.startswith(AGENT_SPAN):
            return Kind.AGENT  # an SDK's callback wrote its own call's attributes over the agent's span
        return kind or _of_custom(attributes)
    if f"{span.name} ".startswith(AGENT_SPAN) and text(attributes.get("gen_ai.agent.name")):
        return Kind.AGENT  # an operation that is not told, or empty
    if attributes.get("mcp.method.name") is not None:
        return Kind.TOOL if attributes["mcp.method.name"] == "tools/call" else Kind.OTHER
    if text(attributes.get("gen_ai.tool.name")) or text(attributes.get("gen_ai.tool.call.id")):
        return Kind.TOOL
    if _names_model(attributes):
        return Kind.MODEL
    if any(key.startswith(("gen_ai.prompt", "gen_ai.completion", "gen_ai.input.messages")) for key in attributes):
        return Kind.AGENT if text(attributes.get("gen_ai.agent.name")) else Kind.MODEL
    return Kind.MODEL if any(event.name in events.NAMES for event in span.events) else None


def _of_custom(attributes: Mapping[str, Any]) -> Kind:
    """The kind of an operation of a name of somebody's own, by what else is there: a tool's name, a model and messages.

    Custom values are allowed ("otherwise, a custom value MAY be used"), and people's own are many.
    """
    if text(attributes.get("gen_ai.tool.name")):
        return Kind.TOOL
    return Kind.MODEL if _names_model(attributes) and any(key in attributes for key in _MESSAGES) else Kind.STEP


_MESSAGES = ("gen_ai.input.messages", "gen_ai.output.messages")


def _names_model(attributes: Mapping[str, Any]) -> bool:
    return attributes.get("gen_ai.request.model") is not None or attributes.get("gen_ai.response.model") is not None


@lru_cache(maxsize=512)
def _spelled(operation: str) -> Kind | None:
    """As the operation's name is told with humps, capitals, dots or hyphens: ``invokeAgent``, ``Chat``, ``execute-tool``."""
    return _SPELLED.get(_plain(operation))


def _plain(operation: str) -> str:
    return _SEPARATOR.sub("_", _HUMP.sub("_", operation)).lower()


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATOR = re.compile(r"[\s./-]+")
_SPELLED = {_plain(name): kind for name, kind in OPERATIONS.items()}
