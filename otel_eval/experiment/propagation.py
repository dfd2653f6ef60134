"""The OpenTelemetry context that an attempt runs in. Needs the API only, and is imported when an experiment runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import baggage, context, trace

from otel_eval.experiment.current import CurrentAttempt


@contextmanager
def inside(attempt: CurrentAttempt) -> Iterator[None]:
    """Spans that start within the block are below the attempt's sampled parent; its session id is in the baggage.

    The parent is no span of anybody's: nothing of the experiment shows up in the agent's exports.
    """
    token = context.attach(baggage.set_baggage("session.id", attempt.session_id, below(attempt)))
    try:
        yield
    finally:
        context.detach(token)


def below(attempt: CurrentAttempt) -> context.Context:
    """A context whose span is the attempt's sampled parent, and nothing else."""
    span_context = trace.SpanContext(
        trace_id=int(attempt.trace_id, 16),
        span_id=int(attempt.span_id, 16),
        is_remote=False,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(span_context), context.Context())
