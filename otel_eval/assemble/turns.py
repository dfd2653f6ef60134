"""What an agent was asked in this turn, and what was said before."""

from __future__ import annotations

from dataclasses import dataclass

from otel_eval.assemble.evidence import Evidence, first_told
from otel_eval.assemble.transcript import asked_at, attachments_in, history_before, said_at, shown
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.reading.messages import asks
from otel_eval.interaction import Attachment, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What this turn opened with."""

    asked: str | None = None
    history: tuple[Message, ...] = ()
    attachments: tuple[Attachment, ...] = ()


def turn_asked(evidence: Evidence) -> Turn:
    """What was asked: as the frames say outright, in their messages, in the first model call's, in a step's."""
    named = _asked_outright(evidence)
    sources = [(facts.input, facts.new_from) for facts in evidence.frame_facts() if facts.input]
    sources += [(call.facts.input, call.facts.new_from) for call in evidence.calls if call.facts.input]
    attached = tuple(item for facts in evidence.frame_facts() for item in facts.attachments)
    hidden: Turn | None = None
    for messages, new_from in sources:
        assert messages is not None
        index = asked_at(messages, new_from, named)
        if index is None:
            continue
        said = named if named is not None else messages[index].text
        if said is not None and shown(said) is None:
            hidden = hidden or Turn(history=history_before(messages, index), attachments=attached)
            continue
        return Turn(
            asked=said,
            history=history_before(messages, index) or _earlier(evidence, said),
            attachments=attached or attachments_in(messages[index]),
        )
    if named is None:
        steps = [node.facts for node in evidence.steps if node.facts is not None]
        named = first_told(facts.asked for facts in steps)
        for facts in steps:
            index = asked_at(facts.input, facts.new_from) if facts.input and named is None else None
            if index is not None and facts.input is not None:
                return Turn(asked=shown(facts.input[index].text), history=history_before(facts.input, index))
        if named is None:
            named = first_told(facts.prompt for facts in evidence.all_facts())
        if named is None and (turn := _asked_within(evidence)) is not None:
            return turn
    if named is None and hidden is not None:
        return hidden
    return Turn(asked=named, history=_earlier(evidence, named), attachments=attached)


def _asked_within(evidence: Evidence) -> Turn | None:
    """What all agents inside this one's span were asked, if it was the same, and this one called nothing before them.

    So run ADK's agents of agents, in the conversation of the outermost.
    """
    if not evidence.inside:
        return None
    started_ns = min(inner.started_ns for inner in evidence.inside)
    nodes = [*(call.node for call in evidence.calls), *(tool.node for tool in evidence.tools)]
    turns = [turn for inner in evidence.inside if (turn := turn_asked(inner)).asked is not None]
    same = len({turn.asked for turn in turns}) == 1
    return turns[0] if same and all(node.started_ns >= started_ns for node in nodes) else None


def _asked_outright(evidence: Evidence) -> str | None:
    """What an agent's span, or a frame around it, says was asked.

    A frame is often a traced function of the program, which may have been given an id: a single word there is no question
    if the model was told others.
    """
    for facts in evidence.frame_facts():
        if facts.asked is None:
            continue
        if facts.kind is not Kind.WORKFLOW or len(facts.asked.split()) > 1:
            return facts.asked
        told = _told_by_users(evidence)
        if not told or any(facts.asked.strip() in text for text in told):
            return facts.asked
    return None


def _told_by_users(evidence: Evidence) -> list[str]:
    sources = [*evidence.frame_facts(), *(call.facts for call in evidence.calls[:1])]
    messages = [message for facts in sources for message in facts.input or ()]
    others = [facts.asked for facts in evidence.frame_facts() if facts.asked and facts.kind is not Kind.WORKFLOW]
    return others + [message.text for message in messages if message.text and asks(message)]


def _earlier(evidence: Evidence, asked: str | None) -> tuple[Message, ...]:
    """The history that the model was shown: an agent's own span often holds the new message alone, the rest is its
    memory's."""
    if asked is None:
        return ()
    steps = [node.facts.input for node in evidence.steps if node.facts is not None]
    for messages in (*(call.facts.input for call in evidence.calls[:1]), *steps):
        index = said_at(messages or (), asked)
        if messages is not None and index is not None:
            return history_before(messages, index)
    return ()
