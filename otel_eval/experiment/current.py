"""What the agent function may know about the attempt that it runs in, and hand on to another process."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import quote

_SHORT_DELAY_MS = "100"
"""How long an agent's SDK may hold spans back: the default of 5 s would be added to every attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentAttempt:
    """One attempt as its agent sees it. ``run`` counts from 1; ids are lower-case hex.

    ``grpc_endpoint`` and ``http_endpoint`` are where the experiment listens for OTLP; None where it reads the telemetry
    of its own process.
    """

    case_id: str
    run: int
    session_id: str
    trace_id: str
    span_id: str
    grpc_endpoint: str | None = None
    http_endpoint: str | None = None

    def headers(self) -> dict[str, str]:
        """HTTP headers that put an agent's telemetry into this attempt: W3C ``traceparent`` (sampled) and ``baggage``."""
        return {
            "traceparent": f"00-{self.trace_id}-{self.span_id}-01",
            "baggage": f"session.id={quote(self.session_id, safe='')}",
        }

    def environ(self, *, protocol: str = "http/protobuf") -> dict[str, str]:
        """Environment variables for an agent in another process: context, endpoint, every span sampled, short delays.

        ``protocol`` is ``http/protobuf`` or ``grpc``, by the exporter that the agent uses. Without a receiver of the
        experiment there is no endpoint among them.
        """
        headers = self.headers()
        names = {
            "TRACEPARENT": headers["traceparent"],
            "BAGGAGE": headers["baggage"],
            "OTEL_TRACES_SAMPLER": "parentbased_always_on",
            "OTEL_BSP_SCHEDULE_DELAY": _SHORT_DELAY_MS,
            "OTEL_BLRP_SCHEDULE_DELAY": _SHORT_DELAY_MS,
        }
        endpoint = self.grpc_endpoint if protocol == "grpc" else self.http_endpoint
        if endpoint is not None:
            names |= {
                "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
                "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
                "OTEL_TRACES_EXPORTER": "otlp",
                "OTEL_LOGS_EXPORTER": "otlp",
                "OTEL_METRICS_EXPORTER": "none",
            }
        return names


_current: ContextVar[CurrentAttempt | None] = ContextVar("otel_eval_attempt", default=None)


def current_attempt() -> CurrentAttempt:
    """The attempt that this code runs in. Raises LookupError outside of one, or in a thread without its context."""
    attempt = _current.get()
    if attempt is None:
        raise LookupError("no attempt of an experiment runs here")
    return attempt


@contextmanager
def entered(attempt: CurrentAttempt) -> Iterator[None]:
    """Have :func:`current_attempt` give that attempt within the block."""
    token = _current.set(attempt)
    try:
        yield
    finally:
        _current.reset(token)


def new_attempt(case_id: str, run: int, endpoints: Mapping[str, str | None] | None = None) -> CurrentAttempt:
    """An attempt in a fresh session and a fresh trace."""
    endpoints = endpoints or {}
    return CurrentAttempt(
        case_id=case_id,
        run=run,
        session_id=f"attempt-{uuid.uuid4().hex}",
        trace_id=uuid.uuid4().hex,
        span_id=uuid.uuid4().hex[:16],
        grpc_endpoint=endpoints.get("grpc"),
        http_endpoint=endpoints.get("http"),
    )
