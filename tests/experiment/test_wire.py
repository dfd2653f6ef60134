import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from experiment.agents import Shop
from otel_eval.evaluators.tools import should_call_tool
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.current import CurrentAttempt, current_attempt
from otel_eval.experiment.evidence import Evidence
from otel_eval.experiment.experiment import Experiment
from otel_eval.experiment.observe import is_whole
from otel_eval.experiment.results import Status
from otel_eval.experiment.wire import OverOtlp
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.spans import conversation, span

CASE = EvalCase("order", "Where is o_9?", should_call_tool("getOrder"))
AGENT = Path(__file__).parent / "agent_process.py"
WIRE = OverOtlp(settle=0.05, patience=2.0)


def run(agent, *cases, telemetry=WIRE, **settings):
    return Experiment(cases=cases or [CASE], agent=agent, telemetry=telemetry, **settings).run()


def in_another_process(command: str) -> str:
    environ = {**os.environ, **current_attempt().environ()}
    done = subprocess.run([sys.executable, AGENT, command], env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def post(attempt: CurrentAttempt, spans) -> None:
    import httpx

    headers = {"content-type": "application/x-protobuf"}
    httpx.post(f"{attempt.http_endpoint}/v1/traces", content=otlp_request(spans), headers=headers).raise_for_status()


def test_an_agent_in_another_process_is_judged_by_what_it_exports():
    """Its SDK gets context, endpoint and short delays from the environment; nothing else is shared."""
    (attempt,) = run(in_another_process).attempts
    assert attempt.status is Status.PASSED
    assert attempt.interaction.service_name == "elsewhere"
    assert (attempt.interaction.asked, attempt.reply) == ("Where is o_9?", "It was delivered.")
    assert attempt.interaction.trace_id == attempt.trace_id
    assert attempt.notes == ()


def test_an_agent_that_knows_only_the_session_is_found_by_it():
    """No traceparent was carried on, several attempts at a time: the conversation's id says whose it is."""

    def agent(command: str) -> str:
        attempt = current_attempt()
        post(attempt, conversation(asked=command, reply="ok", tools=["getOrder"], session=attempt.session_id))
        return "ok"

    cases = [EvalCase(f"c{n}", f"command {n}", should_call_tool("getOrder")) for n in range(3)]
    report = run(agent, *cases, concurrency=3)
    assert report.passed
    assert [attempt.interaction.asked for attempt in report.attempts] == [case.command for case in cases]
    assert report.attempts[0].notes == ("a trace of its own joined by session id",)


def test_an_agent_that_knows_nothing_is_found_by_time_when_alone():
    """What started during the attempt is its; what started before is not."""

    def agent(command: str) -> str:
        attempt = current_attempt()
        post(attempt, conversation(asked="old", tools=[], session="x", started_ns=time.time_ns() - 60_000_000_000))
        post(attempt, conversation(asked="new", reply="ok", tools=["getOrder"], session="x", started_ns=time.time_ns()))
        return "ok"

    (attempt,) = run(agent).attempts
    assert attempt.interaction.asked == "new"
    assert attempt.notes == ("a trace of its own joined because it started during the attempt",)


def test_spans_that_come_after_the_reply_are_waited_for():
    """The parent of what came first is missing: the attempt waits for it, and not for its whole patience."""
    import threading

    spans = []
    timers = []

    def agent(command: str) -> str:
        attempt = current_attempt()
        root, *below = conversation(
            asked=command, reply="ok", tools=["getOrder"], trace_id=attempt.trace_id, parent_id=attempt.span_id
        )
        spans.append(root)
        post(attempt, below)
        timers.append(threading.Timer(0.2, post, (attempt, [root])))
        timers[0].start()
        return "ok"

    (attempt,) = run(agent, telemetry=OverOtlp(settle=0.05, patience=30)).attempts
    timers[0].join()
    assert attempt.status is Status.PASSED
    assert attempt.interaction.span_id == spans[0].span_id
    assert attempt.interaction.complete


def test_over_grpc_too():
    """Exporters that speak gRPC have an endpoint of their own."""

    def agent(command: str) -> str:
        attempt = current_attempt()
        shop = Shop()
        exporter = OTLPSpanExporter(
            endpoint=attempt.environ(protocol="grpc")["OTEL_EXPORTER_OTLP_ENDPOINT"], insecure=True
        )
        shop.tracers.add_span_processor(SimpleSpanProcessor(exporter))
        assert isinstance(shop.tracers, TracerProvider)
        try:
            return shop(command)
        finally:
            shop.tracers.shutdown()

    assert run(agent).passed


def test_silence_names_where_it_was_listened():
    """An agent that exports elsewhere gives an inconclusive result that says what to look at."""
    report = run(lambda command: "fine", telemetry=OverOtlp(settle=0.01, patience=0.05))
    (result,) = report.results
    assert result.check == "telemetry"
    assert "no span of this attempt arrived at http://127.0.0.1:" in result.outcome.reason
    assert "within 0.05 s" in result.outcome.reason


def test_no_patience_is_spent_on_an_agent_that_raised():
    """Its failure is the result, whatever else would come."""

    def agent(command: str) -> str:
        raise ConnectionError("refused")

    started = time.monotonic()
    report = run(agent, telemetry=OverOtlp(settle=0.01, patience=60))
    assert report.results[0].describe().startswith("FAIL target: ConnectionError: refused (test_wire.py:")
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("spans", "whole"),
    [
        ((), False),
        ((span("GET /"),), False),
        (conversation(reply="done"), True),
        (conversation(reply="done")[1:], False),
        (conversation(failure="boom"), True),
    ],
)
def test_evidence_is_whole_when_nothing_it_points_to_is_missing(spans, whole):
    """Settling is quick only then."""
    evidence = Evidence(
        trace_id="", root_span_id="", session="", exclusive=True, on_change=lambda: None, spans=list(spans)
    )
    assert is_whole(evidence) is whole
