"""MLflow's tracing over OTLP: ``mlflow.spanType``, ``mlflow.spanInputs`` and ``mlflow.spanOutputs``, every value in JSON.

With ``MLFLOW_ENABLE_OTEL_GENAI_SEMCONV`` it writes the semantic conventions instead, with its own types as operations where
they have no name for one, and an agent's messages only where it can convert them: the model's calls have them.
Source: mlflow 3.17.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.langgraph import agent_in, entrypoint_in
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import decode_leniently, is_object, text
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {
    "AGENT": Kind.AGENT,
    "CHAIN": Kind.WORKFLOW,
    "WORKFLOW": Kind.WORKFLOW,
    "TASK": Kind.WORKFLOW,
    "UNKNOWN": Kind.WORKFLOW,  # a traced function
    "LLM": Kind.MODEL,
    "CHAT_MODEL": Kind.MODEL,
    "TOOL": Kind.TOOL,
    "EVALUATOR": Kind.EVALUATOR,
}
"""All else (retrievers, embeddings, parsers, memory, guardrails) is no agent's work."""

_SCOPE = "mlflow."
_NAMELESS = ("SimpleTool.__call__",)
"""smolagents' decorated functions, all of one class; what they are called stands nowhere."""
_FINAL = "FinalAnswerTool.__call__"
"""smolagents' tool that gives the reply."""


def read(span: Span) -> Facts | None:
    """What the span says; None without a type of MLflow's."""
    attributes = span.attributes
    kind_name = _text(attributes, "mlflow.spanType")
    if kind_name is None or kind_name == "null":  # of another instrumentation's span: OpenInference's for Agno
        return _as_operation(span)
    kind = KINDS.get(kind_name, Kind.OTHER)
    metadata = decode_leniently(attributes.get("metadata"))  # LangChain's
    known = metadata if is_object(metadata) else {}
    if kind is Kind.WORKFLOW and known.get("langgraph_node") == span.name:
        kind = Kind.STEP
    elif kind is Kind.WORKFLOW and known.get("lc_agent_name") == span.name:
        kind = Kind.AGENT
    if span.name == _FINAL:
        return Facts(kind=Kind.OTHER)
    content = Content.of(span)
    name: str | None = span.name or None
    if kind is Kind.AGENT:
        name = _text(attributes, "name") or name  # pydantic-ai's and smolagents' agents have their fields as attributes
    elif name in _NAMELESS:
        name = None
    observed = Observed(
        kind=kind,
        name=name,
        taken=_taken(content.value("input", "mlflow.spanInputs", twice=False)),
        given=_given(content.value("output", "mlflow.spanOutputs", twice=False)),
        failure=failure_in(span, kind),
        model=_text(attributes, "mlflow.llm.model") or _text(attributes, "model"),
        usage=counted(decode_leniently(attributes.get("mlflow.chat.tokenUsage"))),
        session=_text(attributes, "session.id"),
        call_id=_text(attributes, "tool_call_id"),
        agent=text(known.get("lc_agent_name"))
        or (_asking(span.name, known) if kind in (Kind.MODEL, Kind.STEP) else None),
    )
    return facts_of(observed, span, content)


def _asking(name: str, metadata: Mapping[str, Any]) -> str | None:
    node = text(metadata.get("langgraph_node"))
    way = text(metadata.get("langgraph_checkpoint_ns"))
    return agent_in(node, way) or entrypoint_in(name, node, metadata.get("langgraph_triggers"))


def _taken(value: Any) -> Any:
    """What a tool of smolagents' took, without how it was called."""
    if is_object(value) and "sanitize_inputs_outputs" in value and is_object(value.get("kwargs")):
        return value["kwargs"]
    return value


def _given(value: Any) -> Any:
    """Without the envelope of values that are no objects (smolagents)."""
    return value["_value"] if is_object(value) and set(value) == {"_value"} else value


def _as_operation(span: Span) -> Facts | None:
    """A type that the semantic conventions have no operation for, under its own name."""
    operation = text(span.attributes.get("gen_ai.operation.name"))
    if not span.scope.name.startswith(_SCOPE) or operation not in KINDS:
        return None
    return Facts(kind=KINDS[operation], failure=failure_of(span))  # the span is named after the operation, too


def _text(attributes: Mapping[str, Any], key: str) -> str | None:
    """A text that may be in quotes."""
    raw = attributes.get(key)
    return text(decode_leniently(raw)) if isinstance(raw, str) and raw[:1] == '"' else text(raw)


CONVENTION = Convention(name="mlflow", read=read, prefixes=("mlflow.",), scopes=(_SCOPE,))
