"""The gRPC listener of the API: who may call, how many at a time, and how a failed call is told; health and reflection.

The calls are those of the protocol's own descriptor: one that it has and the table here has not is a mistake at the start.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import grpc
import grpc.aio
from google.protobuf import message_factory
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from otel_eval.api.access import Access, Scope
from otel_eval.api.failures import (
    CallFailed,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    TooMuch,
    Unauthenticated,
    Unavailable,
    WrongLedger,
)
from otel_eval.api.service import Service
from otel_eval.instruments import Recorder
from otel_eval.ledger import LedgerError, LedgerUnavailable
from otel_eval.receive.grpc_listening import Context, authorization, bind
from otel_eval.receive.listener import Listener
from otel_eval.v1 import evaluations_pb2 as pb

log = logging.getLogger("otel_eval.api")

SERVICE = pb.DESCRIPTOR.services_by_name["EvaluationService"]
CALLS = {
    "GetInteraction": (Scope.READ, Service.get_interaction),
    "ListInteractions": (Scope.READ, Service.list_interactions),
    "GetEvaluations": (Scope.READ, Service.get_evaluations),
    "ListEvaluations": (Scope.READ, Service.list_evaluations),
    "WatchEvaluations": (Scope.READ, Service.watch_evaluations),
    "StartEvaluation": (Scope.EVALUATE, Service.start_evaluation),
}

STATUS: dict[type[CallFailed], grpc.StatusCode] = {
    InvalidArgument: grpc.StatusCode.INVALID_ARGUMENT,
    NotFound: grpc.StatusCode.NOT_FOUND,
    Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
    WrongLedger: grpc.StatusCode.FAILED_PRECONDITION,
    TooMuch: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Unavailable: grpc.StatusCode.UNAVAILABLE,
}

STOP_S = 2.0
"""How long calls may take that run when the server stops."""

T = TypeVar("T")
Handler: TypeAlias = Callable[[Message, Context], Awaitable[T]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """Where the API listens, whom it lets in, and how many calls run at the same time."""

    listener: Listener
    access: Access
    most_calls: int


class ApiServer:
    """One listener. :meth:`start` it inside a running event loop, :meth:`stop` it there too."""

    def __init__(self, service: Service, settings: ApiSettings, *, recorder: Recorder) -> None:
        self._service = service
        self._settings = settings
        self._recorder = recorder
        self._health = health.aio.HealthServicer()
        self._running = 0
        self._server: grpc.aio.Server | None = None

    async def start(self) -> str:
        """The address, with the real port, once calls are taken. Raises ReceiverError where it cannot listen there."""
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", self._settings.listener.max_message_bytes),
                ("grpc.so_reuseport", 0),
                # Who follows the ledger may be silent for long, and be gone without a word.
                ("grpc.keepalive_time_ms", 60_000),
                ("grpc.keepalive_timeout_ms", 20_000),
                ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
            ]
        )
        handlers = {method.name: self._handler(method) for method in SERVICE.methods}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE.full_name, handlers),))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        names = (SERVICE.full_name, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server)
        address = bind(server, self._settings.listener)
        await server.start()
        self._server = server
        for name in ("", SERVICE.full_name):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return address

    async def stop(self) -> None:
        """Take no new call, end those that follow the ledger, let the others end for a moment."""
        if self._server is None:
            return
        server, self._server = self._server, None
        await self._health.enter_graceful_shutdown()
        self._service.stop()
        await server.stop(STOP_S)

    def _handler(self, method: MethodDescriptor) -> grpc.RpcMethodHandler[Any, Any]:
        taken = message_factory.GetMessageClass(method.input_type)
        make = grpc.unary_stream_rpc_method_handler if method.server_streaming else grpc.unary_unary_rpc_method_handler
        handle: Any = self._stream(method.name) if method.server_streaming else self._answer(method.name)
        return make(handle, request_deserializer=taken.FromString, response_serializer=taken.SerializeToString)

    def _answer(self, name: str) -> Handler[Message]:
        call: Any = CALLS[name][1]

        async def handle(request: Message, context: Context) -> Message:
            async def work(caller: str) -> Message:
                answer: Message = await call(self._service, request, caller)
                return answer

            return await self._told(name, work, context)

        return handle

    def _stream(self, name: str) -> Handler[None]:
        call: Any = CALLS[name][1]

        async def handle(request: Message, context: Context) -> None:
            async def work(caller: str) -> None:
                async with contextlib.aclosing(call(self._service, request, caller)) as messages:
                    async for message in messages:
                        await context.write(message)  # returns once the caller has room for it

            await self._told(name, work, context)

        return handle

    async def _told(self, name: str, work: Callable[[str], Awaitable[T]], context: Context) -> T:
        """Do the work for a caller who may; a failure is told by its status, and every call is counted by it."""
        status = "UNKNOWN"
        try:
            with self._admitted(context, CALLS[name][0]) as caller:
                done = await work(caller)
            status = "OK"
            return done
        except (CallFailed, LedgerError) as error:
            refusal = _refusal(error)
            status = refusal.code.name
            await context.abort(refusal.code, refusal.message, refusal.trailers)
        except asyncio.CancelledError:
            status = "CANCELLED"
            raise
        except grpc.aio.BaseError:
            raise  # of the connection, and gRPC's own to end
        except Exception as error:  # gRPC would tell the caller its words, which may quote what was said
            log.error("%s failed: a fault of ours", name, exc_info=error)
            status = grpc.StatusCode.INTERNAL.name
            await context.abort(grpc.StatusCode.INTERNAL, "a fault of the server; its log says more")
        finally:
            labels = {"rpc.method": f"{SERVICE.full_name}/{name}", "rpc.response.status_code": status}
            self._recorder.record("otel_eval.api.calls", 1, labels)

    @contextlib.contextmanager
    def _admitted(self, context: Context, scope: Scope) -> Iterator[str]:
        """The caller's name, for a call that may run. Raises CallFailed."""
        caller = self._settings.access.admit(authorization(context), scope)
        if self._running >= self._settings.most_calls:
            raise TooMuch(f"{self._settings.most_calls} calls run already (api.max_concurrent_calls)")
        self._running += 1
        try:
            yield caller
        finally:
            self._running -= 1


class _Refusal(NamedTuple):
    """What a caller is told. ``trailers``: which field was wrong, for programs."""

    code: grpc.StatusCode
    message: str
    trailers: tuple[tuple[str, bytes], ...] = ()


def _refusal(error: CallFailed | LedgerError) -> _Refusal:
    match error:
        case InvalidArgument(field=field, description=description):
            packed = AnyMessage()
            violation = BadRequest.FieldViolation(field=field, description=description)
            packed.Pack(BadRequest(field_violations=[violation]))
            code = STATUS[InvalidArgument]
            status = Status(code=code.value[0], message=str(error), details=[packed])
            return _Refusal(code, str(error), (("grpc-status-details-bin", status.SerializeToString()),))
        case CallFailed():
            return _Refusal(STATUS[type(error)], str(error))
        case LedgerUnavailable():
            return _Refusal(grpc.StatusCode.UNAVAILABLE, "the ledger does not answer at the moment")
        case _:
            log.warning("the ledger cannot be read for a caller: %s", error)
            return _Refusal(grpc.StatusCode.INTERNAL, "the ledger cannot be read; the server's log says why")
