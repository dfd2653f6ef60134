"""Forwarding: the same bytes, over either protocol, until the next endpoint has them."""

from __future__ import annotations

import asyncio
import json
import logging

import grpc
import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.emit.answers import Answer
from otel_eval.emit.forwarding import Forwarder
from otel_eval.emit.otlp_json import to_protobuf
from otel_eval.emit.settings import ExporterSettings
from otel_eval.instruments import NullRecorder
from otel_eval.testing.clock import ManualClock
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.sink import Refusing
from otel_eval.testing.spans import agent_span, span
from tests.emit.test_outbox import picky

PROTOCOLS = pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
# A field that no version of the protocol has yet: forwarding must not lose it.
UNKNOWN_FIELD = b"\xa2\x06\x03new"
BODY = otlp_request([agent_span()]) + UNKNOWN_FIELD


def forwarder_to(sink, protocol, clock=None, **fields):
    endpoint = sink.endpoint if protocol == "grpc" else sink.http_endpoint
    settings = ExporterSettings(endpoint=endpoint, protocol=protocol, timeout_s=5, **fields)
    return Forwarder(settings, clock=clock or ManualClock(), recorder=NullRecorder())


@PROTOCOLS
@pytest.mark.parametrize("compression", ["gzip", "none", None])
async def test_what_came_is_what_goes(sink, protocol, compression):
    """Byte for byte, fields that nobody knows included, with the headers of the settings."""
    async with forwarder_to(sink, protocol, headers={"X-Key": "s"}, compression=compression) as forwarder:
        exported = await forwarder.send("traces", "protobuf", BODY)
    assert exported.answer is Answer.TAKEN
    (request,) = sink.requests
    assert request.message == ExportTraceServiceRequest.FromString(BODY)
    assert request.message.SerializeToString() == BODY
    assert request.metadata["x-key"] == "s"


@PROTOCOLS
async def test_an_outage_is_waited_out(sink, protocol, caplog):
    """Longer after each try; then it is there, once."""
    sink.refuse(Refusing(grpc.StatusCode.RESOURCE_EXHAUSTED, 429))
    clock = ManualClock()
    async with forwarder_to(sink, protocol, clock) as forwarder:
        with caplog.at_level(logging.WARNING):
            task = asyncio.create_task(forwarder.deliver("traces", "protobuf", BODY))
            waits = []
            for _ in range(3):
                await clock.wait_for_sleepers()
                waits.append(clock.next_deadline - clock.monotonic())
                if len(waits) == 3:
                    sink.accept()
                clock.advance(waits[-1])
                await asyncio.sleep(0)
            assert (await task).answer is Answer.TAKEN
    assert waits == [1, 2, 4]
    assert len(sink.requests) == 1
    assert len([line for line in caplog.records if line.name == "otel_eval.emit.forwarding"]) == 2


@PROTOCOLS
async def test_what_is_refused_for_good_is_let_go(sink, protocol):
    """The specification forbids sending it again."""
    sink.refuse(Refusing(grpc.StatusCode.INVALID_ARGUMENT, 400))
    async with forwarder_to(sink, protocol) as forwarder:
        assert (await forwarder.deliver("traces", "protobuf", BODY)).answer is Answer.REFUSED
    assert sink.refused == 1


@PROTOCOLS
async def test_partial_success_is_told(sink, protocol):
    """And is not tried again."""
    sink.reject(3, "too many")
    async with forwarder_to(sink, protocol) as forwarder:
        exported = await forwarder.deliver("traces", "protobuf", BODY)
    assert (exported.answer, exported.rejected, exported.message) == (Answer.TAKEN, 3, "too many")


async def test_no_connection_is_a_reason_to_wait(sink):
    """Nobody listens: not a refusal."""
    sink.stop()
    for protocol in ("grpc", "http/protobuf"):
        async with forwarder_to(sink, protocol) as forwarder:
            assert (await forwarder.send("traces", "protobuf", BODY)).answer is Answer.UNAVAILABLE


IN_JSON = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {
                    "logRecords": [
                        {
                            "traceId": "5b8efff798038103d269b633813fc60c",
                            "spanId": "EEE19B7EC3C1B174",
                            "timeUnixNano": "1544712660300000000",
                            "severityNumber": 9,
                            "body": {"kvlistValue": {"values": [{"key": "traceId", "value": {"intValue": "12"}}]}},
                            "fromTheFuture": 1,
                        }
                    ]
                }
            ]
        }
    ]
}


async def test_json_is_written_in_protobuf_for_grpc(sink):
    """Hex ids become bytes; values that merely look like ids stay."""
    async with forwarder_to(sink, "grpc") as forwarder:
        assert (await forwarder.send("logs", "json", json.dumps(IN_JSON).encode())).answer is Answer.TAKEN
        assert (await forwarder.send("logs", "json", b"[1]")).answer is Answer.REFUSED
    (record,) = sink.logs
    assert (record.trace_id, record.span_id) == ("5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174")
    assert (record.time_ns, record.body) == (1544712660300000000, {"traceId": 12})


def test_ids_in_base64_are_taken_too():
    """As protobuf's own JSON writes them, and some senders do."""
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add(trace_id=b"\x01" * 16, span_id=b"\x02" * 8)
    body = json_format.MessageToJson(request).encode()
    assert ExportLogsServiceRequest.FromString(to_protobuf("logs", body)) == request


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"resourceLogs": 1}', b"[" * 100_000, b"\xff"])
def test_what_is_no_request_is_a_value_error(body):
    """Whatever it is."""
    with pytest.raises(ValueError, match=r"not an OTLP/JSON request for logs"):
        to_protobuf("logs", body)


async def test_a_request_above_the_next_endpoints_limit_is_let_go():
    """It would be too large each time, and hold up all that comes behind it for ever."""
    huge = otlp_request([span(attributes={"text": "x" * 5_000_000})])
    with picky() as (url, _):
        forwarder = Forwarder(ExporterSettings(endpoint=url), clock=ManualClock(), recorder=NullRecorder())
        async with forwarder:
            answers = [(await forwarder.deliver("traces", "protobuf", body)).answer for body in (huge, BODY)]
    assert answers == [Answer.REFUSED, Answer.TAKEN]
