"""The outbox: verdicts are stored first, then exported, then marked. An endpoint that is down costs delay, nothing else.

Order is kept: one batch after another, the oldest first, and none is passed over while the endpoint is down. Exporting is
at least once (a crash between export and mark repeats a batch), and what is repeated has the same ids and content.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from otel_eval.clock import Clock, sleep_until_set
from otel_eval.emit.answers import Answer, Exported
from otel_eval.emit.exporters import OtlpSignalExporter
from otel_eval.emit.verdicts import Verdicts
from otel_eval.instruments import Recorder
from otel_eval.ledger import AsyncLedger, LedgerUnavailable, OutboxEntry, Stored

_logger = logging.getLogger(__name__)

PACE_S = 0.2
"""Seconds from one round of exports to the next: what is stored meanwhile goes out together. Two requests for each
record cost more than the record; one that comes alone does not wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Seconds to wait after the first failure, doubled with each, up to the longest."""

    first: float = 1.0
    longest: float = 60.0

    def after(self, failures: int) -> float:
        """How long to wait after that many failures in a row."""
        return float(min(self.longest, self.first * 2 ** (min(failures, 32) - 1)))


class Outbox:
    """Exports what the ledger's outbox holds, for as long as :meth:`run` runs.

    ``exporters`` are for traces, logs or both; a signal without one is left out. Call :meth:`wake` when records were
    stored (``ledger.listening(outbox.wake)``).
    """

    def __init__(
        self,
        *,
        ledger: AsyncLedger,
        verdicts: Verdicts,
        exporters: Sequence[OtlpSignalExporter[Any]],
        clock: Clock,
        recorder: Recorder,
        batch: int = 500,
        backoff: Backoff | None = None,
    ) -> None:
        self._ledger = ledger
        self._verdicts = verdicts
        self._exporters = list(exporters)
        self._clock = clock
        self._recorder = recorder
        self._batch = batch
        self._backoff = backoff or Backoff()
        self._stored = asyncio.Event()
        self._stopping = asyncio.Event()
        self._failures = 0
        self._unknown: set[str] = set()
        self._taken: defaultdict[str, set[int]] = defaultdict(set)  # of what is not yet marked, by signal
        self.exporting_since: float | None = None
        """When, by the loop's clock, the export began that is under way; None where none is."""

    @property
    def is_down(self) -> bool:
        """Whether the last export that ended failed."""
        return self._failures > 0

    def wake(self, stored: tuple[Stored, ...] = ()) -> None:
        """There may be something to export."""
        self._stored.set()

    def stop(self) -> None:
        """Let :meth:`run` return once it has exported what is there; at once where the endpoint is down."""
        self._stopping.set()
        self._stored.set()

    async def run(self) -> None:
        """Export until stopped. Cancelled amid an export, the next one that runs exports that batch again."""
        while True:
            last = self._stopping.is_set()
            self._stored.clear()
            began = asyncio.get_running_loop().time()
            try:
                done = await self.export_pending()
            except LedgerUnavailable as error:
                _logger.warning("the outbox cannot be read: %s", error)
                done = False
                self._failures += 1
            if last or (self._stopping.is_set() and not done):
                return
            if done:
                await self._stored.wait()
                await self._keep_pace(began)
            else:
                await self._back_off()

    async def export_pending(self) -> bool:
        """Export batch after batch. False: the endpoint is not there, wait before trying again.

        True: all that waited at the beginning is exported. What came meanwhile and fills no batch has called :meth:`wake`,
        and waits for the next round.
        """
        while entries := await self._ledger.unexported(self._batch):
            if not await self._export(entries):
                self._recorder.record("otel_eval.outbox.evaluations", await self._ledger.outbox_size())
                return False
            await self._ledger.mark_exported(entry.sequence for entry in entries)
            self._taken.clear()
            if len(entries) < self._batch and not self._stopping.is_set():
                break
        self._recorder.record("otel_eval.outbox.evaluations", 0)
        return True

    def close(self) -> None:
        """Abort exports that are under way and close the connections; blocks."""
        for exporter in self._exporters:
            exporter.shutdown()

    async def _keep_pace(self, began: float) -> None:
        """Wait until the last round is ``PACE_S`` ago, unless it is to stop. By the loop's clock: it is about requests."""
        left = began + PACE_S - asyncio.get_running_loop().time()
        if left > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), left)

    async def _back_off(self) -> None:
        """Wait out the backoff, unless it is to stop."""
        until = self._clock.monotonic() + self._backoff.after(self._failures)
        await sleep_until_set(self._clock, self._stopping, until)

    async def _export(self, entries: Sequence[OutboxEntry]) -> bool:
        """Whether the batch is dealt with: taken, or refused for good by a signal that refuses it record by record.

        What one signal took is not sent to it again while the other is down.
        """
        unknown: list[OtlpSignalExporter[Any]] = []
        taken = 0
        for exporter in self._exporters:
            left = [entry for entry in entries if entry.sequence not in self._taken[exporter.signal]]
            exported = await self._send(exporter, left) if left else Exported(Answer.TAKEN)
            if exported.answer is Answer.REFUSED:
                exported = await self._in_parts(exporter, left, exported)
            if exported.answer is Answer.UNKNOWN_SIGNAL:
                unknown.append(exporter)
            elif exported.answer is Answer.UNAVAILABLE:
                return self._down(exporter, exported)
            else:
                taken += 1
                self._taken[exporter.signal].update(entry.sequence for entry in left)
        if unknown and not taken:
            return self._down(unknown[0], Exported(Answer.UNKNOWN_SIGNAL, "the endpoint knows none of our signals"))
        for exporter in unknown:
            self._leave_out(exporter, len(entries))
        self._up()
        return True

    async def _send(self, exporter: OtlpSignalExporter[Any], entries: Sequence[OutboxEntry]) -> Exported:
        make = self._verdicts.spans if exporter.signal == "traces" else self._verdicts.events
        self.exporting_since = asyncio.get_running_loop().time()
        exported = await asyncio.to_thread(_made_and_exported, exporter, make, entries)
        self.exporting_since = None
        if exported.answer is Answer.TAKEN:
            self._taken[exporter.signal].update(entry.sequence for entry in entries)
        if exported.answer is Answer.TAKEN and exported.rejected:
            self._recorder.record(
                "otel_eval.export.rejected",
                exported.rejected,
                {"otel_eval.signal": exporter.signal, "otel_eval.reason": "partial_success"},
            )
            _logger.warning(
                "the endpoint rejected %d of our %s: %s", exported.rejected, exporter.signal, exported.message
            )
        return exported

    async def _in_parts(
        self, exporter: OtlpSignalExporter[Any], entries: Sequence[OutboxEntry], exported: Exported
    ) -> Exported:
        """A batch was refused for good: too large, or somebody's fault. Halve it until the others have got through.

        A record that is refused alone is let go of, counted: the ledger keeps it, and the specification forbids sending
        it again. Refused to the last, a batch is as good as an endpoint that is not there.
        """
        refused, last = 0, exported
        parts = [entries]
        while parts:
            part = parts.pop()
            if part is not entries:
                exported = await self._send(exporter, part)
            if exported.answer is Answer.REFUSED and len(part) > 1:
                middle = len(part) // 2
                parts += (part[middle:], part[:middle])
            elif exported.answer is Answer.REFUSED:
                refused, last = refused + 1, exported
            elif exported.answer is not Answer.TAKEN:
                return exported
        if refused == len(entries) and refused > 1:
            return Exported(Answer.UNAVAILABLE, f"every record is refused: {last.message}")
        if refused:
            labels = {"otel_eval.signal": exporter.signal, "otel_eval.reason": "refused"}
            self._recorder.record("otel_eval.export.rejected", refused, labels)
            _logger.warning("%d of our %s are refused for good: %s", refused, exporter.signal, last.message)
        return Exported(Answer.TAKEN)

    def _leave_out(self, exporter: OtlpSignalExporter[Any], count: int) -> None:
        """The endpoint takes the other signal and has no service for this one (a backend for traces alone, say)."""
        labels = {"otel_eval.signal": exporter.signal, "otel_eval.reason": "unknown_signal"}
        self._recorder.record("otel_eval.export.rejected", count, labels)
        if exporter.signal not in self._unknown:
            self._unknown.add(exporter.signal)
            _logger.warning("the endpoint does not take %s: evaluations go without them", exporter.signal)

    def _down(self, exporter: OtlpSignalExporter[Any], exported: Exported) -> bool:
        self._failures += 1
        self._recorder.record("otel_eval.export.failures", 1, {"otel_eval.signal": exporter.signal})
        if self._failures == 1:
            _logger.warning(
                "verdicts cannot be exported, they wait in the outbox: %s: %s", exporter.signal, exported.message
            )
        return False

    def _up(self) -> None:
        if self._failures:
            _logger.warning("verdicts are exported again")
        self._failures = 0


def _made_and_exported(
    exporter: OtlpSignalExporter[Any],
    make: Callable[[Sequence[OutboxEntry]], Sequence[Any]],
    entries: Sequence[OutboxEntry],
) -> Exported:
    try:
        items = make(entries)
    except Exception as error:  # noqa: BLE001 - a record that nobody thought of costs itself, not all behind it at each start
        return Exported(Answer.REFUSED, f"it cannot be put into telemetry: {type(error).__name__}")
    return exporter.export(items)
