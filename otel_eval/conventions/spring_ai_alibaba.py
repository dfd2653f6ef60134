"""Spring AI Alibaba's graphs: ``spring.ai.alibaba.graph.name`` on a run, ``spring.ai.alibaba.graph.node.name`` on its nodes.

A ``ReactAgent`` is such a graph, without its name; its nodes ask the model through Spring AI's chat client and call tools
themselves, without a span. ``gen_ai.prompt`` and ``gen_ai.completion`` are the graph's state before and after, as Java
writes objects, nothing escaped: ``input=…; messages=[UserMessage{content='…', metadata={…}, messageType=USER}, …]; ``, each
value cut after a thousand characters.
Source: spring-ai-alibaba-graph-core 1.1.2.2, ``GraphObservationLifecycleListener``, which a program installs to have spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.values import Undecodable, decode, plain
from otel_eval.interaction import GapKind, JsonValue, Message, Part, TextPart, ToolCallPart, ToolResultPart
from otel_eval.signals import Span

_GRAPH, _NODE, _EDGE = (f"spring.ai.alibaba.graph.{part}" for part in ("name", "node.name", "edge.name"))
_CUT = "... (truncated)"
_START = "messages=["
_INPUT = re.compile(r"(?:^|; )input=(.*?); (?:messages=\[|$)", re.S)
"""What a ``ReactAgent`` was called with, beside the messages."""

_MESSAGE = re.compile(
    r"UserMessage\{content='(?P<user>.*?)', metadata=\{.*?\}, messageType=USER\}"
    r"|SystemMessage\{textContent='(?P<system>.*?)', messageType=SYSTEM, metadata="
    r"|AssistantMessage \[messageType=ASSISTANT, toolCalls=\[(?P<calls>.*?)\], textContent=(?P<said>.*?), metadata=\{"
    r"|ToolResponseMessage\{responses=\[(?P<results>.*?)\], messageType=TOOL, metadata=",
    re.S,
)
_CALL = re.compile(
    r"ToolCall\[id=(.*?), type=.*?, name=(.*?), arguments=(.*?)\](?=, ToolCall\[id=|$)",
    re.S,
)
_RESULT = re.compile(
    r"ToolResponse\[id=(.*?), name=(.*?), responseData=(.*?)\](?=, ToolResponse\[id=|$)",
    re.S,
)


def read(span: Span) -> Facts | None:
    """A run with its messages; nodes and edges as steps, whose states say nothing more."""
    attributes = span.attributes
    if _NODE in attributes or _EDGE in attributes:
        return Facts(kind=Kind.STEP, input=(), output=())
    if _GRAPH not in attributes:
        return None
    content = Content.of(span)
    before, after = _state(attributes, "gen_ai.prompt"), _state(attributes, "gen_ai.completion")
    told, all_told = _messages(before), _messages(after)
    whole = _CUT not in before  # else what was asked is what was cut
    if not whole or _CUT in after:
        content.mark("output", GapKind.TRUNCATED)
    asked = _INPUT.search(before)
    return Facts(
        kind=Kind.WORKFLOW,
        input=told if whole else (),
        asked=None if asked is None or _CUT in asked[1] else asked[1] or None,
        output=all_told[len(told) :] if whole else (),
        failure=failure_of(span),
        marks=content.marks,
    )


def _state(attributes: Mapping[str, Any], key: str) -> str:
    state = attributes.get(key)
    return state if isinstance(state, str) else ""


def _messages(state: str) -> tuple[Message, ...]:
    """The messages in a state, as far as they were written."""
    _, start, written = state.partition(_START)
    return tuple(_message(found) for found in _MESSAGE.finditer(written)) if start else ()


def _message(found: re.Match[str]) -> Message:
    if (asked := found["user"]) is not None:
        return Message(role="user", parts=(TextPart(text=asked),))
    if (told := found["system"]) is not None:
        return Message(role="system", parts=(TextPart(text=told),))
    if (results := found["results"]) is not None:
        return Message(role="tool", parts=tuple(_results(results)))
    said = found["said"]
    text: tuple[Part, ...] = () if said in ("null", "") else (TextPart(text=said),)
    return Message(role="assistant", parts=(*text, *_calls(found["calls"])))


def _calls(written: str) -> Iterator[Part]:
    for call_id, name, arguments in _CALL.findall(written):
        yield ToolCallPart(call_id=call_id or None, name=name, arguments=_value(arguments))


def _results(written: str) -> Iterator[Part]:
    for call_id, name, result in _RESULT.findall(written):
        yield ToolResultPart(call_id=call_id or None, name=name, result=_value(result))


def _value(written: str) -> JsonValue:
    try:
        return plain(decode(written))
    except Undecodable:
        return written


CONVENTION = Convention(name="spring-ai-alibaba", read=read, prefixes=("spring.ai.alibaba.",))
