"""Calls of tools that a stream asked for side by side, run together into one by instrumentations of JavaScript's clients.

They join the pieces of all calls: arguments follow one another without anything between them, and so do names and ids under
OpenInference and LangSmith; Langfuse keeps the last name. Whole objects tell how many calls there are; the tools that were
offered, which. OpenAI's ids are all of one length.
Source: @arizeai/openinference-instrumentation-openai 4.2.7, langsmith 0.12.0, @langfuse/openai 5.11.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from otel_eval.conventions.reading.values import is_object
from otel_eval.frozen import changed
from otel_eval.interaction import Message, Part, ToolCallPart

_DECODER = json.JSONDecoder()
_WAYS = 64


def apart(messages: tuple[Message, ...] | None, tools: Any) -> tuple[Message, ...] | None:
    """The messages with such calls apart, where ``tools``, as OpenAI is offered them, tell them apart in one way."""
    calls = [part for message in messages or () for part in message.parts if isinstance(part, ToolCallPart)]
    if messages is None or len(calls) != 1 or not isinstance(calls[0].arguments, str):
        return messages
    found, offered = _objects(calls[0].arguments), _offered(tools)
    if len(found) < 2:
        return messages
    joined = _names(calls[0].name, len(found), offered)
    names = joined or _fitting(calls[0].name, found, offered)
    if names is None:
        return messages
    ids = _ids(calls[0].call_id, len(found))
    if joined and _is_one(calls[0].call_id):
        ids[0] = calls[0].call_id  # LangSmith keeps the first's
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


def _offered(tools: Any) -> dict[str, Mapping[str, Any]]:
    """The schemas of what was offered, by name."""
    functions = [tool.get("function", tool) for tool in tools if is_object(tool)] if isinstance(tools, list) else []
    named = [function for function in functions if is_object(function) and isinstance(function.get("name"), str)]
    return {function["name"]: schema if is_object(schema := function.get("parameters")) else {} for function in named}


def _names(run_together: str, count: int, offered: Iterable[str]) -> list[str] | None:
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


def _fitting(last: str, arguments: Sequence[Any], offered: Mapping[str, Mapping[str, Any]]) -> list[str] | None:
    """The names where the last alone is told: of the only tool, or of those that alone take such arguments."""
    if last not in offered:
        return None
    fitting = [[name for name in offered if _takes(offered[name], given)] for given in arguments[:-1]]
    if len(offered) == 1:
        fitting = [[last] for _ in fitting]
    return [*(names[0] for names in fitting), last] if all(len(names) == 1 for names in fitting) else None


def _takes(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    taken, required = schema.get("properties"), schema.get("required")
    return (
        is_object(taken)
        and arguments.keys() <= taken.keys()
        and all(name in arguments for name in (required if isinstance(required, list) else ()))
    )


def _is_one(call_id: str | None) -> bool:
    """Whether it is the id of one call: what ids begin with, up to the first ``_``, is in there once."""
    start, joint, _ = (call_id or "").partition("_")
    return bool(start and joint) and (call_id or "").count(start + joint) == 1


def _ids(run_together: str | None, count: int) -> list[str | None]:
    if run_together is None or len(run_together) % count:
        return [None] * count
    length = len(run_together) // count
    found = [run_together[at : at + length] for at in range(0, len(run_together), length)]
    start = found[0].partition("_")[0]
    return [*found] if all(call_id.startswith(start) for call_id in found) else [None] * count
