"""Model calls: one for each call of a model, however many instrumentations wrote a span of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

from otel_eval.assemble.nodes import Node
from otel_eval.assemble.transcript import answer_in
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import NO_USAGE, Facts, Kind, fill
from otel_eval.conventions.reading.messages import asked_for, results_in
from otel_eval.conventions.reading.parts import is_hidden
from otel_eval.conventions.reading.reasons import all_ask_for_tools
from otel_eval.frozen import frozen
from otel_eval.interaction import Message, ModelCall, TextPart, Usage


@frozen
class Call:
    """One call of a model: the span that stands for it, and what all its spans say together."""

    node: Node
    facts: Facts
    spans: tuple[Node, ...]

    @property
    def input(self) -> tuple[Message, ...]:
        """The messages that went in; none where they were not captured."""
        return self.facts.input or ()

    @property
    def output(self) -> tuple[Message, ...]:
        """The messages that came out."""
        return self.facts.output or ()

    @property
    def answer(self) -> str | None:
        """What the model said to end with, the placeholder where that is hidden; None where it asked for tools, or said
        nothing.

        That it asked for tools is also known from its finish reason, where the request itself was not captured.
        """
        return None if all_ask_for_tools(self.facts.finish_reasons) else answer_in(self.output)

    def model_call(self) -> ModelCall:
        """As the domain has it."""
        return ModelCall(
            span_id=self.node.span_id,
            model=self.facts.model,
            response_id=self.facts.response_id,
            finish_reasons=self.facts.finish_reasons,
            usage=self.facts.usage,
            failure=self.facts.failure,
            started_ns=self.node.started_ns or None,
            ended_ns=self.node.ended_ns or None,
        )


def calls_of(nodes: Iterable[Node], tree_of: dict[str, Tree]) -> list[Call]:
    """The model calls among the nodes, in the order of their start.

    A model's span below another is the same call written twice, unless it follows from what the other answered, or there
    are several of them (a retry inside): then those are the calls, and the outer one is a frame. Two spans with the
    same response id are one call, too, wherever they are; and so is a call whose outcome stands in a record after it.
    """
    spans = [node for node in nodes if node.kind() is Kind.MODEL]
    groups = _with_records(_by_response(_nested(spans, tree_of)))
    calls = [_merged(group) for group in groups]
    return sorted(calls, key=lambda call: call.node.order)


def last_of(calls: Sequence[Call]) -> Call:
    """The one that ended last."""
    return max(calls, key=lambda call: (call.node.ended_ns, call.node.order))


def _nested(spans: Sequence[Node], tree_of: dict[str, Tree]) -> list[list[Node]]:
    present = {node.key for node in spans}
    inner: dict[tuple[str, str], list[Node]] = {}
    outermost: list[Node] = []
    for node in spans:
        above = _model_above(node, tree_of[node.trace_id])
        if above is None or above.key not in present or follows(node, above):
            outermost.append(node)
        else:
            inner.setdefault(above.key, []).append(node)
    if not inner:
        return [[node] for node in outermost]

    def gather(node: Node) -> list[list[Node]]:
        below = inner.get(node.key, [])
        if not below:
            return [[node]]
        if len(below) == 1:
            first, *rest = gather(below[0])
            return [[node, *first], *rest] if not rest else [[node], *([first, *rest])][1:]
        return [group for child in below for group in gather(child)]

    return [group for node in outermost for group in gather(node)]


def follows(node: Node, above: Node) -> bool:
    """Whether the call was given what came of the tools that the one above asked for: a client that calls itself
    (RubyLLM)."""
    if node.facts is None or above.facts is None or not above.facts.output or not node.facts.input:
        return False
    asked = {call.call_id for call in asked_for(above.facts.output)} - {None}
    return bool(asked) and any(result.call_id in asked for said in node.facts.input for result in results_in(said))


def _model_above(node: Node, tree: Tree) -> Node | None:
    for above in tree.ancestors(node):
        if above.kind() is Kind.MODEL:
            return above
        if above.kind() not in (Kind.OTHER, Kind.STEP):
            return None
    return None


def _by_response(groups: list[list[Node]]) -> list[list[Node]]:
    merged: list[list[Node]] = []
    seen: dict[str, list[Node]] = {}
    for group in groups:
        ids = {node.facts.response_id for node in group if node.facts is not None and node.facts.response_id}
        known = next((seen[response_id] for response_id in sorted(ids) if response_id in seen), None)
        if known is None:
            known = []
            merged.append(known)
        known.extend(group)
        for response_id in ids:
            seen[response_id] = known
    return merged


def _with_records(groups: list[list[Node]]) -> list[list[Node]]:
    """A stream's outcome may follow in a record, a span without duration that repeats the request (Logfire)."""
    records = [group for group in groups if len(group) == 1 and group[0].started_ns == group[0].ended_ns]
    for record in records:
        node = record[0]
        asked = [group for group in groups if group[0].order < node.order and _awaits(group, node)]
        if asked:
            max(asked, key=lambda group: group[0].order).append(node)
            groups = [group for group in groups if group is not record]
    return groups


def _awaits(group: list[Node], record: Node) -> bool:
    """Whether a call beside the record was given the same, and no span of it tells what came out."""
    first, told = group[0], [node.facts for node in group if node.facts is not None]
    return (
        (first.trace_id, first.parent_id) == (record.trace_id, record.parent_id)
        and record.facts is not None
        and bool(record.facts.input)
        and any(facts.input == record.facts.input for facts in told)
        and not any(facts.output or facts.failure for facts in told)
    )


def _merged(group: list[Node]) -> Call:
    """The content of whichever has it, outermost first; the outermost span with content stands for the call."""
    if len(group) == 1 and (only := group[0].facts) is not None:
        return Call(node=group[0], facts=only, spans=tuple(group))
    told = [node for node in group if node.facts is not None and (node.facts.input or node.facts.output)]
    told.sort(key=lambda node: not _says_something(node.facts))
    ordered = told + [node for node in group if node not in told]
    facts = ordered[0].facts
    assert facts is not None  # a node of the kind MODEL has facts
    for node in ordered[1:]:
        assert node.facts is not None
        facts = fill(facts, node.facts)
    return Call(node=group[0], facts=facts, spans=tuple(group))


def _says_something(facts: Facts | None) -> bool:
    """Whether what went in is more than a skeleton: with content off, some write messages without anything in them."""
    parts = [part for message in (facts.input if facts else None) or () for part in message.parts]
    return any(isinstance(part, TextPart) and not is_hidden(part) for part in parts)


def usage_of_calls(calls: Iterable[Call]) -> Usage:
    """The sum over the calls: each counted once."""
    told = [call.facts.usage for call in calls]
    return reduce(add, told) if told else NO_USAGE
