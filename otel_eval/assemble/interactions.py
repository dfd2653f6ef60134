"""One run, or one bare loop of model calls, into an Interaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from otel_eval.assemble import gaps as gaps_
from otel_eval.assemble.calls import Call, last_of, usage_of_calls
from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tool_spans import ToolSpan
from otel_eval.assemble.tools import Asked, answer, asked_in, longest, merge, tool_calls
from otel_eval.assemble.transcript import (
    asked_at,
    attachments_in,
    history_before,
    reply_in,
    said_at,
    shown,
    system_in,
    turn_of,
)
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.reading.messages import asks, calls_in, results_in
from otel_eval.conventions.reading.trouble import is_programs_own
from otel_eval.identity import interaction_id
from otel_eval.interaction import Attachment, Failure, Interaction, Link, Message, ToolCall, Usage

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Evidence:
    """All that one Interaction is made of.

    ``frames``: the spans that stand for the invocation, outermost first; none for a bare loop. ``steps``: other spans of
    it that may carry content. ``calls``: the model's calls of the conversation; ``inner_calls``: those that tools made.
    ``agents``: the other agents' names, for telling handoffs. ``later``: the agents that took over, in order.
    ``within``: agents that ran inside this one's span but not in a tool of its. ``around``: what the spans above say,
    innermost first, where each of several turns is an Interaction of its own.
    """

    trace_id: str
    span_id: str
    frames: Sequence[Node]
    steps: Sequence[Node]
    calls: Sequence[Call]
    inner_calls: Sequence[Call]
    tools: Sequence[ToolSpan]
    nodes: Sequence[Node]
    agent: str | None
    is_handoff: Callable[[str], bool]
    later: Sequence[Evidence] = ()
    within: Sequence[Evidence] = ()
    around: Sequence[Facts] = ()
    parent_id: str | None = None
    complete: bool = True
    tool_keys: set[tuple[str, str]] = field(default_factory=set)

    @property
    def id(self) -> str:
        """The Interaction's id."""
        return interaction_id(self.trace_id, self.span_id)

    def frame_facts(self) -> list[Facts]:
        """What the frames say, outermost first."""
        return [node.facts for node in self.frames if node.facts is not None]

    def all_facts(self) -> Iterator[Facts]:
        """What all spans say: frames, calls, then the rest in order."""
        yield from self.frame_facts()
        for call in self.calls:
            yield call.facts
        for node in self.nodes:
            if node.facts is not None:
                yield node.facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What this turn opened with."""

    asked: str | None = None
    history: tuple[Message, ...] = ()
    attachments: tuple[Attachment, ...] = ()


def interaction_of(evidence: Evidence) -> Interaction:
    """The Interaction, without its totals."""
    turn = turn_asked(evidence)
    failure = _failure(evidence)
    reply = _reply(evidence, failure)
    tools = _tools(evidence, turn.asked, failure)
    calls = sorted([*evidence.calls, *evidence.inner_calls], key=lambda call: call.node.order)
    usage = _usage(evidence, calls)
    first = evidence.frames[0] if evidence.frames else (evidence.nodes[0] if evidence.nodes else None)
    span = evidence.frames or evidence.nodes
    session = _first(facts.session for facts in (*evidence.all_facts(), *evidence.around))
    found = Interaction(
        id=evidence.id,
        trace_id=evidence.trace_id,
        span_id=evidence.span_id,
        parent_id=evidence.parent_id,
        agent=evidence.agent,
        session=session,
        user_id=_first(facts.user_id for facts in (*evidence.all_facts(), *evidence.around)),
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
        conventions=_conventions(evidence),
        complete=evidence.complete,
    )
    return gaps_.named(found, evidence)


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
        named = _first(facts.asked for facts in steps)
        for facts in steps:
            index = asked_at(facts.input, facts.new_from) if facts.input and named is None else None
            if index is not None and facts.input is not None:
                return Turn(asked=shown(facts.input[index].text), history=history_before(facts.input, index))
        if named is None:
            named = _first(facts.prompt for facts in evidence.all_facts())
        if named is None and (turn := _asked_within(evidence)) is not None:
            return turn
    if named is None and hidden is not None:
        return hidden
    return Turn(asked=named, history=_earlier(evidence, named), attachments=attached)


def _asked_within(evidence: Evidence) -> Turn | None:
    """What all agents inside this one's span were asked, if it was the same, and this one called nothing before them.

    So run ADK's agents of agents, in the conversation of the outermost.
    """
    if not evidence.within:
        return None
    started_ns = min(map(_started_ns, evidence.within))
    nodes = [*(call.node for call in evidence.calls), *(tool.node for tool in evidence.tools)]
    turns = [turn for inner in evidence.within if (turn := turn_asked(inner)).asked is not None]
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
    """The history that the model was shown: an agent's own span often holds the new message alone, the rest is its memory's."""
    if asked is None:
        return ()
    steps = [node.facts.input for node in evidence.steps if node.facts is not None]
    for messages in (*(call.facts.input for call in evidence.calls[:1]), *steps):
        index = said_at(messages or (), asked)
        if messages is not None and index is not None:
            return history_before(messages, index)
    return ()


def _reply(evidence: Evidence, failure: Failure | None) -> str | None:
    facts = evidence.frame_facts()
    said = _said(
        facts[:1] if evidence.later else facts
    )  # the first of several agents has said what the last answers to
    if failure is not None and (_is_the_error(said, failure) or not evidence.frames):
        return None
    if said is not None:
        return said
    if failure is not None:
        return None
    for later in reversed(evidence.later):
        said = _reply(later, None)
        if said is not None:
            return said
    if evidence.later and (said := _said(facts)) is not None:
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
    return _first(
        node.facts.reply for node in reversed(evidence.steps) if node.facts is not None and node.kind() is Kind.STEP
    )


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
    last = max(evidence.within, key=_ended_ns, default=None)
    if last is None or any(call.node.started_ns > _ended_ns(last) for call in evidence.calls):
        return None
    return _reply(last, _failure(last))


def _started_ns(evidence: Evidence) -> int:
    return min((node.started_ns for node in (*evidence.frames, *evidence.nodes)), default=0)


def _ended_ns(evidence: Evidence) -> int:
    return max((node.ended_ns for node in (*evidence.frames, *evidence.nodes)), default=0)


def _last_words(evidence: Evidence) -> tuple[Message, ...] | None:
    """What the last model call put out, else the outermost frame; none is something else than not captured."""
    if evidence.calls:
        return last_of(evidence.calls).facts.output
    return _first(facts.output for facts in evidence.frame_facts())


def _said(facts: Sequence[Facts]) -> str | None:
    """The reply in the words of frames: of the outermost that has one."""
    return (
        _first(f.reply for f in facts)
        if any(f.reply is not None for f in facts)
        else _first(reply_in(f.output) for f in facts if f.output)
    )


def _failure(evidence: Evidence) -> Failure | None:
    """The frame's own, in the last model call's words if it has none; else a merged agent's; else that call's, as the last."""
    facts = evidence.frame_facts()
    if any(f.control_flow for f in facts):
        return None
    own = next((f.failure for f in facts if f.failure is not None), None)
    calls = sorted(evidence.calls, key=lambda call: (call.node.ended_ns, call.node.order))
    if own is not None:
        wordless = own.message is None and own.type is None
        return (calls[-1].facts.failure if calls and wordless else None) or own
    if evidence.later:
        last = evidence.later[-1]
        return _failure(last) if _said(evidence.frame_facts()) is None else None
    if any(f.fatal_tools for f in facts) and (error := _last_error(evidence)) is not None:
        return Failure(message=error)
    if not calls or calls[-1].facts.failure is None or calls[-1].facts.control_flow:
        return None
    said, failure = _said(evidence.frame_facts()), calls[-1].facts.failure
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
    return _first(tool.facts.error for tool in evidence.tools if tool.node.started_ns >= last_ns)


def _tools(evidence: Evidence, asked: str | None, failure: Failure | None) -> tuple[ToolCall, ...]:
    known: list[Asked] = _made_earlier(evidence, asked)
    conversations = longest(_conversations(evidence, asked))
    for messages in conversations:
        merge(known, asked_in(messages))
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
        tails=gaps_.tails_of(evidence),
        lost=gaps_.lost_in(evidence),
    )


def _made_earlier(evidence: Evidence, asked: str | None) -> list[Asked]:
    """Calls that an agent's first model call was shown already: another agent made them before handing over.

    Those of a loop's first call, too, where nothing tells which of its messages opened the turn.
    """
    if not evidence.calls or not (evidence.frames or asked is None):
        return []
    calls = asked_in(turn_of(evidence.calls[0].input, asked))
    waiting = _left_to_run(evidence, asked)
    for call in calls:
        call.earlier = call.call_id not in waiting or call.result is MISSING
    return calls


def _left_to_run(evidence: Evidence, asked: str | None) -> set[str]:
    """Ids of the calls that the agent was handed with nothing said after them: it begins with those that a user approved."""
    taken = next((facts.input for facts in evidence.frame_facts() if facts.input), None) or ()
    last = next((message for message in reversed(turn_of(taken, asked)) if message.role == "assistant"), None)
    answered = {part.call_id for message in taken for part in results_in(message)}
    asking = calls_in(last) if last is not None else []
    return {call.call_id for call in asking if call.call_id is not None and call.call_id not in answered}


def _conversations(evidence: Evidence, asked: str | None) -> Iterator[Sequence[Message]]:
    """This turn's messages, as each model call and each frame has them."""
    for call in evidence.calls:
        yield (*(turn_of(call.input, asked) if call.input else ()), *call.output)
    for node in (*evidence.frames, *evidence.steps):
        facts = node.facts
        if facts is not None and (facts.input or facts.output):
            given = turn_of(facts.input, asked) if facts.input else ()
            yield (*given, *turn_of(facts.output or ()))


def _usage(evidence: Evidence, calls: Sequence[Call]) -> Usage:
    """Of the leaf calls; an agent's own total only where no call tells."""
    total = usage_of_calls(calls)
    if total != Usage():
        return total
    return next((facts.usage for facts in evidence.frame_facts() if facts.usage != Usage()), Usage())


def _model(evidence: Evidence) -> str | None:
    return _first(call.facts.model for call in reversed(evidence.calls)) or _first(
        facts.model for facts in evidence.all_facts()
    )


def _system(evidence: Evidence) -> str | None:
    for facts in (*evidence.frame_facts(), *(call.facts for call in evidence.calls)):
        found = facts.system or system_in(facts.input or ())
        if found:
            return found
    return None


def _links(frames: Sequence[Node]) -> tuple[Link, ...]:
    return tuple(dict.fromkeys(link for node in frames for link in node.links))


def _conventions(evidence: Evidence) -> tuple[str, ...]:
    return tuple(sorted({name for facts in evidence.all_facts() for name in facts.conventions}))


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)
