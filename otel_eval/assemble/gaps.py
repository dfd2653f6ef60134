"""Naming what the telemetry does not carry, and the setting that would close the gap."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, zip_longest

from otel_eval.assemble.calls import last_of
from otel_eval.assemble.evidence import Evidence
from otel_eval.assemble.transcript import turn_of
from otel_eval.conventions.facts import NO_USAGE, TOOL_CALLS, Facts, Kind, Mark
from otel_eval.conventions.reading.messages import asked_for, calls_in, results_in
from otel_eval.conventions.reading.parts import is_hidden
from otel_eval.conventions.reading.reasons import asks_for_tools
from otel_eval.conventions.reading.truncation import LIMIT_SETTING, is_cut
from otel_eval.interaction import Gap, GapKind, Interaction, Message, Part, TextPart

COUNT_SETTING = "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"
_MARKED = {"asked": ("input",), "history": ("input",), "reply": ("output",), "system": ("system", "input")}


def lost_in(evidence: Evidence) -> GapKind | None:
    """What became of messages that the model calls do not show whole; None where they are whole or were never written."""
    kinds = {m.kind for call in evidence.calls for m in call.facts.marks if m.field in ("input", "output", "*")}
    return next((kind for kind in (GapKind.TRUNCATED, GapKind.REDACTED, GapKind.DROPPED) if kind in kinds), None)


def setting_of(evidence: Evidence) -> str | None:
    """What turns content on: as the calls' instrumentation says, else the frame's."""
    settings = [call.facts.setting for call in evidence.calls] + [facts.setting for facts in evidence.frame_facts()]
    return next((setting for setting in settings if setting is not None), None) or None  # empty: nothing would


def gaps_of(interaction: Interaction, evidence: Evidence, tails: frozenset[str]) -> Iterator[Gap]:
    """A gap for each field that is not there, or not there whole. ``tails``: the ends of texts that a length limit cut."""
    setting = setting_of(evidence)
    conversation = evidence.conversation()
    silent = _is_silent(evidence)
    unfinished = GapKind.NOT_CAPTURED if interaction.complete else GapKind.INCOMPLETE
    absent = GapKind.NOT_CAPTURED if silent else unfinished
    if interaction.asked is None:
        yield _gap("asked", conversation, absent, setting)
    elif is_cut(interaction.asked, tails):
        yield _cut("asked", interaction.asked)
    elif _is_part(interaction.asked, "input", conversation):
        yield Gap(field="asked", kind=GapKind.DROPPED, setting=COUNT_SETTING)
    if interaction.reply is None and interaction.failure is None:
        yield _gap("reply", conversation, absent, None if _goes_on(evidence) else setting)
    elif interaction.reply is not None and is_cut(interaction.reply, tails):
        yield _cut("reply", interaction.reply)
    elif interaction.reply is not None and _is_part(interaction.reply, "output", conversation):
        yield Gap(field="reply", kind=GapKind.DROPPED, setting=COUNT_SETTING)
    if not _tells_tools(interaction, evidence):
        yield _gap(
            "tool_calls",
            conversation,
            absent,
            None if _loses_requests(evidence) or _stopped_for_tools(evidence) else setting,
        )
    elif any(
        mark.kind in (GapKind.DROPPED, GapKind.TRUNCATED) and mark.field in ("*", "output")
        for f in conversation
        for mark in f.marks
    ):
        dropped = _dropped(conversation)
        yield Gap(
            field="tool_calls",
            kind=GapKind.DROPPED if dropped else GapKind.TRUNCATED,
            setting=None if dropped else _limit_on(conversation, ("output",)),
        )
    elif _may_be_its_own(interaction, evidence):
        yield _gap("tool_calls", conversation, absent, None)
    elif _lost_a_call(evidence):
        lost = GapKind.INCOMPLETE if evidence.tools else absent  # else no call has a span
        yield Gap(field="tool_calls", kind=lost)
    elif _shows_results_alone(interaction, evidence):
        yield _gap("tool_calls", conversation, absent, None)
    elif not evidence.frames and evidence.calls and not evidence.calls[0].input:
        yield _gap("tool_calls", conversation, absent, setting)  # what came before may have asked for some
    if not interaction.model_calls:
        yield Gap(field="model_calls", kind=unfinished)
    if interaction.usage == NO_USAGE:
        yield Gap(field="usage", kind=unfinished)
    if interaction.system is None:
        told = interaction.asked is not None and (interaction.reply is not None or _goes_on(evidence))
        on = told and not _hides_system(conversation)  # there may be none
        yield _gap("system", conversation, absent, None if on else setting)
    elif is_cut(interaction.system, tails):
        yield _cut("system", interaction.system)
    steps = [node.facts for node in evidence.steps if node.facts is not None]
    if not any(facts.input for facts in (*conversation, *steps)):
        yield _gap("history", conversation, absent, setting)
    elif any(
        isinstance(part, TextPart) and is_cut(part.text, tails) for said in interaction.history for part in said.parts
    ):
        yield Gap(field="history", kind=GapKind.TRUNCATED, setting=LIMIT_SETTING)
    elif any(is_hidden(part) for said in interaction.history for part in said.parts):
        yield Gap(field="history", kind=GapKind.REDACTED, setting=setting)
    for field, value in (("session", interaction.session), ("agent", interaction.agent)):
        if value is None:
            lost = GapKind.INCOMPLETE if field == "agent" and evidence.lacks_agent else unfinished
            yield Gap(field=field, kind=GapKind.DROPPED if _dropped(conversation) else lost)


def _is_silent(evidence: Evidence) -> bool:
    """Whether there are model calls alone, and none has any content: no call that is still to come would bring it."""
    calls = [call.facts for call in evidence.calls]
    return bool(calls) and not evidence.frames and not any(f.input or f.output or f.marks for f in calls)


def _loses_requests(evidence: Evidence) -> bool:
    """Whether a model may have asked for tools where none is written, and the call after it does not show it either."""
    return any(
        any(mark.field == TOOL_CALLS for mark in call.facts.marks)
        and (following is None or not any(map(calls_in, following.input)))
        for call, following in zip_longest(evidence.calls, evidence.calls[1:])
    )


def _stopped_for_tools(evidence: Evidence) -> bool:
    """Whether a model stopped to have tools called, and its words alone are written."""
    return any(
        bool(call.output and call.facts.finish_reasons)
        and all(map(asks_for_tools, call.facts.finish_reasons))
        and not any(map(calls_in, call.output))
        for call in evidence.calls
    )


def _lost_a_call(evidence: Evidence) -> bool:
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
        and call.facts.finish_reasons
        and all(map(asks_for_tools, call.facts.finish_reasons))
        and 0 < call.node.ended_ns <= following.node.started_ns
        and not any(call.node.started_ns <= started_ns <= following.node.started_ns for started_ns in ran)
        for call, following in pairwise(evidence.calls)
    )


def _shows_results_alone(interaction: Interaction, evidence: Evidence) -> bool:
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
    told |= {part.call_id for message in _messages(evidence) for part in asked_for((message,))}
    return not shown <= told


def _messages(evidence: Evidence) -> Iterator[Message]:
    return (said for facts in evidence.all_facts() for said in (*(facts.input or ()), *(facts.output or ())))


def _may_be_its_own(interaction: Interaction, evidence: Evidence) -> bool:
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


def _gap(field: str, conversation: list[Facts], absent: GapKind, setting: str | None) -> Gap:
    carriers = _MARKED.get(field, ("input", "output"))
    kinds = {mark.kind for facts in conversation for mark in facts.marks if mark.field in carriers}
    if any(map(is_hidden, _parts(conversation, field))):
        kinds.add(GapKind.REDACTED)
    if GapKind.REDACTED in kinds:
        return Gap(field=field, kind=GapKind.REDACTED, setting=setting)
    if GapKind.TRUNCATED in kinds:
        return Gap(field=field, kind=GapKind.TRUNCATED, setting=_limit_on(conversation, carriers))
    if _dropped(conversation):
        return Gap(field=field, kind=GapKind.DROPPED, setting=COUNT_SETTING)
    return Gap(field=field, kind=absent, setting=setting if absent is GapKind.NOT_CAPTURED else None)


def _limit_on(conversation: list[Facts], carriers: tuple[str, ...]) -> str | None:
    """The SDK's limit, where it cut on a span on which one of these was cut; others cut by limits of their own."""
    cut = {Mark(field=field, kind=GapKind.TRUNCATED) for field in carriers}
    return LIMIT_SETTING if any(facts.cut and not cut.isdisjoint(facts.marks) for facts in conversation) else None


def _goes_on(evidence: Evidence) -> bool:
    """Whether the last thing that the model is known to have said is that it wants tools called, or nothing: no
    switch tells a reply."""
    said = last_of(evidence.calls).facts.output if evidence.calls else None
    return said is not None and (not said or any(map(calls_in, said)))


def _hides_system(conversation: list[Facts]) -> bool:
    return any(mark.field in _MARKED["system"] for facts in conversation for mark in facts.marks)


def _parts(conversation: list[Facts], field: str) -> Iterator[Part]:
    """The parts of the messages that would carry the field."""
    for facts in conversation:
        for message in facts.output or () if field == "reply" else facts.input or ():
            if (message.role == "system") == (field == "system"):
                yield from message.parts


def _is_part(value: str, field: str, conversation: list[Facts]) -> bool:
    """Whether it is known only from messages some of which the SDK dropped: another may have been the last one."""
    lost = Mark(field=field, kind=GapKind.DROPPED)
    if not any(lost in facts.marks for facts in conversation):
        return False
    named = (facts.asked if field == "input" else facts.reply for facts in conversation)
    holders = [
        facts
        for facts in conversation
        if any(said.text == value for said in (facts.input if field == "input" else facts.output) or ())
    ]
    return value not in named and bool(holders) and all(lost in facts.marks for facts in holders)


def _cut(field: str, value: str) -> Gap:
    """The gap of a text of which the beginning is there; what cut it is the SDK, unless the text says otherwise."""
    return Gap(field=field, kind=GapKind.TRUNCATED, setting=None if is_cut(value) else LIMIT_SETTING)


def _dropped(conversation: list[Facts]) -> bool:
    return any(mark.field == "*" for facts in conversation for mark in facts.marks)


def _tells_tools(interaction: Interaction, evidence: Evidence) -> bool:
    """Whether the telemetry would show a tool call if there were one: by spans of tools, or in what the model answered."""
    if evidence.tools:
        return True
    if _loses_requests(evidence):
        return False
    if interaction.tool_calls:
        return True
    if _stopped_for_tools(evidence):
        return False
    if any(mark.field == TOOL_CALLS for facts in evidence.frame_facts() for mark in facts.marks):
        return False
    if any(facts.output is not None for facts in evidence.frame_facts()):
        return True
    if interaction.failure is not None and not evidence.calls:
        return any(facts.input for facts in evidence.frame_facts())
    answered = [call for call in evidence.calls if call.facts.failure is None]
    return bool(evidence.calls) and all(call.output or call.facts.output is not None for call in answered)
