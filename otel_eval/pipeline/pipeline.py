"""Telemetry is put together when it is complete, and let go when it is stored.

The order is what makes it crash-proof. A batch of complete Interactions is committed to the ledger; then the closed traces
are kept for late spans; then the journal's entries are released. A crash between any two of these only repeats work whose
results have the same ids.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol

from otel_eval.assemble.closed_traces import UnreadableTrace, dump, load
from otel_eval.assemble.completion import Closed, Completion, CompletionSettings, Due, Ready
from otel_eval.assemble.nodes import Node
from otel_eval.clock import Clock, sleep_until_set
from otel_eval.conventions.facts import Note
from otel_eval.crashes import Caution, DiedBefore, Kind
from otel_eval.instruments import Recorder
from otel_eval.journal import ClosedTrace, Consumer, Entry, JournalUnwritable
from otel_eval.ledger import LedgerUnavailable
from otel_eval.loop_guard import LoopGuard
from otel_eval.patience import Patience
from otel_eval.pipeline.holding import Holding
from otel_eval.pipeline.reading import Reader, UnreadableRequest, fault_of

log = logging.getLogger("otel_eval.pipeline")

EXPIRE_EVERY_S = 60.0
UNACCEPTABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What an Interaction raises that nobody thought of. Not what storage raises: that is tried again."""


class Accept(Protocol):
    """Stores complete Interactions with all that is known of them at once; returns when they are durable."""

    def __call__(
        self, completed: Iterable[Ready], aliases: Mapping[str, str] | None = None, /
    ) -> Awaitable[object]: ...


class Pipeline:
    """Reads the journal until cancelled. One for a journal."""

    def __init__(
        self,
        *,
        journal: Consumer,
        accept: Accept,
        guard: LoopGuard,
        clock: Clock,
        recorder: Recorder,
        settings: CompletionSettings,
        told_of: Callable[[Collection[str]], Awaitable[Mapping[str, Mapping[str, str]]]],
        forwarding: bool = False,
        keep: Collection[str] = (),
        caution: Caution | None = None,
    ) -> None:
        """``told_of``: the Interactions of traces that are stored, with their digests. ``keep``: attributes of
        agents' spans that Interactions are to have as they stand. ``forwarding``: entries are not released before
        :meth:`forwarded` was told of them. ``caution`` knows what took its process with it."""
        self._journal = journal
        self._accept = accept
        self._clock = clock
        self._patiently = Patience(clock, log, {LedgerUnavailable: "ledger", JournalUnwritable: "journal"})
        self._recorder = recorder
        self._told_of = told_of
        self._late_window_ns = int(settings.late_window * 1e9)
        self._caution = caution or Caution()
        self._completion = Completion(settings, putting_together=partial(self._caution.noted, Kind.TRACE))
        self._reader = Reader(guard, recorder, keep)
        self._holding = Holding(forwarding=forwarding)
        self._closed: dict[str, int] = {}
        self._closing: dict[str, Closed] = {}
        self._forgotten: set[str] = set()
        self._storing = asyncio.Lock()
        self._arrived = asyncio.Event()
        self._read_up_to = 0
        self._replayed_up_to = journal.last_seq

    @property
    def read_up_to(self) -> int:
        """The newest journal entry that was taken in."""
        return self._read_up_to

    @property
    def open_traces(self) -> int:
        """Traces that are not closed."""
        return self._completion.open_traces

    async def run(self) -> None:
        """Take in what the journal holds and what arrives; store what is complete. Runs until cancelled."""
        self._closed |= {trace.trace_id: trace.until_ns for trace in await self._journal.closed_traces()}
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._read())
            tasks.create_task(self._settle())
            tasks.create_task(self._expire())

    async def forwarded(self, seq: int) -> None:
        """Every entry up to this one has been sent on: what is put together as well is released."""
        self._holding.forwarded(seq)
        await self._release()

    async def forget(self, trace_ids: Iterable[str]) -> None:
        """Drop all that memory holds of these traces, and take them for closed: spans that come late start nothing.

        What is being stored at the moment is stored first. The caller deletes it from ledger and journal afterwards.
        """
        chosen = tuple(trace_ids)
        until_ns = self._clock.now_ns() + self._late_window_ns
        self._closed.update(dict.fromkeys(chosen, until_ns))
        self._forgotten.update(chosen)
        async with self._storing:
            for trace_id in chosen:
                self._completion.forget(trace_id)
                self._holding.let_go(trace_id, self._holding.detach(trace_id))
            closed = [ClosedTrace(trace_id=trace_id, until_ns=until_ns) for trace_id in chosen]
            await self._patiently(self._journal.keep_all, closed)
            await self._release()

    # Taking in

    async def _read(self) -> None:
        async for entry in self._journal.entries():
            await self._take_in(entry)
            self._read_up_to = entry.seq
            self._arrived.set()
            await asyncio.sleep(0)  # entries that are at hand come without a pause: let the receivers have their turn

    async def _take_in(self, entry: Entry) -> None:
        try:
            async with self._caution.during(Kind.REQUEST, str(entry.seq)):
                nodes, notes = self._reader.read(entry.request)
        except (UnreadableRequest, DiedBefore) as error:
            log.error("request %d cannot be read, it goes to quarantine: %s", entry.seq, error)
            await self._patiently(self._journal.quarantine, entry.seq, str(error), release=False)
            nodes, notes = [], []
        told = await self._told_before(entry.seq, nodes, notes)
        nodes, notes = await self._without_late(nodes, notes)
        traces = {node.trace_id for node in nodes} | {note.trace_id for note in notes}
        self._holding.take(entry.seq, traces)
        if traces:
            self._completion.add(nodes, notes, now=self._clock.monotonic())
            for trace_id, ids in told.items():
                self._completion.remember(trace_id, ids)
        else:
            await self._release()

    async def _told_before(
        self, seq: int, nodes: Iterable[Node], notes: Iterable[Note]
    ) -> Mapping[str, Mapping[str, str]]:
        """What was told of traces that were open when the last process ended: those ids stay, whatever comes now."""
        if seq > self._replayed_up_to:
            return {}
        traces = {node.trace_id for node in nodes} | {note.trace_id for note in notes}
        unknown = {trace_id for trace_id in traces if not self._completion.holds(trace_id)} - self._closed.keys()
        return await self._patiently(self._told_of, unknown) if unknown else {}

    async def _without_late(self, nodes: list[Node], notes: list[Note]) -> tuple[list[Node], list[Note]]:
        """Take closed traces back where something of an agent's came late; ordinary late spans change nothing."""
        ids = {node.trace_id for node in nodes} | {note.trace_id for note in notes}
        telling = {node.trace_id for node in nodes if node.facts is not None} | {note.trace_id for note in notes}
        tried: set[str] = set()
        while late := {trace_id for trace_id in ids if self._is_closed(trace_id)}:
            if not (to_reopen := (late & telling) - tried):
                break
            tried |= to_reopen
            for trace_id in sorted(to_reopen):  # each takes a while, in which other traces may be closed: look again
                await self._reopen(trace_id)
        if not late:
            return nodes, notes
        left = [node for node in nodes if node.trace_id in late]
        self._drop("own", sum(node.left_out for node in left))  # verdicts that came back in the agent's own trace
        self._drop("late", sum(not node.left_out for node in left))
        return (
            [node for node in nodes if node.trace_id not in late],
            [note for note in notes if note.trace_id not in late],
        )

    def _is_closed(self, trace_id: str) -> bool:
        return (trace_id in self._closed or trace_id in self._closing) and not self._completion.holds(trace_id)

    async def _reopen(self, trace_id: str) -> None:
        closed = self._closing.get(trace_id)
        if closed is None:
            blob = await self._journal.kept(trace_id)
            try:
                closed = load(blob) if blob else None  # empty: forgotten
            except UnreadableTrace as error:
                log.warning("a late span of trace %s is left out: %s", trace_id, error)
        if closed is not None and trace_id not in self._forgotten:
            self._completion.reopen(closed, now=self._clock.monotonic())

    # Storing

    async def _settle(self) -> None:
        while True:
            deadline = self._completion.next_deadline()
            if deadline is not None and deadline <= self._clock.monotonic():
                async with self._storing:
                    async with self._caution.apart(Kind.TRACE, self._completion.holds):
                        due = self._completion.due(self._clock.monotonic())
                    await self._store(due)  # leaving the block above gives nobody a turn
                continue
            await self._wait(deadline)

    async def _wait(self, deadline: float | None) -> None:
        """Until the deadline, or until something has arrived that may bring it forward."""
        self._arrived.clear()
        await sleep_until_set(self._clock, self._arrived, deadline)

    async def _store(self, due: Due) -> None:
        # At once, before anything else can arrive: what comes from now on is late, and belongs to entries of its own.
        entries = [(trace.trace_id, self._holding.detach(trace.trace_id)) for trace in due.closed]
        eventful = [trace for trace in due.closed if trace.eventful]
        self._closing.update((trace.trace_id, trace) for trace in eventful)
        needs = dict(entries)
        for broken in due.broken:
            seqs = frozenset[int]().union(*(needs.get(trace_id, ()) for trace_id in broken.trace_ids))
            await self._set_aside(broken.trace_ids, broken.spans, seqs, broken.error)
        await self._accept_each(await self._without_leftovers(due.ready), due.aliases, needs)
        await self._keep(eventful)
        for trace_id, seqs in entries:
            self._holding.let_go(trace_id, seqs)
        await self._release()

    async def _accept_each(
        self, ready: Sequence[Ready], aliases: Mapping[str, str], needs: Mapping[str, frozenset[int]]
    ) -> None:
        """Have all accepted, or each for itself where one of them cannot be; that one is set aside."""
        if not (ready or aliases):
            return
        try:
            await self._patiently(self._accept, ready, aliases)
        except UNACCEPTABLE as error:
            if not ready:
                log.error("the new ids of %d Interactions cannot be stored: %s", len(aliases), fault_of(error))
            elif len(ready) == 1:
                interaction = ready[0].interaction
                trace_id = interaction.trace_id
                seqs = needs.get(trace_id) or self._holding.needed_by(trace_id)
                await self._set_aside([trace_id], len(interaction.model_calls) + 1, seqs, error)
            else:
                ids = {each.interaction.id for each in ready}
                for each in ready:
                    own = {old: new for old, new in aliases.items() if new == each.interaction.id}
                    await self._accept_each([each], own, needs)
                await self._accept_each([], {old: new for old, new in aliases.items() if new not in ids}, needs)

    async def _set_aside(self, trace_ids: Collection[str], spans: int, seqs: Collection[int], error: Exception) -> None:
        """Keep in quarantine what an Interaction was to be made of, and go on: a start would meet it again, for ever."""
        fault = fault_of(error)
        log.error("of %s no Interaction can be made, its requests go to quarantine: %s", ", ".join(trace_ids), fault)
        self._drop("unreadable", spans)
        for seq in sorted(seqs):
            await self._patiently(
                self._journal.quarantine, seq, f"no Interaction can be made of it: {fault}", release=False
            )

    async def _without_leftovers(self, ready: Sequence[Ready]) -> list[Ready]:
        """Pieces of a trace that was closed longer than the late window ago, since it gave what is known of no more: they
        start nothing."""
        pieces = [each for each in ready if not each.interaction.complete]
        if not pieces:
            return list(ready)
        known = await self._patiently(
            self._told_of, {each.interaction.trace_id for each in pieces} - self._closed.keys()
        )
        left = [each for each in pieces if known.get(each.interaction.trace_id, {}).keys() - each.beside]
        self._drop("late", sum(len(each.interaction.model_calls) for each in left))
        return [each for each in ready if each not in left]

    async def _keep(self, closed: Sequence[Closed]) -> None:
        until_ns = self._clock.now_ns() + self._late_window_ns
        if closed:
            kept = [ClosedTrace(trace_id=trace.trace_id, until_ns=until_ns, blob=dump(trace)) for trace in closed]
            await self._patiently(self._journal.keep_all, kept)
        for trace in closed:
            self._closed[trace.trace_id] = until_ns
            if self._closing.get(trace.trace_id) is trace:
                del self._closing[trace.trace_id]

    async def _release(self) -> None:
        if free := self._holding.free():
            await self._patiently(self._journal.release, free)

    async def _expire(self) -> None:
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + EXPIRE_EVERY_S)
            now_ns = self._clock.now_ns()
            self._closed = {trace_id: until for trace_id, until in self._closed.items() if until > now_ns}
            self._forgotten &= self._closed.keys()
            await self._patiently(self._journal.expire, now_ns)

    def _drop(self, reason: str, count: int) -> None:
        if count:
            self._recorder.record("otel_eval.spans.dropped", count, {"otel_eval.reason": reason})
