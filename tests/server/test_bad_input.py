"""What arrives is not always telemetry: each fault gets its clear answer, and the server lives."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import grpc
import httpx
import pytest

from otel_eval.testing.otlp import otlp_logs_request, otlp_request, trace_request
from otel_eval.testing.server import RunningServer, running
from otel_eval.testing.spans import conversation, log_record
from tests.server.process import serving
from tests.server.test_crash import write_config

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
CONFIG = {"evaluators": {"calm": {"check": "should_not_fail", "agents": ["*"]}}}


async def export(server: RunningServer, body: bytes) -> bytes:
    async with grpc.aio.insecure_channel(server.server.grpc or "") as channel:
        return bytes(await channel.unary_unary(EXPORT)(body))


async def assert_alive(server: RunningServer) -> None:
    """The next sound Interaction is judged."""
    spans = conversation()
    await export(server, otlp_request(spans))
    records = await server.wait_for_evaluations(f"{spans[0].trace_id}-{spans[0].span_id}")
    assert [record.outcome.name for record in records] == ["passed"]


@pytest.mark.parametrize("body", [b"\xff\xff\xff", b"{}", os.urandom(4096), otlp_logs_request([log_record("x")])])
async def test_garbage_is_refused_and_the_server_lives(body: bytes) -> None:
    """Garbage, JSON and another signal at the traces service are INVALID_ARGUMENT, so that nobody sends them again."""
    async with running(CONFIG) as server:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await export(server, body)
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert refused.value.details()
        await assert_alive(server)


async def test_an_empty_request_is_fine() -> None:
    """Exporters send them; there is nothing to say."""
    async with running(CONFIG) as server:
        assert await export(server, b"") == b""
        await assert_alive(server)


async def test_one_odd_span_does_not_take_its_batch_along() -> None:
    """A span without ids is told in partial_success; the Interaction beside it is judged."""
    spans = conversation()
    request = trace_request(spans)
    odd = request.resource_spans[0].scope_spans[0].spans.add(name="odd")
    odd.end_time_unix_nano = 1
    async with running(CONFIG) as server:
        answer = await export(server, request.SerializeToString())
        assert b"without a usable trace id" in answer
        records = await server.wait_for_evaluations(f"{spans[0].trace_id}-{spans[0].span_id}")
        assert len(records) == 1


async def test_http_takes_json_and_says_what_is_wrong_with_it() -> None:
    """A broken JSON body is 400 with a reason."""
    async with running(CONFIG) as server, httpx.AsyncClient() as client:
        answer = await client.post(
            f"{server.http_endpoint}/v1/traces", content=b"{not json", headers={"content-type": "application/json"}
        )
        assert answer.status_code == 400
        assert answer.json()["message"]
        await assert_alive(server)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("evaluator: {}\n", "evaluators"),
        ("evaluators:\n  x:\n    check: should_call_tol\n    agents: ['*']\n", "should_call_tool"),
        ("evaluators:\n  x:\n    check: should_not_fail\n    agents: {'*': {sampling_ratio: 10}}\n", "0 to 1"),
        ("completion: {settle: 2 parsecs}\n", "completion.settle"),
    ],
)
async def test_a_typo_in_the_configuration_stops_the_start(tmp_path: Path, text: str, said: str) -> None:
    """One readable message with what is allowed, exit status 2, no traceback."""
    config = tmp_path / "otel-eval.yaml"
    config.write_text(text)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "otel_eval", "serve", "--config", str(config), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert said in errors.decode()
    assert "Traceback" not in errors.decode()


async def test_exporting_to_our_own_listener_is_refused(tmp_path: Path) -> None:
    """The default endpoint of many exporters is ours: verdicts would come back in for ever."""
    config = tmp_path / "otel-eval.yaml"
    config.write_text(f"storage: {{directory: {tmp_path}/data}}\nexporters: {{otlp: {{endpoint: 'localhost:4317'}}}}\n")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "otel_eval", "serve", "--config", str(config), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert "4317" in errors.decode()


async def test_a_second_server_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    """One process holds the storage directory; the other one says which."""
    config = write_config(tmp_path)
    async with serving(config) as first:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "otel_eval", "serve", "--config", str(config), stderr=asyncio.subprocess.PIPE
        )
        _, errors = await process.communicate()
        assert process.returncode == 2
        assert str(first.process.pid) in errors.decode()
