"""The OTLP exporters, asked for more than they return: what the endpoint answered, and whether trying again can help.

``export()`` of the SDK's exporters says success or failure. Whether a failure is worth trying again (the OTLP
specification lists which are), and what ``partial_success`` rejected, is read off the response on its way: over HTTP by a
hook of the session, over gRPC by a stub around the stub. Retrying is ours, by our clock, so the gRPC exporters are told to
try once.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import grpc
import requests
from google.protobuf.message import DecodeError, Message
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.exporter import InvalidCompressionValueException
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http import Compression as HttpCompression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.metrics import (
    Counter,
    Histogram,
    ObservableCounter,
    ObservableGauge,
    ObservableUpDownCounter,
    UpDownCounter,
)
from opentelemetry.sdk.metrics.export import AggregationTemporality, MetricExporter
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation

from otel_eval.emit.answers import Answer, Exported, answer_of_grpc, answer_of_http
from otel_eval.emit.endpoints import shown
from otel_eval.emit.settings import PREFIX, ExporterSettings, ExportSettingsError, Signal, SignalSettings

T = TypeVar("T")


_ONCE = frozenset({grpc.StatusCode.OK})
"""Codes at which the gRPC exporters try again by themselves: none that an error can have."""


class _Heard:
    """The last answer of the endpoint, for the export that is under way (exports of one signal never overlap)."""

    def __init__(self, response: type[Message]) -> None:
        self._response = response
        self.answer: Answer | None = None
        self.message = ""
        self.rejected = 0

    def reset(self) -> None:
        self.answer, self.message, self.rejected = None, "", 0

    def taken(self, response: Any) -> None:
        self.answer = Answer.TAKEN
        partial = response.partial_success
        self.rejected = getattr(partial, "rejected_spans", 0) or getattr(partial, "rejected_log_records", 0)
        self.message = partial.error_message

    def failed_grpc(self, error: grpc.RpcError) -> None:
        code = error.code()
        self.answer = answer_of_grpc(code, error.details())
        self.message = f"{code.name}: {error.details() or ''}".rstrip(": ")

    def http(self, response: requests.Response, *args: Any, **kwargs: Any) -> None:
        answer = answer_of_http(response.status_code)
        if answer is not Answer.TAKEN:
            self.answer = answer
            self.message = f"HTTP {response.status_code} {response.reason or ''}".rstrip()
            return
        try:
            self.taken(self._response.FromString(response.content))
        except DecodeError:  # a proxy's empty or JSON answer: it is a success all the same
            self.reset()


class _Session(requests.Session):
    """A session whose own authority comes before ``REQUESTS_CA_BUNDLE``, which requests would rather believe."""

    def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
        own = self.verify if verify is None and isinstance(self.verify, str) else verify
        return super().merge_environment_settings(url, proxies, stream, own, cert)


class _Noting:
    """A stub that tells what the endpoint answered, and otherwise is the stub."""

    def __init__(self, stub: Any, heard: _Heard) -> None:
        self._stub = stub
        self._heard = heard

    def Export(self, **arguments: Any) -> Any:
        try:
            response = self._stub.Export(**arguments)
        except grpc.RpcError as error:
            self._heard.failed_grpc(error)
            raise
        self._heard.taken(response)
        return response


class _SpanExporter(GrpcSpanExporter):
    def __init__(self, heard: _Heard, **options: Any) -> None:
        self._heard = heard
        super().__init__(**options)

    def _initialize_channel_and_stub(self) -> None:
        super()._initialize_channel_and_stub()  # type: ignore[no-untyped-call]
        self._client = _Noting(self._client, self._heard)  # type: ignore[assignment]


class _LogExporter(GrpcLogExporter):
    def __init__(self, heard: _Heard, **options: Any) -> None:
        self._heard = heard
        super().__init__(**options)

    def _initialize_channel_and_stub(self) -> None:
        super()._initialize_channel_and_stub()  # type: ignore[no-untyped-call]
        self._client = _Noting(self._client, self._heard)  # type: ignore[assignment]


class OtlpSignalExporter(Generic[T]):
    """One of the SDK's exporters with what was heard from its endpoint."""

    def __init__(self, signal: Signal, exporter: Any, heard: _Heard) -> None:
        self.signal = signal
        self._exporter = exporter
        self._heard = heard
        self._lock = threading.Lock()

    def export(self, items: Sequence[T]) -> Exported:
        """Send them in one request; blocks for at most the timeout of the settings."""
        with self._lock:
            heard = self._heard
            heard.reset()
            try:
                result = self._exporter.export(items)
            except (TypeError, ValueError) as error:  # what no encoder takes, no endpoint ever will
                return Exported(Answer.REFUSED, f"cannot be encoded: {error}")
            if result.name == "SUCCESS" and heard.answer in (None, Answer.TAKEN):
                return Exported(Answer.TAKEN, heard.message, heard.rejected)
            if heard.answer is None or heard.answer is Answer.TAKEN:
                return Exported(Answer.UNAVAILABLE, "no connection")
            return Exported(heard.answer, heard.message)

    def shutdown(self) -> None:
        """Abort what is under way and close."""
        self._exporter.shutdown()


def signal_exporter(target: SignalSettings) -> OtlpSignalExporter[Any]:
    """The exporter for spans or log records. Raises ExportSettingsError."""
    response = ExportTraceServiceResponse if target.signal == "traces" else ExportLogsServiceResponse
    heard = _Heard(response)
    with _environment_for(target):
        if target.protocol == "grpc":
            kind: Any = _SpanExporter if target.signal == "traces" else _LogExporter
            return OtlpSignalExporter(
                target.signal, kind(heard, retryable_error_codes=_ONCE, **_grpc_options(target)), heard
            )
        session = _Session()
        session.hooks["response"].append(heard.http)
        kind = HttpSpanExporter if target.signal == "traces" else HttpLogExporter
        # Without a limit of the exporter's own, which would drop the batch as if there were no connection.
        made = kind(session=session, max_request_size=0, **_http_options(target))
        return OtlpSignalExporter(target.signal, made, heard)


POINTS_PER_REQUEST = 1_000
"""Metric points in one request: a histogram's, with its exemplars, has about 1 KB, and endpoints take 4 MiB unless told."""


def metric_exporter(target: SignalSettings) -> MetricExporter:
    """The exporter for metrics: always cumulative, with explicit buckets, whatever the environment prefers.

    Raises ExportSettingsError.
    """
    kinds = (Counter, UpDownCounter, Histogram, ObservableCounter, ObservableUpDownCounter, ObservableGauge)
    options: dict[str, Any] = {
        "preferred_temporality": dict.fromkeys(kinds, AggregationTemporality.CUMULATIVE),
        "preferred_aggregation": {Histogram: ExplicitBucketHistogramAggregation()},
        "max_export_batch_size": POINTS_PER_REQUEST,
    }
    with _environment_for(target):
        if target.protocol == "grpc":
            # What is not taken now is in the next export as well: no reason to hold up a stop by trying again.
            return GrpcMetricExporter(retryable_error_codes=_ONCE, **_grpc_options(target), **options)
        return HttpMetricExporter(session=_Session(), **_http_options(target), **options)


@contextlib.contextmanager
def _environment_for(target: SignalSettings) -> Iterator[None]:
    """Without the exporters' variables, where the settings decide.

    They take from there what they are not given, so that the headers that hold one vendor's key would go to another. And
    never the blank ones, at which some of them break: a blank variable is as one that is not set.
    Raises ExportSettingsError for what they cannot be made with.
    """
    hidden = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_VARIABLES) and (target.settings is not None or not value.strip())
    }
    for name in hidden:
        del os.environ[name]
    try:
        yield
    except (InvalidCompressionValueException, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, ExportSettingsError):
            raise
        raise ExportSettingsError(f"{target.signal} cannot be exported to {shown(target.endpoint)}: {error}") from error
    finally:
        os.environ.update(hidden)


_VARIABLES = (PREFIX, "OTEL_PYTHON_EXPORTER_OTLP_")


def _grpc_options(target: SignalSettings) -> dict[str, Any]:
    settings = target.settings
    if settings is None:
        return _not_compressed(target)
    compression = {None: None, "gzip": grpc.Compression.Gzip, "none": grpc.Compression.NoCompression}
    return {
        "endpoint": target.endpoint,
        "insecure": settings.insecure,
        "credentials": channel_credentials(settings),
        "headers": {key.lower(): value for key, value in settings.headers.items()} or None,
        "timeout": settings.timeout_s,
        "compression": compression[settings.compression],
    }


def _not_compressed(target: SignalSettings) -> dict[str, Any]:
    """``OTEL_EXPORTER_OTLP_COMPRESSION=none``, which the specification allows and the gRPC exporters refuse."""
    own, general = (os.environ.get(f"{PREFIX}{name}COMPRESSION") for name in (f"{target.signal.upper()}_", ""))
    return {"compression": grpc.Compression.NoCompression} if (own or general or "").strip().lower() == "none" else {}


def _http_options(target: SignalSettings) -> dict[str, Any]:
    settings = target.settings
    if settings is None:
        return {}
    read_files(settings)  # else the first request would find out
    compression = {None: None, "gzip": HttpCompression.Gzip, "none": HttpCompression.NoCompression}
    return {
        "endpoint": target.endpoint,
        "certificate_file": settings.ca_file,
        "client_certificate_file": settings.cert_file,
        "client_key_file": settings.key_file,
        "headers": dict(settings.headers) or None,
        "timeout": settings.timeout_s,
        "compression": compression[settings.compression],
    }


def channel_credentials(settings: ExporterSettings) -> grpc.ChannelCredentials | None:
    """TLS with the files of the settings; None where there are none. Raises ExportSettingsError where one cannot be read."""
    if settings.ca_file is None and settings.cert_file is None:
        return None
    return grpc.ssl_channel_credentials(
        root_certificates=None if settings.ca_file is None else _read(settings.ca_file),
        private_key=None if settings.key_file is None else _read(settings.key_file),
        certificate_chain=None if settings.cert_file is None else _read(settings.cert_file),
    )


def read_files(settings: ExporterSettings) -> None:
    """Raises ExportSettingsError where a file of the settings cannot be read."""
    for path in (settings.ca_file, settings.cert_file, settings.key_file):
        if path is not None:
            _read(path)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ExportSettingsError(f"cannot read {path}: {error.strerror or error}") from error
