"""OTLP/JSON as protobuf, for an endpoint that speaks gRPC.

Source: OTLP 1.9, "JSON Protobuf Encoding": protobuf's own JSON, except that trace and span ids are hex instead of base64,
and unknown fields are passed over.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.emit.settings import Signal

_REQUESTS: dict[Signal, Any] = {
    "traces": ExportTraceServiceRequest,
    "logs": ExportLogsServiceRequest,
    "metrics": ExportMetricsServiceRequest,
}
_HEX_IDS = {"traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_span_id"}
_ID_LENGTHS = (16, 32)


def to_protobuf(signal: Signal, body: bytes) -> bytes:
    """The request in protobuf. Raises ValueError where the body is no such request."""
    try:
        value = json.loads(body)
        if not isinstance(value, dict):
            raise ValueError("not an object")
        request = json_format.ParseDict(_based(value), _REQUESTS[signal](), ignore_unknown_fields=True)
    except (ValueError, RecursionError, json_format.ParseError) as error:
        raise ValueError(f"not an OTLP/JSON request for {signal}: {error}") from error
    return bytes(request.SerializeToString())


def _based(value: Any) -> Any:
    """The same JSON with the ids that are hex in base64; ids in base64 (some senders write them so) stay."""
    if isinstance(value, list):
        return [_based(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _id(item) if key in _HEX_IDS else _based(item) for key, item in value.items()}


def _id(value: Any) -> Any:
    if not isinstance(value, str) or len(value) not in _ID_LENGTHS:
        return value
    try:
        return base64.b64encode(bytes.fromhex(value)).decode()
    except ValueError:
        return value
