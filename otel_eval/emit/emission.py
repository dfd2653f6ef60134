"""Everything that leaves, put together from the settings: the outbox for verdicts, and the recorder for metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_eval.clock import Clock
from otel_eval.emit.attributes import Wording
from otel_eval.emit.exporters import OtlpSignalExporter, metric_exporter, signal_exporter
from otel_eval.emit.metrics import MAX_AGENTS, MeterRecorder
from otel_eval.emit.outbox import Outbox
from otel_eval.emit.placement import CHILD_WITHIN_NS
from otel_eval.emit.resource import resource_of
from otel_eval.emit.settings import ExporterSettings, SignalSettings, targets
from otel_eval.emit.verdicts import Verdicts
from otel_eval.instruments import NullRecorder, Recorder
from otel_eval.ledger import AsyncLedger
from otel_eval.loop_guard import LoopGuard

_logger = logging.getLogger(__name__)

STOP_WITHIN_S = 5.0
"""How long stopping waits for verdicts that are being exported, so that a clean stop repeats none of them later."""
LAST_TRY_S = 1.0
"""The same where the last export failed: an endpoint that is back takes them, one that hangs does not hold the stop up."""
LAST_METRICS_S = 2.0
"""How long metrics may take to get out a last time where an export of verdicts has just hung: most likely theirs does too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmissionSettings:
    """How verdicts are written. ``instance`` tells replicas on one machine apart; ``content`` False keeps texts here."""

    exporter: ExporterSettings | None = None
    child_within_ns: int = CHILD_WITHIN_NS
    max_agents: int = MAX_AGENTS
    content: bool = True
    metrics_interval_s: float = 15.0
    instance: str = ""


class Emission:
    """Where the verdicts of one process go. ``recorder`` is for every stage to count with; it exists before the ledger.

    ``endpoints`` are where telemetry is sent, for the refusal of our own listeners; with none, verdicts stay in the ledger
    (open it with ``outbox=False`` then) and metrics are counted nowhere.
    """

    def __init__(
        self,
        settings: EmissionSettings,
        *,
        guard: LoopGuard,
        version: str = "",
        redact: Callable[[str], str] = str,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._version = version
        self._wording = Wording(redact=redact, content=settings.content)
        self._targets = targets(settings.exporter, environ)
        self._resource = resource_of(version, instance=settings.instance)
        self._exporters: Sequence[OtlpSignalExporter[Any]] = [
            signal_exporter(target) for target in self._targets if target.signal != "metrics"
        ]
        self.recorder: Recorder = self._recorder()
        self._closed = False
        self._stopping_since: float | None = None

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Every distinct endpoint that something is sent to."""
        return tuple(dict.fromkeys(target.endpoint for target in self._targets))

    @property
    def exports_verdicts(self) -> bool:
        """Whether spans or events have somewhere to go."""
        return bool(self._exporters)

    @contextlib.asynccontextmanager
    async def running(
        self, ledger: AsyncLedger, clock: Clock, *, died: Callable[[BaseException], None] | None = None
    ) -> AsyncIterator[Outbox | None]:
        """Export what the ledger stores until the block ends; then flush metrics and close.

        ``died`` is told at once if exporting breaks for a reason that nobody foresaw; the end of the block raises it.
        What is not exported by then stays in the outbox for the next start. The Outbox is None without an exporter.
        """
        if isinstance(self.recorder, MeterRecorder):
            self.recorder.begin()
        try:
            async with self._outbox(ledger, clock, died or _say) as outbox:
                yield outbox
        finally:
            await asyncio.to_thread(self.close)

    def stopping(self) -> None:
        """What stores verdicts begins to stop, which may take a while: an export that hangs meanwhile has had its
        time then."""
        self._stopping_since = asyncio.get_running_loop().time()

    def close(self, *, within_s: float | None = None) -> None:
        """Flush metrics and close all connections; blocks. May be called twice, and where :meth:`running` never ran.

        Metrics that do not get out ``within_s`` seconds are given up on; by default they have the exporter's timeout.
        """
        if self._closed:
            return
        self._closed = True
        if isinstance(self.recorder, MeterRecorder):
            # A thread that ends with the process: one of the event loop's would be waited for once more.
            closing = threading.Thread(target=self.recorder.close, name="otel-eval-last-metrics", daemon=True)
            closing.start()
            closing.join(within_s)
        for exporter in self._exporters:
            exporter.shutdown()

    @contextlib.asynccontextmanager
    async def _outbox(
        self, ledger: AsyncLedger, clock: Clock, died: Callable[[BaseException], None]
    ) -> AsyncIterator[Outbox | None]:
        if not self._exporters:
            yield None
            return
        verdicts = Verdicts(
            guard=self._guard,
            resource=self._resource,
            version=self._version,
            child_within_ns=self._settings.child_within_ns,
            wording=self._wording,
        )
        outbox = Outbox(
            ledger=ledger, verdicts=verdicts, exporters=self._exporters, clock=clock, recorder=self.recorder
        )
        with ledger.listening(outbox.wake):
            task = asyncio.create_task(outbox.run(), name="outbox")
            task.add_done_callback(lambda task: _tell(task, died))
            try:
                yield outbox
            finally:
                outbox.stop()
                await asyncio.wait({task}, timeout=self._patience(outbox))
                within_s = None if task.done() else LAST_METRICS_S
                task.cancel()
                await asyncio.to_thread(self.close, within_s=within_s)
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def _patience(self, outbox: Outbox) -> float:
        """How long an export that is under way may go on: less by what it took since the server began to stop."""
        if outbox.is_down:
            return LAST_TRY_S
        if self._stopping_since is None or outbox.exporting_since is None:
            return STOP_WITHIN_S
        hanging_s = asyncio.get_running_loop().time() - max(self._stopping_since, outbox.exporting_since)
        return max(0.0, STOP_WITHIN_S - hanging_s)

    def _recorder(self) -> Recorder:
        target: SignalSettings | None = next((one for one in self._targets if one.signal == "metrics"), None)
        if target is None:
            return NullRecorder()
        return MeterRecorder.exporting(
            metric_exporter(target),
            resource=self._resource,
            version=self._version,
            interval_s=self._settings.metrics_interval_s,
            max_agents=self._settings.max_agents,
        )


def _tell(task: asyncio.Task[None], died: Callable[[BaseException], None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        died(error)


def _say(error: BaseException) -> None:
    _logger.error("verdicts are no longer exported, they wait in the outbox until a restart", exc_info=error)
