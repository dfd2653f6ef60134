"""What ties traces together: a bare loop's calls are often traces of their own, joined only by what was said.

So are the deliveries of a message bus, joined by links with one another and with the agents that they are of.

Two traces belong into one :func:`~otel_eval.assemble.assembler.assemble_nodes` where one of them is tied to the other:
the conversation so far that a call leaves behind is what the next call begins with, and the ids of the tools asked for are
those whose results come next. Ties may join more than belongs together (a scripted model's ids repeat); the assembler
takes them apart again. They never join less than it would have.
"""

from __future__ import annotations

from collections.abc import Sequence

from otel_eval.assemble.bare_loops import message_key
from otel_eval.assemble.nodes import Node
from otel_eval.conventions.facts import Facts, Kind, Note
from otel_eval.conventions.reading.messages import asks, call_ids_in
from otel_eval.identity import digest
from otel_eval.interaction import Message


def ties(arrived: Node | Note) -> frozenset[str]:
    """The keys that this span, or log record, shares with those of other traces that continue it, or that it continues.

    Only model calls have any, tools', and agents whose model calls are traces of their own: the tool call ids of this turn,
    the response id (another instrumentation's span of the same call), and the turn's opening (history and user message),
    which all calls of one turn begin with. What is on a message bus is tied by its own trace and those that it links to.
    The requests about a thread that a service keeps are tied by its id.
    """
    facts = arrived.facts
    if facts is not None and facts.delivery is not None and isinstance(arrived, Node):
        return frozenset(f"bus:{id_}" for id_ in (arrived.trace_id, *(link.trace_id for link in arrived.links)))
    if facts is not None and facts.thread is not None:
        return frozenset({f"thread:{facts.thread.id}"})
    if facts is not None and facts.kind is Kind.TOOL and isinstance(arrived, Node):
        return frozenset({f"call:{facts.call_id}"} if facts.call_id is not None else ())
    if facts is None or (isinstance(arrived, Node) and facts.kind is not Kind.MODEL and not _is_detached_agent(facts)):
        return frozenset()
    keys = {f"response:{facts.response_id}"} if facts.response_id else set()
    told, turn = _turn(facts.input or ())
    if told is not None:
        keys.add(told)
    output: Sequence[Message] = facts.output or ()
    if facts.detached:  # an agent's output may hold the whole conversation
        told, output = _turn(output)
        keys |= {told} if told is not None else set()
    for message in (*turn, *output):
        keys.update(f"call:{call_id}" for call_id in call_ids_in(message))
    return frozenset(keys)


def _is_detached_agent(facts: Facts) -> bool:
    return facts.detached and facts.kind is Kind.AGENT


def _turn(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """The key of the last turn's opening, None where nobody asks, and what follows it."""
    spoken = [message for message in messages if message.role != "system"]
    opening = next((index for index in range(len(spoken) - 1, -1, -1) if asks(spoken[index])), None)
    if opening is None:
        return None, spoken
    return "turn:" + digest(*(message_key(message) for message in spoken[: opening + 1])), spoken[opening + 1 :]
