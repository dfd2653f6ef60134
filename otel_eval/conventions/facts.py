"""What one span, or one log record, says about an agent's work: the only thing that the assembler knows of telemetry.

A convention turns a span into :class:`Facts`. Everything is optional; None (or :data:`MISSING`, where None is a value)
means that the span does not say. Facts hold no reference to the span they were read from, so that the span can be let go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum, StrEnum
from operator import attrgetter
from typing import Any, Final

from otel_eval.frozen import frozen, reader_of
from otel_eval.interaction import Attachment, Failure, GapKind, JsonValue, Message, TextPart, ToolCallPart, Usage
from otel_eval.signals import LogRecord, Span

NO_USAGE: Final = Usage()


class Kind(StrEnum):
    """What a span stands for."""

    AGENT = "agent"
    """One invocation of an agent."""
    WORKFLOW = "workflow"
    """A frame around agents: with exactly one agent below it, both are one Interaction."""
    MODEL = "model"
    """One call of a model."""
    TOOL = "tool"
    """One call of a tool."""
    HANDOFF = "handoff"
    """One agent passing on to another: never a tool call."""
    STEP = "step"
    """Part of an agent's work without a meaning of its own. Its content serves where the agent's span has none."""
    DELIVERY = "delivery"
    """A message bus delivering a message. A span link leads to where it was sent, below the sender's agent span;
    ``delivery`` has the receiver's address."""
    CHECK = "check"
    """A guardrail: models and tools in it count, and say nothing of the conversation, unless they are all that there is."""
    EVALUATOR = "evaluator"
    """Somebody judging. It and all below it is left out."""
    OTHER = "other"
    """Recognised, and to be taken for an ordinary span (plumbing, agent construction, embeddings)."""


class Missing(Enum):
    """The type of :data:`MISSING`."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING
"""Not told, where None means that null was told."""


TOOL_CALLS: Final = "tool_calls"


@frozen
class Mark:
    """A fault in what the span carries. ``field`` is a field of :class:`Facts`: ``input``, ``output``, ``arguments``,
    ``result``, ``system``.

    Or :data:`TOOL_CALLS`: what tools an agent called, or a model asked for, would stand where it is not found.
    """

    field: str
    kind: GapKind


@frozen
class Delivery:
    """Where a message bus finds an agent: of an agent its own address, of a delivery whom it reaches and who sent it."""

    recipient: str | None = None
    sender: str | None = None


@frozen
class Thread:
    """A conversation that a service keeps, by its id, and the run of it that a span tells of, or whose answer it got.

    ``ended``: whether the run is known to have.
    """

    id: str
    run: str | None = None
    ended: bool = False


@frozen
class Facts:
    """What one span says.

    Who
        ``agent``: the name of the agent that this span *is*, or runs under (then it is a hint only). ``weak_agent``: a
        name that serves where nobody below has a better one (of a workflow, a function, the span).
        ``session``, ``user_id``. These, and ``agent``, are empty where a convention knows that what stands there is none;
        never empty in a span's facts.
    Conversation
        ``input``: the messages that went in, ``output``: those that came out; for an agent ``output`` may hold the whole
        run. ``new_from``: where this turn starts in ``input``, if the convention tells. ``asked`` and ``reply``: texts
        that the convention names outright; they come before what the messages say. ``attachments`` go with ``asked``.
        ``system``: the instructions. ``prompt``: the asked text in a wrapping of the framework's, the last resort.
    Tool
        ``tool``, ``arguments``, ``result``, ``error`` (a text: the call failed), ``call_id``. ``failures_unseen``: of a call
        that fails the instrumentation writes no span.
    Model
        ``model``, ``response_id``, ``finish_reasons``, ``usage``. ``aggregated``: the usage is the sum of what is below.
    Trouble
        ``failure``: the span failed. ``fatal_tools``: a tool that fails ends the invocation, whose span does not say so.
        ``control_flow``: what looks like a failure is none (an interrupt, a deferral), here
        and above. ``marks``: redacted, truncated or dropped content. ``cut``: the ends of the span's texts that a length
        limit cut (:mod:`otel_eval.conventions.reading.truncation`), wherever they stand in the other fields. ``setting``:
        what would make this convention write the content that is not there.
    Left out
        ``pseudo_tools``: names of tool calls in messages that are plumbing of the framework.
    Place
        ``detached``: the instrumentation loses the context, so that what belongs below an agent's span is beside it or in
        traces of its own, and what a step hangs below is no agent; ``message_ids`` are then those of the messages that
        went in and came out. ``delivery``: the agent gets and gives messages through a bus
        (:mod:`otel_eval.assemble.deliveries`); what a delivery hands over stands in ``input`` as its recipient sees it,
        in ``output`` as its sender's own. ``thread``: the span is one request of those that make up an invocation, which
        the service keeps (:mod:`otel_eval.assemble.threads`); ``input`` is what the request put in, ``output`` what it got.
    """

    kind: Kind
    conventions: tuple[str, ...] = ()
    agent: str | None = None
    weak_agent: str | None = None
    session: str | None = None
    user_id: str | None = None
    input: tuple[Message, ...] | None = None
    output: tuple[Message, ...] | None = None
    new_from: int | None = None
    asked: str | None = None
    reply: str | None = None
    prompt: str | None = None
    attachments: tuple[Attachment, ...] = ()
    system: str | None = None
    tool: str | None = None
    arguments: JsonValue | Missing = MISSING
    result: JsonValue | Missing = MISSING
    error: str | None = None
    call_id: str | None = None
    model: str | None = None
    response_id: str | None = None
    finish_reasons: tuple[str, ...] = ()
    usage: Usage = NO_USAGE
    aggregated: bool = False
    failure: Failure | None = None
    fatal_tools: bool = False
    control_flow: bool = False
    marks: tuple[Mark, ...] = ()
    cut: tuple[str, ...] = ()
    setting: str | None = None
    pseudo_tools: tuple[str, ...] = ()
    failures_unseen: bool = False
    detached: bool = False
    message_ids: tuple[str, ...] = ()
    delivery: Delivery | None = None
    thread: Thread | None = None

    @property
    def answered(self) -> bool:
        """Whether the output is an answer: a text, and no request to call a tool."""
        parts = [part for message in self.output or () for part in message.parts]
        return any(isinstance(part, TextPart) for part in parts) and not any(
            isinstance(part, ToolCallPart) for part in parts
        )


_, _values_of = reader_of(Facts)
_UNTOLD = tuple(field.default for field in fields(Facts))
_JOINED = ("conventions", "marks", "cut", "pseudo_tools")
_joined_of = attrgetter(*_JOINED)


def fill(facts: Facts, more: Facts, **known: Any) -> Facts:
    """``facts`` with its untold fields taken from ``more``; the kind stays that of ``facts``. ``known`` overrides both."""
    make: Any = Facts
    pairs = zip(_UNTOLD, _values_of(facts), _values_of(more), strict=True)
    both: Facts = make(
        *[theirs if mine is untold else mine for untold, mine, theirs in pairs]
    )  # the untold are singletons
    for name, mine, theirs in zip(_JOINED, _joined_of(facts), _joined_of(more), strict=True):
        if mine and theirs:
            known.setdefault(name, mine + tuple(item for item in theirs if item not in mine))
    if facts.usage is NO_USAGE or facts.usage == NO_USAGE:
        known.setdefault("usage", more.usage)
        known.setdefault("aggregated", more.aggregated)
    if facts.input is not None:
        known.setdefault("new_from", facts.new_from)
    for name, value in known.items():
        setattr(both, name, value)
    return both


@frozen
class Note:
    """What one log record says about the span that it names, in place of attributes of that span.

    ``order`` sorts the notes of one span: by time, by place in the request, then by what they are. Messages of several
    notes of one span follow one another. ``among``: of how many the place is; of a record that came in several requests
    the place among most counts.
    """

    trace_id: str
    span_id: str
    facts: Facts
    order: tuple[int, int, int, str] = (0, 0, 0, "")
    among: int = 1

    @property
    def same(self) -> tuple[int, str]:
        """By which a record that was sent twice is known again: in another request it may have another place."""
        return self.order[0], self.order[3]

    @property
    def standing(self) -> tuple[int, tuple[int, int, int, str]]:
        """Of two notes with the same :attr:`same`, the one whose standing is greater is kept."""
        return self.among, self.order


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """One way in which agents are instrumented: a name, how to tell it cheaply, and a pure reading of one span.

    A span is offered to ``read`` if one of its attribute keys starts with one of ``prefixes``, or its scope's name starts
    with one of ``scopes``, its own with one of ``names``, or the name of one of its events with one of ``events``; where
    there are ``needs``, only if it is of one of those scopes or has a key that starts with one of these as well. ``read``
    gives None where the span is not of this convention after all. ``read_log`` likewise for a log record that has a span
    id. A ``fallback`` is offered only what no convention before it recognised.
    """

    name: str
    read: Callable[[Span], Facts | None]
    prefixes: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    read_log: Callable[[LogRecord], Facts | None] | None = None
    fallback: bool = False
