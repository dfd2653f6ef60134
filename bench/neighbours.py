"""What stands around the measured process, in a process of its own: a scripted model and a collector that takes all."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass
from typing import Any

import grpc

_SERVICES = (
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where they are."""

    model: str
    collector: str


@contextlib.contextmanager
def neighbours(verdict: str = '{"reason": "it does", "score": 0.8}') -> Iterator[Neighbours]:
    """Run them for the block. The model answers every request with that text."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(theirs, verdict), daemon=True)
    process.start()
    try:
        if not ours.poll(60):
            raise RuntimeError("the scripted model and the collector did not start")
        yield Neighbours(*ours.recv())
    finally:
        ours.send(None)
        process.join(10)
        if process.is_alive():
            process.kill()


def _run(pipe: Any, verdict: str) -> None:
    from otel_eval.testing.scripted_model import ScriptedModel

    with ScriptedModel(verdict) as model:
        server, port = _collector()
        pipe.send((model.base_url, f"http://127.0.0.1:{port}"))
        pipe.recv()
        server.stop(None)


def _collector() -> tuple[grpc.Server, int]:
    """Answers every export with an empty response, and looks at none."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    take = grpc.unary_unary_rpc_method_handler(lambda request, context: b"")

    class Everything(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
            return take if details.method in _SERVICES else None

    server.add_generic_rpc_handlers((Everything(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port
