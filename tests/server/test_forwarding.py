"""otel-eval between an agent and its collector: what came goes on, unchanged and in order, whatever happens to either."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from otel_eval.config import ConfigError
from otel_eval.testing.loopback import HttpRequest, HttpResponse, LoopbackServer
from otel_eval.testing.otlp import otlp_logs_request, otlp_request
from otel_eval.testing.server import running
from otel_eval.testing.sink import Sink
from otel_eval.testing.spans import conversation, log_record
from tests.server.process import ServeProcess, serving
from tests.server.test_crash import ended, write_config

SERVICE = "/opentelemetry.proto.collector.{0}.v1.{1}Service/Export"
METHODS = {
    "traces": SERVICE.format("trace", "Trace"),
    "logs": SERVICE.format("logs", "Logs"),
    "metrics": SERVICE.format("metrics", "Metrics"),
}
FROM_THE_FUTURE = b"\xa2\x06\x03new"
"""A field that no version of the protocol has yet."""


def forwarding_to(sink: Sink, **more: Any) -> dict[str, Any]:
    return {"forward": {"otlp": {"endpoint": sink.endpoint, "protocol": "grpc"}}, **more}


async def export(endpoint: str | None, signal: str, body: bytes) -> bytes:
    async with grpc.aio.insecure_channel((endpoint or "").removeprefix("http://")) as channel:
        return bytes(await channel.unary_unary(METHODS[signal])(body))


def metrics_request() -> bytes:
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name="requests", unit="1")
    metric.gauge.data_points.add(as_int=7, time_unix_nano=1)
    return request.SerializeToString()


def asked(number: int) -> bytes:
    """One whole Interaction that carries its number."""
    return otlp_request(conversation(session=f"{number}"))


def sessions(sink: Sink) -> list[str]:
    """The numbers of the Interactions that arrived, in order, each as often as it came."""
    spans = (span for span in sink.spans if span.name.startswith("invoke_agent"))
    return [str(span.attributes["gen_ai.conversation.id"]) for span in spans]


async def until(condition: Callable[[], bool]) -> None:
    """What has no event to wait for."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_all_three_signals_go_on_unchanged_and_the_journal_lets_them_go() -> None:
    """Byte for byte, fields that nobody knows included; metrics, and logs without a trace, are taken without a word."""
    bodies = {
        "traces": asked(1) + FROM_THE_FUTURE,
        "logs": otlp_logs_request([log_record("of nothing")]) + FROM_THE_FUTURE,
        "metrics": metrics_request() + FROM_THE_FUTURE,
    }
    async with Sink() as sink, running(forwarding_to(sink)) as server:
        for signal, body in bodies.items():
            assert await export(server.server.grpc, signal, body) == b""
        await sink.wait_for(lambda sink: len(sink.requests) == 3)
        got = {request.signal: request.message.SerializeToString() for request in sink.requests}
        assert got == bodies
        await server.wait_for_interactions(1)
        await until(lambda: server.server.journal.backlog_bytes == 0)


async def test_without_forwarding_metrics_are_answered_with_what_becomes_of_them() -> None:
    """``partial_success`` says so."""
    async with running({}) as server:
        assert b"metrics are not taken here" in await export(server.server.grpc, "metrics", metrics_request())


async def test_an_outage_of_the_next_endpoint_costs_delay_alone() -> None:
    """Senders read OK and verdicts come meanwhile; afterwards all is there, once and in order, and the journal is empty."""
    with Sink() as sink:
        evaluators = {"calm": {"check": "should_not_fail", "agents": ["*"]}}
        async with running(forwarding_to(sink, evaluators=evaluators)) as server:
            await export(server.server.grpc, "traces", asked(0))
            await sink.wait_for(lambda sink: sessions(sink) == ["0"])
            # Until its answer has come: without that it would be sent again.
            await until(lambda: server.server.journal.backlog_bytes == 0)
            await asyncio.to_thread(sink.stop)
            for number in range(1, 6):
                await export(server.server.grpc, "traces", asked(number))
            interactions = await server.wait_for_interactions(6)
            for interaction in interactions:
                await server.wait_for_evaluations(interaction.id)
            assert server.server.journal.backlog_bytes > 0
            await asyncio.to_thread(sink.start)
            await sink.wait_for(lambda sink: len(sessions(sink)) >= 6, timeout=30)
            assert sessions(sink) == [str(number) for number in range(6)]
            await until(lambda: server.server.journal.backlog_bytes == 0)


async def test_a_request_that_cannot_be_read_goes_on_all_the_same(tmp_path: Path) -> None:
    """To quarantine here; what the next endpoint makes of it is its own affair."""
    unreadable = otlp_request(conversation(asked="###")[:1]).replace(b"###", b"\xff\xfe\xfd")
    received: list[bytes] = []

    def take(http: HttpRequest) -> HttpResponse:
        received.append(http.body)
        return HttpResponse(headers={"content-type": "application/x-protobuf"})

    endpoint = LoopbackServer(take)
    endpoint.start()
    try:
        config = {
            "storage": {"directory": str(tmp_path)},
            "forward": {
                "otlp": {
                    "endpoint": f"http://127.0.0.1:{endpoint.port}",
                    "protocol": "http/protobuf",
                    "compression": "none",
                }
            },
        }
        async with running(config) as server:
            await export(server.server.grpc, "traces", unreadable)
            await until(lambda: received == [unreadable])
            await until(lambda: server.server.journal.backlog_bytes == 0)
        assert len(list((tmp_path / "quarantine").glob("*.reason"))) == 1
    finally:
        await asyncio.to_thread(endpoint.stop)


async def send(server: ServeProcess, numbers: range, acknowledged: list[str]) -> None:
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        call = channel.unary_unary(METHODS["traces"])
        for number in numbers:
            try:
                await call(asked(number))
            except grpc.aio.AioRpcError:
                return
            acknowledged.append(str(number))


async def test_kill_9_loses_nothing_and_repeats_little(tmp_path: Path) -> None:
    """Killed while it forwards, then while the endpoint is down: all that was acknowledged arrives, in order."""
    with Sink() as sink:
        config = write_config(tmp_path, **forwarding_to(sink))
        acknowledged: list[str] = []
        async with serving(config) as server:
            sending = asyncio.create_task(send(server, range(300), acknowledged))
            await sink.wait_for(lambda sink: len(sessions(sink)) >= 60, timeout=30)
            await server.kill()
            await sending
        await asyncio.to_thread(sink.stop)
        async with serving(config) as server:
            await send(server, range(300, 310), acknowledged)
            await server.kill()
        await asyncio.to_thread(sink.start)
        async with serving(config) as server:
            await sink.wait_for(lambda sink: set(acknowledged) <= set(sessions(sink)), timeout=30)
            assert await server.terminate() == 0
        arrived = sessions(sink)
        first = list(dict.fromkeys(arrived))
        assert first == sorted(first, key=int)
        assert max(Counter(arrived).values()) <= 3


async def test_a_clean_restart_repeats_nothing(tmp_path: Path) -> None:
    """Entries that wait for their traces were sent on already; how far that came is remembered."""
    with Sink() as sink:
        config = write_config(tmp_path, completion={"settle": "1h"}, **forwarding_to(sink))
        acknowledged: list[str] = []
        async with serving(config) as server:
            await send(server, range(5), acknowledged)
            await sink.wait_for(lambda sink: len(sessions(sink)) == 5)
            assert await server.terminate() == 0
        async with serving(config) as server:
            await send(server, range(5, 6), acknowledged)
            await sink.wait_for(lambda sink: "5" in sessions(sink))
            assert await server.terminate() == 0
        assert sessions(sink) == acknowledged


async def test_forwarding_beside_verdicts_loses_neither(tmp_path: Path) -> None:
    """The same collector for both: the Interaction's spans, and its verdicts."""
    with Sink() as sink:
        exporters = {"otlp": {"endpoint": sink.endpoint}}
        config = write_config(tmp_path, **forwarding_to(sink, exporters=exporters))
        spans = conversation()
        async with serving(config) as server:
            await export(server.grpc, "traces", otlp_request(spans))
            await ended(tmp_path / "data" / "ledger.db", {f"{spans[0].trace_id}-{spans[0].span_id}"}, evaluators=2)
            await sink.wait_for(lambda sink: len(sink.log("gen_ai.evaluation.result")) == 2)
            assert {span.span_id for span in spans} <= {span.span_id for span in sink.spans}


async def test_forwarding_to_our_own_listener_is_refused(tmp_path: Path) -> None:
    """By whatever name: what is sent there would come straight back."""
    with Sink() as sink:
        taken = sink.endpoint.removeprefix("http://")
    config = {
        "receivers": {"otlp": {"grpc": {"endpoint": taken}}},
        "forward": {"otlp": {"endpoint": f"http://localhost:{taken.rpartition(':')[2]}"}},
    }
    with pytest.raises(ConfigError, match=r"forward\.otlp\.endpoint.*our own listener"):
        async with running(config):
            pass
