"""The original telemetry, sent on unchanged: otel-eval stands between an agent and its collector.

What came is what goes: the bytes of the request are never decoded on the way (over gRPC by an identity serialiser), only
JSON for an endpoint that speaks gRPC is written in protobuf. Whoever calls keeps a request until :meth:`Forwarder.deliver`
has returned, so an endpoint that is down costs delay; order is the caller's.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

import grpc
import grpc.aio
import requests
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_eval.clock import Clock
from otel_eval.emit.answers import Answer, Exported, answer_of_grpc, answer_of_http
from otel_eval.emit.exporters import channel_credentials, read_files
from otel_eval.emit.otlp_json import to_protobuf
from otel_eval.emit.outbox import Backoff
from otel_eval.emit.settings import ExporterSettings, Signal, endpoint_for
from otel_eval.instruments import Recorder

_logger = logging.getLogger(__name__)

Encoding: TypeAlias = Literal["protobuf", "json"]
DEFAULT_TIMEOUT_S = 10.0

_SERVICES: dict[Signal, str] = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}
_RESPONSES: dict[Signal, Any] = {
    "traces": ExportTraceServiceResponse,
    "logs": ExportLogsServiceResponse,
    "metrics": ExportMetricsServiceResponse,
}
_REJECTED = {"traces": "rejected_spans", "logs": "rejected_log_records", "metrics": "rejected_data_points"}
_CONTENT_TYPES: dict[Encoding, str] = {"protobuf": "application/x-protobuf", "json": "application/json"}


class _Transport(Protocol):
    async def send(self, signal: Signal, encoding: Encoding, body: bytes) -> Exported: ...

    async def close(self) -> None: ...


class Forwarder:
    """Sends requests on to one endpoint. An async context manager. ``settings`` alone decide: no variable is read.

    Raises ExportSettingsError where a file of theirs cannot be read.
    """

    def __init__(self, settings: ExporterSettings, *, clock: Clock, recorder: Recorder) -> None:
        self._transport: _Transport = _Grpc(settings) if settings.protocol == "grpc" else _Http(settings)
        self._clock = clock
        self._recorder = recorder
        self._backoff = Backoff()

    async def send(self, signal: Signal, encoding: Encoding, body: bytes) -> Exported:
        """Send it once; what the endpoint made of it."""
        exported = await self._transport.send(signal, encoding, body)
        if exported.rejected:
            self._count(signal, "partial_success", exported.rejected)
            _logger.warning("the next endpoint rejected %d of the %s: %s", exported.rejected, signal, exported.message)
        return exported

    async def deliver(self, signal: Signal, encoding: Encoding, body: bytes) -> Exported:
        """Send it until the endpoint has taken it or refused it for good; wait longer after each try that failed.

        A request that is refused, or whose signal the endpoint does not know, is counted and let go: the OTLP
        specification forbids sending it again.
        """
        failures = 0
        while (exported := await self.send(signal, encoding, body)).answer is Answer.UNAVAILABLE:
            failures += 1
            self._recorder.record("otel_eval.forward.failures", 1, {"otel_eval.signal": signal})
            if failures == 1:
                _logger.warning("telemetry cannot be forwarded, it waits: %s", exported.message)
            await self._clock.sleep_until(self._clock.monotonic() + self._backoff.after(failures))
        if failures:
            _logger.warning("telemetry is forwarded again")
        if exported.answer is not Answer.TAKEN:
            self._count(signal, exported.answer.value, 1)
            _logger.warning("the next endpoint does not take a request of %s: %s", signal, exported.message)
        return exported

    async def __aenter__(self) -> Forwarder:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    def _count(self, signal: Signal, reason: str, amount: int) -> None:
        labels = {"otel_eval.signal": signal, "otel_eval.reason": reason}
        self._recorder.record("otel_eval.forward.rejected", amount, labels)


class _Grpc:
    def __init__(self, settings: ExporterSettings) -> None:
        url = urlsplit(settings.endpoint if "://" in settings.endpoint else f"//{settings.endpoint}")
        insecure = url.scheme == "http" if settings.insecure is None else settings.insecure and url.scheme != "https"
        compression = grpc.Compression.Gzip if settings.compression == "gzip" else grpc.Compression.NoCompression
        if insecure:
            self._channel = grpc.aio.insecure_channel(url.netloc, compression=compression)
        else:
            credentials = channel_credentials(settings) or grpc.ssl_channel_credentials()
            self._channel = grpc.aio.secure_channel(url.netloc, credentials, compression=compression)
        self._headers = tuple((name.lower(), value) for name, value in settings.headers.items())
        self._timeout_s = settings.timeout_s or DEFAULT_TIMEOUT_S

    async def send(self, signal: Signal, encoding: Encoding, body: bytes) -> Exported:
        if encoding == "json":
            try:
                body = to_protobuf(signal, body)
            except ValueError as error:
                return Exported(Answer.REFUSED, str(error))
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(_SERVICES[signal])
        try:
            response = await call(body, metadata=self._headers, timeout=self._timeout_s)
        except grpc.aio.AioRpcError as error:
            answer = answer_of_grpc(error.code(), error.details())
            return Exported(answer, f"{error.code().name}: {error.details() or ''}".rstrip(": "))
        return _taken(signal, response)

    async def close(self) -> None:
        await self._channel.close()


class _Http:
    def __init__(self, settings: ExporterSettings) -> None:
        read_files(settings)
        self._settings = settings
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers.update(settings.headers)
        if settings.ca_file is not None:
            self._session.verify = settings.ca_file
        if settings.cert_file is not None:
            self._session.cert = (settings.cert_file, settings.key_file) if settings.key_file else settings.cert_file

    async def send(self, signal: Signal, encoding: Encoding, body: bytes) -> Exported:
        return await asyncio.to_thread(self._post, signal, encoding, body)

    async def close(self) -> None:
        await asyncio.to_thread(self._session.close)

    def _post(self, signal: Signal, encoding: Encoding, body: bytes) -> Exported:
        headers = {"Content-Type": _CONTENT_TYPES[encoding]}
        if self._settings.compression == "gzip":
            body, headers["Content-Encoding"] = gzip.compress(body, compresslevel=1), "gzip"
        try:
            response = self._session.post(
                endpoint_for(signal, self._settings.endpoint, "http/protobuf"),
                data=body,
                headers=headers,
                timeout=self._settings.timeout_s or DEFAULT_TIMEOUT_S,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            return Exported(Answer.UNAVAILABLE, type(error).__name__)
        except OSError as error:  # requests looks for the certificates' files each time: one may be on its way
            return Exported(Answer.UNAVAILABLE, str(error))
        answer = answer_of_http(response.status_code)
        if answer is not Answer.TAKEN:
            return Exported(answer, f"HTTP {response.status_code} {response.reason or ''}".rstrip())
        return _taken(signal, response.content) if encoding == "protobuf" else Exported(Answer.TAKEN)


def _taken(signal: Signal, response: bytes) -> Exported:
    try:
        partial = _RESPONSES[signal].FromString(response).partial_success
    except DecodeError:
        return Exported(Answer.TAKEN)
    return Exported(Answer.TAKEN, partial.error_message, getattr(partial, _REJECTED[signal]))
