"""One run, or one bare loop of model calls, into an Interaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_eval.assemble import gaps as gaps_
from otel_eval.assemble.calls import Call, usage_of_calls
from otel_eval.assemble.evidence import Evidence, first_told
from otel_eval.assemble.nodes import Node
from otel_eval.assemble.replies import failure_in, reply_of
from otel_eval.assemble.requested_calls import Asked, answer, answered_by_order, asked_in, longest, merge
from otel_eval.assemble.tools import tool_calls
from otel_eval.assemble.transcript import system_in, turn_of
from otel_eval.assemble.turns import turn_asked
from otel_eval.conventions.facts import MISSING, NO_USAGE
from otel_eval.conventions.reading.failures import is_programs_own
from otel_eval.conventions.reading.messages import asked_for, calls_in, results_in
from otel_eval.frozen import completed
from otel_eval.interaction import Failure, Interaction, Link, Message, ToolCall, Usage


def interaction_of(evidence: Evidence) -> Interaction:
    """The Interaction, without its totals."""
    turn = turn_asked(evidence)
    failure = failure_in(evidence)
    reply = reply_of(evidence, failure)
    facts = evidence.all_facts()
    tails = frozenset(tail for told in facts for tail in told.cut)
    tools = _tools(evidence, turn.asked, failure, tails)
    calls = sorted([*evidence.calls, *evidence.inner_calls], key=lambda call: call.node.order)
    usage = _usage(evidence, calls)
    first = evidence.frames[0] if evidence.frames else (evidence.nodes[0] if evidence.nodes else None)
    span = evidence.frames or evidence.nodes
    found = Interaction(
        id=evidence.id,
        trace_id=evidence.trace_id,
        span_id=evidence.span_id,
        parent_id=evidence.parent_id,
        agent=evidence.agent,
        session=first_told(told.session for told in (*facts, *evidence.around)),
        user_id=first_told(told.user_id for told in (*facts, *evidence.around)),
        asked=turn.asked,
        reply=reply,
        tool_calls=tools,
        model_calls=tuple(call.model_call() for call in calls),
        failure=failure,
        model=_model(evidence),
        usage=usage,
        system=_system(evidence),
        history=turn.history,
        attachments=turn.attachments,
        resource=dict(first.resource.attributes) if first is not None else {},
        attributes={name: value for node in reversed(evidence.frames) for name, value in node.kept},
        links=_links(evidence.frames),
        started_ns=min((node.started_ns for node in span if node.started_ns), default=None),
        ended_ns=max((node.ended_ns for node in span if node.ended_ns), default=None),
        conventions=tuple(sorted({name for told in facts for name in told.conventions})),
        complete=evidence.complete,
    )
    return completed(found, gaps=tuple(gaps_.gaps_of(found, evidence, tails)))


def _tools(
    evidence: Evidence, asked: str | None, failure: Failure | None, tails: frozenset[str]
) -> tuple[ToolCall, ...]:
    known: list[Asked] = _made_earlier(evidence, asked)
    conversations = longest(_conversations(evidence, asked))
    for messages in conversations:
        merge(known, asked_in(messages), answered_by_order(known, messages))
    for messages in conversations:
        answer(known, messages)
    pseudo = frozenset(name for facts in evidence.all_facts() for name in facts.pseudo_tools)
    return tool_calls(
        evidence.tools,
        known,
        is_handoff=evidence.is_handoff,
        pseudo=pseudo,
        setting=gaps_.setting_of(evidence),
        raised=failure if failure is not None and is_programs_own(failure.type) else None,
        tails=tails,
        lost=gaps_.lost_in(evidence),
    )


def _made_earlier(evidence: Evidence, asked: str | None) -> list[Asked]:
    """Calls that an agent's first model call was shown already: another agent made them before handing over.

    Those of a loop's first call, too, where nothing tells which of its messages opened the turn.
    """
    if not evidence.calls or not (evidence.frames or asked is None):
        return []
    calls = asked_in(turn_of(evidence.calls[0].input, asked))
    if not calls:
        return calls
    waiting = _left_to_run(evidence, asked)
    for call in calls:
        call.earlier = call.call_id not in waiting or call.result is MISSING
    return calls


def _left_to_run(evidence: Evidence, asked: str | None) -> set[str]:
    """Ids of the calls that the agent was handed with nothing said after them: it begins with those that a user approved.

    Or with the results of those that somebody else ran meanwhile, where the telemetry tells which messages are new.
    """
    frame = next((facts for facts in evidence.frame_facts() if facts.input), None)
    taken = frame.input or () if frame is not None else ()
    new_from = frame.new_from if frame is not None else None
    last = next((message for message in reversed(turn_of(taken, asked)) if message.role == "assistant"), None)
    old = taken if new_from is None else taken[:new_from]
    answered = {part.call_id for message in old for part in results_in(message)}
    asking = calls_in(last) if last is not None else []
    return {call.call_id for call in asking if call.call_id is not None and call.call_id not in answered}


def _conversations(evidence: Evidence, asked: str | None) -> Iterator[Sequence[Message]]:
    """This turn's messages, as each model call and each frame has them.

    Where a call asks for what it was given already, the list that it was given was written down after the run had gone on
    (LangSmith's wrapper of OpenAI's client for JavaScript): then its output is in there.
    """
    for call in evidence.calls:
        given = turn_of(call.input, asked) if call.input else ()
        ids = {part.call_id for part in asked_for(given)} - {None} if given else set()
        repeats = bool(ids) and any(part.call_id in ids for part in asked_for(call.output))
        yield given if repeats else (*given, *call.output)
    for node in (*evidence.frames, *evidence.steps):
        facts = node.facts
        if facts is not None and (facts.input or facts.output):
            given = turn_of(facts.input, asked) if facts.input else ()
            yield (*given, *turn_of(facts.output or ()))


def _usage(evidence: Evidence, calls: Sequence[Call]) -> Usage:
    """Of the leaf calls; an agent's own total only where no call tells."""
    total = usage_of_calls(calls)
    if total != NO_USAGE:
        return total
    return next((facts.usage for facts in evidence.frame_facts() if facts.usage != NO_USAGE), NO_USAGE)


def _model(evidence: Evidence) -> str | None:
    return first_told(call.facts.model for call in reversed(evidence.calls)) or first_told(
        facts.model for facts in evidence.all_facts()
    )


def _system(evidence: Evidence) -> str | None:
    for facts in evidence.conversation():
        found = facts.system or system_in(facts.input or ())
        if found:
            return found
    return None


def _links(frames: Sequence[Node]) -> tuple[Link, ...]:
    return tuple(dict.fromkeys(link for node in frames for link in node.links))
