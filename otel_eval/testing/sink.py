"""A capturing OTLP endpoint on loopback: what would arrive at the collector, decoded and easy to assert.

Traces, logs and metrics, over gRPC (``endpoint``) and HTTP (``http_endpoint``), in one place::

    async with Sink() as sink:
        ...                                        # export to sink.endpoint
        await sink.wait_for(lambda sink: sink.log("gen_ai.evaluation.result"))
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from otel_eval.signals import LogRecord, Span
from otel_eval.testing.arrivals import Arrivals
from otel_eval.testing.loopback import HttpRequest, HttpResponse, LoopbackServer, Startable
from otel_eval.testing.metrics import Point, points_of
from otel_eval.testing.otlp import logs_of, spans_of

_LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """One request: ``signal`` is traces, logs or metrics; ``message`` the protobuf; ``metadata`` its headers."""

    signal: str
    message: Any
    metadata: dict[str, str]
    transport: str


@dataclass(frozen=True, slots=True)
class Refusing:
    """Answer every request with this gRPC code (and this HTTP status) instead of taking it."""

    code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    http_status: int = 503
    message: str = "refused by the test"


@dataclass(frozen=True, slots=True)
class Partial:
    """Take every request, and say in ``partial_success`` that so many items were rejected."""

    rejected: int
    message: str = "rejected by the test"


@dataclass(frozen=True, slots=True)
class _Service:
    signal: str
    path: str
    method: str
    request: type[Message]
    response: type[Message]
    rejected: str


_SERVICES = (
    _Service(
        "traces", "/v1/traces", "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        trace_service_pb2.ExportTraceServiceRequest, trace_service_pb2.ExportTraceServiceResponse, "rejected_spans",
    ),
    _Service(
        "logs", "/v1/logs", "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        logs_service_pb2.ExportLogsServiceRequest, logs_service_pb2.ExportLogsServiceResponse, "rejected_log_records",
    ),
    _Service(
        "metrics", "/v1/metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        metrics_service_pb2.ExportMetricsServiceRequest, metrics_service_pb2.ExportMetricsServiceResponse,
        "rejected_data_points",
    ),
)  # fmt: skip


class Sink(Startable):
    """The endpoint. A context manager, sync and async. What it took stays readable after it stopped."""

    def __init__(self) -> None:
        self._arrivals = Arrivals()
        self._lock = threading.Lock()
        self._http = LoopbackServer(self._respond)
        self._grpc: grpc.Server | None = None
        self._port = 0
        self._mood: Refusing | Partial | None = None
        self._spans: list[Span] = []
        self._logs: list[LogRecord] = []
        self._metrics: list[Point] = []
        self.requests: list[Received] = []
        self.refused = 0

    @property
    def endpoint(self) -> str:
        """The gRPC endpoint, ``http://127.0.0.1:<port>``."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def http_endpoint(self) -> str:
        """The HTTP endpoint, without ``/v1/traces``."""
        return f"http://127.0.0.1:{self._http.port}"

    @property
    def spans(self) -> list[Span]:
        """All spans taken, in order of arrival."""
        with self._lock:
            return list(self._spans)

    @property
    def logs(self) -> list[LogRecord]:
        """All log records taken, in order of arrival."""
        with self._lock:
            return list(self._logs)

    @property
    def metrics(self) -> list[Point]:
        """All data points taken, in order of arrival; cumulative ones come again with every export."""
        with self._lock:
            return list(self._metrics)

    def span(self, name: str) -> list[Span]:
        """The spans of that name."""
        return [span for span in self.spans if span.name == name]

    def log(self, event_name: str) -> list[LogRecord]:
        """The log records of that event."""
        return [record for record in self.logs if record.event_name == event_name]

    def latest(self, metric: str, **labels: str) -> Point | None:
        """The newest point of that metric whose labels include these (``__`` in a name stands for a dot), or None."""
        wanted = {key.replace("__", "."): value for key, value in labels.items()}
        points = [p for p in self.metrics if p.name == metric and wanted.items() <= p.attributes.items()]
        return points[-1] if points else None

    def counted(self, metric: str, **labels: str) -> float:
        """The value of that point; 0 where none has come: counters are exported before they count, as far as they
        are known."""
        point = self.latest(metric, **labels)
        return 0 if point is None else point.value

    async def wait_for(self, condition: Callable[[Sink], Any], timeout: float = 10.0) -> None:  # noqa: ASYNC109
        """Return once ``condition(sink)`` is true. Raises TimeoutError with what had arrived."""
        await self._arrivals.wait_for(lambda: bool(condition(self)), timeout, self._contents)

    def refuse(self, how: Refusing | None = None) -> None:
        """Be there, but take nothing from now on (UNAVAILABLE and 503 unless told otherwise)."""
        self._mood = how or Refusing()

    def reject(self, rejected: int, message: str = "rejected by the test") -> None:
        """Answer with ``partial_success`` from now on."""
        self._mood = Partial(rejected, message)

    def accept(self) -> None:
        """Take everything again."""
        self._mood = None

    def clear(self) -> None:
        """Forget what arrived."""
        with self._lock:
            self.requests, self._spans, self._logs, self._metrics = [], [], [], []
            self.refused = 0

    def start(self) -> None:
        """Listen; on the same ports again after :meth:`stop`."""
        server = grpc.server(
            ThreadPoolExecutor(4, "otlp-sink"),
            options=[("grpc.max_receive_message_length", _LIMIT), ("grpc.so_reuseport", 0)],
        )
        server.add_generic_rpc_handlers([_Handlers(self)])
        self._port = server.add_insecure_port(f"127.0.0.1:{self._port}")
        server.start()
        self._grpc = server
        self._http.start()

    def stop(self) -> None:
        """Be down: connections are refused until :meth:`start`."""
        if self._grpc is not None:
            self._grpc.stop(grace=None).wait()
            self._grpc = None
        self._http.stop()

    def _contents(self) -> str:
        kinds = sorted({record.event_name for record in self.logs})
        return f"{len(self.spans)} spans, {len(self.logs)} log records {kinds}, {len(self.metrics)} points arrived"

    def _take(self, service: _Service, message: Message, metadata: dict[str, str], transport: str) -> Message:
        with self._lock:
            self.requests.append(Received(service.signal, message, metadata, transport))
            self._decode(message)
        self._arrivals.notify()
        response: Any = service.response()
        if isinstance(self._mood, Partial):
            setattr(response.partial_success, service.rejected, self._mood.rejected)
            response.partial_success.error_message = self._mood.message
        return response  # type: ignore[no-any-return]

    def _decode(self, message: Message) -> None:
        if isinstance(message, trace_service_pb2.ExportTraceServiceRequest):
            self._spans += spans_of(message)
        elif isinstance(message, logs_service_pb2.ExportLogsServiceRequest):
            self._logs += logs_of(message)
        elif isinstance(message, metrics_service_pb2.ExportMetricsServiceRequest):
            self._metrics += points_of(message)

    def _refusing(self) -> Refusing | None:
        mood = self._mood
        if not isinstance(mood, Refusing):
            return None
        with self._lock:
            self.refused += 1
        self._arrivals.notify()
        return mood

    def _respond(self, http: HttpRequest) -> HttpResponse:
        if (refusing := self._refusing()) is not None:
            return HttpResponse(status=refusing.http_status, body=refusing.message.encode())
        service = next((service for service in _SERVICES if service.path == http.path), None)
        if service is None:
            return HttpResponse(status=404)
        body = gzip.decompress(http.body) if http.headers.get("content-encoding") == "gzip" else http.body
        answer = self._take(service, service.request.FromString(body), dict(http.headers), "http")
        return HttpResponse(headers={"content-type": "application/x-protobuf"}, body=answer.SerializeToString())


class _Handlers(grpc.GenericRpcHandler):
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._by_method = {service.method: service for service in _SERVICES}

    def service(self, call: grpc.HandlerCallDetails) -> Any:
        service = self._by_method.get(call.method)
        if service is None:
            return None

        def export(message: Message, context: grpc.ServicerContext) -> Message:
            if (refusing := self._sink._refusing()) is not None:
                context.abort(refusing.code, refusing.message)
            metadata = {str(key): str(value) for key, value in context.invocation_metadata()}
            return self._sink._take(service, message, metadata, "grpc")

        return grpc.unary_unary_rpc_method_handler(
            export, service.request.FromString, lambda message: message.SerializeToString()
        )
