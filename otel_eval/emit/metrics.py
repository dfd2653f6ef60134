"""Our metrics, over OTLP: cumulative, with bounded labels, and with the judged span as exemplar.

Each label takes a bounded number of distinct values; past it the rest is ``other``, and a counter says which label ran
over. What is already known stays itself. Metrics are best effort (the ledger is exact): nothing waits for them.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Mapping
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider, TraceBasedExemplarFilter
from opentelemetry.sdk.metrics.export import MetricExporter, MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from otel_eval.emit.attributes import encodable
from otel_eval.instruments import BY_NAME, INSTRUMENTS, Instrument
from otel_eval.loop_guard import SCOPE_NAME

MAX_AGENTS = 200
MAX_VALUES = 500
LONGEST_VALUE = 200
"""Characters of a label's value, the rest is cut: an agent's name is what telemetry says, be it a whole prompt."""
MAX_SERIES = 20_000
"""Series of one instrument before the SDK folds the rest into one (its default of 2,000 is 50 agents with 10 evaluators)."""
OTHER = "other"
_OVERFLOWED = "otel_eval.labels.overflowed"
_NOWHERE = Context()


class MeterRecorder:
    """:class:`~otel_eval.instruments.Recorder` over OpenTelemetry. Safe to use from several threads."""

    def __init__(
        self,
        reader: MetricReader,
        *,
        resource: Resource,
        version: str = "",
        max_agents: int = MAX_AGENTS,
        max_values: int = MAX_VALUES,
    ) -> None:
        self._provider = MeterProvider(
            [reader], resource=resource, exemplar_filter=TraceBasedExemplarFilter(), shutdown_on_exit=False
        )
        meter = self._provider.get_meter(SCOPE_NAME, version)
        self._instruments = {instrument.name: _make(meter, instrument) for instrument in INSTRUMENTS}
        self._bounds = _Bounds({"gen_ai.agent.name": max_agents}, max_values)
        self._observe = {name: _observing(made, BY_NAME[name]) for name, made in self._instruments.items()}
        self._born: set[tuple[Any, ...]] = set()
        self._known: dict[tuple[Any, ...], dict[str, str]] = {}

    @classmethod
    def exporting(
        cls, exporter: MetricExporter, *, resource: Resource, interval_s: float = 15.0, **options: Any
    ) -> MeterRecorder:
        """One that exports every ``interval_s`` seconds, in a thread of its own."""
        reader = PeriodicExportingMetricReader(
            exporter,
            export_interval_millis=interval_s * 1000,
            cardinality_limits={Counter: MAX_SERIES, Histogram: MAX_SERIES},
        )
        return cls(reader, resource=resource, **options)

    def begin(self) -> None:
        """Export 0 for every series that is known before anything is counted."""
        for instrument in INSTRUMENTS:
            for attributes in _known_series(instrument):
                self._instruments[instrument.name].add(0, attributes, _NOWHERE)

    def record(
        self,
        name: str,
        amount: float = 1,
        labels: Mapping[str, str] | None = None,
        *,
        judged: tuple[str, str] | None = None,
    ) -> None:
        """See :class:`~otel_eval.instruments.Recorder`. A label that the instrument does not declare raises KeyError."""
        series = (name, *(labels or {}).items())
        attributes = self._known.get(series)
        if attributes is None:
            attributes = self._attributes(BY_NAME[name], labels or {})
            if len(self._known) < MAX_SERIES and attributes == (labels or {}):  # what ran over is counted each time
                self._known[series] = attributes
        context = _NOWHERE if judged is None else _judged(judged)
        self._observe[name](amount, attributes, context)

    def _attributes(self, instrument: Instrument, labels: Mapping[str, str]) -> dict[str, str]:
        """The labels as they are exported. The first of their kind gives birth to its series."""
        attributes: dict[str, str] = {}
        for label, value in labels.items():
            if label not in instrument.labels:
                raise KeyError(f"{instrument.name} has no label {label}")
            attributes[label] = self._bounded(label, value)
        if instrument.born_with is not None:
            self._give_birth(instrument.name, *instrument.born_with, attributes)
        return attributes

    def _give_birth(self, name: str, label: str, values: tuple[str, ...], attributes: Mapping[str, str]) -> None:
        """Export 0 for every value of the label, and what is born beside, once for the other labels' values."""
        others = {key: value for key, value in attributes.items() if key != label}
        family = (name, *sorted(others.items()))
        if family in self._born or len(self._born) >= MAX_SERIES:
            return
        self._born.add(family)
        for value in values:
            self._instruments[name].add(0, {**others, label: value}, _NOWHERE)
        for each in INSTRUMENTS:
            beside, sets = each.born_beside or ("", ())
            for more in sets if beside == name else ():
                self._instruments[each.name].add(0, {**others, **more}, _NOWHERE)

    def flush(self) -> None:
        """Export now; blocks."""
        self._provider.force_flush()

    def close(self) -> None:
        """Export a last time and stop; blocks for at most the exporter's timeout."""
        self._provider.shutdown()

    def _bounded(self, label: str, value: str) -> str:
        value = encodable(value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 1]}…")
        bounded = self._bounds.of(label, value)
        if bounded != value:
            self._instruments[_OVERFLOWED].add(1, {"otel_eval.label": label}, _NOWHERE)
        return bounded


class _Bounds:
    """The distinct values that each label has taken."""

    def __init__(self, limits: Mapping[str, int], default: int) -> None:
        self._limits = limits
        self._default = default
        self._seen: dict[str, set[str]] = {}
        self._lock = threading.Lock()

    def of(self, label: str, value: str) -> str:
        """The value, or ``other`` where the label has taken as many as it may."""
        seen = self._seen.setdefault(label, set())
        if value in seen:
            return value
        with self._lock:
            if len(seen) >= self._limits.get(label, self._default):
                return OTHER
            seen.add(value)
            return value


def _known_series(instrument: Instrument) -> list[dict[str, str]]:
    """The labels of every series that is known before anything is counted."""
    if instrument.known is None:
        return []
    names = [label for label, _ in instrument.known]
    return [dict(zip(names, each, strict=True)) for each in itertools.product(*(of for _, of in instrument.known))]


def _make(meter: Any, instrument: Instrument) -> Any:
    if instrument.kind == "counter":
        return meter.create_counter(instrument.name, instrument.unit, instrument.description)
    if instrument.kind == "histogram":
        return meter.create_histogram(
            instrument.name,
            instrument.unit,
            instrument.description,
            explicit_bucket_boundaries_advisory=list(instrument.buckets),
        )
    return meter.create_gauge(instrument.name, instrument.unit, instrument.description)


def _observing(made: Any, instrument: Instrument) -> Callable[..., None]:
    """What takes an amount of that instrument."""
    observing: Callable[..., None] = getattr(
        made, {"counter": "add", "histogram": "record"}.get(instrument.kind, "set")
    )
    return observing


@functools.lru_cache(maxsize=64)
def _judged(span: tuple[str, str]) -> Context:
    """A context whose span is the judged one: the SDK takes exemplars of sampled spans from there."""
    try:
        trace_id, span_id = (int(part, 16) for part in span)
    except ValueError:
        return _NOWHERE
    judged = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(judged), Context())
