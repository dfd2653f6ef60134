"""OTLP/gRPC: TraceService, LogsService, MetricsService, health and reflection, on grpcio's asyncio server.

The handlers get raw bytes: what is read of a request before it is acknowledged is decided in ``soundness.py``. To gRPC they
are handlers of a stream, of which they read the one message that there is: only those decide when it is read.

Source: OTLP 1.9, "OTLP/gRPC": partial success, retryable codes, throttling by ``RetryInfo``.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import grpc
import grpc.aio
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from otel_eval.journal import Signal
from otel_eval.receive.grpc_listening import authorization, bind
from otel_eval.receive.intake import Accepted, Intake
from otel_eval.receive.listener import Listener
from otel_eval.receive.otlp_answers import SERVICES, answer
from otel_eval.receive.refusal import Code, Refused, retryable

TRANSPORT = "grpc"
RECEIVE_S = 10.0
"""How long a sender may take over one request, for which room is kept all that time: as long as SDKs allow for a
whole export."""
Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]
Export: TypeAlias = Callable[[object, Context], Awaitable[bytes]]

STATUS = {
    Code.MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    Code.WRONG_SIGNAL: grpc.StatusCode.INVALID_ARGUMENT,
    Code.TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Code.UNSUPPORTED: grpc.StatusCode.UNIMPLEMENTED,
    Code.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    Code.FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Code.OVERLOADED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Code.STORAGE: grpc.StatusCode.UNAVAILABLE,
}


class GrpcReceiver:
    """One gRPC listener. :meth:`start` it inside a running event loop, :meth:`stop` it there too."""

    def __init__(self, intake: Intake, listener: Listener, *, receive_s: float = RECEIVE_S) -> None:
        self._intake = intake
        self._listener = listener
        self._receive_s = receive_s
        self._health = health.aio.HealthServicer()
        self._server: grpc.aio.Server | None = None
        self._endpoint: str | None = None

    @property
    def endpoint(self) -> str:
        """The address it is bound to, with the real port. Raises RuntimeError before :meth:`start`."""
        if self._endpoint is None:
            raise RuntimeError("the receiver is not started")
        return self._endpoint

    async def start(self) -> None:
        """Return once requests are taken. Raises :class:`ReceiverError` where it cannot listen there."""
        server = grpc.aio.server(
            options=[
                # grpcio refuses more than this with RESOURCE_EXHAUSTED, a compressed message while it expands.
                ("grpc.max_receive_message_length", self._listener.max_message_bytes),
                ("grpc.so_reuseport", 0),  # two servers must not share a port without knowing
            ]
        )
        for signal, service in SERVICES.items():
            method: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_unary_rpc_method_handler(self._export(signal))
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"Export": method}),))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection(
            (*SERVICES.values(), health.SERVICE_NAME, reflection.SERVICE_NAME),
            server,
        )
        self._endpoint = bind(server, self._listener)
        await server.start()
        self._server = server
        for service in ("", *SERVICES.values()):
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)

    async def stop(self, grace_s: float = 5.0) -> None:
        """Take no new request, let those in flight end within ``grace_s``, then close."""
        if self._server is None:
            return
        server, self._server = self._server, None
        await self._health.enter_graceful_shutdown()
        await server.stop(grace_s)

    def _export(self, signal: Signal) -> Export:
        async def export(messages: object, context: Context) -> bytes:
            try:
                accepted = await self._accept(signal, context)
            except Refused as refused:
                await context.abort(STATUS[refused.code], refused.reason, trailers(refused))
            return answer(signal, accepted).SerializeToString()

        return export

    async def _accept(self, signal: Signal, context: Context) -> Accepted:
        try:
            self._listener.admit(authorization(context))
            with self._intake.in_flight.share() as held:
                await held.expect()
                body = await self._read(context)
                if body is None:
                    raise Refused(Code.MALFORMED, "the call carries no message")
                held.came(len(body))
                if await self._read(context) is not None:
                    raise Refused(Code.MALFORMED, "the call carries more than one message, and none is taken")
                return await self._intake.accept(signal, "protobuf", body, TRANSPORT)
        except Refused as refused:
            self._intake.count_refusal(refused, TRANSPORT)
            raise

    async def _read(self, context: Context) -> bytes | None:
        """The call's next message; None at its end. Raises :class:`Refused` where neither comes within ``receive_s``."""
        reading = asyncio.ensure_future(context.read())
        # Not cancelled: gRPC completes the reading itself when the call ends.
        await asyncio.wait((reading,), timeout=self._receive_s)
        if not reading.done():
            raise retryable(Code.OVERLOADED, f"the request did not come within {self._receive_s:g} s")
        message = reading.result()
        if context.cancelled():
            raise asyncio.CancelledError
        return message if isinstance(message, bytes) else None


def trailers(refused: Refused) -> tuple[tuple[str, bytes], ...]:
    """The delay in both forms that clients read: the collector the status' details, the Python SDK the bare trailer."""
    if refused.retry_after_s is None:
        return ()
    retry = RetryInfo(retry_delay=_duration(refused.retry_after_s))
    status = Status(code=STATUS[refused.code].value[0], message=refused.reason, details=[_any(retry)])
    return (
        ("grpc-status-details-bin", status.SerializeToString()),
        ("google.rpc.retryinfo-bin", retry.SerializeToString()),
    )


def _duration(seconds: float) -> Duration:
    fraction, whole = math.modf(seconds)
    return Duration(seconds=int(whole), nanos=int(fraction * 1e9))


def _any(message: Message) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed
