"""Naming what the telemetry does not carry, and the setting that would close the gap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from otel_eval.assemble.calls import last_of
from otel_eval.assemble.evidence import Evidence
from otel_eval.assemble.lost_calls import (
    loses_requests,
    lost_a_call,
    may_be_anothers,
    shows_results_alone,
    stopped_for_tools,
    tells_tools,
)
from otel_eval.conventions.facts import NO_USAGE, Facts, Mark
from otel_eval.conventions.reading.messages import calls_in
from otel_eval.conventions.reading.parts import is_hidden
from otel_eval.conventions.reading.truncation import LIMIT_SETTING, is_cut
from otel_eval.interaction import Gap, GapKind, Interaction, Part, TextPart

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


@dataclass(frozen=True, slots=True)
class _Looked:
    """What every field's gap is told by. ``absent``: the gap of what is not there; ``unfinished``: of what no switch adds."""

    interaction: Interaction
    evidence: Evidence
    tails: frozenset[str]
    conversation: list[Facts]
    setting: str | None
    absent: GapKind
    unfinished: GapKind


def gaps_of(interaction: Interaction, evidence: Evidence, tails: frozenset[str]) -> Iterator[Gap]:
    """A gap for each field that is not there, or not there whole. ``tails``: the ends of texts that a length limit cut."""
    unfinished = GapKind.NOT_CAPTURED if interaction.complete else GapKind.INCOMPLETE
    looked = _Looked(
        interaction,
        evidence,
        tails,
        conversation=evidence.conversation(),
        setting=setting_of(evidence),
        absent=GapKind.NOT_CAPTURED if _is_silent(evidence) else unfinished,
        unfinished=unfinished,
    )
    return (gap for of_field in _FIELDS if (gap := of_field(looked)) is not None)


def _asked(looked: _Looked) -> Gap | None:
    asked = looked.interaction.asked
    return _missing(looked, "asked", looked.setting) if asked is None else _in_part(looked, "asked", asked, "input")


def _reply(looked: _Looked) -> Gap | None:
    reply = looked.interaction.reply
    if reply is not None:
        return _in_part(looked, "reply", reply, "output")
    if looked.interaction.failure is not None:
        return None
    return _missing(looked, "reply", None if _goes_on(looked.evidence) else looked.setting)


def _tool_calls(looked: _Looked) -> Gap | None:
    interaction, evidence = looked.interaction, looked.evidence
    if not tells_tools(interaction, evidence):
        lost = loses_requests(evidence) or stopped_for_tools(evidence)
        return _missing(looked, "tool_calls", None if lost else looked.setting)
    if any(
        mark.kind in (GapKind.DROPPED, GapKind.TRUNCATED) and mark.field in ("*", "output")
        for facts in looked.conversation
        for mark in facts.marks
    ):
        if _dropped(looked.conversation):
            return Gap(field="tool_calls", kind=GapKind.DROPPED)
        limit = _limit_on(looked.conversation, ("output",))
        return Gap(field="tool_calls", kind=GapKind.TRUNCATED, setting=limit)
    if may_be_anothers(interaction, evidence):
        return _missing(looked, "tool_calls", None)
    if lost_a_call(evidence):  # where no call has a span, it was not captured
        return Gap(field="tool_calls", kind=GapKind.INCOMPLETE if evidence.tools else looked.absent)
    if shows_results_alone(interaction, evidence):
        return _missing(looked, "tool_calls", None)
    if not evidence.frames and evidence.calls and not evidence.calls[0].input:
        return _missing(looked, "tool_calls", looked.setting)  # what came before may have asked for some
    return None


def _model_calls(looked: _Looked) -> Gap | None:
    return None if looked.interaction.model_calls else Gap(field="model_calls", kind=looked.unfinished)


def _usage(looked: _Looked) -> Gap | None:
    return Gap(field="usage", kind=looked.unfinished) if looked.interaction.usage == NO_USAGE else None


def _system(looked: _Looked) -> Gap | None:
    interaction = looked.interaction
    if interaction.system is not None:
        return _cut("system", interaction.system) if is_cut(interaction.system, looked.tails) else None
    told = interaction.asked is not None and (interaction.reply is not None or _goes_on(looked.evidence))
    on = told and not _hides_system(looked.conversation)  # there may be none
    return _missing(looked, "system", None if on else looked.setting)


def _history(looked: _Looked) -> Gap | None:
    steps = [node.facts for node in looked.evidence.steps if node.facts is not None]
    if not any(facts.input for facts in (*looked.conversation, *steps)):
        return _missing(looked, "history", looked.setting)
    parts = [part for said in looked.interaction.history for part in said.parts]
    if any(isinstance(part, TextPart) and is_cut(part.text, looked.tails) for part in parts):
        return Gap(field="history", kind=GapKind.TRUNCATED, setting=LIMIT_SETTING)
    if any(map(is_hidden, parts)):
        return Gap(field="history", kind=GapKind.REDACTED, setting=looked.setting)
    return None


def _session(looked: _Looked) -> Gap | None:
    return _name("session", looked.unfinished, looked) if looked.interaction.session is None else None


def _agent(looked: _Looked) -> Gap | None:
    lost = GapKind.INCOMPLETE if looked.evidence.lacks_agent else looked.unfinished
    return _name("agent", lost, looked) if looked.interaction.agent is None else None


_FIELDS = (_asked, _reply, _tool_calls, _model_calls, _usage, _system, _history, _session, _agent)


def _name(field: str, lost: GapKind, looked: _Looked) -> Gap:
    return Gap(field=field, kind=GapKind.DROPPED if _dropped(looked.conversation) else lost)


def _in_part(looked: _Looked, field: str, value: str, carrier: str) -> Gap | None:
    """The gap of a text that is there: what cut it, or that it need not be the last one."""
    if is_cut(value, looked.tails):
        return _cut(field, value)
    if _is_part(value, carrier, looked.conversation):
        return Gap(field=field, kind=GapKind.DROPPED, setting=COUNT_SETTING)
    return None


def _is_silent(evidence: Evidence) -> bool:
    """Whether there are model calls alone, and none has any content: no call that is still to come would bring it."""
    calls = [call.facts for call in evidence.calls]
    return bool(calls) and not evidence.frames and not any(f.input or f.output or f.marks for f in calls)


def _missing(looked: _Looked, field: str, setting: str | None) -> Gap:
    """The gap of a field that is not there; ``setting`` is what would add it, unless it is known what became of it."""
    conversation, absent = looked.conversation, looked.absent
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
