"""Whether the telemetry tells of every tool call: where spans, requests or results of some are not there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, zip_longest

from otel_eval.assemble.evidence import Evidence
from otel_eval.assemble.transcript import turn_of
from otel_eval.conventions.facts import TOOL_CALLS, Kind
from otel_eval.conventions.reading.messages import asked_for, calls_in, results_in
from otel_eval.conventions.reading.reasons import all_ask_for_tools
from otel_eval.interaction import Interaction, Message


def tells_tools(interaction: Interaction, evidence: Evidence) -> bool:
    """Whether the telemetry would show a tool call if there were one: by spans of tools, or in what the model answered."""
    if evidence.tools:
        return True
    if loses_requests(evidence):
        return False
    if interaction.tool_calls:
        return True
    if stopped_for_tools(evidence):
        return False
    if any(mark.field == TOOL_CALLS for facts in evidence.frame_facts() for mark in facts.marks):
        return False
    if any(facts.output is not None for facts in evidence.frame_facts()):
        return True
    if interaction.failure is not None and not evidence.calls:
        return any(facts.input for facts in evidence.frame_facts())
    answered = [call for call in evidence.calls if call.facts.failure is None]
    return bool(evidence.calls) and all(call.output or call.facts.output is not None for call in answered)


def loses_requests(evidence: Evidence) -> bool:
    """Whether a model may have asked for tools where none is written, and the call after it does not show it either."""
    return any(
        any(mark.field == TOOL_CALLS for mark in call.facts.marks)
        and (following is None or not any(map(calls_in, following.input)))
        for call, following in zip_longest(evidence.calls, evidence.calls[1:])
    )


def stopped_for_tools(evidence: Evidence) -> bool:
    """Whether a model stopped to have tools called, and its words alone are written."""
    return any(
        bool(call.output) and all_ask_for_tools(call.facts.finish_reasons) and not any(map(calls_in, call.output))
        for call in evidence.calls
    )


def lost_a_call(evidence: Evidence) -> bool:
    """Whether a model stopped to have tools called, no message says which, and none ran before it was called again: of
    what was called the only span is lost."""
    if any(map(calls_in, _messages(evidence))):
        return False
    ran = [node.started_ns for node in evidence.nodes if node.kind() in (Kind.TOOL, Kind.HANDOFF, Kind.AGENT)]
    ran += [inner.started_ns for inner in (*evidence.within, *evidence.later)]
    starts = [call.node.started_ns for call in evidence.calls]
    if (
        ran
        and starts
        and not (min(starts) <= min(ran) and max(ran) <= max(call.node.ended_ns for call in evidence.calls))
    ):
        return False  # by another clock, or the last of them
    return any(
        not call.output
        and all_ask_for_tools(call.facts.finish_reasons)
        and 0 < call.node.ended_ns <= following.node.started_ns
        and not any(call.node.started_ns <= started_ns <= following.node.started_ns for started_ns in ran)
        for call, following in pairwise(evidence.calls)
    )


def shows_results_alone(interaction: Interaction, evidence: Evidence) -> bool:
    """Whether the model was shown results in this turn of calls that nobody tells of: some histories lack its requests."""
    if interaction.asked is None or not (evidence.alone or not evidence.frames):
        return False  # another agent's
    shown = {
        part.call_id
        for call in evidence.calls
        for message in turn_of(call.input, interaction.asked)
        for part in results_in(message)
    }
    if shown <= {None}:
        return False
    told = {call.call_id for call in interaction.tool_calls} | {None}
    told |= {part.call_id for part in asked_for(_messages(evidence))}
    return not shown <= told


def may_be_anothers(interaction: Interaction, evidence: Evidence) -> bool:
    """Whether the first model call was shown calls that nobody tells of: of another agent's, or of a span that is lost."""
    if not (evidence.alone and evidence.calls):
        return False
    told = {call.call_id for call in interaction.tool_calls}
    told |= {part.call_id for facts in evidence.frame_facts() for part in asked_for(facts.input or ())}
    pseudo = {name for facts in evidence.all_facts() for name in facts.pseudo_tools}
    shown = asked_for(turn_of(evidence.calls[0].input, interaction.asked))
    return any(
        part.call_id is not None
        and part.call_id not in told
        and part.name not in pseudo
        and not evidence.is_handoff(part.name)
        for part in shown
    )


def _messages(evidence: Evidence) -> Iterator[Message]:
    return (said for facts in evidence.all_facts() for said in (*(facts.input or ()), *(facts.output or ())))
