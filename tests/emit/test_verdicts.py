"""Evaluation spans and events: where they stand, and exactly what they say."""

from __future__ import annotations

import dataclasses
import json

import pytest
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource

from otel_eval.emit.attributes import Wording
from otel_eval.emit.placement import CHILD_WITHIN_NS
from otel_eval.emit.verdicts import Verdicts
from otel_eval.ledger import OutboxEntry
from otel_eval.loop_guard import marked
from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Passed
from otel_eval.record import JudgeCall, Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.otlp import logs_of, spans_of
from otel_eval.testing.records import evaluation_record

ONE = interaction(trace_id="a" * 32, span_id="b" * 16, session="s1", agent="support-agent")
CALL = JudgeCall(
    conversation_id="e1-judge",
    requested_model="azure/gpt-4o",
    answered_model="gpt-4o-2026",
    response_id="chatcmpl-1",
    system_message="You judge.",
    user_message="The reply: my card is 4111",
    answer='{"score": 1}',
    input_tokens=100,
    output_tokens=0,
    cost_usd=0.002,
    started_ns=ONE.ended_ns + 1,
    ended_ns=ONE.ended_ns + 2,
)


def entry(outcome=None, *, ended_ns=ONE.ended_ns, response_id="resp_9", **fields):
    record = evaluation_record(ONE, "refund-policy", outcome, **fields)
    return OutboxEntry(sequence=1, record=record, interaction_ended_ns=ended_ns, response_id=response_id)


@pytest.fixture
def verdicts(guard):
    return Verdicts(guard=guard, resource=Resource({}), version="1.2")


def span_and_calls(verdicts, one):
    first, *calls = spans_of(encode_spans(verdicts.spans([one])))
    return first, calls


def event(verdicts, one):
    (record,) = logs_of(encode_logs(verdicts.events([one])))
    return record


ALWAYS = {
    "gen_ai.evaluation.name": "refund-policy",
    "gen_ai.response.id": "resp_9",
    "gen_ai.conversation.id": "s1",
    "gen_ai.agent.name": "support-agent",
    "otel_eval.target.service": "shop",
    "otel_eval.target.environment": "production",
    "otel_eval.evaluator.version": "1",
    "otel_eval.check": "judge",
    "otel_eval.interaction.id": ONE.id,
    "otel_eval.revision": 2,
    "otel_eval.attempt": 1,
    "otel_eval.origin": "live",
}
OUTCOMES = [
    (
        Passed(explanation="states it", score=0.9),
        {
            "otel_eval.outcome": "passed",
            "gen_ai.evaluation.score.value": 0.9,
            "gen_ai.evaluation.score.label": "pass",
            "gen_ai.evaluation.explanation": "states it",
        },
        "INFO",
        "PASS judge: states it",
    ),
    (
        Failed(explanation="rude", score=0.0),
        {
            "otel_eval.outcome": "failed",
            "gen_ai.evaluation.score.value": 0.0,
            "gen_ai.evaluation.score.label": "fail",
            "gen_ai.evaluation.explanation": "rude",
        },
        "INFO",
        "FAIL judge: rude",
    ),
    (
        Failed(explanation="insults", label="toxic"),
        {
            "otel_eval.outcome": "failed",
            "gen_ai.evaluation.score.label": "toxic",
            "gen_ai.evaluation.explanation": "insults",
        },
        "INFO",
        "FAIL judge: toxic — insults",
    ),
    (
        Inconclusive(reason="no reply", cause=Cause.NOT_CAPTURED),
        {
            "otel_eval.outcome": "inconclusive",
            "otel_eval.reason": "not_captured",
            "gen_ai.evaluation.explanation": "no reply",
        },
        "INFO",
        "INCONCLUSIVE judge: no reply",
    ),
    (
        Errored(reason="boom", error_type="KeyError"),
        {
            "otel_eval.outcome": "error",
            "otel_eval.reason": "evaluator_error",
            "error.type": "KeyError",
            "gen_ai.evaluation.explanation": "boom",
        },
        "WARN",
        "ERROR judge: boom",
    ),
]


@pytest.mark.parametrize(("outcome", "says", "severity", "body"), OUTCOMES, ids=[row[3] for row in OUTCOMES])
def test_the_event_says_exactly_this(verdicts, outcome, says, severity, body):
    """For every outcome an event on the judged span, with these attributes and no other."""
    record = event(verdicts, entry(outcome, revision=2, attempt=1, environment="production"))
    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id, record.span_id) == (ONE.trace_id, ONE.span_id)
    assert record.attributes == ALWAYS | says
    assert {"INFO": 9, "WARN": 13}[severity] == record.severity_number
    assert record.body == body
    assert record.scope.name == "otel_eval"


def test_what_is_not_known_is_left_out(verdicts):
    """No response id, no session, no threshold: no attribute, rather than an empty one."""
    said = event(verdicts, entry(response_id=None, session=None)).attributes
    assert {"gen_ai.response.id", "gen_ai.conversation.id", "otel_eval.threshold"}.isdisjoint(said)
    assert event(verdicts, entry(threshold=0.0)).attributes["otel_eval.threshold"] == 0.0


def test_the_span_is_a_child_of_the_agent_span(verdicts, guard):
    """Judged soon: in the agent's trace, under its span, with an id that we know again."""
    span, _ = span_and_calls(verdicts, entry())
    assert span.name == "evaluation refund-policy"
    assert (span.trace_id, span.parent_id, span.links) == (ONE.trace_id, ONE.span_id, ())
    assert guard.owns_span(span.span_id)
    assert (span.scope.name, span.scope.version) == ("otel_eval", "1.2")
    assert (span.started_ns, span.ended_ns) == (ONE.ended_ns + 1_000_000, ONE.ended_ns + 2_000_000)
    about = {"gen_ai.agent.name": "support-agent", "otel_eval.target.service": "shop"}
    assert about.items() <= span.attributes.items()


PLACES = [
    ("at the limit", {"started_ns": ONE.ended_ns + CHILD_WITHIN_NS}, ONE.ended_ns, "child"),
    ("past the limit", {"started_ns": ONE.ended_ns + CHILD_WITHIN_NS + 1}, ONE.ended_ns, "own"),
    ("a clock behind", {"started_ns": ONE.ended_ns - 10**9}, ONE.ended_ns, "child"),
    ("a re-run", {"origin": Origin.RERUN}, ONE.ended_ns, "own"),
    ("no agent span", {}, None, "own"),
]


@pytest.mark.parametrize(("case", "fields", "ended_ns", "place"), PLACES, ids=[row[0] for row in PLACES])
def test_a_late_span_gets_a_trace_of_its_own_with_a_link(verdicts, guard, case, fields, ended_ns, place):
    """An evaluation that came late, or again, does not stretch the agent's trace; the event stays on the judged span."""
    one = entry(ended_ns=ended_ns, **fields)
    span, _ = span_and_calls(verdicts, one)
    if place == "child":
        assert (span.trace_id, span.parent_id) == (ONE.trace_id, ONE.span_id)
    else:
        assert guard.owns_trace(span.trace_id)
        assert span.parent_id is None
        assert [(link.trace_id, link.span_id) for link in span.links] == [(ONE.trace_id, ONE.span_id)]
    assert event(verdicts, one).trace_id == ONE.trace_id


def test_ids_that_are_none_do_not_hold_up_the_others(verdicts, guard):
    """A record about a span with malformed ids goes out in a trace of its own, without a link."""
    bad = OutboxEntry(sequence=1, record=evaluation_record(ONE, trace_id="not hex", span_id=""))
    span, _ = span_and_calls(verdicts, bad)
    assert guard.owns_trace(span.trace_id)
    assert span.links == ()
    assert event(verdicts, bad).trace_id is None


def test_the_judges_call_stands_below(verdicts):
    """A client span in the GenAI conventions' words, with usage, cost and messages; 0 tokens are told, not left out."""
    span, (call,) = span_and_calls(verdicts, entry(judge_calls=(CALL,)))
    assert (call.name, call.kind, call.parent_id, call.trace_id) == (
        "chat azure/gpt-4o",
        3,
        span.span_id,
        span.trace_id,
    )
    assert call.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "azure.ai.openai",
        "gen_ai.conversation.id": "e1-judge",
        "gen_ai.request.model": "azure/gpt-4o",
        "gen_ai.response.model": "gpt-4o-2026",
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 0,
        "otel_eval.judge.cost_usd": 0.002,
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "You judge."}]),
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": "The reply: my card is 4111"}]}]
        ),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": '{"score": 1}'}], "finish_reason": "stop"}]
        ),
    }


def test_each_judge_call_has_an_id_of_its_own(verdicts, guard):
    """Votes, and a second call within one conversation; the first has the id that its traceparent names."""
    again = JudgeCall(conversation_id="e1-judge", requested_model="m", error="RateLimitError: slow down")
    _, calls = span_and_calls(verdicts, entry(judge_calls=(CALL, again)))
    assert calls[0].span_id == guard.span_id(entry().record.id, "e1-judge")
    assert calls[1].span_id != calls[0].span_id
    assert (calls[1].status, calls[1].attributes["error.type"]) == ("error", "RateLimitError")


def test_an_evaluator_that_broke_is_an_error_span_and_a_failed_verdict_is_not(verdicts):
    """A verdict of *failed* is the evaluator doing its work."""
    assert span_and_calls(verdicts, entry(Errored(reason="boom")))[0].status == "error"
    assert span_and_calls(verdicts, entry(Failed(explanation="rude")))[0].status == "unset"


def test_texts_are_redacted_before_they_leave(guard):
    """Explanations, reasons, attributes and the judge's messages; the event's line as well."""
    wording = Wording(redact=lambda text: text.replace("4111", "[CARD]"))
    verdicts = Verdicts(guard=guard, resource=Resource({}), wording=wording)
    for outcome in (
        Passed(explanation="says 4111", attributes={"quote": "4111", "count": 1}),
        Inconclusive(reason="4111"),
        Errored(reason="4111"),
    ):
        one = entry(outcome, judge_calls=(CALL,))
        sent = str(encode_spans(verdicts.spans([one]))) + str(encode_logs(verdicts.events([one])))
        assert "4111" not in sent
        assert "[CARD]" in sent


def test_a_system_message_is_redacted_once_and_leaves_without_its_mark(guard):
    """An agent whose instructions quoted the loop guard's mark would not be judged."""
    call = dataclasses.replace(CALL, system_message=marked("Mind card 4111.", guard.fingerprint("e")))
    redacted: list[str] = []

    def redact(text: str) -> str:
        redacted.append(text)
        return text.replace("4111", "[CARD]")

    verdicts = Verdicts(guard=guard, resource=Resource({}), wording=Wording(redact=redact))
    for _ in range(3):
        _, (sent,) = span_and_calls(verdicts, entry(judge_calls=(call,)))
        assert json.loads(sent.attributes["gen_ai.system_instructions"])[0]["content"] == "Mind card [CARD]."
    assert redacted.count("Mind card 4111.") == 1


def test_without_content_no_text_leaves(guard):
    """Neither explanations nor messages; outcome, score and what is countable stay."""
    verdicts = Verdicts(guard=guard, resource=Resource({}), wording=Wording(content=False))
    one = entry(Passed(explanation="says it", score=1.0, attributes={"quote": "x", "n": 1}), judge_calls=(CALL,))
    span, (call,) = span_and_calls(verdicts, one)
    said = event(verdicts, one)
    assert "gen_ai.evaluation.explanation" not in said.attributes
    assert said.body == "PASS judge"
    assert said.attributes["gen_ai.evaluation.score.value"] == 1.0
    assert (span.attributes.get("otel_eval.attribute.quote"), span.attributes["otel_eval.attribute.n"]) == (None, 1)
    assert not {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"} & set(call.attributes)


def test_what_is_made_twice_is_the_same(guard):
    """Another process makes the same bytes of the same entry: ids, times, attributes."""

    def made():
        verdicts = Verdicts(guard=guard, resource=Resource({"service.name": "otel-eval"}))
        one = entry(judge_calls=(CALL, CALL), origin=Origin.RERUN)
        return encode_spans(verdicts.spans([one])), encode_logs(verdicts.events([one]))

    assert made() == made()


def test_the_processs_own_settings_do_not_reach_our_spans(guard, monkeypatch):
    """A sampler that drops and limits that cut are for the process's own telemetry."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    monkeypatch.setenv("OTEL_ATTRIBUTE_COUNT_LIMIT", "1")
    monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "3")
    verdicts = Verdicts(guard=guard, resource=Resource({}))
    span, _ = span_and_calls(verdicts, entry())
    assert span.attributes["gen_ai.evaluation.name"] == "refund-policy"
    assert event(verdicts, entry()).attributes["gen_ai.evaluation.explanation"] == "says thank you"


def test_what_otlp_cannot_carry_is_written_so_that_it_can(verdicts):
    """A lone surrogate and an integer beyond 64 bits, as a tool's JSON may hold, do not hold up the outbox."""
    outcome = Failed(explanation="was [\ud800]", attributes={"sum": 2**70, "k\ud800": "v"})
    span, _ = span_and_calls(verdicts, entry(outcome))
    assert span.attributes["gen_ai.evaluation.explanation"] == "was [?]"
    assert span.attributes["otel_eval.attribute.sum"] == str(2**70)
    assert span.attributes["otel_eval.attribute.k?"] == "v"
    assert event(verdicts, entry(outcome)).body == "FAIL judge: was [?]"
