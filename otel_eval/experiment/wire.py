"""The telemetry of an agent in another process, or another language: an OTLP receiver while the experiment runs.

The agent function hands ``current_attempt().headers()`` or ``.environ()`` on. Spans and log records are an attempt's by
trace id, by session id, or, one attempt at a time, by having started during it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_eval.experiment.current import CurrentAttempt
from otel_eval.experiment.errors import check_seconds
from otel_eval.experiment.evidence import Attribution, Evidence
from otel_eval.experiment.telemetry import Source, Watching, strayed

if TYPE_CHECKING:
    from otel_eval.journal import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class OverOtlp:
    """Listen for OTLP while the experiment runs. Port 0 is any free one; a fixed port serves an agent that is running.

    Once an attempt's Interaction is there whole, with a reply or a failure and no parent missing, ``settle`` seconds of
    quiet end the wait; before that, ``patience`` seconds without anything new. An SDK holds spans back for 5 s unless
    told otherwise, as ``current_attempt().environ()`` does.
    """

    grpc: str = "127.0.0.1:0"
    http: str = "127.0.0.1:0"
    settle: float = 0.5
    patience: float = 10.0

    def __post_init__(self) -> None:
        check_seconds("settle", self.settle)
        check_seconds("patience", self.patience)

    @asynccontextmanager
    async def open(self, *, exclusive: bool) -> AsyncIterator[Source]:
        """Listen on both. Raises :class:`otel_eval.receive.listener.ReceiverError` where an address is taken."""
        from otel_eval.receive.intake import Intake
        from otel_eval.receive.listener import Listener
        from otel_eval.receive.receivers import Receivers

        attribution = Attribution()
        arrivals: Any = _Arrivals(attribution)  # stands in for the journal: what an experiment receives needs no disk
        receivers = Receivers(Intake(arrivals), grpc=Listener(endpoint=self.grpc), http=Listener(endpoint=self.http))
        await receivers.start()
        try:
            yield _Wire(self, attribution, arrivals, receivers.endpoints, exclusive)
        finally:
            await receivers.stop(1.0)


class _Arrivals:
    """Requests as they are accepted, decoded and handed to the attempts at once."""

    def __init__(self, attribution: Attribution) -> None:
        self._attribution = attribution
        self.since_ns = 0
        """When the newest attempt started: what started earlier cannot be its by time."""

    async def append(self, request: Request) -> None:
        """Take a request that the intake found sound."""
        from otel_eval.receive.decode import decode_logs, decode_traces

        if request.signal == "traces":
            for span in decode_traces(request.body, request.encoding):
                self._attribution.ended(span, during=span.started_ns >= self.since_ns)
        elif request.signal == "logs":
            for record in decode_logs(request.body, request.encoding):
                self._attribution.logged(record)


class _Wire:
    def __init__(
        self,
        settings: OverOtlp,
        attribution: Attribution,
        arrivals: _Arrivals,
        endpoints: dict[str, str],
        exclusive: bool,
    ) -> None:
        self._settings = settings
        self._attribution = attribution
        self._arrivals = arrivals
        self._exclusive = exclusive
        self.endpoints: dict[str, str | None] = {name: f"http://{address}" for name, address in endpoints.items()}

    def inside(self, attempt: CurrentAttempt) -> Any:
        """Instrumented clients in this process carry the context on by themselves."""
        from otel_eval.experiment.propagation import inside

        return inside(attempt)

    def begin(self, attempt: CurrentAttempt, started_ns: int) -> Watching:
        watching = Watching(attempt, exclusive=self._exclusive)
        self._arrivals.since_ns = started_ns
        self._attribution.watch(watching.evidence)
        return watching

    async def settle(self, watching: Watching, *, failed: bool) -> None:
        """Where the agent raised, nothing more is judged: no patience is spent on it."""
        while await watching.change(self._settings.settle if failed else self._quiet(watching.evidence)):
            pass

    def release(self, watching: Watching) -> Evidence:
        self._attribution.release(watching.evidence)
        return watching.evidence

    def no_telemetry(self, attempt: CurrentAttempt, evidence: Evidence) -> str:
        return strayed(evidence) or (
            f"no span of this attempt arrived at {self.endpoints['grpc']} (gRPC) or {self.endpoints['http']} (HTTP) within "
            f"{self._settings.patience:g} s: the agent exports elsewhere, or carries on neither the traceparent nor the "
            "session id of current_attempt()"
        )

    def _quiet(self, evidence: Evidence) -> float:
        from otel_eval.experiment.observe import is_whole

        return self._settings.settle if is_whole(evidence) else self._settings.patience
