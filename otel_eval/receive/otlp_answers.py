"""What OTLP answers: one response message for each signal, with what was not taken in ``partial_success``."""

from __future__ import annotations

from typing import TypeAlias

from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces

from otel_eval.journal import Signal
from otel_eval.receive.intake import Accepted

Answer: TypeAlias = (
    traces.ExportTraceServiceResponse | logs.ExportLogsServiceResponse | metrics.ExportMetricsServiceResponse
)

SERVICES: dict[Signal, str] = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
}


def answer(signal: Signal, accepted: Accepted) -> Answer:
    """The response to that request; ``partial_success`` is not set where all was taken."""
    response: Answer
    match signal:
        case "traces":
            response = traces.ExportTraceServiceResponse()
            if accepted.rejected:
                response.partial_success.rejected_spans = accepted.rejected
        case "logs":
            response = logs.ExportLogsServiceResponse()
            if accepted.rejected:
                response.partial_success.rejected_log_records = accepted.rejected
        case "metrics":
            response = metrics.ExportMetricsServiceResponse()
            if accepted.rejected:
                response.partial_success.rejected_data_points = accepted.rejected
    if accepted.message:
        response.partial_success.error_message = accepted.message
    return response
