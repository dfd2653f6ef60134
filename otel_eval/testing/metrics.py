"""OTLP metrics as flat data points, for assertions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, Exemplar, Metric

from otel_eval.signals import Resource, Scope
from otel_eval.testing.otlp import plain_attributes, read_resource, read_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One data point. ``kind`` is counter, gauge, updown or histogram; ``value`` a histogram's sum."""

    name: str
    kind: str
    unit: str
    value: float
    attributes: Mapping[str, Any]
    count: int | None = None
    bounds: tuple[float, ...] = ()
    buckets: tuple[int, ...] = ()
    exemplars: tuple[tuple[str, str], ...] = ()
    """Trace id and span id of each exemplar."""
    cumulative: bool | None = None
    started_ns: int = 0
    time_ns: int = 0
    description: str = ""
    resource: Resource = field(default_factory=Resource)
    scope: Scope = field(default_factory=Scope)


def points_of(request: ExportMetricsServiceRequest) -> list[Point]:
    """The data points of sums, gauges and histograms with explicit bounds."""
    return [
        point
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in _points(metric, read_resource(resource.resource), read_scope(scope.scope))
    ]


def _points(metric: Metric, resource: Resource, scope: Scope) -> Iterator[Point]:
    kind: str | None = metric.WhichOneof("data")
    if kind not in ("sum", "gauge", "histogram"):
        return
    data = getattr(metric, kind)
    cumulative = None
    if kind != "gauge":
        cumulative = data.aggregation_temporality == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
    if kind == "sum":
        kind = "counter" if data.is_monotonic else "updown"
    for point in data.data_points:
        yield Point(
            name=metric.name,
            kind=kind,
            unit=metric.unit,
            description=metric.description,
            attributes=plain_attributes(point.attributes),
            exemplars=tuple(_ids(exemplar) for exemplar in point.exemplars),
            cumulative=cumulative,
            started_ns=point.start_time_unix_nano,
            time_ns=point.time_unix_nano,
            resource=resource,
            scope=scope,
            **_numbers(kind, point),
        )


def _numbers(kind: str, point: Any) -> dict[str, Any]:
    if kind != "histogram":
        return {"value": getattr(point, point.WhichOneof("value") or "as_double")}
    return {
        "value": point.sum,
        "count": point.count,
        "bounds": tuple(point.explicit_bounds),
        "buckets": tuple(point.bucket_counts),
    }


def _ids(exemplar: Exemplar) -> tuple[str, str]:
    return exemplar.trace_id.hex(), exemplar.span_id.hex()
