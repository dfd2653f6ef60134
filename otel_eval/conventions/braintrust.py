"""Braintrust's SDKs: ``braintrust.span_attributes`` (JSON with a ``type``), ``braintrust.input_json`` and ``.output_json``.

The SDKs for Go, Ruby, Java and .NET write spans of OpenTelemetry's; the one for Python exports other instrumentations'
spans, to which programs add ``braintrust.input``, ``braintrust.output`` and the like. ``braintrust.parent`` and
``braintrust.context_json`` stand on every span that a Braintrust processor has seen and say nothing of an agent.
Inputs and outputs of models are in the shape of OpenAI's chat completions (an array of choices), or the provider's own.
Source: braintrust-spec's instrumentation guide; the SDKs' integrations for RubyLLM, Eino, Google ADK for Go, and
Microsoft's Agent Framework.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import NO_USAGE, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.observed import Observed, facts_of, failure_in
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text
from otel_eval.interaction import Usage
from otel_eval.signals import Span

SETTING = "captureMessageContent: true, captureToolArguments: true"
"""Of the SDK for .NET; the others always capture."""

KINDS: dict[str, Kind] = {
    "llm": Kind.MODEL,
    "tool": Kind.TOOL,
    "function": Kind.TOOL,
    "function_call": Kind.TOOL,  # .NET
    "agent": Kind.AGENT,  # .NET
    "task": Kind.WORKFLOW,
    "automation": Kind.WORKFLOW,
    "score": Kind.EVALUATOR,
    "classifier": Kind.EVALUATOR,
}
"""All else (the ``eval`` around a ``task`` and its ``score``, ``preprocessor``, ``review``) is no agent's work."""

_CONTENT = ("braintrust.input_json", "braintrust.input", "braintrust.output_json", "braintrust.output")
_OTHERS = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind")
_MODELS = ("gen_ai.response.model", "gen_ai.request.model")
_ADK_AGENT = "agent_run ["
_ADK_MODEL = "call_llm"
_PREFIXES = ("function:", "ruby_llm.tool.", "agent:")


def read(span: Span) -> Facts | None:
    """What the span says in ``braintrust.*``, and in the ``adk.agent.*`` of Braintrust's callbacks for Google ADK."""
    attributes = span.attributes
    told = _object(attributes, "braintrust.span_attributes")
    metadata = _object(attributes, "braintrust.metadata")
    kind = _kind_of(span, text(told.get("type")), metadata)
    if kind is None:
        return None
    content = Content.of(span)
    taken = content.value("input", "braintrust.input_json", "braintrust.input", twice=False)
    given = content.value("output", "braintrust.output_json", "braintrust.output", twice=False)
    agent = first_text(attributes, ("gen_ai.agent.name", "adk.agent.name"))
    if kind is Kind.TOOL:
        taken, given = _arguments(taken), _result(given, text(told.get("type")))
    observed = Observed(
        kind=kind,
        name=_name_of(span, kind, told, agent),
        taken=taken,
        given=given,
        given_raw=text(attributes.get("braintrust.output_json")),
        failure=failure_in(span, kind),
        setting=SETTING,
        model=text(metadata.get("model")) or first_text(attributes, _MODELS),
        usage=_usage(attributes),
        call_id=first_text(attributes, ("tool.call_id", "gen_ai.tool.call.id")),
        session=text(attributes.get("adk.agent.session_id"))
        or first_text(metadata, ("session_id", "thread_id", "conversation_id")),
        agent=agent,
    )
    return facts_of(observed, span, content)


def _object(attributes: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = decode_leniently(attributes.get(key))
    return value if is_object(value) else {}


def _kind_of(span: Span, kind: str | None, metadata: Mapping[str, Any]) -> Kind | None:
    """By the type; without one by what else is there, unless another convention says what the span is."""
    if kind is not None:
        return KINDS.get(kind, Kind.OTHER)
    if text(span.attributes.get("adk.agent.name")) is not None:
        if span.name.startswith(_ADK_AGENT):
            return Kind.AGENT
        return Kind.MODEL if span.name == _ADK_MODEL else None
    if any(key in span.attributes for key in _OTHERS) or not any(key in span.attributes for key in _CONTENT):
        return None
    model = text(metadata.get("model")) or first_text(span.attributes, _MODELS)
    return Kind.WORKFLOW if model is None else Kind.MODEL  # a program's own span; RubyLLM


def _name_of(span: Span, kind: Kind, told: Mapping[str, Any], agent: str | None) -> str | None:
    if kind is Kind.AGENT and agent is not None:
        return agent
    if kind is Kind.TOOL and (name := first_text(span.attributes, ("tool.name", "function.name"))) is not None:
        return name
    name = text(told.get("name")) or span.name
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name or None


def _arguments(taken: Any) -> Any:
    """RubyLLM's tools: ``{"name", "arguments"}``."""
    if is_object(taken) and set(taken) == {"name", "arguments"}:
        return taken["arguments"]
    return taken


def _result(given: Any, kind: str | None) -> Any:
    """.NET wraps what a function gave: ``{"result"}``."""
    if kind == "function_call" and is_object(given) and set(given) == {"result"}:
        return given["result"]
    return given


_METRICS = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "prompt_cached_tokens": "cached_tokens",
    "prompt_cache_creation_tokens": "cache_creation_input_tokens",
    "completion_reasoning_tokens": "reasoning_tokens",
}
"""Braintrust's names of them, and those that providers have."""


def _usage(attributes: Mapping[str, Any]) -> Usage:
    """``braintrust.metrics`` in JSON, in .NET an attribute for each."""
    told = _object(attributes, "braintrust.metrics")
    found = {theirs: told.get(name, attributes.get(f"braintrust.metrics.{name}")) for name, theirs in _METRICS.items()}
    counts = {name: value for name, value in found.items() if value is not None}
    return counted(counts) if counts else NO_USAGE


CONVENTION = Convention(name="braintrust", read=read, prefixes=("braintrust.", "adk.agent."))
