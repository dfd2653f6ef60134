"""Recorded OTLP requests, sent as an exporter would."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import grpc

_METHODS = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}


async def send(endpoint: str, signal: str, bodies: Iterable[bytes]) -> None:
    """Send serialized export requests over gRPC, one after another. Raises grpc.RpcError where one is refused."""
    async with grpc.aio.insecure_channel(endpoint.removeprefix("http://")) as channel:
        export: Any = channel.unary_unary(_METHODS[signal])
        for body in bodies:
            await export(body)


async def send_recording(endpoint: str, folder: Path) -> int:
    """Send a folder of ``NNNNN-traces.pb`` and ``NNNNN-logs.pb`` in the order of their names; how many there were."""
    requests = _requests(folder)
    for signal, body in requests:
        await send(endpoint, signal, [body])
    return len(requests)


def _requests(folder: Path) -> list[tuple[str, bytes]]:
    return [
        ("logs" if file.stem.endswith("logs") else "traces", file.read_bytes())
        for file in sorted(folder.glob("*-*.pb"))
    ]
