"""Counts over an Interaction and those nested in it: each tool call, model call and token once."""

from __future__ import annotations

from collections.abc import Sequence

from otel_eval.assemble.interactions import Evidence
from otel_eval.frozen import changed
from otel_eval.interaction import Interaction, ModelCall, Totals, Usage


def with_totals(found: Sequence[tuple[Evidence, Interaction]]) -> tuple[Interaction, ...]:
    """The Interactions, each with the totals over itself and all below it."""
    below: dict[str, list[Interaction]] = {}
    for _, interaction in found:
        if interaction.parent_id is not None:
            below.setdefault(interaction.parent_id, []).append(interaction)
    return tuple(changed(interaction, totals=_totals(_family(interaction, below))) for _, interaction in found)


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
    calls: dict[object, ModelCall] = {}
    tools: set[object] = set()
    usage, uncounted = Usage(), Usage()
    for member in family:
        for call in member.model_calls:
            calls[(member.trace_id, call.span_id)] = call
        if not member.model_calls:
            uncounted += member.usage
        for index, tool in enumerate(member.tool_calls):
            tools.add((member.trace_id, tool.span_id) if tool.span_id else (member.id, tool.call_id or index))
    for call in calls.values():
        usage += call.usage
    if usage == Usage() and not uncounted.total_tokens:
        usage = max((member.usage for member in family), key=lambda own: own.total_tokens or 0)
    elif usage == Usage():
        usage = (
            family[0].usage if family[0].usage != Usage() else uncounted
        )  # an agent's own sum includes what is below
    return Totals(
        tool_calls=None if any(member.gap("tool_calls") for member in family) else len(tools),
        model_calls=len(calls) if calls else None,
        usage=usage,
    )
