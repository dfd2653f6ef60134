"""Spans and log records, reduced to what the assembler needs: the state that a live driver keeps for each trace.

:func:`observe` turns a span into a :class:`Node` at arrival, so that the span can be let go: an ordinary span leaves its
ids, its times and its resource, an agent's span its facts as well. :func:`join` does the same for a log record. Both are
pure; so is :func:`collect`, which makes one set of whatever came, in any order and any number of times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from otel_eval.conventions import registry
from otel_eval.conventions.events import follow
from otel_eval.conventions.facts import Facts, Kind, Note, fill
from otel_eval.frozen import frozen
from otel_eval.identity import digest
from otel_eval.interaction import JsonValue, Link, Message
from otel_eval.loop_guard import SCOPE_NAME
from otel_eval.signals import LogRecord, OrdinarySpan, Resource, Span

NO_RESOURCE = Resource()
INTERNAL = 1
"""OTLP's span kind of work inside a program; 0 is unspecified."""


@frozen
class Node:
    """One span as the assembler knows it. ``facts`` is None for an ordinary span.
    ``name`` is empty for an ordinary span of another kind than internal (a request, a query).

    ``left_out``: the span is ours or an evaluator's, and so is all below it, in whatever order it arrives.
    ``kept``: attributes as they stood, of those that the configuration asks for (roles go by them).
    ``scope``: the name of the instrumentation, of a span that has facts.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    started_ns: int = 0
    ended_ns: int = 0
    resource: Resource = NO_RESOURCE
    facts: Facts | None = None
    links: tuple[Link, ...] = ()
    left_out: bool = False
    parent_is_remote: bool | None = None
    kept: tuple[tuple[str, JsonValue], ...] = ()
    scope: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What makes the span unique."""
        return self.trace_id, self.span_id

    def overlaps(self, other: Node) -> bool:
        """Whether both ran at once for a while."""
        return self.started_ns < other.ended_ns and other.started_ns < self.ended_ns

    @property
    def order(self) -> tuple[int, int, str, str]:
        """By start, the longer one first, then by ids: total, and the same on every machine."""
        return self.started_ns, -self.ended_ns, self.trace_id, self.span_id

    def kind(self) -> Kind:
        """The kind of its facts; OTHER for an ordinary span."""
        return Kind.OTHER if self.facts is None else self.facts.kind


def is_open(node: Node) -> bool:
    """Whether it was sent before it ended: OTLP requires an end, and 0 is none."""
    return node.ended_ns == 0 < node.started_ns


def observe(span: Span | OrdinarySpan, keep: Collection[str] = ()) -> Node:
    """The span as a node. The span itself need not be kept. ``keep``: names of attributes that are wanted as they stand."""
    if not isinstance(span, Span):
        return _ordinary_node(span)
    node = _node(span, registry.facts_of(span))
    if not keep or node.facts is None:
        return node
    return replace(node, kept=tuple((name, span.attributes[name]) for name in sorted(keep) if name in span.attributes))


def ordinary(span: Span | OrdinarySpan) -> Node:
    """The span as a node without facts, whatever it says."""
    return _node(span, None) if isinstance(span, Span) else _ordinary_node(span)


def _ordinary_node(span: OrdinarySpan) -> Node:
    trace_id, span_id, parent_id, name, kind, started_ns, ended_ns, parent_is_remote, resource, scope = span
    return Node(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        name=name if kind <= INTERNAL else "",
        started_ns=started_ns,
        ended_ns=ended_ns,
        resource=resource,
        left_out=scope.name == SCOPE_NAME,
        parent_is_remote=parent_is_remote,
    )


def _node(span: Span, facts: Facts | None) -> Node:
    left_out = span.scope.name == SCOPE_NAME or (facts is not None and facts.kind is Kind.EVALUATOR)
    links: tuple[Link, ...] = ()
    if facts is not None and span.links:
        links = tuple(Link(trace_id=link.trace_id, span_id=link.span_id) for link in span.links)
    return Node(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=span.parent_id,
        name=span.name if facts is not None or span.kind <= INTERNAL else "",
        started_ns=span.started_ns,
        ended_ns=span.ended_ns,
        resource=span.resource,
        facts=None if left_out else facts,
        links=links,
        left_out=left_out,
        parent_is_remote=span.parent_is_remote,
        scope=span.scope.name if facts is not None else "",
    )


def join(record: LogRecord) -> Note | None:
    """What the record says of its span, which may come before or after it; None for a record that says nothing of agents."""
    return registry.note_of(record)


def collect(nodes: Iterable[Node], notes: Iterable[Note] = ()) -> list[Node]:
    """One node for each span, with what log records say of it, in a total order."""
    return sorted(unique(nodes, notes).values(), key=lambda node: node.order)


def telling(nodes: Mapping[tuple[str, str], Node]) -> Collection[Node]:
    """The nodes that have facts, and all above them. Whatever is not above an agent's span changes nothing."""
    kept: dict[tuple[str, str], Node] = {}
    for key, node in nodes.items():
        if node.facts is None:
            continue
        above: Node | None = node
        while above is not None and key not in kept:
            kept[key] = above
            key = above.trace_id, above.parent_id or ""
            above = nodes.get(key)
    return kept.values()


def unique(nodes: Iterable[Node], notes: Iterable[Note] = ()) -> dict[tuple[str, str], Node]:
    """One node for each span, by its key, with what log records say of it.

    Of a span that came twice with different content the one that ended last counts. A note of a span that never came
    is left out.
    """
    found: dict[tuple[str, str], Node] = {}
    for node in nodes:
        key = node.trace_id, node.span_id
        known = found.get(key)
        if known is None or (known is not node and known != node and _rank(known) < _rank(node)):
            found[key] = node
    for key, told in _by_span(notes).items():
        if key in found and not found[key].left_out:
            found[key] = _noted(found[key], told)
    return found


def _rank(node: Node) -> tuple[int, bool, str]:
    return node.ended_ns, node.facts is not None, digest(repr(node.facts), repr(node.parent_id), str(node.started_ns))


def _by_span(notes: Iterable[Note]) -> dict[tuple[str, str], Sequence[Note]]:
    """The notes of each span in order, one for each record however often it came."""
    spans: dict[tuple[str, str], dict[tuple[int, str], Note]] = {}
    for note in notes:
        told = spans.setdefault((note.trace_id, note.span_id), {})
        known = told.get(note.same)
        if known is None or known.standing < note.standing:
            told[note.same] = note
    return {key: sorted(told.values(), key=lambda note: note.order) for key, told in spans.items()}


def _noted(node: Node, notes: Sequence[Note]) -> Node:
    told = notes[0].facts
    for note in notes[1:]:
        told = follow(told, note.facts)
    if told.output == () and told.input is not None and not _says_anything(told.input):
        told = replace(told, output=None)  # records without content look like those of an answer that says nothing
    if node.facts is None:
        kind = Kind.MODEL if told.kind is Kind.OTHER else told.kind
        return replace(node, facts=replace(told, kind=kind))
    known: dict[str, Any] = {}
    if node.facts.input == () and told.input:
        known["input"] = told.input  # of messages whose content is in the record the span has the roles
    if node.facts.output == () and told.output:
        known["output"] = told.output
    return replace(node, facts=fill(node.facts, told, **known))


def _says_anything(messages: Iterable[Message]) -> bool:
    return any(message.text is not None for message in messages)
