"""Counts over an Interaction and those nested in it: each tool call, model call and token once."""

from __future__ import annotations

from collections.abc import Sequence

from otel_eval.assemble.evidence import Evidence
from otel_eval.assemble.requested_calls import canonical
from otel_eval.frozen import completed
from otel_eval.interaction import Interaction, ModelCall, ToolCall, Totals, Usage


def with_totals(found: Sequence[tuple[Evidence, Interaction]]) -> tuple[Interaction, ...]:
    """The Interactions, each given the totals over itself and all below it."""
    below: dict[str, list[Interaction]] = {}
    for _, interaction in found:
        if interaction.parent_id is not None:
            below.setdefault(interaction.parent_id, []).append(interaction)
    return tuple(completed(interaction, totals=_totals(_family(interaction, below))) for _, interaction in found)


def _family(interaction: Interaction, below: dict[str, list[Interaction]]) -> list[Interaction]:
    family, waiting, seen = [], [interaction], set()
    while waiting:
        member = waiting.pop()
        if member.id in seen:
            continue
        seen.add(member.id)
        family.append(member)
        waiting.extend(below.get(member.id, ()))
    return family


def _totals(family: Sequence[Interaction]) -> Totals:
    if len(family) == 1:
        own = family[0]
        return Totals(
            tool_calls=None if own.gap("tool_calls") else len(own.tool_calls),
            model_calls=len(own.model_calls) or None,
            usage=own.usage,
        )
    calls: dict[object, ModelCall] = {}
    usage, uncounted = Usage(), Usage()
    for member in family:
        for call in member.model_calls:
            calls[(member.trace_id, call.span_id)] = call
        if not member.model_calls:
            uncounted += member.usage
    for call in calls.values():
        usage += call.usage
    if usage == Usage() and not uncounted.total_tokens:
        usage = max((member.usage for member in family), key=lambda own: own.total_tokens or 0)
    elif usage == Usage():
        usage = (
            family[0].usage if family[0].usage != Usage() else uncounted
        )  # an agent's own sum includes what is below
    return Totals(
        tool_calls=None if any(member.gap("tool_calls") for member in family) else len(_tools(family)),
        model_calls=len(calls) if calls else None,
        usage=usage,
    )


def _tools(family: Sequence[Interaction]) -> set[object]:
    """What tells the calls apart: their spans. One that is known from messages alone is another's that has a span, or is told
    of twice, where both have the same id and arguments: an outer agent may be shown what an inner one called.
    """
    found: set[object] = set()
    spanned: set[object] = set()
    for member in family:
        for tool in member.tool_calls:
            if tool.span_id is not None:
                found.add((member.trace_id, tool.span_id))
                spanned.add(_asked(tool))
    for member in family:
        for index, tool in enumerate(member.tool_calls):
            if tool.span_id is None and (tool.call_id is None or _asked(tool) not in spanned):
                found.add((member.id, index) if tool.call_id is None else _asked(tool))
    return found


def _asked(tool: ToolCall) -> tuple[str | None, str, str]:
    return tool.call_id, tool.name, canonical(tool.arguments)
