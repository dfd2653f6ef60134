"""When an Interaction is complete: by evidence, not by a fixed delay.

A state machine without a clock or a thread of its own: hand it what arrives (:meth:`Completion.add`) and ask it what is
due (:meth:`Completion.due`). Times are seconds of a monotonic clock, given by the caller, so a replay starts every timer
anew.

Quiet is measured per Interaction: no new span or log record below its agent span, or of unknown ancestry that could
stand below it.

==========================================================  =======================================================
what has arrived                                            complete after a quiet of
==========================================================  =======================================================
agent span, nothing missing, one resource, content there    ``settle``
the same, but several resources, or content still missing   ``settle_across_processes`` (SDKs export every 5 s)
the agent span's parent is in another process               ``settle_across_processes``
a parent that lives in the same process is missing          ``idle``, at the latest ``max_age`` after the last activity
no agent span; the last answer is text                      ``settle``, or ``settle_across_processes``
no agent span; the last answer calls a tool                 ``idle``
==========================================================  =======================================================

A missing parent in the same process is most likely a span that is still open, perhaps that of an outer agent. Where such
parents never come (they are exported elsewhere), waiting ``idle`` every time would be pointless: once it was waited for in
vain, that agent of that service is not waited for again until such a parent does come.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from otel_eval.assemble.assembler import assemble_nodes
from otel_eval.assemble.digest import revision_digest
from otel_eval.assemble.group import Group, Key, Standing
from otel_eval.assemble.nodes import Node
from otel_eval.conventions.facts import Note
from otel_eval.interaction import GapKind, Interaction

PAUSE_PER_SPAN = 0.002
"""A trace of so many spans is looked at again after that many times this, in seconds, and not sooner: each look puts all of
it together, so that one that thousands of turns go on in would cost a core. Below 1,000 spans the default ``settle``
is longer."""
ABSENT_PARENTS = 10_000
"""How many (service, agent) pairs are remembered whose parents never come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionSettings:
    """Seconds. See the configuration's ``completion`` section."""

    settle: float = 2.0
    settle_across_processes: float = 7.0
    idle: float = 300.0
    max_age: float = 3600.0
    late_window: float = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """An Interaction that is complete, and the digest of its evidence.

    ``beside``, of one without its agent span: the ids of the same trace that were handed on since it was opened, or are
    known from before. They tell a leftover of a trace that was closed from the first of a new one.
    """

    interaction: Interaction
    digest: str
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A trace that nothing more is expected of, with what a late span would be joined to.

    ``told``: ids and digests of the Interactions that it gave. All is empty where there was nothing of an agent in the
    trace: then nothing needs to be kept.
    """

    trace_id: str
    nodes: tuple[Node, ...] = ()
    notes: tuple[Note, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def eventful(self) -> bool:
        """Whether there was anything of an agent in it."""
        return bool(self.nodes or self.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Traces that cannot be put together, for a fault of ours; they are among ``closed``. ``spans`` of them are lost."""

    trace_ids: frozenset[str]
    spans: int
    error: Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is due: store ``ready``, with ``aliases`` (ids told before, to those that they mean now), then close
    ``closed``."""

    ready: tuple[Ready, ...] = ()
    closed: tuple[Closed, ...] = ()
    broken: tuple[Broken, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Found:
    ready: list[Ready] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)


class Completion:
    """Collects spans and log records until their Interactions are complete."""

    def __init__(
        self,
        settings: CompletionSettings | None = None,
        *,
        putting_together: Callable[[str], AbstractContextManager[None]] = lambda trace_id: nullcontext(),
    ) -> None:
        """``putting_together``: entered with a trace's id while its Interactions are put together; what it raises
        breaks the trace."""
        self._settings = settings or CompletionSettings()
        self._putting_together = putting_together
        self._groups: dict[str, Group] = {}
        self._tied: dict[str, Group] = {}
        self._timers: list[tuple[float, int, Group]] = []
        self._count = 0
        self._absent: OrderedDict[tuple[str, str], None] = OrderedDict()

    @property
    def open_traces(self) -> int:
        """How many traces are not closed."""
        return len(self._groups)

    def holds(self, trace_id: str) -> bool:
        """Whether that trace is open."""
        return trace_id in self._groups

    def add(self, nodes: Iterable[Node], notes: Iterable[Note], *, now: float) -> None:
        """Take in what arrived at that moment. Doing it twice is harmless, and no activity."""
        touched: dict[int, Group] = {}
        for node in nodes:
            group = self._groups.get(node.trace_id) or self._open(node.trace_id, now)
            if group.add_node(node, now):
                if node.facts is not None or node.parent_id is None:  # nothing ties others
                    group = self._tie(group, node.key)
                self._parent_came(group, node)
            touched[id(group)] = group
        for note in notes:
            group = self._groups.get(note.trace_id) or self._open(note.trace_id, now)
            group.add_note(note, now)
            group = self._tie(group, (note.trace_id, note.span_id))
            touched[id(group)] = group
        for group in touched.values():
            if group.trace_ids:  # not merged into another meanwhile
                self._schedule(group, now + max(self._settings.settle, _pause(group)))

    def reopen(self, closed: Closed, *, now: float) -> None:
        """Take back a trace, because something late has arrived."""
        self.add(closed.nodes, closed.notes, now=now)
        self.remember(closed.trace_id, closed.told)

    def remember(self, trace_id: str, told: Mapping[str, str]) -> None:
        """Interactions that an open trace gave before it was opened, with their digests."""
        if trace_id in self._groups:
            self._groups[trace_id].told.update(told)

    def forget(self, trace_id: str) -> bool:
        """Drop all of that trace; False where it is not open."""
        group = self._groups.get(trace_id)
        if group is None:
            return False
        self._close(group, (trace_id,), _Found())
        if not group.trace_ids:
            group.scheduled = None
        return True

    def next_deadline(self) -> float | None:
        """When :meth:`due` should be asked next; None while nothing is open."""
        return self._timers[0][0] if self._timers else None

    def due(self, now: float, limit: int = 500) -> Due:
        """What is complete by now, some ``limit`` Interactions of it; ask again while :meth:`next_deadline` is past."""
        found = _Found()
        while self._timers and self._timers[0][0] <= now and len(found.ready) + len(found.closed) < limit:
            deadline, _, group = heapq.heappop(self._timers)
            if group.scheduled == deadline:
                group.scheduled = None
                try:
                    with self._putting_together(min(group.trace_ids, default="")):
                        self._visit(group, now, found)
                except Exception as error:  # noqa: BLE001 - what nobody thought of costs its trace, not all that come after
                    self._give_up(group, error, found)
        return Due(
            ready=tuple(found.ready), closed=tuple(found.closed), broken=tuple(found.broken), aliases=found.aliases
        )

    # Collecting

    def _open(self, trace_id: str, now: float) -> Group:
        group = self._groups[trace_id] = Group(trace_id, now)
        return group

    def _tie(self, group: Group, span: Key) -> Group:
        """Join the group with the one whose bare loop the span goes on."""
        for key in group.ties_of(span):
            other = self._tied.get(key)
            if other is not None and other is not group:
                other.absorb(group)
                for trace_id in other.trace_ids:
                    self._groups[trace_id] = other
                self._tied.update(dict.fromkeys(other.tie_keys, other))
                group = other
            group.tie_keys.add(key)
            self._tied[key] = group
        return group

    def _schedule(self, group: Group, deadline: float) -> None:
        """Have the group visited then. One visit stands at a time: what should come later is seen to when it is made."""
        if group.scheduled is None or deadline < group.scheduled:
            group.scheduled = deadline
            self._count += 1
            heapq.heappush(self._timers, (deadline, self._count, group))

    # Completing

    def _visit(self, group: Group, now: float, found: _Found) -> None:
        interactions = assemble_nodes(group.nodes.values(), group.notes.values()) if group.eventful else ()
        open_traces: set[str] = set()
        deadlines: list[float] = []
        for interaction in interactions:
            standing = group.standing(interaction)
            deadline = self._complete_at(standing, interaction)
            if deadline <= now:
                self._tell(group, interaction, standing, found)
            else:
                deadlines.append(deadline)
                open_traces |= group.traces_of(interaction)
        quiet = self._settings.idle if group.eventful else self._settings.settle_across_processes
        told_of = {trace_id for interaction in interactions for trace_id in group.traces_of(interaction)}
        bus = group.bus_is_open_until(self._settings.idle, self._settings.max_age) if group.on_bus else now
        for trace_id in sorted(group.trace_ids - told_of | group.on_bus):
            # No Interaction yet: tools or log records of an agent still to come, or ordinary spans alone. Those are of
            # use only as links between an agent's spans, and children end before their parents: a short wait will do.
            # What a message bus delivers, or links to that, may be for agents still to come, told of or not.
            deadline = bus if trace_id in group.on_bus else group.last_in(trace_id) + quiet
            if deadline > now:
                deadlines.append(deadline)
                open_traces.add(trace_id)
        self._note_aliases(group, interactions, found)
        self._close(group, sorted(group.trace_ids - open_traces), found)
        if deadlines:
            self._schedule(group, max(min(deadlines), now + max(self._settings.settle / 4, _pause(group))))

    def _complete_at(self, standing: Standing, interaction: Interaction) -> float:
        settings = self._settings
        last = standing.last_activity
        if standing.waits_for_span or (standing.waits_for_outer and _habit(standing.root) not in self._absent):
            return min(standing.last_around + settings.idle, last + settings.max_age)
        whole = not standing.parent_missing and standing.one_resource and _content_is_there(interaction)
        return last + (settings.settle if whole else settings.settle_across_processes)

    def _tell(self, group: Group, interaction: Interaction, standing: Standing, found: _Found) -> None:
        if standing.waits_for_outer:
            self._remember_absent(_habit(standing.root))
        digest = revision_digest(interaction)
        if group.told.get(interaction.id) != digest:
            beside = frozenset[str]() if interaction.complete else frozenset(group.told_in(interaction.trace_id))
            group.told[interaction.id] = digest
            found.ready.append(Ready(interaction=interaction, digest=digest, beside=beside))

    def _note_aliases(self, group: Group, interactions: Iterable[Interaction], found: _Found) -> None:
        """Of ids that were told before, to those that they mean now. With an Interaction or after it, never before: whoever
        stores it has to know whose revisions it goes on with."""
        now = {interaction.id: interaction for interaction in interactions}
        for old in [name for name in group.told if name not in now]:
            new = group.meaning_of(old, now.values())
            if new is not None and new in group.told:
                found.aliases[old] = new
                del group.told[old]

    def _close(self, group: Group, trace_ids: Collection[str], found: _Found) -> None:
        if not trace_ids:
            return
        taken, keys = group.take_out(trace_ids)
        for key in keys:
            if self._tied.get(key) is group:
                del self._tied[key]
        for trace_id, (nodes, notes, told) in taken.items():
            del self._groups[trace_id]
            if notes or any(node.facts is not None for node in nodes):
                found.closed.append(Closed(trace_id=trace_id, nodes=tuple(nodes), notes=tuple(notes), told=told))
            else:
                found.closed.append(Closed(trace_id=trace_id))

    def _give_up(self, group: Group, error: Exception, found: _Found) -> None:
        trace_ids = frozenset(group.trace_ids)
        found.broken.append(Broken(trace_ids=trace_ids, spans=len(group.nodes), error=error))
        self._close(group, sorted(trace_ids), _Found())
        found.closed.extend(Closed(trace_id=trace_id) for trace_id in sorted(trace_ids))

    # Parents that never come

    def _remember_absent(self, habit: tuple[str, str]) -> None:
        self._absent[habit] = None
        self._absent.move_to_end(habit)
        if len(self._absent) > ABSENT_PARENTS:
            self._absent.popitem(last=False)

    def _parent_came(self, group: Group, node: Node) -> None:
        if self._absent:
            for child in group.agents_below(node):
                self._absent.pop(_habit(child), None)


def _pause(group: Group) -> float:
    return PAUSE_PER_SPAN * len(group.nodes)


def _habit(root: Node | None) -> tuple[str, str]:
    """Whose parents come or do not come: an agent of a service."""
    if root is None:
        return "", ""
    service = root.resource.attributes.get("service.name")
    agent = (root.facts.agent or root.facts.weak_agent) if root.facts is not None else None
    return f"{service or ''}", agent or ""


def _content_is_there(interaction: Interaction) -> bool:
    """Nothing is missing that a log record, or a span of another batch, could still bring."""
    if interaction.reply is None and not interaction.failed:
        return False
    missing = (GapKind.NOT_CAPTURED, GapKind.INCOMPLETE)
    return not any(
        gap.kind in missing and gap.field.startswith(("asked", "reply", "tool_calls")) for gap in interaction.all_gaps()
    )
