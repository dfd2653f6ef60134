"""What has arrived of one trace, or of the traces that the model calls of one bare loop are spread over."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from otel_eval.assemble.deliveries import delivered
from otel_eval.assemble.nodes import Node, collect, is_open, unique
from otel_eval.assemble.trace_ties import ties
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind, Note
from otel_eval.interaction import Interaction

Key: TypeAlias = tuple[str, str]
"""Trace id and span id: span ids alone are not unique."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far an Interaction has come. Times are those of arrival.

    ``root`` is its agent span, None where there is none. ``last_activity`` is the last arrival of anything that is or
    could be its own, ``last_around`` of anything in its traces. ``waits_for_span``: its own span, or one
    that must be below it, has not ended. ``waits_for_outer``: the parent of its agent span lives in the same process and
    has not arrived.
    """

    root: Node | None
    last_activity: float
    last_around: float
    waits_for_span: bool
    waits_for_outer: bool
    parent_missing: bool
    one_resource: bool


class Taken(NamedTuple):
    """What a group had of one trace; ``told``: the Interactions that it gave, with their digests."""

    nodes: list[Node]
    notes: list[Note]
    told: dict[str, str]


class Group:
    """Nodes and notes with their times of arrival. Belongs to :class:`~otel_eval.assemble.completion.Completion`."""

    def __init__(self, trace_id: str, now: float) -> None:
        self.trace_ids = {trace_id}
        self.nodes: dict[Key, Node] = {}
        self.notes: dict[tuple[Key, tuple[int, str]], Note] = {}
        self._notes_of: dict[Key, list[Note]] = {}
        self.told: dict[str, str] = {}
        self.tie_keys: set[str] = set()
        self._bus_opened: dict[str, float] = {}
        self.scheduled: float | None = None
        self._opened = now
        self._arrived: dict[Key, float] = {}
        self._trees: dict[str, Tree] = {}

    @property
    def eventful(self) -> bool:
        """Whether there is anything of an agent in it."""
        return bool(self.notes) or any(node.facts is not None for node in self.nodes.values())

    def add_node(self, node: Node, now: float) -> bool:
        """Take the span in; False where it was there already."""
        key = node.key
        known = self.nodes.get(key)
        if known is not None:
            node = collect((known, node))[0]
            if node == known:
                return False
        self.nodes[key] = node
        if _is_on_bus(node):
            self._bus_opened.setdefault(node.trace_id, now)
        self._arrived[key] = now
        self._trees.pop(node.trace_id, None)
        return True

    def add_note(self, note: Note, now: float) -> None:
        """Take the log record in, unless it was there already."""
        span = (note.trace_id, note.span_id)
        known = self.notes.get((span, note.same))
        if known is not None and known.standing >= note.standing:
            return
        self.notes[span, note.same] = note
        self._notes_of[span] = [*(each for each in self._notes_of.get(span, ()) if each is not known), note]
        self._arrived[span] = now
        self._trees.pop(note.trace_id, None)

    def ties_of(self, key: Key) -> frozenset[str]:
        """What ties the span to other traces: only a call of a model or a tool that is a trace of its own, or what is
        on a message bus.

        What log records say of it counts, since they may hold all that was said; before it came they tie nothing.
        """
        node = self.nodes.get(key)
        if node is None or (node.parent_id is not None and not _is_on_bus(node)):
            return frozenset()
        notes = self._notes_of.get(key)
        return ties(node if notes is None else collect((node,), notes)[0])

    def absorb(self, other: Group) -> None:
        """Take everything over from another group, which is empty afterwards."""
        self.trace_ids |= other.trace_ids
        self.nodes.update(other.nodes)
        self.notes.update(other.notes)
        for key, notes in other._notes_of.items():
            self._notes_of.setdefault(key, []).extend(notes)
        self.told.update(other.told)
        self.tie_keys |= other.tie_keys
        self._bus_opened.update(other._bus_opened)
        self._arrived.update(other._arrived)
        self._opened = min(self._opened, other._opened)
        other.trace_ids = set()
        other.scheduled = None

    def take_out(self, trace_ids: Collection[str]) -> tuple[dict[str, Taken], set[str]]:
        """Remove traces, all at once, since a group may have thousands: what each was, and the ties that only they had.

        What a bus delivered stays with the agents: late spans bring an agent's trace back, and not the others.
        """
        taken = {trace_id: Taken([], [], {}) for trace_id in trace_ids}
        whole = self.nodes if self._bus_opened.keys().isdisjoint(taken) else delivered(self.nodes)
        for key, node in whole.items():
            if key[0] in taken:
                taken[key[0]].nodes.append(node)
        for note in self.notes.values():
            if note.trace_id in taken:
                taken[note.trace_id].notes.append(note)
        for name, digest in self.told.items():
            if (trace_id := name.partition("-")[0]) in taken:
                taken[trace_id].told[name] = digest
        self.trace_ids -= taken.keys()
        for trace_id in taken:
            self._bus_opened.pop(trace_id, None)
            self._trees.pop(trace_id, None)
        self.nodes = {key: node for key, node in self.nodes.items() if key[0] not in taken}
        self.notes = {key: note for key, note in self.notes.items() if key[0][0] not in taken}
        self._notes_of = {key: said for key, said in self._notes_of.items() if key[0] not in taken}
        self._arrived = {key: when for key, when in self._arrived.items() if key[0] not in taken}
        self.told = {name: digest for name, digest in self.told.items() if name.partition("-")[0] not in taken}
        left = {tie for key in self.nodes for tie in self.ties_of(key)} if self.trace_ids else set()
        gone, self.tie_keys = self.tie_keys - left, left
        return taken, gone

    @property
    def on_bus(self) -> frozenset[str]:
        """The traces in which a message bus delivers something, or an agent gets its messages from one."""
        return frozenset(self._bus_opened)

    def bus_is_open_until(self, idle: float, max_age: float) -> float:
        """When all traces on the bus are closed, together: with some of them closed, the others' Interactions would be put
        together anew from less, and their next revision would be poorer than the one that was judged."""
        last = max((when for key, when in self._arrived.items() if key[0] in self._bus_opened), default=self._opened)
        return min(last + idle, min(self._bus_opened.values(), default=last) + max_age)

    def told_in(self, trace_id: str) -> Iterator[str]:
        """The ids of that trace's Interactions that were handed on."""
        return (name for name in self.told if name.startswith(f"{trace_id}-"))

    def last_in(self, trace_id: str) -> float:
        """When something of that trace last arrived."""
        return max((when for key, when in self._arrived.items() if key[0] == trace_id), default=self._opened)

    def tree(self, trace_id: str) -> Tree:
        """The spans of that trace that arrived so far."""
        if trace_id not in self._trees:
            nodes = (node for node in self.nodes.values() if node.trace_id == trace_id)
            notes = (note for note in self.notes.values() if note.trace_id == trace_id)
            self._trees[trace_id] = Tree(unique(nodes, notes).values())
        return self._trees[trace_id]

    def traces_of(self, interaction: Interaction) -> set[str]:
        """The traces that the Interaction's spans are in, and those of other instrumentations' spans of the same calls."""
        traces = {interaction.trace_id, *(trace_id for trace_id, _ in self._own_calls(interaction))}
        ids = {call.response_id for call in interaction.model_calls if call.response_id}
        if ids and not self.trace_ids <= traces:
            said = ((key[0], node.facts.response_id) for key, node in self.nodes.items() if node.facts is not None)
            traces |= {trace_id for trace_id, response_id in said if response_id in ids}
        return traces

    def agents_below(self, node: Node) -> Iterator[Node]:
        """The agent spans whose parent this span is."""
        for child in self.nodes.values():
            if child.parent_id == node.span_id and child.trace_id == node.trace_id and child.kind() is Kind.AGENT:
                yield child

    def meaning_of(self, old_id: str, interactions: Iterable[Interaction]) -> str | None:
        """The Interaction that the span of an id told before belongs to now; None where it belongs to none."""
        trace_id, _, span_id = old_id.partition("-")
        interactions = tuple(interactions)
        by_span = {(each.trace_id, each.span_id): each.id for each in interactions}
        node = self.tree(trace_id).by_id.get(span_id) if trace_id in self.trace_ids else None
        if node is not None:
            for above in self.tree(trace_id).ancestors(node):
                if above.key in by_span:
                    return by_span[above.key]
        calls = {key: each.id for each in interactions for key in self._own_calls(each)}
        if node is not None or trace_id not in self.trace_ids:
            return calls.get((trace_id, span_id))
        # a parent that never came: what is below it may have gone to the agent that it ran within
        below = (child.key for child in self.tree(trace_id).by_id.values() if child.parent_id == span_id)
        return next((calls[key] for key in sorted(below) if key in calls), None)

    def standing(self, interaction: Interaction) -> Standing:
        """How far the Interaction has come."""
        root = self.nodes.get((interaction.trace_id, interaction.span_id))
        if root is not None and root.kind() in (Kind.AGENT, Kind.WORKFLOW):
            return self._standing_of_agent(root)
        return self._standing_of_loop(interaction)

    def _standing_of_agent(self, root: Node) -> Standing:
        tree = self.tree(root.trace_id)
        below = {root.span_id, *(node.span_id for node in tree.below(root))}
        top = _top(tree, root) or root
        missing = top.parent_id is not None and top.parent_id not in tree.known
        loose = {span for span in self._unplaced(tree) if span not in below and _could_be_below(root, tree.by_id[span])}
        return Standing(
            root=root,
            last_activity=self._last(root.trace_id, below | loose),
            last_around=self.last_in(root.trace_id),
            waits_for_span=bool(loose) or is_open(root),
            waits_for_outer=missing and top.parent_is_remote is not True,
            parent_missing=missing,
            one_resource=_one_resource(tree.by_id[span] for span in below),
        )

    def _standing_of_loop(self, interaction: Interaction) -> Standing:
        """Without an agent span, an open parent may be the agent's: such an Interaction waits for it."""
        own = [self.nodes[key] for key in self._own_calls(interaction) if key in self.nodes]
        tops = [top for node in own if (top := _top(self.tree(node.trace_id), node)) is not None]
        missing = [
            top for top in tops if top.parent_id is not None and top.parent_id not in self.tree(top.trace_id).known
        ]
        traces = self.traces_of(interaction)
        last = max(self._last(trace_id, set(self.tree(trace_id).by_id)) for trace_id in traces & self.trace_ids)
        open_parent = any(top.parent_is_remote is not True for top in missing)
        return Standing(
            root=None,
            last_activity=last,
            last_around=last,
            waits_for_span=open_parent or not interaction.complete,
            waits_for_outer=False,
            parent_missing=bool(missing),
            one_resource=_one_resource(own),
        )

    def _own_calls(self, interaction: Interaction) -> set[Key]:
        """The model calls and tools of the Interaction, by the keys of their spans."""
        spans = {call.span_id for call in interaction.model_calls} | {call.span_id for call in interaction.tool_calls}
        if len(self.trace_ids) == 1:
            return {(interaction.trace_id, span_id) for span_id in spans if span_id is not None}
        return {key for key in self.nodes if key[1] in spans}

    def _unplaced(self, tree: Tree) -> Iterator[str]:
        """The spans of unknown ancestry: the way up ends at a parent that has not arrived."""
        for top in tree.roots:
            if top.parent_id is not None and top.parent_id not in tree.known:
                yield top.span_id
                yield from (node.span_id for node in tree.below(top))

    def _last(self, trace_id: str, spans: set[str]) -> float:
        return max((self._arrived.get((trace_id, span), self._opened) for span in spans), default=self._opened)


def _top(tree: Tree, node: Node) -> Node | None:
    if node.span_id not in tree.by_id:
        return None  # ours, or an evaluator's
    return deque(tree.ancestors(node), maxlen=1)[0] if tree.parent(node) is not None else node


def _is_on_bus(node: Node) -> bool:
    return node.facts is not None and node.facts.delivery is not None


def _could_be_below(root: Node, node: Node) -> bool:
    """A span that started after the agent's end is not below it; clocks of two processes are not compared."""
    return node.resource != root.resource or node.started_ns < root.ended_ns or is_open(root)


def _one_resource(nodes: Iterable[Node]) -> bool:
    first = None
    for node in nodes:
        if first is None:
            first = node.resource
        elif node.resource is not first and node.resource != first:
            return False
    return True
