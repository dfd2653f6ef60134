"""An HTTP server on 127.0.0.1 in threads of its own: the same for sync and for async tests, and nothing to import."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request as it arrived. Header names are lower-case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    wait: Callable[[float | None], bool] = field(repr=False, compare=False)
    """``wait(seconds)`` holds the answer back; True where the client went away (or the server stops) meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """An answer; an iterable body is sent chunk by chunk. ``status`` 0 closes the connection without an answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Iterable[bytes] = b""


class Startable(abc.ABC):
    """Something with a start and a stop, as a context manager, sync and async."""

    @abc.abstractmethod
    def start(self) -> None: ...

    @abc.abstractmethod
    def stop(self) -> None: ...

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await asyncio.to_thread(self.stop)


class LoopbackServer:
    """Serves ``respond`` between :meth:`start` and :meth:`stop`, on the same port after a restart."""

    def __init__(self, respond: Callable[[HttpRequest], HttpResponse]) -> None:
        self._respond = respond
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self.port = 0

    def start(self) -> None:
        """Listen. Raises OSError where the port of an earlier start was taken meanwhile."""
        self._server = _Server(("127.0.0.1", self.port), self._respond)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="loopback-http", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop listening and drop open connections. Does nothing where it does not serve."""
        if self._server is None or self._thread is None:
            return
        self._server.stop()
        self._thread.join()
        self._server = self._thread = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], respond: Callable[[HttpRequest], HttpResponse]) -> None:
        self.respond = respond
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(address, _Exchange)

    def stop(self) -> None:
        self.stopping.set()
        self.shutdown()
        self.server_close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is not an error of the test."""


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = HttpRequest(method=self.command, path=self.path, headers=headers, body=body, wait=self._wait)
        response = self.server.respond(request)
        if response.status == 0 or self.server.stopping.is_set():
            self.close_connection = True
            return
        self._send(response)

    do_GET = do_POST

    def _send(self, response: HttpResponse) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if isinstance(response.body, bytes):
            self.send_header("content-length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in response.body:
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def _wait(self, seconds: float | None) -> bool:
        deadline = None if seconds is None else time.monotonic() + seconds
        while deadline is None or (left := deadline - time.monotonic()) > 0:
            if self.server.stopping.is_set():
                return True
            step = 0.05 if deadline is None else min(0.05, left)
            if select.select([self.connection], [], [], step)[0]:
                return self._client_gone()
        return False

    def _client_gone(self) -> bool:
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a test's output is the test's."""
