"""What runs between the journal and the dispatcher: telemetry is put together when it is complete, and let go when stored.

The order is what makes it crash-proof. A batch of complete Interactions is committed to the ledger; then the closed traces
are kept for late spans; then the journal's entries are released. A crash between any two of these only repeats work whose
results have the same ids.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol

from otel_eval.assemble.completion import Closed, Completion, CompletionSettings, Due, Ready
from otel_eval.assemble.keeping import UnreadableTrace, dump, load
from otel_eval.assemble.nodes import Node, join
from otel_eval.assemble.own import OwnTelemetry
from otel_eval.clock import Clock
from otel_eval.conventions.facts import Note
from otel_eval.instruments import Recorder
from otel_eval.journal import ClosedTrace, Entry, Journal
from otel_eval.ledger import LedgerUnavailable
from otel_eval.loop_guard import LoopGuard
from otel_eval.receive.decode import decode_logs, decode_traces

log = logging.getLogger("otel_eval.pipeline")

RETRY_S = 1.0
"""Between two attempts to store a batch that the ledger could not take."""
EXPIRE_EVERY_S = 60.0


class Accept(Protocol):
    """Stores complete Interactions with all that is known of them at once; returns when they are durable."""

    def __call__(self, completed: Iterable[Ready], aliases: Any = None) -> Awaitable[Any]: ...


class Pipeline:
    """Reads the journal until cancelled. One for a journal."""

    def __init__(
        self,
        *,
        journal: Journal,
        accept: Accept,
        guard: LoopGuard,
        clock: Clock,
        recorder: Recorder,
        settings: CompletionSettings,
        known_traces: Callable[[Sequence[str]], Awaitable[set[str]]],
    ) -> None:
        self._journal = journal
        self._accept = accept
        self._clock = clock
        self._recorder = recorder
        self._known_traces = known_traces
        self._late_window_ns = int(settings.late_window * 1e9)
        self._completion = Completion(settings)
        self._own = OwnTelemetry(guard)
        self._closed: dict[str, int] = {}
        self._closing: dict[str, Closed] = {}
        self._entries_of: dict[str, set[int]] = {}
        self._traces_of: dict[int, set[str]] = {}
        self._arrived = asyncio.Event()
        self._read_up_to = 0

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
        self._closed = {trace.trace_id: trace.until_ns for trace in await self._journal.closed_traces()}
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._read())
            tasks.create_task(self._settle())
            tasks.create_task(self._expire())

    # Taking in

    async def _read(self) -> None:
        async for entry in self._journal.entries():
            await self._take_in(entry)
            self._read_up_to = entry.seq
            self._arrived.set()
            await asyncio.sleep(0)  # entries that are at hand come without a pause: let the receivers have their turn

    async def _take_in(self, entry: Entry) -> None:
        for attempt in (1, 2):
            try:
                nodes, notes = self._read_entry(entry)
                break
            except Exception as error:  # noqa: BLE001 - whatever a request holds, the next one must be read
                if attempt == 2:
                    reason = f"{type(error).__name__}: {error}"
                    log.error("request %d cannot be read, it goes to quarantine: %s", entry.seq, reason)
                    await self._journal.quarantine(entry.seq, reason)
                    return
        nodes, notes = await self._without_late(nodes, notes)
        traces = {node.trace_id for node in nodes} | {note.trace_id for note in notes}
        if not traces:
            await self._journal.release([entry.seq])
            return
        self._traces_of[entry.seq] = traces
        for trace_id in traces:
            self._entries_of.setdefault(trace_id, set()).add(entry.seq)
        self._completion.add(nodes, notes, now=self._clock.monotonic())

    def _read_entry(self, entry: Entry) -> tuple[list[Node], list[Note]]:
        request = entry.request
        if request.signal == "traces":
            nodes, ours = self._own.observe(decode_traces(request.body, request.encoding))
            self._drop("own", ours)
            return nodes, []
        if request.signal == "logs":
            records = decode_logs(request.body, request.encoding)
            return [], [note for record in records if (note := join(record)) is not None]
        return [], []

    async def _without_late(self, nodes: list[Node], notes: list[Note]) -> tuple[list[Node], list[Note]]:
        """Take closed traces back where something of an agent's came late; ordinary late spans change nothing."""
        ids = {node.trace_id for node in nodes} | {note.trace_id for note in notes}
        known = self._closed.keys() | self._closing.keys()
        late = {trace_id for trace_id in ids & known if not self._completion.holds(trace_id)}
        if not late:
            return nodes, notes
        telling = {node.trace_id for node in nodes if node.facts is not None} | {note.trace_id for note in notes}
        for trace_id in sorted(late & telling):
            if await self._reopen(trace_id):
                late.discard(trace_id)
        self._drop("late", sum(node.trace_id in late for node in nodes))
        return (
            [node for node in nodes if node.trace_id not in late],
            [note for note in notes if note.trace_id not in late],
        )

    async def _reopen(self, trace_id: str) -> bool:
        closed = self._closing.get(trace_id)
        if closed is None:
            blob = await self._journal.kept(trace_id)
            try:
                closed = None if blob is None else load(blob)
            except UnreadableTrace as error:
                log.warning("a late span of trace %s is left out: %s", trace_id, error)
        if closed is None:
            return False
        self._completion.reopen(closed, now=self._clock.monotonic())
        return True

    # Storing

    async def _settle(self) -> None:
        while True:
            deadline = self._completion.next_deadline()
            if deadline is not None and deadline <= self._clock.monotonic():
                await self._store(self._completion.due(self._clock.monotonic()))
                continue
            await self._wait(deadline)

    async def _wait(self, deadline: float | None) -> None:
        """Until the deadline, or until something has arrived that may bring it forward."""
        self._arrived.clear()
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._arrived.wait())]
        if deadline is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep_until(deadline)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _store(self, due: Due) -> None:
        # At once, before anything else can arrive: what comes from now on is late, and belongs to entries of its own.
        entries = [(trace.trace_id, self._entries_of.pop(trace.trace_id, set())) for trace in due.closed]
        eventful = [trace for trace in due.closed if trace.eventful]
        self._closing.update((trace.trace_id, trace) for trace in eventful)
        ready = await self._without_leftovers(due.ready)
        while ready or due.aliases:
            try:
                await self._accept(ready, due.aliases)
                break
            except LedgerUnavailable as error:
                log.warning("the ledger cannot be written, trying again: %s", error)
                await self._clock.sleep_until(self._clock.monotonic() + RETRY_S)
        await self._keep(eventful)
        await self._let_go(entries)

    async def _without_leftovers(self, ready: Sequence[Ready]) -> list[Ready]:
        """Pieces of a trace that was closed longer than the late window ago: they start nothing."""
        pieces = [each for each in ready if not each.interaction.complete]
        if not pieces:
            return list(ready)
        known = await self._known_traces([each.interaction.trace_id for each in pieces])
        left = [each for each in pieces if each.interaction.trace_id in known - set(self._closed)]
        self._drop("late", sum(len(each.interaction.model_calls) for each in left))
        return [each for each in ready if each not in left]

    async def _keep(self, closed: Sequence[Closed]) -> None:
        until_ns = self._clock.now_ns() + self._late_window_ns
        if closed:
            await self._journal.keep_all(
                [ClosedTrace(trace_id=trace.trace_id, until_ns=until_ns, blob=dump(trace)) for trace in closed]
            )
        for trace in closed:
            self._closed[trace.trace_id] = until_ns
            if self._closing.get(trace.trace_id) is trace:
                del self._closing[trace.trace_id]

    async def _let_go(self, entries: Iterable[tuple[str, set[int]]]) -> None:
        """Release the entries that no open trace is in."""
        free: list[int] = []
        for trace_id, seqs in entries:
            for seq in seqs:
                traces = self._traces_of[seq]
                traces.discard(trace_id)
                if not traces:
                    del self._traces_of[seq]
                    free.append(seq)
        if free:
            await self._journal.release(free)

    async def _expire(self) -> None:
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + EXPIRE_EVERY_S)
            now_ns = self._clock.now_ns()
            self._closed = {trace_id: until for trace_id, until in self._closed.items() if until > now_ns}
            await self._journal.expire(now_ns)

    def _drop(self, reason: str, count: int) -> None:
        if count:
            self._recorder.record("otel_eval.spans.dropped", count, {"otel_eval.reason": reason})
