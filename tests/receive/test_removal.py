"""Taking traces out of a stored request: theirs goes, everything else stays as it came."""

from __future__ import annotations

import base64
import json

import pytest
from google.protobuf import json_format

from otel_eval.journal import Request
from otel_eval.receive.decode import decode_logs, decode_traces
from otel_eval.receive.removal import value_bytes, without_traces
from otel_eval.testing.otlp import otlp_logs_request, otlp_request, trace_request
from otel_eval.testing.spans import agent_span, conversation, log_record

MINE, THEIRS = conversation(asked="mine"), conversation(asked="theirs")
ID = MINE[0].trace_id
FROM_THE_FUTURE = b"\xa2\x06\x03new"


def test_spans_of_the_trace_go_and_the_others_stay() -> None:
    """In their order, with fields that nobody knows."""
    request = Request(signal="traces", encoding="protobuf", body=otlp_request([*MINE, *THEIRS]) + FROM_THE_FUTURE)
    body = without_traces(request, [ID])
    assert body is not None
    assert decode_traces(body) == decode_traces(otlp_request(THEIRS))
    assert body.endswith(FROM_THE_FUTURE)


def test_log_records_too() -> None:
    """Those that name the trace."""
    records = [log_record("x", span=MINE[0]), log_record("y", span=THEIRS[0]), log_record("z")]
    body = without_traces(Request(signal="logs", encoding="protobuf", body=otlp_logs_request(records)), [ID])
    assert body is not None
    assert [record.event_name for record in decode_logs(body)] == ["y", "z"]


@pytest.mark.parametrize("written", ["hex", "HEX", "base64"])
def test_json_in_every_way_that_ids_are_written(written: str) -> None:
    """Upper case is hex as well, and some senders write base64."""
    tree = json.loads(json_format.MessageToJson(trace_request([*MINE, *THEIRS])))
    for span in tree["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        if written != "base64":
            hexed = base64.b64decode(span["traceId"]).hex()
            span["traceId"] = hexed.upper() if written == "HEX" else hexed
    body = without_traces(Request(signal="traces", encoding="json", body=json.dumps(tree).encode()), [ID])
    assert body is not None
    assert {span.trace_id for span in decode_traces(body, "json")} == {THEIRS[0].trace_id}


def test_a_span_that_does_not_parse_goes_if_it_names_the_trace() -> None:
    """Nothing else can be made of it."""
    body = otlp_request([*MINE, *THEIRS]).replace(b"mine", b"\xff\xfe\xfd\xfc")
    left = without_traces(Request(signal="traces", encoding="protobuf", body=body), [ID])
    assert left is not None
    assert {span.trace_id for span in decode_traces(left)} == {THEIRS[0].trace_id}


def test_none_is_left_where_all_was_theirs() -> None:
    """Then the entry itself can go."""
    assert without_traces(Request(signal="traces", encoding="protobuf", body=otlp_request(MINE)), [ID]) is None


UNTOUCHED = [
    Request(signal="traces", encoding="protobuf", body=otlp_request(THEIRS)),
    Request(signal="metrics", encoding="protobuf", body=bytes.fromhex(ID)),
    Request(signal="traces", encoding="protobuf", body=b"\xff" + bytes.fromhex(ID)),
    Request(signal="traces", encoding="json", body=b"{"),
    Request(signal="traces", encoding="json", body=b'{"resourceSpans": 5}'),
    Request(signal="logs", encoding="json", body=b"[1]"),
]


@pytest.mark.parametrize("request_", UNTOUCHED, ids=range(len(UNTOUCHED)))
def test_what_holds_nothing_of_it_is_the_same_object(request_: Request) -> None:
    """So that nothing is written for it."""
    assert without_traces(request_, [ID]) is request_.body


@pytest.mark.parametrize("text", ["s", "s" * 127, "s" * 128, "s" * 20_000, "größe"])
def test_a_value_is_found_in_what_cannot_be_read(text: str) -> None:
    """However long, in protobuf and in JSON; never as a part of a longer one."""
    for value, found in ((text, True), (text + "x", False), ("x" + text, False)):
        body = otlp_request([agent_span(asked=None, reply=None, agent=None, session=value)])
        in_json = json_format.MessageToJson(trace_request([agent_span(session=value)])).encode()
        assert any(form in body for form in value_bytes(text)) is found
        assert any(form in in_json for form in value_bytes(text)) is found
