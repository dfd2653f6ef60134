"""Haystack under OpenInference: an agent is a component among others, and its messages are reprs.

Source: openinference-instrumentation-haystack 0.1.46 with haystack-ai 2.0 to 3.4. ``Pipeline.run`` and every component that
is no generator are CHAINs, an ``Agent`` too; a prompt builder is an LLM. Only pipelines are seen: an agent that runs by
itself leaves no span. ``input.value`` is JSON whose messages are texts like ``ChatMessage(_role=<ChatRole.USER: 'user'>,
_content=[TextContent(text='hi')], …)``: what the tools took and gave stands in the agent's output and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.haystack import chat, component_inputs
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.reprs import CutRepr, items_in, objects_in, value_in
from otel_eval.conventions.reading.values import is_object
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.haystack"
_ROLE = re.compile(r"<ChatRole\.\w+: '(\w+)'>")


_FAILED = re.compile(r"Component name: '(.+)'\nComponent type: '\w*Agent'\n")
"""What a pipeline's failure says of the component that failed, if it is an agent."""


def read(span: Span) -> Facts | None:
    """An agent's or a pipeline's conversation; the rest is for OpenInference's convention."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    component = span.name.partition(".")[0]
    if span.attributes.get("openinference.span.kind") == "CHAIN":
        if component.endswith("Agent"):
            return _agent(span)
        return _pipeline(span) if component.endswith("Pipeline") else Facts(kind=Kind.STEP)
    return Facts(kind=Kind.STEP) if component.endswith("PromptBuilder") else None


def _agent(span: Span) -> Facts:
    content = Content.of(span)
    taken = spelled_out(content.value("input", "input.value"))
    given = spelled_out(content.value("output", "output.value"))
    return Facts(
        kind=Kind.AGENT,
        weak_agent="",  # the span has the name of a class
        input=chat(taken.get("messages")) if is_object(taken) else None,
        output=chat(given.get("messages")) if is_object(given) else None,
        marks=content.marks,
    )


def _pipeline(span: Span) -> Facts:
    """Names of components are keys; the one with a last message is an agent."""
    content = Content.of(span)
    taken = spelled_out(content.value("input", "input.value"))
    given = content.value("output", "output.value")
    inputs = component_inputs(taken.get("data") if is_object(taken) else None)
    agents = [name for name, value in given.items() if _is_agents(value)] if is_object(given) else []
    if (failed := _FAILED.search(span.status_message)) is not None:
        agents.append(failed[1])
    return Facts(
        kind=Kind.WORKFLOW,
        weak_agent=agents[0] if len(agents) == 1 else None,
        input=inputs.messages,
        asked=inputs.text,
        marks=content.marks,
    )


def _is_agents(value: Any) -> bool:
    return is_object(value) and "last_message" in value


def spelled_out(value: Any) -> Any:
    """The same with ``ChatMessage.to_dict`` in place of the reprs of messages."""
    if isinstance(value, list):
        return [spelled_out(item) for item in value]
    if is_object(value):
        return {key: spelled_out(item) for key, item in value.items()}
    if isinstance(value, str) and value.startswith("ChatMessage("):
        return _message(value)
    return value


def _message(written: str) -> Any:
    try:
        [fields] = objects_in(written, "ChatMessage") or [{}]
        role = _ROLE.match(fields.get("_role", fields.get("role", "")))
        content = fields.get("_content", fields.get("content", ""))
        if role is None:
            return written
        parts = [_part(item) for item in items_in(content)] if content[:1] == "[" else value_in(content)
    except CutRepr:
        return written
    return {"role": role[1], "content": parts}


def _part(written: str) -> Any:
    for name, read_fields in _PARTS.items():
        for fields in objects_in(written, name):
            return read_fields(fields)
    return {}


def _text(fields: Mapping[str, str]) -> Any:
    return {"text": value_in(fields.get("text", ""))}


def _call(fields: Mapping[str, str]) -> Any:
    return {"tool_call": {key: value_in(fields.get(key, "None")) for key in ("tool_name", "arguments", "id")}}


def _result(fields: Mapping[str, str]) -> Any:
    origin = _part(fields.get("origin", ""))
    told = {key: value_in(fields.get(key, "None")) for key in ("result", "error")}
    return {"tool_call_result": {**told, "origin": origin.get("tool_call")}}


def _reasoning(fields: Mapping[str, str]) -> Any:
    return {"reasoning": {"reasoning_text": value_in(fields.get("reasoning_text", "None"))}}


_PARTS = {"TextContent": _text, "ToolCall": _call, "ToolCallResult": _result, "ReasoningContent": _reasoning}


CONVENTION = Convention(name="haystack-openinference", read=read, scopes=(_SCOPE,))
