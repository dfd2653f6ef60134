"""The rule of partial evidence, in one place: it decides only what more evidence could not overturn.

Where the field read is missing, truncated or redacted,

* a *forbidding* check may fail (found) but never pass;
* a *requiring* check may pass (found) but never fail;
* a *limit* may fail (exceeded already) but never pass;
* a check of the *whole value* is inconclusive.

``lacking`` everywhere is the outcome to give when a field is not whole and what is there does not decide; None means that
the field is whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from otel_eval.interaction import Gap, GapKind, Interaction, ToolCall
from otel_eval.outcome import Cause, Failed, Inconclusive, Passed

Decided = Passed | Failed | Inconclusive

_CAUSES = {
    GapKind.NOT_CAPTURED: Cause.NOT_CAPTURED,
    GapKind.REDACTED: Cause.REDACTED,
    GapKind.TRUNCATED: Cause.TRUNCATED,
    GapKind.DROPPED: Cause.DROPPED,
    GapKind.INCOMPLETE: Cause.INCOMPLETE,
}
_WORDS = {
    GapKind.NOT_CAPTURED: "not captured",
    GapKind.REDACTED: "redacted",
    GapKind.TRUNCATED: "truncated",
    GapKind.DROPPED: "dropped by the SDK",
    GapKind.INCOMPLETE: "incomplete: the span that carries it never arrived",
}
_NAMES = {"tool_calls": "tool calls", "model_calls": "model calls", "started_ns": "start", "ended_ns": "end"}
_OF_CALL = re.compile(r"tool_calls\[(?P<index>\d+)\]\.(?P<field>\w+)")

AGENT_SPAN_MISSING = Inconclusive(reason="the agent span never came, or has not ended", cause=Cause.INCOMPLETE)


def forbidding(found: str | None, clear: str, lacking: Inconclusive | None) -> Decided:
    """Failed where the forbidden was found, passed where it was not and the field is whole. A limit decides likewise."""
    if found is not None:
        return Failed(found)
    return Passed(clear) if lacking is None else _beside(clear, lacking)


def requiring(found: str | None, absent: str, lacking: Inconclusive | None) -> Decided:
    """Passed where the required was found, failed where it was not and the field is whole."""
    if found is not None:
        return Passed(found)
    return Failed(absent) if lacking is None else _beside(absent, lacking)


def lacking_of(interaction: Interaction, *fields: str) -> Inconclusive | None:
    """Why these fields of the Interaction are not known to be whole; None where all are."""
    if interaction.gaps:
        for field in fields:
            gap = interaction.gap(field)
            if gap is not None:
                return from_gap(gap, name_of(gap, interaction))
    return None if interaction.complete else AGENT_SPAN_MISSING


def lacking_of_call(interaction: Interaction, index: int, field: str) -> Inconclusive | None:
    """Why ``arguments``, ``result`` or ``error`` of the tool call at that place is not whole; None where it is."""
    gap = interaction.gap(f"tool_calls[{index}].{field}")
    return None if gap is None else from_gap(gap, name_of(gap, interaction))


def calls_of(interaction: Interaction, tool: str) -> Iterator[tuple[int, ToolCall]]:
    """The calls of that tool in order, each with its place among all calls."""
    return ((index, call) for index, call in enumerate(interaction.tool_calls) if call.name == tool)


def never_called(interaction: Interaction, tool: str) -> Inconclusive:
    """What depends on a tool that no call is known of: reported by ``tools`` where that is sure, else for want of
    evidence."""
    lacking = lacking_of(interaction, "tool_calls")
    return lacking or Inconclusive(reason=f"{tool} was never called", cause=Cause.DEPENDS_ON_OTHER_CHECK)


def from_gap(gap: Gap, name: str) -> Inconclusive:
    """The outcome that a gap explains, with the setting that would close it."""
    return Inconclusive(f"{name} {_WORDS[gap.kind]}{to_capture(gap)}", cause_of(gap))


def name_of(gap: Gap, interaction: Interaction) -> str:
    """What reasons call the field of one of the Interaction's gaps: ``tool calls``, ``result of get_order``."""
    of_call = _OF_CALL.fullmatch(gap.field)
    if of_call is None:
        return _NAMES.get(gap.field, gap.field)
    return f"{of_call['field']} of {interaction.tool_calls[int(of_call['index'])].name}"


def to_capture(gap: Gap | None) -> str:
    """The end of a reason: the setting that would close the gap; nothing where none is known."""
    return f"; to capture it: {gap.setting}" if gap is not None and gap.setting else ""


def cause_of(gap: Gap | None) -> Cause:
    """Why there is no verdict on a field with that gap; with none, there is nothing in it."""
    return Cause.NOTHING_TO_JUDGE if gap is None else _CAUSES[gap.kind]


def _beside(detail: str, lacking: Inconclusive) -> Inconclusive:
    return Inconclusive(reason=f"{lacking.reason} (as far as it was captured: {detail})", cause=lacking.cause)
