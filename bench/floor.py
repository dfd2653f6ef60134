"""The floor: a bare grpcio server that parses each request and throws it away. Prints its port, ends with its stdin."""

from __future__ import annotations

import asyncio
import sys

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)


class Floor(TraceServiceServicer):
    async def Export(self, request: ExportTraceServiceRequest, context: object) -> ExportTraceServiceResponse:
        return ExportTraceServiceResponse()


async def main() -> None:
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", 64 << 20)])
    add_TraceServiceServicer_to_server(Floor(), server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(main())
