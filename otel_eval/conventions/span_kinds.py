"""Spans whose kind stands in ``gen_ai.span.kind``: Alibaba's ARMS and LoongSuite, Tencent's APM, Dify for both.

Source: Dify 1.4 to 1.9 (``api/core/ops/aliyun_trace``, ``tencent_trace``). Inputs and outputs stand in ``input.value`` and
``output.value``, or ``gen_ai.entity.input`` and ``.output``; messages in ``gen_ai.*`` are for ``genai.py``. Always on.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, tool_error_of
from otel_eval.conventions.reading.payloads import Payload, input_payload, output_payload
from otel_eval.conventions.reading.tool_payloads import tool_arguments, tool_outcome
from otel_eval.conventions.reading.values import containers, decode_leniently, first_text, is_object, text
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {
    "LLM": Kind.MODEL,
    "GENERATION": Kind.MODEL,
    "TOOL": Kind.TOOL,
    "AGENT": Kind.AGENT,
    "CHAIN": Kind.WORKFLOW,
    "WORKFLOW": Kind.WORKFLOW,
    "ENTRY": Kind.WORKFLOW,
    "TASK": Kind.STEP,
    "STEP": Kind.STEP,
    "RETRIEVER": Kind.OTHER,
    "RERANKER": Kind.OTHER,
    "EMBEDDING": Kind.OTHER,
}

_INPUTS = ("input.value", "gen_ai.entity.input")
_OUTPUTS = ("output.value", "gen_ai.entity.output")
_QUERIES = ("sys.query", "query")
"""Dify's names for what the user wrote."""


def read(span: Span) -> Facts | None:
    """What ``gen_ai.span.kind`` and the values beside it say; None without them."""
    attributes = span.attributes
    kind = KINDS.get(str(attributes.get("gen_ai.span.kind", "")).upper())
    if kind is None or kind is Kind.OTHER:
        return None if kind is None else Facts(kind=kind)
    content = Content.of(span)
    session = first_text(attributes, ("gen_ai.conversation.id", "gen_ai.session.id"))
    if kind is Kind.TOOL and span.name.startswith("handoff to ") and span.scope.name.endswith("openai_agents"):
        return Facts(kind=Kind.HANDOFF)  # TraceAI, after OpenInference
    if kind is Kind.TOOL:
        return _tool(span, content, session)
    if kind is Kind.MODEL:
        return Facts(
            kind=kind,
            session=session,
            model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model", "gen_ai.model_name")),
            failure=failure_of(span),
        )
    if "langgraph_node" in attributes and kind in (Kind.AGENT, Kind.WORKFLOW):
        kind = _of_graph(span, kind)
    taken, given = _taken(_raw(content, "input", _INPUTS)), _given(_raw(content, "output", _OUTPUTS))
    name = first_text(attributes, ("gen_ai.agent.name", "agent.name"))
    return Facts(
        kind=kind,
        agent=name,
        weak_agent=span.name if kind is Kind.AGENT else None,
        session=session,
        input=taken.messages,
        asked=taken.text,
        output=given.messages,
        reply=given.text,
        failure=failure_of(span),
        marks=content.marks,
    )


def _of_graph(span: Span, kind: Kind) -> Kind:
    """A node of LangGraph's under TraceAI, or what ran in one: no agent, unless the node is named like one.

    The node that calls the model is named ``agent`` in LangGraph's prebuilt agents and in most graphs made by hand.
    """
    node = span.attributes.get("langgraph_node")
    return kind if kind is Kind.AGENT and span.name == node and node != "agent" else Kind.STEP


def _raw(content: Content, field: str, keys: tuple[str, ...]) -> Any:
    for key in keys:
        raw = content.attributes.get(key)
        if raw is not None and raw != "" and not content.hidden(field, raw):
            return None if content.cut(field, raw) and field in ("input", "output") else raw
    return None


def _taken(raw: Any) -> Payload:
    value = containers(raw)
    if is_object(value):
        for key in _QUERIES:
            if (found := text(value.get(key))) is not None:
                return Payload(text=found)
    return Payload() if raw is None else input_payload(raw)


def _given(raw: Any) -> Payload:
    return Payload() if raw is None else output_payload(raw, structured=False)


def _tool(span: Span, content: Content, session: str | None) -> Facts:
    attributes = span.attributes
    given = _raw(content, "arguments", ("gen_ai.tool.call.arguments", *_INPUTS, "tool.parameters"))
    gave = _raw(content, "result", ("gen_ai.tool.call.result", *_OUTPUTS))
    outcome = None if gave is None else tool_outcome(decode_leniently(gave))
    return Facts(
        kind=Kind.TOOL,
        session=session,
        tool=first_text(attributes, ("gen_ai.tool.name", "tool.name")) or span.name or None,
        arguments=MISSING if given is None else tool_arguments(given),
        result=MISSING if outcome is None else outcome.result,
        error=tool_error_of(span) or (outcome.error if outcome is not None else None),
        call_id=text(attributes.get("gen_ai.tool.call.id")),
        marks=content.marks,
    )


CONVENTION = Convention(name="gen-ai-span-kind", read=read, prefixes=("gen_ai.span.kind",))
