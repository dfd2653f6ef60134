"""What an agent replied, or what it failed with."""

from __future__ import annotations

from collections.abc import Sequence

from otel_eval.assemble.calls import Call, last_of
from otel_eval.assemble.evidence import Evidence, first_told
from otel_eval.assemble.transcript import reply_in, shown
from otel_eval.conventions.facts import Facts, Kind
from otel_eval.interaction import Failure, GapKind, Message


def reply_of(evidence: Evidence, failure: Failure | None) -> str | None:
    """As the frames say it, else the agent that took over, the last model call that answered, an agent within, a step.

    ``failure`` is what it ended with: what only repeats that is no reply. Empty where the model answered and said nothing.
    """
    facts = _last_pass(evidence)
    said = _said(
        facts[:1] if evidence.successors else facts
    )  # the first of several agents has said what the last answers to
    if failure is not None and (_is_the_error(said, failure) or not evidence.frames):
        return None
    if said is not None:
        return said
    if failure is not None:
        return None
    for later in reversed(evidence.successors):
        said = reply_of(later, None)
        if said is not None:
            return said
    if evidence.successors and (said := _said(facts)) is not None:
        return said
    calls = sorted(evidence.calls, key=lambda call: (call.node.ended_ns, call.node.order), reverse=True)
    if calls and _is_lost(calls[0]):
        return None  # what was said before it is no reply
    for call in calls:
        text = shown(call.answer)
        if text is not None:
            return text
    if (said := _said_within(evidence)) is not None:
        return said
    if _last_words(evidence) == ():
        return ""  # the model answered, and said nothing
    return first_told(
        node.facts.reply for node in reversed(evidence.steps) if node.facts is not None and node.kind() is Kind.STEP
    )


def _last_pass(evidence: Evidence) -> list[Facts]:
    """What the frames say; of a loop whose passes stand beside one another, what the last one's do."""
    frames = list(evidence.frames)
    start = max((n for n, node in enumerate(frames) if node.parent_id == frames[0].parent_id), default=0)
    return [node.facts for node in frames[start:] if node.facts is not None]


def _is_lost(call: Call) -> bool:
    """Whether what the model said is hidden or cut."""
    if not call.output:
        return any(mark.field == "output" for mark in call.facts.marks)
    return call.answer is not None and shown(call.answer) is None


def answers(evidence: Evidence) -> bool:
    """Whether it came to an answer of its own: the last model call asked for nothing more, or a frame holds a reply."""
    if evidence.calls:
        return bool(last_of(evidence.calls).answer)
    return bool(_said(evidence.frame_facts()))


def _said_within(evidence: Evidence) -> str | None:
    """What the last agent inside this one's span said, if this one called its model no more after it.

    So run ADK's agents of agents, and those that it transfers to.
    """
    last = max(evidence.inside, key=lambda inner: inner.ended_ns, default=None)
    if last is None or any(call.node.started_ns > last.ended_ns for call in evidence.calls):
        return None
    return reply_of(last, failure_in(last))


def _last_words(evidence: Evidence) -> tuple[Message, ...] | None:
    """What the last model call put out, else the outermost frame; none is something else than not captured."""
    if evidence.calls:
        return last_of(evidence.calls).facts.output
    told = (facts for facts in evidence.frame_facts() if not any(mark.field == "output" for mark in facts.marks))
    return first_told(facts.output for facts in told)


def _said(facts: Sequence[Facts]) -> str | None:
    """The reply in the words of frames: of the outermost that has one."""
    return (
        first_told(f.reply for f in facts)
        if any(f.reply is not None for f in facts)
        else first_told(reply_in(f.output) for f in facts if f.output)
    )


def failure_in(evidence: Evidence) -> Failure | None:
    """The frame's own, in the last model call's words if it has none; else a merged agent's; else that call's, as
    the last."""
    facts = evidence.frame_facts()
    if any(f.control_flow for f in facts):
        return None
    own = next((f.failure for f in facts if f.failure is not None), None)
    calls = sorted(evidence.calls, key=lambda call: (call.node.ended_ns, call.node.order))
    if own is not None:
        wordless = own.message is None and own.type is None
        return (calls[-1].facts.failure if calls and wordless else None) or own
    if evidence.successors:
        last = evidence.successors[-1]
        return failure_in(last) if _said(evidence.frame_facts()) is None else None
    if any(f.fatal_tools for f in facts) and (error := _last_error(evidence)) is not None:
        return Failure(message=error)
    if not calls or calls[-1].facts.failure is None or calls[-1].facts.control_flow:
        return None
    said, failure = _said(facts), calls[-1].facts.failure
    if said is None and any(
        mark.field == "output" and mark.kind is GapKind.REDACTED for f in facts for mark in f.marks
    ):
        return None  # it said something: a call that went well is not there
    return None if said is not None and evidence.frames and not _is_the_error(said, failure) else failure


def _is_the_error(said: str | None, failure: Failure) -> bool:
    """Whether what stands for a reply is what the failure says: some agents give back the error's text (Agno)."""
    words, message = (said or "").strip(), failure.message or ""
    return words == message or (len(words) >= _WORDS and words in message)


_WORDS = 8
"""Letters: shorter texts stand in any message by chance."""


def _last_error(evidence: Evidence) -> str | None:
    """The error of a tool after which no model was called any more."""
    last_ns = max((call.node.started_ns for call in evidence.calls), default=0)
    return first_told(tool.facts.error for tool in evidence.tools if tool.node.started_ns >= last_ns)
