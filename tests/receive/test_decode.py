"""OTLP requests become spans and log records, odd ones handled singly."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.receive.decode import MalformedRequest, decode_logs, decode_traces

TRACE = bytes(range(1, 17))
SPAN = bytes(range(1, 9))


def request(*ids: tuple[bytes, bytes, bytes]) -> bytes:
    """A request with one span for each (trace id, span id, parent id)."""
    whole = ExportTraceServiceRequest()
    spans = whole.resource_spans.add().scope_spans.add().spans
    for trace_id, span_id, parent_id in ids:
        spans.add(trace_id=trace_id, span_id=span_id, parent_span_id=parent_id, name="s")
    return whole.SerializeToString()


@pytest.mark.parametrize(
    ("parent", "expected", "odd"),
    [
        (b"", None, 0),
        (bytes(8), None, 0),
        (SPAN[::-1], SPAN[::-1].hex(), 0),
        (TRACE, None, 1),
        (SPAN, None, 1),
        (b"abc", None, 1),
    ],
    ids=["none", "all zero", "a parent", "the trace id", "itself", "wrong length"],
)
def test_an_unusable_parent_makes_a_root(parent: bytes, expected: str | None, odd: int) -> None:
    """A parent id that cannot be one is none; where it was written wrongly that is counted."""
    counted: Counter[str] = Counter()
    (span,) = decode_traces(request((TRACE, SPAN, parent)), odd=counted)
    assert span.parent_id == expected
    assert counted == Counter({"parent_id": odd} if odd else {})


@pytest.mark.parametrize(
    ("trace_id", "span_id", "reason"),
    [(b"", SPAN, "trace_id"), (bytes(16), SPAN, "trace_id"), (TRACE, b"1234", "span_id"), (TRACE, bytes(8), "span_id")],
)
def test_one_odd_span_does_not_poison_its_batch(trace_id: bytes, span_id: bytes, reason: str) -> None:
    """A span without usable ids is left out and counted; its neighbours are taken."""
    counted: Counter[str] = Counter()
    spans = decode_traces(request((trace_id, span_id, b""), (TRACE, SPAN, b"")), odd=counted)
    assert [span.span_id for span in spans] == [SPAN.hex()]
    assert counted == Counter({reason: 1})


def test_every_kind_of_attribute_value_is_decoded() -> None:
    """Scalars, bytes, arrays and key-value lists, nested."""
    whole = ExportTraceServiceRequest()
    span = whole.resource_spans.add().scope_spans.add().spans.add(trace_id=TRACE, span_id=SPAN)
    span.attributes.add(key="s").value.string_value = "x"
    span.attributes.add(key="i").value.int_value = -(2**63)
    span.attributes.add(key="f").value.double_value = 0.5
    span.attributes.add(key="b").value.bool_value = False
    span.attributes.add(key="y").value.bytes_value = b"\0"
    span.attributes.add(key="n")
    pairs = span.attributes.add(key="m").value.kvlist_value.values
    pairs.add(key="l").value.array_value.values.add().string_value = "deep"
    (read,) = decode_traces(whole.SerializeToString())
    assert dict(read.attributes) == {
        "s": "x",
        "i": -(2**63),
        "f": 0.5,
        "b": False,
        "y": b"\0",
        "n": None,
        "m": {"l": ["deep"]},
    }


@pytest.mark.parametrize("body", [b"\xff\xff", b'{"resourceSpans": []}'])
def test_what_is_no_request_is_malformed(body: bytes) -> None:
    """Garbage, and JSON where protobuf was announced, raise MalformedRequest."""
    with pytest.raises(MalformedRequest):
        decode_traces(body)


def json_span(**fields: Any) -> bytes:
    """An OTLP/JSON request with one span."""
    span = {"traceId": TRACE.hex(), "spanId": SPAN.hex(), **fields}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stringValue": ""}, ""),
        ({"intValue": "42"}, 42),
        ({"intValue": 42}, 42),
        ({"int_value": "42"}, 42),
        ({"boolValue": False}, False),
        ({"doubleValue": "Infinity"}, float("inf")),
        ({"bytesValue": base64.b64encode(b"hi").decode()}, b"hi"),
        ({"arrayValue": {"values": [{"stringValue": "a"}, {"intValue": 1}]}}, ["a", 1]),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": True}}]}}, {"k": True}),
        ({"somethingNew": 1}, None),
        ({}, None),
    ],
)
def test_json_values(value: dict[str, Any], expected: object) -> None:
    """64-bit integers as strings or numbers, bytes as base64, names in camel case or as in protobuf."""
    (span,) = decode_traces(json_span(attributes=[{"key": "k", "value": value}]), "json")
    assert span.attributes["k"] == expected


@pytest.mark.parametrize("kind", [3, "3", "SPAN_KIND_CLIENT"])
@pytest.mark.parametrize("code", [2, "STATUS_CODE_ERROR"])
def test_json_enums_are_numbers_or_names(kind: object, code: object) -> None:
    """Both ways of writing an enum are read."""
    (span,) = decode_traces(json_span(kind=kind, status={"code": code, "message": "m"}), "json")
    assert (span.kind, span.status, span.status_message) == (3, "error", "m")


@pytest.mark.parametrize(
    "written", [TRACE.hex(), TRACE.hex().upper(), base64.b64encode(TRACE).decode()], ids=["hex", "upper", "base64"]
)
def test_json_ids(written: str) -> None:
    """Ids are hex in either case; protobuf's own JSON writes base64, which is taken too."""
    (span,) = decode_traces(json_span(traceId=written), "json")
    assert span.trace_id == TRACE.hex()


@pytest.mark.parametrize("garbage", [[], [None], "x", 7])
def test_json_of_odd_types_is_passed_over(garbage: object) -> None:
    """Fields of the wrong type are as if they were not there."""
    (span,) = decode_traces(json_span(attributes=garbage, events=garbage, links=garbage, name=garbage), "json")
    assert (dict(span.attributes), span.events) == ({}, ())


@pytest.mark.parametrize("place", ["field", "event.name", "event_name"])
def test_a_logs_event_name_is_found_wherever_it_was_written(place: str) -> None:
    """The field is new; SDKs of 2024 and 2025, and LiteLLM, wrote an attribute."""
    whole = ExportLogsServiceRequest()
    record = whole.resource_logs.add().scope_logs.add().log_records.add(trace_id=TRACE, span_id=SPAN)
    record.observed_time_unix_nano = 5
    if place == "field":
        record.event_name = "gen_ai.choice"
    else:
        record.attributes.add(key=place).value.string_value = "gen_ai.choice"
    (read,) = decode_logs(whole.SerializeToString())
    assert (read.event_name, read.time_ns, read.trace_id) == ("gen_ai.choice", 5, TRACE.hex())


def test_a_log_without_a_span_is_taken() -> None:
    """A record that belongs to no trace has no ids, and is no error."""
    whole = ExportLogsServiceRequest()
    whole.resource_logs.add().scope_logs.add().log_records.add().body.string_value = "hello"
    (read,) = decode_logs(whole.SerializeToString())
    assert (read.trace_id, read.span_id, read.body) == (None, None, "hello")


def test_log_records_of_one_moment_keep_the_order_of_their_request() -> None:
    """A clock of milliseconds gives all messages of a model's call one time; another span's records have their own."""
    whole = ExportLogsServiceRequest()
    records = whole.resource_logs.add().scope_logs.add().log_records
    for text, span_id in (("a", SPAN), ("b", SPAN), ("c", SPAN[::-1]), ("d", SPAN)):
        records.add(trace_id=TRACE, span_id=span_id, time_unix_nano=7).body.string_value = text
    assert [(read.body, read.time_ns, read.place) for read in decode_logs(whole.SerializeToString())] == [
        ("a", 7, 0),
        ("b", 7, 1),
        ("c", 7, 0),
        ("d", 7, 2),
    ]


def test_log_records_of_one_moment_that_say_the_same_are_copies() -> None:
    """Two that are alike are told apart, and from one that is sent again; what stands in the body or an attribute counts."""
    whole = ExportLogsServiceRequest()
    records = whole.resource_logs.add().scope_logs.add().log_records
    for text, moment in (("yes", 7), ("no", 7), ("yes", 7), ("yes", 8), ("yes", 7)):
        records.add(trace_id=TRACE, span_id=SPAN, time_unix_nano=moment).body.string_value = text
    assert [(read.body, read.place, read.copy) for read in decode_logs(whole.SerializeToString())] == [
        ("yes", 0, 0),
        ("no", 1, 0),
        ("yes", 2, 1),
        ("yes", 0, 0),
        ("yes", 3, 2),
    ]


@pytest.mark.parametrize(
    ("texts", "places"),
    [
        (["a", "b", "a", "b"], [(0, 0), (1, 0), (0, 0), (1, 0)]),
        (["a", "a"], [(0, 0), (0, 0)]),
        (["a", "b", "a"], [(0, 0), (1, 0), (2, 1)]),
        (["a", "a", "b", "a", "a", "b"], [(0, 0), (1, 1), (2, 0), (0, 0), (1, 1), (2, 0)]),
    ],
)
def test_what_a_collector_put_twice_into_one_request_is_there_once(
    texts: list[str], places: list[tuple[int, int]]
) -> None:
    """All records of a moment, over again; not those of which others stand in between."""
    whole = ExportLogsServiceRequest()
    records = whole.resource_logs.add().scope_logs.add().log_records
    for text in texts:
        records.add(trace_id=TRACE, span_id=SPAN, time_unix_nano=7).body.string_value = text
    assert [(read.place, read.copy) for read in decode_logs(whole.SerializeToString())] == places
