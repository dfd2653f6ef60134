"""From an attempt's spans and log records to the one Interaction that is judged. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from otel_eval.assemble.assembler import assemble
from otel_eval.experiment.evidence import Evidence
from otel_eval.interaction import Gap, Interaction, Totals
from otel_eval.wording import number_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The Interaction of an attempt, None with the reason in ``missing``; ``notes`` say where the evidence is from.

    ``seen`` are all that the attempt's telemetry holds, those of sub-agents too.
    """

    interaction: Interaction | None = None
    seen: tuple[Interaction, ...] = ()
    missing: str = ""
    notes: tuple[str, ...] = ()


def observe(evidence: Evidence, keep: Collection[str] = ()) -> Observation:
    """The attempt's Interaction by the same assembler as everywhere; several agents in a row are taken as one.

    ``keep``: names of attributes of agents' spans that it is to have as they stand (roles go by them).
    """
    notes = _notes(evidence)
    interactions = assemble(tuple(evidence.spans), tuple(evidence.logs), keep)
    topmost = [interaction for interaction in interactions if interaction.parent_id is None]
    if not topmost:
        return Observation(missing=_no_agent(evidence), notes=notes)
    if len(topmost) == 1:
        return Observation(interaction=topmost[0], seen=tuple(interactions), notes=notes)
    note = f"{len(topmost)} agents ran one after another; they are judged together, as one Interaction"
    return Observation(interaction=_together(topmost), seen=tuple(interactions), notes=(*notes, note))


def is_whole(evidence: Evidence) -> bool:
    """Whether nothing that the evidence points to is missing: every parent there, every agent ended, with what it said."""
    known = {span.span_id for span in evidence.spans}
    if any(span.parent_id is not None and span.parent_id not in known for span in evidence.spans):
        return False
    topmost = [each for each in assemble(tuple(evidence.spans), tuple(evidence.logs)) if each.parent_id is None]
    return bool(topmost) and all(
        each.complete and (each.reply is not None or each.failure is not None) for each in topmost
    )


def as_judged(interaction: Interaction, command: str, reply: str | None, session: str) -> Interaction:
    """What evaluators get: the command where the trace has no question, and the reply that the agent function returned."""
    filled = {"asked": interaction.asked is None, "reply": reply is not None}
    return replace(
        interaction,
        asked=command if filled["asked"] else interaction.asked,
        reply=reply if filled["reply"] else interaction.reply,
        session=session if interaction.session is None else interaction.session,
        gaps=tuple(gap for gap in interaction.gaps if not filled.get(gap.field, False)),
    )


def differing(traced: str | None, returned: str | None) -> str | None:
    """The trace's last text where it is another than the one that was returned; line ends and margins do not matter."""
    if traced is None or returned is None or traced.split() == returned.split():
        return None
    return traced


def _together(interactions: Iterable[Interaction]) -> Interaction:
    in_order = sorted(interactions, key=lambda interaction: (interaction.started_ns or 0, interaction.id))
    first, last = in_order[0], in_order[-1]
    usage, totals = first.usage, first.totals
    for interaction in in_order[1:]:
        usage += interaction.usage
        totals = _sum(totals, interaction.totals)
    return replace(
        first,
        reply=last.reply,
        failure=last.failure,
        tool_calls=tuple(call for interaction in in_order for call in interaction.tool_calls),
        model_calls=tuple(call for interaction in in_order for call in interaction.model_calls),
        usage=usage,
        totals=totals,
        ended_ns=last.ended_ns,
        gaps=_gaps(in_order),
        conventions=tuple(dict.fromkeys(name for interaction in in_order for name in interaction.conventions)),
        complete=all(interaction.complete for interaction in in_order),
    )


def _gaps(in_order: Sequence[Interaction]) -> tuple[Gap, ...]:
    """The question is the first one's, the reply the last one's: their gaps too. Everything else is of all."""
    kept = []
    for index, interaction in enumerate(in_order):
        for gap in interaction.gaps:
            asked_by_others = gap.field == "asked" and index > 0
            replied_by_others = gap.field == "reply" and index < len(in_order) - 1
            if not asked_by_others and not replied_by_others:
                kept.append(gap)
    return tuple(dict.fromkeys(kept))


def _sum(a: Totals, b: Totals) -> Totals:
    def both(one: int | None, other: int | None) -> int | None:
        return None if one is None or other is None else one + other

    return Totals(
        tool_calls=both(a.tool_calls, b.tool_calls),
        model_calls=both(a.model_calls, b.model_calls),
        usage=a.usage + b.usage,
    )


def _no_agent(evidence: Evidence) -> str:
    unended = number_of(len(evidence.open), "span")
    if not evidence.spans and not evidence.logs:
        if not evidence.open:
            return ""
        return (
            f"{unended} started and had not ended when the attempt did: the agent works on after it returned, or never ends "
            "its spans"
        )
    names = list(dict.fromkeys(span.name for span in evidence.spans))
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    spans = (
        f"{number_of(len(evidence.spans), 'span')} came ({shown})"
        if names
        else f"{number_of(len(evidence.logs), 'log record')} came, no span"
    )
    if evidence.open:
        return f"{spans}, but no agent's or model's; {unended} had not ended when the attempt did"
    known = {span.span_id for span in evidence.spans}
    if any(span.parent_id is not None and span.parent_id not in known for span in evidence.spans):
        return (
            f"{spans}, but no agent's or model's: the spans that they are below never came; the agent died before they ended, "
            "or exports them elsewhere"
        )
    return f"{spans}, but none is an agent's or a model's: the agent's framework is not instrumented"


def _notes(evidence: Evidence) -> tuple[str, ...]:
    notes = []
    if evidence.by_session:
        notes.append(f"{_traces(len(evidence.by_session))} of its own joined by session id")
    if evidence.by_time:
        notes.append(f"{_traces(len(evidence.by_time))} of its own joined because it started during the attempt")
    if evidence.open:
        notes.append(f"{number_of(len(evidence.open), 'span')} had not ended when the attempt did")
    return tuple(notes)


def _traces(count: int) -> str:
    return "a trace" if count == 1 else f"{count} traces"
