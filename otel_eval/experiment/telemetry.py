"""Where an experiment reads the agent's telemetry from: this process, or the wire.

Both are values that an experiment is given; :meth:`open` starts what they need and gives a :class:`Source`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from otel_eval.experiment.current import CurrentAttempt
from otel_eval.experiment.errors import InvalidExperiment, check_seconds
from otel_eval.experiment.evidence import Evidence


class Source(Protocol):
    """Telemetry while the attempts of one experiment run."""

    @property
    def endpoints(self) -> dict[str, str | None]:
        """Where it listens: ``grpc`` and ``http``, None where it does not."""
        ...

    def begin(self, attempt: CurrentAttempt, started_ns: int) -> Watching:
        """Collect for this attempt, which starts now."""
        ...

    def inside(self, attempt: CurrentAttempt) -> AbstractContextManager[None]:
        """What surrounds the call of the agent function."""
        ...

    async def settle(self, watching: Watching, *, failed: bool) -> None:
        """Return once the attempt's evidence is whole, or not worth waiting for; ``failed``: the agent raised."""
        ...

    def release(self, watching: Watching) -> Evidence:
        """Collect for the attempt no longer, and give its evidence."""
        ...

    def no_telemetry(self, attempt: CurrentAttempt, evidence: Evidence) -> str:
        """Why nothing came, for people."""
        ...


class Telemetry(Protocol):
    """A setting of an experiment: where the agent's telemetry comes from."""

    def open(self, *, exclusive: bool) -> AbstractAsyncContextManager[Source]:
        """Start to listen. ``exclusive``: attempts run one at a time, so what starts meanwhile is the attempt's."""
        ...


class Watching:
    """One attempt's evidence as it arrives, with a way to wait for more."""

    def __init__(self, attempt: CurrentAttempt, *, exclusive: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self.evidence = Evidence(
            trace_id=attempt.trace_id,
            root_span_id=attempt.span_id,
            session=attempt.session_id,
            exclusive=exclusive,
            on_change=self._on_change,
        )

    async def change(self, seconds: float) -> bool:
        """Return True once something arrived, False after so many seconds without."""
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._changed.wait()
        except TimeoutError:
            return False
        self._changed.clear()
        return True

    def _on_change(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed.set)


@dataclass(frozen=True, slots=True, kw_only=True)
class InProcess:
    """The agent runs in this process, instrumented with the OpenTelemetry SDK.

    Providers that are None are the global ones; where there are none, the experiment installs some. ``patience`` (seconds)
    is how long spans that started may take to end once the agent function returned.
    """

    tracer_provider: Any = None
    logger_provider: Any = None
    patience: float = 10.0

    def __post_init__(self) -> None:
        for name, method in (("tracer_provider", "get_tracer"), ("logger_provider", "get_logger")):
            provider = getattr(self, name)
            if provider is not None and not callable(getattr(provider, method, None)):
                raise InvalidExperiment(f"{name} is an OpenTelemetry provider, not {provider!r}")
        check_seconds("patience", self.patience)

    @asynccontextmanager
    async def open(self, *, exclusive: bool) -> AsyncIterator[Source]:
        """Add our processors to the providers, once; they do nothing between attempts."""
        from otel_eval.experiment.capture import Capture
        from otel_eval.experiment.propagation import inside

        capture = Capture(self.tracer_provider, self.logger_provider)
        yield _ThisProcess(capture, inside, exclusive, self.patience)


class _ThisProcess:
    endpoints: dict[str, str | None] = {}  # noqa: RUF012 - nowhere, for good

    def __init__(self, capture: Any, inside: Any, exclusive: bool, patience: float) -> None:
        self._capture = capture
        self._exclusive = exclusive
        self._patience = patience
        self.inside = inside

    def begin(self, attempt: CurrentAttempt, started_ns: int) -> Watching:
        watching = Watching(attempt, exclusive=self._exclusive)
        self._capture.attribution.watch(watching.evidence)
        return watching

    async def settle(self, watching: Watching, *, failed: bool) -> None:
        """The trace is whole when every span that was seen starting has ended."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        while watching.evidence.open and await watching.change(deadline - loop.time()):
            pass

    def release(self, watching: Watching) -> Evidence:
        self._capture.attribution.release(watching.evidence)
        return watching.evidence

    def no_telemetry(self, attempt: CurrentAttempt, evidence: Evidence) -> str:
        return strayed(evidence) or str(self._capture.no_telemetry(attempt))


def strayed(evidence: Evidence) -> str:
    """What to do where spans came that could be any attempt's; empty where none did."""
    if not evidence.strays:
        return ""
    return (
        f"{evidence.strays} span{'s' if evidence.strays > 1 else ''} began traces of their own, without the session id of an attempt, while several attempts "
        "ran: set concurrency=1, or current_attempt().session_id as the conversation's id"
    )
