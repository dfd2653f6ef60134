"""Amazon Bedrock Agents under OpenInference: the trace that ``invoke_agent`` returns, as spans.

The service asks its model for ``<action group>__<function>`` and runs it; the call has a span of its own, by the function's
name, with the parameters as a list of ``{"name", "type", "value"}``. So what its model asked for is no call beside that one.
Source: openinference-instrumentation-bedrock 0.1.61 (``_trace_collector.py``, ``_attribute_extractor.py``); the API's
``OrchestrationTrace`` in botocore 1.44.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.values import decode_leniently, is_object, plain, text, unflatten
from otel_eval.interaction import JsonValue
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.bedrock"
_MODEL = "LLM"
"""The name of the span; a call of the model's API is named after its operation."""


def read(span: Span) -> Facts | None:
    """A call of an agent's model, and one of a function; the rest is OpenInference's."""
    if span.scope.name != _SCOPE:
        return None
    kind = span.attributes.get("openinference.span.kind")
    if kind == "LLM" and span.name == _MODEL:
        return Facts(kind=Kind.MODEL, pseudo_tools=tuple(dict.fromkeys(_asked(span))))
    if kind == "TOOL":
        return Facts(kind=Kind.TOOL, arguments=_parameters(span))
    return None


def _asked(span: Span) -> list[str]:
    messages = [item.get("message") for item in unflatten(span.attributes, "llm.output_messages.") if is_object(item)]
    calls = [call.get("tool_call") for said in messages if is_object(said) for call in said.get("tool_calls") or ()]
    functions = [call.get("function") for call in calls if is_object(call)]
    return [name for function in functions if is_object(function) and (name := text(function.get("name")))]


def _parameters(span: Span) -> JsonValue | Missing:
    raw = span.attributes.get("tool.parameters")
    told: Any = decode_leniently(raw)
    if not isinstance(told, list) or not told or not all(is_object(item) and "name" in item for item in told):
        return MISSING
    return plain({str(item["name"]): _value(item) for item in told})


def _value(parameter: dict[str, Any]) -> Any:
    """Every value is a text; its type says of what."""
    value = parameter.get("value")
    return value if parameter.get("type") == "string" else decode_leniently(value)


CONVENTION = Convention(name="openinference-bedrock", read=read, scopes=(_SCOPE,))
