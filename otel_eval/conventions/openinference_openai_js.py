"""The OpenAI SDK for JavaScript under OpenInference: calls that a stream asked for side by side are run together into one.

``getToolAndFunctionCallAttributesFromStreamChunk`` gives each piece the index that it has in its own chunk, which is 0:
ids, names and arguments of all calls follow one another without anything between them. Whole objects tell how many
arguments there are; the tools that were offered, which names; OpenAI's ids are all of one length.
Source: @arizeai/openinference-instrumentation-openai 4.2.7.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from otel_eval.conventions.reading.values import decode_leniently, is_object
from otel_eval.frozen import changed
from otel_eval.interaction import Message, Part, ToolCallPart
from otel_eval.signals import Span

_SCOPE = "@arizeai/openinference-instrumentation-openai"
_DECODER = json.JSONDecoder()


def apart(span: Span, messages: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """The messages with such calls apart, where what was offered tells them apart in one way."""
    if messages is None or span.scope.name != _SCOPE:
        return messages
    calls = [part for message in messages for part in message.parts if isinstance(part, ToolCallPart)]
    if len(calls) != 1 or not isinstance(calls[0].arguments, str) or len(found := _objects(calls[0].arguments)) < 2:
        return messages
    names = _names(calls[0].name, len(found), _offered(span))
    if names is None:
        return messages
    ids = _ids(calls[0].call_id, len(found))
    pieces = [
        ToolCallPart(name=name, arguments=arguments, call_id=call_id)
        for name, arguments, call_id in zip(names, found, ids, strict=True)
    ]
    return tuple(changed(message, parts=tuple(_replaced(message.parts, calls[0], pieces))) for message in messages)


def _replaced(parts: Iterable[Part], call: ToolCallPart, pieces: Sequence[ToolCallPart]) -> Iterable[Part]:
    for part in parts:
        if part is call:
            yield from pieces
        else:
            yield part


def _objects(raw: str) -> list[Any]:
    """The objects of which the text is made up; none where it is anything else."""
    found: list[Any] = []
    at = 0
    while at < len(raw):
        try:
            value, at = _DECODER.raw_decode(raw, at)
        except ValueError:
            return []
        if not is_object(value):
            return []
        found.append(value)
    return found


def _offered(span: Span) -> set[str]:
    parameters = decode_leniently(span.attributes.get("llm.invocation_parameters"))
    tools = parameters.get("tools") if is_object(parameters) else None
    functions = [tool.get("function") for tool in tools if is_object(tool)] if isinstance(tools, list) else []
    return {str(function.get("name")) for function in functions if is_object(function)}


def _names(run_together: str, count: int, offered: set[str]) -> list[str] | None:
    """That many names of tools offered which make up the text; None where none do, or others as well."""
    ways: list[tuple[list[str], str]] = [([], run_together)]
    for _ in range(count):
        ways = [
            ([*names, name], rest[len(name) :])
            for names, rest in ways
            for name in sorted(offered)
            if rest.startswith(name)
        ][:_WAYS]
    whole = [names for names, rest in ways if not rest]
    return whole[0] if len(whole) == 1 else None


_WAYS = 64


def _ids(run_together: str | None, count: int) -> list[str | None]:
    if run_together is None or len(run_together) % count:
        return [None] * count
    length = len(run_together) // count
    found = [run_together[at : at + length] for at in range(0, len(run_together), length)]
    start = found[0].partition("_")[0]
    return [*found] if all(call_id.startswith(start) for call_id in found) else [None] * count
