"""OTLP/HTTP: POST /v1/traces, /v1/logs, /v1/metrics in protobuf or JSON, and GET /healthz, on uvicorn in our own loop.

Source: OTLP 1.9, "OTLP/HTTP": content types, ``google.rpc.Status`` bodies, partial success, 503 with ``Retry-After``.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus

import orjson
import uvicorn
from google.protobuf import json_format
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from otel_eval.journal import Encoding, Signal
from otel_eval.receive.http_protocol import timed
from otel_eval.receive.inflate import body_of, too_large
from otel_eval.receive.intake import Accepted, Intake
from otel_eval.receive.listener import Listener, ReceiverError, endpoint
from otel_eval.receive.otlp_answers import SERVICES, answer
from otel_eval.receive.refusal import Code, Refused

TRANSPORT = "http"
KEEP_ALIVE_S = 75
"""Longer than the SDKs' export interval of 5 s, at which uvicorn's own default would close their connections."""
RECEIVE_S = 60.0
"""How long a sender may take over one request: six times what SDKs allow for a whole export."""

MEDIA_TYPES: dict[str, Encoding] = {"application/x-protobuf": "protobuf", "application/json": "json"}
_MEDIA_TYPE: dict[Encoding, str] = {encoding: name for name, encoding in MEDIA_TYPES.items()}

# HTTP status, and the code in the google.rpc.Status body.
STATUS = {
    Code.MALFORMED: (400, 3),
    Code.WRONG_SIGNAL: (400, 3),
    Code.TOO_LARGE: (413, 8),
    Code.UNSUPPORTED: (415, 3),
    Code.UNAUTHENTICATED: (401, 16),
    Code.FULL: (503, 8),  # not 429: older SDKs take it as final
    Code.OVERLOADED: (503, 8),
    Code.STORAGE: (503, 14),
}


class HttpReceiver:
    """One HTTP listener. :meth:`start` it inside a running event loop, :meth:`stop` it there too."""

    def __init__(self, intake: Intake, listener: Listener, *, receive_s: float = RECEIVE_S) -> None:
        self._intake = intake
        self._listener = listener
        self._receive_s = receive_s
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self._endpoint: str | None = None

    @property
    def endpoint(self) -> str:
        """The address it is bound to, with the real port. Raises RuntimeError before :meth:`start`."""
        if self._endpoint is None:
            raise RuntimeError("the receiver is not started")
        return self._endpoint

    async def start(self) -> None:
        """Return once requests are taken. Raises :class:`ReceiverError` where it cannot listen there."""
        config = self._config()
        bound = _bind(self._listener)
        host, port = bound.getsockname()[:2]
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve([bound]), name="otel-eval-http")
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait({ready, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        if self._serving.done():
            ready.cancel()
            bound.close()
            self._serving.result()
        self._endpoint = endpoint(host, port)

    async def stop(self, grace_s: float = 5.0) -> None:
        """Take no new connection, let requests in flight end within ``grace_s``, then close."""
        if self._server is None or self._serving is None:
            return
        self._server.config.timeout_graceful_shutdown = math.ceil(grace_s)
        self._server.should_exit = True
        self._server = None
        await self._serving

    def _config(self) -> uvicorn.Config:
        routes = [
            Route(f"/v1/{signal}{end}", self._export(signal), methods=["POST"])
            for signal in SERVICES
            for end in ("", "/")  # exporters do not follow a redirect
        ]
        config = uvicorn.Config(
            Starlette(
                routes=[*routes, Route("/healthz", _healthz, methods=["GET"])],
                exception_handlers={HTTPStatus.NOT_FOUND: _not_found},
            ),
            lifespan="off",
            loop="none",
            http=timed(self._receive_s),
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            ssl_certfile=self._listener.certificate,
            ssl_keyfile=self._listener.key,
            ssl_ca_certs=None if self._listener.client_ca is None else str(self._listener.client_ca),
            ssl_cert_reqs=ssl.CERT_NONE if self._listener.client_ca is None else ssl.CERT_REQUIRED,
        )
        try:
            config.load()
        except OSError as error:  # ssl.SSLError included
            raise ReceiverError(f"{self._listener.endpoint}: cannot use the certificate: {error}") from error
        return config

    def _export(self, signal: Signal) -> Callable[[Request], Awaitable[Response]]:
        async def export(request: Request) -> Response:
            encoding: Encoding | None = None
            try:
                encoding = _encoding(request)
                accepted = await self._accept(signal, encoding, request)
            except Refused as refused:
                self._intake.count_refusal(refused, TRANSPORT)
                return _refusal(refused, encoding or "json")
            except ClientDisconnect:
                return Response(status_code=400)  # nobody reads it
            return _success(signal, encoding, accepted)

        return export

    async def _accept(self, signal: Signal, encoding: Encoding, request: Request) -> Accepted:
        self._listener.admit(request.headers.get("authorization"))
        limit = self._listener.max_message_bytes
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            raise too_large(limit)
        body = body_of(request.headers.get("content-encoding", ""), limit)
        with self._intake.in_flight.share() as held:
            async for chunk in request.stream():
                held.add(body.feed(chunk))
            return await self._intake.accept(signal, encoding, body.finish(), TRANSPORT)


class _Server(uvicorn.Server):
    """Uvicorn without its signal handlers (the process decides when to stop), and with an event for being ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


async def _healthz(request: Request) -> Response:
    return Response(b'{"status":"ok"}', media_type="application/json")


async def _not_found(request: Request, error: Exception) -> Response:
    paths = ", ".join(f"/v1/{signal}" for signal in SERVICES)
    said = f"there is nothing here: OTLP is taken at {paths}; an exporter's endpoint is http://host:port, without a path or slash"
    return Response(said + "\n", status_code=HTTPStatus.NOT_FOUND, media_type="text/plain")


def _encoding(request: Request) -> Encoding:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in MEDIA_TYPES:
        raise Refused(Code.UNSUPPORTED, "the content type has to be application/x-protobuf or application/json")
    return MEDIA_TYPES[media_type]


def _success(signal: Signal, encoding: Encoding, accepted: Accepted) -> Response:
    message = answer(signal, accepted)
    if encoding == "json":
        content = orjson.dumps(json_format.MessageToDict(message))
    else:
        content = message.SerializeToString()
    return Response(content, media_type=_MEDIA_TYPE[encoding])


def _refusal(refused: Refused, encoding: Encoding) -> Response:
    http_status, code = STATUS[refused.code]
    headers: dict[str, str] = {}
    if refused.retry_after_s is not None:
        headers["retry-after"] = str(round(refused.retry_after_s))  # whole seconds: RFC 9110
    if refused.code is Code.UNAUTHENTICATED:
        headers["www-authenticate"] = "Bearer"
    if encoding == "json":
        content = orjson.dumps({"code": code, "message": refused.reason})
    else:
        content = Status(code=code, message=refused.reason).SerializeToString()
    return Response(content, status_code=http_status, headers=headers, media_type=_MEDIA_TYPE[encoding])


def _bind(listener: Listener) -> socket.socket:
    host, port = listener.address()
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except BaseException:
            bound.close()
            raise
    except OSError as error:
        raise ReceiverError(f"cannot listen on {endpoint(host, port)} (HTTP): {error.strerror}") from error
    return bound
