"""OTLP/HTTP, asked by real clients: the SDK's exporter and httpx."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import zlib
from collections.abc import AsyncIterator

import httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace.export import SpanExportResult

from otel_eval.receive.decode import decode_traces
from otel_eval.receive.http_server import HttpReceiver
from otel_eval.receive.intake import Intake
from otel_eval.receive.listener import Listener
from tests.receive.kit import A_LOG, SPAN, TRACE, Start, Taking, logs, metrics, span, traces
from tests.receive.test_grpc_server import ended_spans

SOUND = traces(span())
PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}


def json_traces(*ids: tuple[str, str]) -> bytes:
    spans = [{"traceId": trace_id, "spanId": span_id, "name": "chat"} for trace_id, span_id in ids]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


async def post(
    taking: Taking, body: bytes | AsyncIterator[bytes], headers: dict[str, str] = PROTOBUF, path: str = "/v1/traces"
) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.post(f"http://{taking.http}{path}", content=body, headers=headers)


@pytest.mark.parametrize("compression", list(Compression))
async def test_the_sdks_exporter_is_served(taking: Taking, compression: Compression) -> None:
    """What the SDK exports is in the journal when it reads success, compressed or not."""
    spans = ended_spans()
    exporter = OTLPSpanExporter(endpoint=f"http://{taking.http}/v1/traces", compression=compression)
    assert await asyncio.to_thread(exporter.export, spans) is SpanExportResult.SUCCESS
    await asyncio.to_thread(exporter.shutdown)
    (entry,) = await taking.entries()
    assert [each.name for each in decode_traces(entry.request.body)] == [each.name for each in spans]
    assert taking.counts["otel_eval.spans.received", "http"] == 3


@pytest.mark.parametrize(
    ("encoding", "pack"), [("identity", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)]
)
async def test_json_is_taken_as_it_came(taking: Taking, encoding: str, pack: type[bytes]) -> None:
    """The journal holds the decompressed bytes; the answer is JSON too."""
    body = json_traces((TRACE.hex(), SPAN.hex()))
    headers = {"content-type": "application/json; charset=utf-8", "content-encoding": encoding}
    answer = await post(taking, pack(body), headers)
    assert (answer.status_code, answer.json(), answer.headers["content-type"]) == (200, {}, "application/json")
    (entry,) = await taking.entries()
    assert (entry.request.encoding, entry.request.body) == ("json", body)


async def test_odd_spans_are_told_in_the_senders_encoding(taking: Taking) -> None:
    """64-bit numbers are strings in protobuf's JSON."""
    answer = await post(taking, json_traces((TRACE.hex(), SPAN.hex()), ("00" * 16, SPAN.hex())), JSON)
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "1"
    answer = await post(taking, traces(span(), span(span_id=b"")))
    assert ExportTraceServiceResponse.FromString(answer.content).partial_success.rejected_spans == 1
    assert len(await taking.entries()) == 2


async def test_logs_and_metrics_have_paths_of_their_own(taking: Taking) -> None:
    """Logs are taken, metrics declined honestly."""
    assert (await post(taking, logs(A_LOG), path="/v1/logs")).status_code == 200
    answer = await post(taking, metrics(), path="/v1/metrics")
    assert ExportMetricsServiceResponse.FromString(answer.content).partial_success.rejected_data_points == 2
    assert [entry.request.signal for entry in await taking.entries()] == ["logs"]


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"noise", PROTOBUF, 400, 3),
        (b"noise", JSON, 400, 3),
        (logs(A_LOG), PROTOBUF, 400, 3),
        (SOUND, {**PROTOBUF, "content-encoding": "gzip"}, 400, 3),
        (SOUND, {**PROTOBUF, "content-encoding": "br"}, 415, 3),
        (SOUND, {"content-type": "text/plain"}, 415, 3),
        (SOUND, {}, 415, 3),
    ],
)
async def test_what_can_never_be_taken_is_a_4xx(
    taking: Taking, body: bytes, headers: dict[str, str], status: int, code: int
) -> None:
    """With a ``google.rpc.Status`` in the encoding of the request, JSON where that is not known."""
    answer = await post(taking, body, headers)
    assert answer.status_code == status
    if headers.get("content-type") == PROTOBUF["content-type"]:
        assert answer.headers["content-type"] == PROTOBUF["content-type"]
        told = Status.FromString(answer.content)
        assert (told.code, bool(told.message)) == (code, True)
    else:
        assert answer.json()["code"] == code
    assert await taking.entries() == []


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_past_the_limit_is_refused(start: Start, chunked: bool) -> None:
    """With a length it is not even read; without one it is cut off."""
    taking = await start(max_message_bytes=1000)

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(11):
            yield b"x" * 100

    answer = await post(taking, chunks() if chunked else b"x" * 1100)
    assert answer.status_code == 413
    assert taking.counts["otel_eval.requests.refused", "http", "too_large"] == 1


async def test_a_bomb_is_refused(start: Start) -> None:
    """A small body that would expand past the limit: 413, and the server goes on."""
    taking = await start(max_message_bytes=1 << 20)
    answer = await post(taking, gzip.compress(bytes(64 << 20)), {**PROTOBUF, "content-encoding": "gzip"})
    assert answer.status_code == 413
    assert (await post(taking, SOUND)).status_code == 200


async def test_empty_requests_are_fine_and_cost_nothing(taking: Taking) -> None:
    """Without bytes in protobuf, an empty object in JSON."""
    assert (await post(taking, b"")).status_code == 200
    assert (await post(taking, b"{}", JSON)).status_code == 200
    assert taking.journal.last_seq == 0


async def test_a_full_journal_says_when_to_come_back(start: Start) -> None:
    """503 with ``Retry-After`` of one or two whole seconds."""
    taking = await start(max_bytes=10)
    await post(taking, SOUND)
    answer = await post(taking, SOUND)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] in ("1", "2")
    assert Status.FromString(answer.content).code == 8


async def test_the_sdk_comes_back_after_a_full_journal(start: Start) -> None:
    """It reads the delay, retries, and succeeds once entries were released."""
    taking = await start(max_bytes=10)
    await post(taking, SOUND)
    exporter = OTLPSpanExporter(endpoint=f"http://{taking.http}/v1/traces")
    exporting = asyncio.create_task(asyncio.to_thread(exporter.export, ended_spans(1)))
    await taking.counts.reached("otel_eval.requests.refused", "http", "journal_full")
    await taking.journal.release([1])
    assert await exporting is SpanExportResult.SUCCESS
    await asyncio.to_thread(exporter.shutdown)
    assert [entry.seq for entry in await taking.entries()] == [2]


async def test_a_journal_that_cannot_be_written_is_unavailable(taking: Taking) -> None:
    """503 with ``Retry-After``: the sender keeps its batch."""
    await taking.journal.close()
    answer = await post(taking, SOUND)
    assert (answer.status_code, answer.headers["retry-after"] in ("1", "2")) == (503, True)


async def test_a_token_is_asked_for(start: Start) -> None:
    """401 without it; health answers everybody."""
    taking = await start(token="s3cret")
    answer = await post(taking, SOUND)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert (await post(taking, SOUND, {**PROTOBUF, "authorization": "Bearer s3cret"})).status_code == 200
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"http://{taking.http}/healthz")).json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/traces", 405), ("POST", "/v1/other", 404), ("POST", "/", 404)]
)
async def test_other_paths_and_methods_are_not_served(taking: Taking, method: str, path: str, status: int) -> None:
    """As HTTP says."""
    async with httpx.AsyncClient() as client:
        assert (await client.request(method, f"http://{taking.http}{path}")).status_code == status


async def test_a_slash_at_the_end_is_no_redirect(taking: Taking) -> None:
    """Exporters do not follow one: what they sent would be lost."""
    assert (await post(taking, SOUND, path="/v1/traces/")).status_code == 200
    assert len(await taking.entries()) == 1


async def test_a_path_that_is_wrong_is_told_the_right_ones(taking: Taking) -> None:
    """``//v1/traces`` is what exporters make of an endpoint that ends with a slash."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"http://{taking.http}//v1/traces", content=SOUND, headers=PROTOBUF)
    assert answer.status_code == 404
    assert (
        "taken at /v1/traces, /v1/logs, /v1/metrics; an exporter's endpoint is http://host:port, without" in answer.text
    )


async def test_a_sender_that_breaks_off_leaves_no_trace(taking: Taking) -> None:
    """Half a body and a closed connection: nothing stored, the bytes in flight given back, the server goes on."""
    host, _, port = taking.http.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\ncontent-length: 500\r\n\r\nabc"
    )
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert (await post(taking, SOUND)).status_code == 200
    assert len(await taking.entries()) == 1


HEAD = b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /v1/tra",
        HEAD,
        HEAD + b"content-length: 500\r\n\r\nabc",
        HEAD + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        HEAD + b"content-length: 0\r\n\r\n" + HEAD + b"content-length: 500\r\n\r\nabc",
    ],
    ids=["nothing", "line", "headers", "body", "chunks", "second request"],
)
@pytest.mark.parametrize("dripping", [False, True])
async def test_a_sender_that_does_not_finish_is_let_go(taking: Taking, sent: bytes, dripping: bool) -> None:
    """Also one that sends a byte now and then: the connection is closed and its bytes in flight are given back."""
    intake = Intake(taking.journal, max_in_flight_bytes=1)  # a second request is taken alone, or not at all
    receiver = HttpReceiver(intake, Listener(endpoint="127.0.0.1:0"), receive_s=0.5)
    await receiver.start()
    try:
        host, _, port = receiver.endpoint.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        async with asyncio.timeout(20):
            drip = asyncio.create_task(_drip(writer)) if dripping and sent else None
            with contextlib.suppress(ConnectionError):
                while await reader.read(1000):
                    pass
            if drip is not None:
                await drip
        async with httpx.AsyncClient() as client:
            answer = await client.post(f"http://{receiver.endpoint}/v1/traces", content=SOUND, headers=PROTOBUF)
        assert answer.status_code == 200
        writer.close()
    finally:
        await receiver.stop(0)


async def _drip(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while not writer.transport.is_closing():
            writer.write(b"0")
            await writer.drain()
            await asyncio.sleep(0.05)


async def test_a_connection_is_kept_between_requests(taking: Taking) -> None:
    """The limit is for one request: exporters send every few seconds, over one connection."""
    receiver = HttpReceiver(Intake(taking.journal), Listener(endpoint="127.0.0.1:0"), receive_s=0.2)
    await receiver.start()
    try:
        host, _, port = receiver.endpoint.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for _ in range(2):
            writer.write(HEAD + b"content-length: %d\r\n\r\n" % len(SOUND) + SOUND)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(1), 0.4)
        writer.close()
    finally:
        await receiver.stop(0)
    assert len(await taking.entries()) == 2


async def test_stopping_finishes_what_is_in_flight(taking: Taking) -> None:
    """Whatever was acknowledged is in the journal, and nothing is taken afterwards."""
    calls = [asyncio.create_task(post(taking, SOUND)) for _ in range(10)]
    await taking.counts.reached("otel_eval.spans.received", "http")
    await taking.receivers.stop()
    results = await asyncio.gather(*calls, return_exceptions=True)
    acknowledged = sum(isinstance(result, httpx.Response) and result.status_code == 200 for result in results)
    assert 1 <= acknowledged <= len(await taking.entries())
    with pytest.raises(httpx.ConnectError):
        await post(taking, SOUND)
