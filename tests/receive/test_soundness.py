"""What is checked before a request is acknowledged."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_eval.journal import Signal
from otel_eval.receive.decode import MalformedRequest, decode_logs, decode_traces
from otel_eval.receive.refusal import Code, Refused
from otel_eval.receive.soundness import check_protobuf, salvage
from otel_eval.receive.soundness_json import check_json
from tests.receive.kit import A_LOG, SPAN, TRACE, logs, metrics, span, traces

ODD_SPANS = [
    pytest.param({"kind": 0}, None, id="kind omitted"),
    pytest.param({"parent_span_id": bytes(8)}, None, id="parent all zero"),
    pytest.param({"parent_span_id": TRACE}, None, id="parent is the trace id"),
    pytest.param({"parent_span_id": b"abc"}, None, id="parent of a wrong length"),
    pytest.param({"trace_id": b""}, "trace_id", id="no trace id"),
    pytest.param({"trace_id": bytes(16)}, "trace_id", id="trace id all zero"),
    pytest.param({"trace_id": TRACE[:8]}, "trace_id", id="short trace id"),
    pytest.param({"trace_id": TRACE + TRACE}, "trace_id", id="trace id as hex"),
    pytest.param({"span_id": b""}, "span_id", id="no span id"),
    pytest.param({"span_id": bytes(8)}, "span_id", id="span id all zero"),
    pytest.param({"span_id": TRACE}, "span_id", id="long span id"),
    pytest.param({"trace_id": b"\n" * 16, "span_id": b"\x12" * 8}, None, id="ids that look like framing"),
]


@pytest.mark.parametrize(("fields", "reason"), ODD_SPANS)
def test_one_odd_span_is_handled_alone(fields: dict[str, Any], reason: str | None) -> None:
    """It is counted by reason, or taken; the sound ones of its batch are taken, and decoding agrees."""
    body = traces(span(), span(**fields), span())
    checked = check_protobuf("traces", body)
    assert checked.items == 3
    assert checked.odd == Counter([reason] if reason else [])
    assert len(decode_traces(checked.body)) == checked.taken


@pytest.mark.parametrize(("fields", "reason"), ODD_SPANS)
def test_json_is_checked_by_the_same_rules(fields: dict[str, Any], reason: str | None) -> None:
    """An odd span in OTLP/JSON is handled as it is in protobuf."""
    raw = span(**fields)
    spans = [
        {"traceId": each.trace_id.hex(), "spanId": each.span_id.hex(), "parentSpanId": each.parent_span_id.hex()}
        for each in (span(), raw, span())
    ]
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    checked = check_json("traces", body)
    assert checked.odd == Counter([reason] if reason else [])
    assert len(decode_traces(body, "json")) == checked.taken


def test_fields_in_another_order_are_understood() -> None:
    """A serializer may write a span's fields in any order; the ids are found all the same."""
    raw = Span(name="first", kind=2).SerializeToString() + Span(trace_id=TRACE, span_id=SPAN).SerializeToString()
    assert check_protobuf("traces", traces(raw)).taken == 1


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(span().SerializeToString()[:-1], id="cut off"),
        pytest.param(b"\xff\xff\xff", id="noise"),
        pytest.param(span().SerializeToString() + b"\x4a\x7f", id="length past the end"),
    ],
)
def test_a_span_that_does_not_parse_is_taken_out_of_its_batch(broken: bytes) -> None:
    """What is kept of the request holds the other spans, and decodes."""
    checked = check_protobuf("traces", traces(span(name="one"), broken, span(name="two")))
    assert checked.odd == Counter(malformed=1)
    assert [each.name for each in decode_traces(checked.body)] == ["one", "two"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (LogRecord(trace_id=TRACE, span_id=SPAN), None),
        (LogRecord(trace_id=TRACE), None),
        (LogRecord(time_unix_nano=5), "no_trace"),
        (LogRecord(trace_id=bytes(16), span_id=bytes(8)), "no_trace"),
        (LogRecord(trace_id=TRACE[:4], span_id=SPAN), "trace_id"),
        (LogRecord(trace_id=TRACE, span_id=TRACE), "span_id"),
    ],
)
def test_log_records_have_to_belong_to_a_trace(record: LogRecord, reason: str | None) -> None:
    """Those that belong to none are counted, the others taken; in JSON too."""
    assert check_protobuf("logs", logs(record)).odd == Counter([reason] if reason else [])
    as_json = {"traceId": record.trace_id.hex(), "spanId": record.span_id.hex()}
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [as_json]}]}]}).encode()
    assert check_json("logs", body).odd == Counter([reason] if reason else [])


@pytest.mark.parametrize(
    ("signal", "carried", "body"),
    [
        ("traces", "logs", logs(*[A_LOG] * 3)),
        ("traces", "logs", logs(LogRecord(observed_time_unix_nano=5, event_name="gen_ai.choice"))),
        ("traces", "metrics", metrics(("requests", "sixteen bytes ok", "latency"))),
        ("logs", "traces", traces(*[span()] * 3)),
        ("logs", "traces", traces(span(name="invoke_agent", kind=1, end_time_unix_nano=6))),
        ("logs", "metrics", metrics()),
    ],
)
def test_another_signal_is_recognised_and_refused(signal: Signal, carried: str, body: bytes) -> None:
    """The sender reads which signal it sent, and nothing is taken as nonsense."""
    with pytest.raises(Refused, match=f"carries {carried}, not {signal}") as refused:
        check_protobuf(signal, body)
    assert refused.value.code is Code.WRONG_SIGNAL
    assert refused.value.retry_after_s is None


def test_another_signal_in_json_is_refused() -> None:
    """The field names tell it."""
    with pytest.raises(Refused, match="carries logs, not traces"):
        check_json("traces", b'{"resourceLogs": []}')


@pytest.mark.parametrize(
    "body", [b"hello", b"\x00", b"{}", b"\xff" * 50, b"\x0a\x7f", traces(span())[:-3], b"\x7d\x01\x02\x03\x04"]
)
def test_noise_is_refused(body: bytes) -> None:
    """Bytes that are no OTLP request are malformed, for every signal."""
    for signal in ("traces", "logs", "metrics"):
        with pytest.raises(Refused) as refused:
            check_protobuf(signal, body)  # type: ignore[arg-type]
        assert refused.value.code is Code.MALFORMED


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff", b'{"resourceSpans": 1}', b'{"resourceSpans": [1]}', b"[" * 5000]
)
def test_json_of_another_shape_is_refused(body: bytes) -> None:
    """Not JSON, or not the lists of objects that OTLP has."""
    with pytest.raises(Refused) as refused:
        check_json("traces", body)
    assert refused.value.code is Code.MALFORMED


def test_empty_requests_hold_nothing() -> None:
    """Without bytes, without spans, or an empty object: sound, with nothing to take."""
    empty = ExportTraceServiceRequest()
    empty.resource_spans.add()
    assert check_protobuf("traces", b"").items == check_protobuf("traces", empty.SerializeToString()).items == 0
    assert check_json("traces", b"{}").items == check_json("traces", b'{"resourceSpans": []}').items == 0


def test_metrics_are_counted_by_data_point() -> None:
    """That is what ``rejected_data_points`` tells."""
    assert check_protobuf("metrics", metrics(("a", "b"))).items == 4
    sums = {"sum": {"dataPoints": [{}, {}]}}
    body = json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [sums, {"name": "none"}]}]}]}).encode()
    assert check_json("metrics", body).items == 2


@given(st.binary(max_size=200))
def test_any_bytes_are_answered(body: bytes) -> None:
    """Whatever arrives is counted or refused; nothing else is raised."""
    for check in (check_protobuf, check_json):
        try:
            checked = check("traces", body)
        except Refused:
            continue
        assert 0 <= checked.rejected <= checked.items


def test_logs_are_decoded_as_they_were_counted() -> None:
    """A record without a trace stays in the request; decoding gives it without a trace id."""
    request = ExportLogsServiceRequest.FromString(logs(A_LOG, LogRecord(time_unix_nano=1)))
    checked = check_protobuf("logs", request.SerializeToString())
    assert [record.trace_id for record in decode_logs(checked.body)] == [TRACE.hex(), None]
    assert checked.taken == 1


def test_text_that_is_not_utf8_costs_its_span_alone() -> None:
    """It shows when the request is decoded; the rest of the batch can be saved then."""
    name = b"\xff\xfe not text"
    broken = span(name="").SerializeToString() + b"\x2a" + bytes([len(name)]) + name
    body = traces(span(name="one"), broken, span(name="two"))
    with pytest.raises(MalformedRequest) as error:
        decode_traces(check_protobuf("traces", body).body)
    saved = salvage("traces", body, error.value)
    assert saved.odd == Counter(malformed=1)
    assert [each.name for each in decode_traces(saved.body)] == ["one", "two"]


def test_where_nothing_can_be_saved_the_request_is_refused() -> None:
    """A batch of one broken span, or no batch at all."""
    for body in (traces(b"\xff\xff"), b"noise"):
        with pytest.raises(Refused):
            salvage("traces", body, ValueError("no UTF-8"))
