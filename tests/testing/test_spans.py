import json

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.signals import SpanEvent, SpanLink
from otel_eval.testing.otlp import any_value, logs_of, logs_request, otlp_request, plain_value, spans_of
from otel_eval.testing.spans import Tool, agent_span, conversation, log_record, model_span, span, tool_span


def test_a_conversation_is_one_agent_span_with_its_calls_below():
    """The agent span comes first, then a model call before each tool call, and one that gives the reply."""
    root, *below = conversation(
        asked="Refund o_9", reply="Done.", tools=[Tool(name="getOrder", arguments={"id": 1}), "pay"]
    )
    assert [made.name for made in below] == [
        "chat gpt-4o-mini", "execute_tool getOrder", "chat gpt-4o-mini", "execute_tool pay", "chat gpt-4o-mini",
    ]  # fmt: skip
    assert {made.parent_id for made in below} == {root.span_id}
    assert {made.trace_id for made in below} == {root.trace_id}
    assert root.parent_id is None
    assert below[-1].ended_ns == root.ended_ns
    assert [made.started_ns for made in below] == sorted(made.started_ns for made in below)
    history = json.loads(below[-1].attributes["gen_ai.input.messages"])
    assert [message["role"] for message in history] == ["user", "assistant", "tool", "assistant", "tool"]


def test_content_that_is_none_is_not_written():
    """None stands for content capture being off, also where a builder's own attribute is taken away."""
    assert "gen_ai.input.messages" not in agent_span(asked=None).attributes
    assert "gen_ai.agent.name" not in agent_span(attributes={"gen_ai.agent.name": None}).attributes


def test_a_failed_tool_has_an_error_and_no_result():
    """Status, message, error.type and the exception event say so; the result is left out."""
    failed = tool_span("pay", {"amount": 1}, {"ok": True}, error="declined")
    assert (failed.status, failed.status_message) == ("error", "declined")
    assert failed.attributes["error.type"] == "RuntimeError"
    assert failed.events[0].attributes["exception.message"] == "declined"
    assert "gen_ai.tool.call.result" not in failed.attributes


def test_spans_survive_the_wire():
    """Every field of a span comes back from the bytes of a request as it was."""
    parent = span("GET /chat", kind=2)
    full = agent_span(
        parent=parent, status="error", status_message="no", parent_is_remote=True, trace_state="a=1",
        events=(SpanEvent("e", 5, {"x": 1}, 2),), links=(SpanLink("ab" * 16, "cd" * 8, {"y": [1, "two"]}),),
        dropped_attributes=1, dropped_events=2, dropped_links=3,
        attributes={"b": b"raw", "m": {"deep": [True, 1.5, None]}},
    )  # fmt: skip
    spans = [parent, full, model_span(parent=full)]
    assert spans_of(ExportTraceServiceRequest.FromString(otlp_request(spans))) == spans


def test_log_records_survive_the_wire():
    """The same for log records, with and without a span."""
    records = [
        log_record("gen_ai.choice", span=agent_span(), body={"index": 0}, attributes={"a": 1}),
        log_record("plain"),
    ]
    assert logs_of(logs_request(records)) == records


@pytest.mark.parametrize("value", [None, True, 0, -1, 1.5, "", "text", b"\x00", [1, ["a"]], {"k": {"n": None}}])
def test_values_survive_the_wire(value):
    """Each kind of OTLP value, true and 1 told apart."""
    back = plain_value(any_value(value))
    assert back == value
    assert type(back) is type(value)
