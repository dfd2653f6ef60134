"""Exports over TLS with a private authority and a client certificate, by either protocol."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import shutil
import ssl
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import certifi
import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from otel_eval.clock import SystemClock
from otel_eval.emit.answers import Answer
from otel_eval.emit.exporters import signal_exporter
from otel_eval.emit.forwarding import Forwarder
from otel_eval.emit.settings import ExporterSettings, targets
from otel_eval.instruments import NullRecorder

if shutil.which("openssl") is None:
    pytest.skip("needs openssl to make certificates", allow_module_level=True)

MAKE = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> tuple[Path, Path]:
    """A certificate that is its own authority, and its key: the server's and the client's at once."""
    directory = tmp_path_factory.mktemp("tls")
    cert, key = directory / "cert.pem", directory / "key.pem"
    subprocess.run([*MAKE.split(), "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return cert, key


@contextlib.contextmanager
def grpc_server(cert: Path, key: Path):
    taken = []

    def export(request, context):
        taken.append(request)
        return ExportTraceServiceResponse()

    handler = grpc.unary_unary_rpc_method_handler(
        export, ExportTraceServiceRequest.FromString, ExportTraceServiceResponse.SerializeToString
    )
    server = grpc.server(ThreadPoolExecutor(1))
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {"Export": handler})])
    credentials = grpc.ssl_server_credentials(
        [(key.read_bytes(), cert.read_bytes())], root_certificates=cert.read_bytes(), require_client_auth=True
    )
    port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    try:
        yield f"https://127.0.0.1:{port}", taken
    finally:
        server.stop(None).wait()


@contextlib.contextmanager
def http_server(cert: Path, key: Path):
    taken = []

    class Taking(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *arguments):
            """Nothing is printed."""

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(cert))
    context.load_cert_chain(cert, key)
    context.verify_mode = ssl.CERT_REQUIRED
    server = http.server.HTTPServer(("127.0.0.1", 0), Taking)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}", taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(("protocol", "serving"), [("grpc", grpc_server), ("http/protobuf", http_server)])
@pytest.mark.parametrize("known", [True, False], ids=["known to each other", "strangers"])
def test_certificates_are_used_and_checked(certificate, protocol, serving, known, monkeypatch):
    """With the authority and the client's certificate it is taken; without, it waits: an operator can mend that.

    The authority of the settings comes before one that the machine names.
    """
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", certifi.where())
    cert, key = certificate
    files = {"ca_file": str(cert), "cert_file": str(cert), "key_file": str(key)} if known else {}
    with serving(cert, key) as (endpoint, taken):
        settings = ExporterSettings(endpoint=endpoint, protocol=protocol, timeout_s=2, **files)
        traces = signal_exporter(targets(settings, {})[0])
        exported = traces.export(())
        traces.shutdown()
    assert exported.answer is (Answer.TAKEN if known else Answer.UNAVAILABLE)
    assert len(taken) == (1 if known else 0)


async def test_a_file_that_is_gone_for_a_moment_is_waited_for(certificate, tmp_path):
    """Whoever renews a certificate may take the old one away first: what is to be sent waits, and nothing breaks."""
    cert, key = certificate
    authority = tmp_path / "ca.pem"
    shutil.copy(cert, authority)
    files = {"ca_file": str(authority), "cert_file": str(cert), "key_file": str(key)}
    with http_server(cert, key) as (endpoint, _):
        settings = ExporterSettings(endpoint=endpoint, protocol="http/protobuf", timeout_s=2, **files)
        traces = signal_exporter(targets(settings, {})[0])
        async with Forwarder(settings, clock=SystemClock(), recorder=NullRecorder()) as forwarder:

            async def sent():
                return [await asyncio.to_thread(traces.export, ()), await forwarder.send("traces", "protobuf", b"")]

            authority.unlink()
            gone = await sent()
            shutil.copy(cert, authority)
            back = await sent()
        traces.shutdown()
    assert [exported.answer for exported in gone + back] == [Answer.UNAVAILABLE] * 2 + [Answer.TAKEN] * 2
    assert str(authority) in gone[1].message
