"""OTLP/gRPC, asked by real clients: the SDK's exporter and grpcio itself."""

from __future__ import annotations

import asyncio

import grpc
import grpc.aio
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult

from otel_eval.journal import Signal
from otel_eval.receive.decode import decode_traces
from otel_eval.receive.grpc_server import GrpcReceiver
from otel_eval.receive.intake import Intake
from otel_eval.receive.listener import Listener, ReceiverError
from otel_eval.receive.otlp_answers import SERVICES
from otel_eval.receive.receivers import Receivers
from tests.receive.kit import A_LOG, Start, Taking, logs, metrics, span, traces

SOUND = traces(span())


def ended_spans(count: int = 3) -> list[ReadableSpan]:
    """Spans as the SDK makes them."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("test")
    spans = [tracer.start_span(f"span {number}") for number in range(count)]
    for each in spans:
        each.end()
    return [each for each in spans if isinstance(each, ReadableSpan)]


async def export(taking: Taking, signal: Signal, body: bytes, **call: object) -> bytes:
    """One call as a client makes it; raises AioRpcError."""
    options = [("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(taking.grpc, options=options) as channel:
        answer = await channel.unary_unary(f"/{SERVICES[signal]}/Export")(body, **call)
    assert isinstance(answer, bytes)
    return answer


async def refusal(taking: Taking, signal: Signal, body: bytes, **call: object) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await export(taking, signal, body, **call)
    return refused.value


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_the_sdks_exporter_is_served(taking: Taking, compression: grpc.Compression) -> None:
    """What the SDK exports is in the journal when it reads success, compressed or not."""
    spans = ended_spans()
    exporter = OTLPSpanExporter(endpoint=f"http://{taking.grpc}", compression=compression)
    assert await asyncio.to_thread(exporter.export, spans) is SpanExportResult.SUCCESS
    await asyncio.to_thread(exporter.shutdown)
    (entry,) = await taking.entries()
    assert [each.name for each in decode_traces(entry.request.body)] == [each.name for each in spans]
    assert taking.counts["otel_eval.spans.received", "grpc"] == 3


async def test_logs_are_taken(taking: Taking) -> None:
    """With their signal, and without a partial success."""
    assert await export(taking, "logs", logs(A_LOG)) == b""
    (entry,) = await taking.entries()
    assert (entry.request.signal, entry.request.encoding) == ("logs", "protobuf")
    assert taking.counts["otel_eval.logs.received", "grpc"] == 1


async def test_odd_spans_are_told_and_the_rest_is_taken(taking: Taking) -> None:
    """``partial_success`` counts what was not taken and says why; so do the counters."""
    body = traces(span(), span(trace_id=b""), span(span_id=b"x"), span(trace_id=bytes(16)))
    partial = ExportTraceServiceResponse.FromString(await export(taking, "traces", body)).partial_success
    assert partial.rejected_spans == 3
    assert partial.error_message.startswith("3 of 4 spans not taken: 1 without a usable span id")
    assert len(await taking.entries()) == 1
    assert taking.counts["otel_eval.spans.received", "grpc"] == 1
    assert taking.counts["otel_eval.spans.dropped", "trace_id"] == 2


async def test_logs_without_a_trace_are_told(taking: Taking) -> None:
    """They are not stored, and the sender knows."""
    body = logs(type(A_LOG)(time_unix_nano=1))
    partial = ExportLogsServiceResponse.FromString(await export(taking, "logs", body)).partial_success
    assert (partial.rejected_log_records, await taking.entries()) == (1, [])
    assert "belong to no trace" in partial.error_message


async def test_metrics_are_declined_honestly(taking: Taking) -> None:
    """All data points are rejected, with a sentence that says so."""
    answer = ExportMetricsServiceResponse.FromString(await export(taking, "metrics", metrics()))
    assert answer.partial_success.rejected_data_points == 2
    assert "metrics are not taken here" in answer.partial_success.error_message
    assert await taking.entries() == []


async def test_with_forwarding_everything_is_taken(start: Start) -> None:
    """Metrics and logs of no trace are stored, because somebody behind wants them."""
    taking = await start(forwarding=True)
    assert await export(taking, "metrics", metrics()) == b""
    assert await export(taking, "logs", logs(type(A_LOG)(time_unix_nano=1))) == b""
    assert [entry.request.signal for entry in await taking.entries()] == ["metrics", "logs"]


async def test_empty_requests_are_fine_and_cost_nothing(taking: Taking) -> None:
    """OK without a write."""
    assert await export(taking, "traces", b"") == b""
    assert taking.journal.last_seq == 0


@pytest.mark.parametrize(("signal", "body"), [("traces", b"noise"), ("traces", logs(A_LOG)), ("logs", traces(span()))])
async def test_what_can_never_be_taken_is_an_invalid_argument(taking: Taking, signal: Signal, body: bytes) -> None:
    """Senders do not retry it."""
    refused = await refusal(taking, signal, body)
    assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (
        sum(taking.counts["otel_eval.requests.refused", "grpc", reason] for reason in ("malformed", "wrong_signal"))
        == 1
    )


async def test_a_full_journal_carries_the_delay_in_both_forms(start: Start) -> None:
    """RESOURCE_EXHAUSTED with RetryInfo of 1 to 2 s, in the status' details and in the trailer that the SDK reads."""
    taking = await start(max_bytes=10)
    await export(taking, "traces", SOUND)
    refused = await refusal(taking, "traces", SOUND)
    assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    trailers = dict(refused.trailing_metadata())
    bare = RetryInfo.FromString(trailers["google.rpc.retryinfo-bin"])
    status = Status.FromString(trailers["grpc-status-details-bin"])
    detailed = RetryInfo()
    assert status.details[0].Unpack(detailed)
    assert detailed == bare
    assert status.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert 1 <= bare.retry_delay.seconds + bare.retry_delay.nanos / 1e9 <= 2
    assert taking.counts["otel_eval.requests.refused", "grpc", "journal_full"] == 1


async def test_the_sdk_comes_back_after_a_full_journal(start: Start) -> None:
    """It reads the delay, retries, and succeeds once entries were released."""
    taking = await start(max_bytes=10)
    await export(taking, "traces", SOUND)
    exporter = OTLPSpanExporter(endpoint=f"http://{taking.grpc}")
    exporting = asyncio.create_task(asyncio.to_thread(exporter.export, ended_spans(1)))
    await taking.counts.reached("otel_eval.requests.refused", "grpc", "journal_full")
    await taking.journal.release([1])
    assert await exporting is SpanExportResult.SUCCESS
    await asyncio.to_thread(exporter.shutdown)
    assert [entry.seq for entry in await taking.entries()] == [2]


async def test_a_journal_that_cannot_be_written_is_unavailable(taking: Taking) -> None:
    """The sender keeps its batch and comes back."""
    await taking.journal.close()
    refused = await refusal(taking, "traces", SOUND)
    assert refused.code() is grpc.StatusCode.UNAVAILABLE
    assert "google.rpc.retryinfo-bin" in dict(refused.trailing_metadata())


async def test_too_many_bytes_in_flight_push_back(start: Start) -> None:
    """Requests that together pass the bound are asked to come back; one alone is always taken."""
    taking = await start(max_in_flight_bytes=10)
    assert await export(taking, "traces", SOUND) == b""
    results = await asyncio.gather(*(export(taking, "traces", SOUND) for _ in range(20)), return_exceptions=True)
    refused = [each for each in results if isinstance(each, grpc.aio.AioRpcError)]
    assert all(each.code() is grpc.StatusCode.RESOURCE_EXHAUSTED for each in refused)
    assert len(await taking.entries()) == 1 + len(results) - len(refused)


@pytest.mark.parametrize("says", ["nothing", "goodbye", "no message"])
async def test_a_sender_that_does_not_finish_is_let_go(taking: Taking, says: str) -> None:
    """It has room kept for one request until it is: four of them keep everybody out, and no longer than that."""
    intake = Intake(taking.journal, max_in_flight_bytes=400)  # of which each is expected to want a quarter
    receiver = GrpcReceiver(intake, Listener(endpoint="127.0.0.1:0"), receive_s=60 if says == "goodbye" else 0.5)
    await receiver.start()
    try:
        async with grpc.aio.insecure_channel(receiver.endpoint) as channel:
            calls = [channel.stream_unary(f"/{SERVICES['traces']}/Export")() for _ in range(4)]
            for call in calls:
                await call.wait_for_connection()
                if says == "no message":
                    await call.done_writing()
            served = asyncio.ensure_future(channel.unary_unary(f"/{SERVICES['traces']}/Export")(SOUND))
            for call in calls:
                if says == "goodbye":
                    call.cancel()
                    continue
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await call
                expected = "did not come within 0.5 s" if says == "nothing" else "carries no message"
                assert expected in str(refused.value.details())
            assert await served == b""
    finally:
        await receiver.stop(0)


async def test_a_call_with_two_messages_is_refused_whole(taking: Taking) -> None:
    """Its one answer could not tell which of them is kept."""
    async with grpc.aio.insecure_channel(taking.grpc) as channel:
        call = channel.stream_unary(f"/{SERVICES['traces']}/Export")(iter((SOUND, SOUND)))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "more than one message" in str(refused.value.details())
    assert await taking.entries() == []


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_message_past_the_limit_is_refused(start: Start, compression: grpc.Compression) -> None:
    """Also one that only expands past it; what fits is still taken afterwards."""
    taking = await start(max_message_bytes=100_000)
    big = traces(span(name="x" * 100_001))
    refused = await refusal(taking, "traces", big, compression=compression)
    assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert await export(taking, "traces", traces(span(name="x" * 99_000)), compression=compression) == b""


async def test_more_than_grpcs_usual_limit_is_taken(taking: Taking) -> None:
    """Batches of agents' spans pass 4 MiB; they are checked off the event loop."""
    assert await export(taking, "traces", traces(span(name="x" * (5 << 20)))) == b""


async def test_a_token_is_asked_for(start: Start) -> None:
    """Without it: UNAUTHENTICATED; with it: taken. Health answers everybody."""
    taking = await start(token="s3cret")
    assert (await refusal(taking, "traces", SOUND)).code() is grpc.StatusCode.UNAUTHENTICATED
    assert await export(taking, "traces", SOUND, metadata=(("authorization", "Bearer s3cret"),)) == b""
    assert await health_of(taking) == health_pb2.HealthCheckResponse.SERVING


async def health_of(taking: Taking, service: str = "") -> int:
    async with grpc.aio.insecure_channel(taking.grpc) as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=service))
    return int(answer.status)


@pytest.mark.parametrize("service", ["", *SERVICES.values()])
async def test_health_is_told_for_each_service(taking: Taking, service: str) -> None:
    """SERVING, for the whole and for each OTLP service."""
    assert await health_of(taking, service) == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_lists_the_services(taking: Taking) -> None:
    """grpcurl can see what is served, and describe a request."""
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICES["traces"]),
    ]
    async with grpc.aio.insecure_channel(taking.grpc) as channel:
        call = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter(asked))
        listed, described = [answer async for answer in call]
    assert set(SERVICES.values()) <= {service.name for service in listed.list_services_response.service}
    assert described.file_descriptor_response.file_descriptor_proto


async def test_stopping_finishes_what_is_in_flight(taking: Taking) -> None:
    """Whatever was acknowledged is in the journal, and nothing is taken afterwards."""
    calls = [asyncio.create_task(export(taking, "traces", SOUND)) for _ in range(20)]
    await taking.counts.reached("otel_eval.spans.received", "grpc")
    await taking.receivers.stop()
    results = await asyncio.gather(*calls, return_exceptions=True)
    acknowledged = sum(isinstance(result, bytes) for result in results)
    assert 1 <= acknowledged <= len(await taking.entries())
    assert (await refusal(taking, "traces", SOUND)).code() is grpc.StatusCode.UNAVAILABLE


async def test_an_address_in_use_is_named(taking: Taking, capfd: pytest.CaptureFixture[str]) -> None:
    """Two servers never share a port silently, the listener that did start is stopped again, and ours is the only word."""
    for settings in ({"grpc": Listener(endpoint=taking.grpc)}, {"http": Listener(endpoint=taking.http)}):
        with pytest.raises(ReceiverError, match=r"cannot listen on 127\S+ \(\w+\): Address already in use"):
            await Receivers(None, **settings).start()  # type: ignore[arg-type]  # never asked
    assert capfd.readouterr().err == ""
