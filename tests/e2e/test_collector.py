"""What the collector's configurations do, on a real collector: who gets what, and what is lost when something is down.

A capturing OTLP endpoint stands where otel-eval would, since what is tested is what arrives there.
"""

from __future__ import annotations

import signal
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
import yaml
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import LogsServiceStub
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from otel_eval.loop_guard import SCOPE_NAME
from otel_eval.signals import LogRecord, Scope, Span
from otel_eval.testing.otlp import logs_request, trace_request
from otel_eval.testing.sink import Sink
from otel_eval.testing.spans import agent_span, log_record, span

from .parts import DEPLOY, Collector, Jaeger, Prometheus, send, until

COLLECTOR = DEPLOY / "collector"
OURS = Scope(SCOPE_NAME)


def send_verdicts(collector: Collector, spans: Iterable[Span], logs: Iterable[LogRecord]) -> None:
    """Export as otel-eval does, over gRPC to the receiver for verdicts."""
    with grpc.insecure_channel(address(collector.verdicts_endpoint)) as channel:
        TraceServiceStub(channel).Export(trace_request(spans), timeout=10)
        LogsServiceStub(channel).Export(logs_request(logs), timeout=10)


def events(collector: Collector) -> set[str]:
    """The event names in the collector's log file."""
    return {record.get("eventName", "") for record in collector.log_records()}


def address(endpoint: str) -> str:
    return endpoint.removeprefix("http://")


@pytest.fixture
def judge() -> Iterator[Sink]:
    """Where otel-eval would be."""
    with Sink() as sink:
        yield sink


def test_agents_reach_everyone_and_verdicts_everyone_but_otel_eval(tmp_path: Path, judge: Sink) -> None:
    """An agent's spans and logs reach the trace backend, the log file, span metrics and otel-eval; a verdict, sent to the
    receiver for verdicts or astray to that of agents, reaches the backends, and neither otel-eval nor the span metrics."""
    jaeger = Jaeger(tmp_path)
    environment = {"TRACES_ENDPOINT": jaeger.otlp_endpoint, "OTEL_EVAL_ENDPOINT": address(judge.endpoint)}
    fast = tmp_path / "fast.yaml"
    fast.write_text("connectors: {span_metrics: {metrics_flush_interval: 500ms}}\n")
    collector = Collector(tmp_path, overlays=[fast], environment=environment)
    prometheus = Prometheus(tmp_path, collector)
    agent = agent_span(agent="support-agent")
    verdict = span("evaluation polite", parent=agent, scope=OURS)
    astray = span("evaluation grounded", parent=agent, scope=OURS)
    said = log_record("gen_ai.user.message", span=agent)
    event = log_record("gen_ai.evaluation.result", span=agent, scope=OURS)

    with jaeger.part, collector.part, prometheus.part:
        for part in (jaeger, collector, prometheus):
            part.wait_ready()
        send_verdicts(collector, [verdict], [event])
        send(collector, [astray], [event])
        send(collector, [agent], [said, log_record("of no trace")])

        until("otel-eval has the agent's span", lambda: judge.span(agent.name))
        until("otel-eval has the agent's log record", lambda: judge.log("gen_ai.user.message"))
        wanted = {agent.name, verdict.name, astray.name}
        until(
            "the trace backend has all",
            lambda: {each["operationName"] for each in jaeger.spans(agent.trace_id)} == wanted,
        )
        until(
            "the log file has both",
            lambda: events(collector) >= {"gen_ai.user.message", "gen_ai.evaluation.result"},
        )
        calls = f'traces_span_metrics_calls_total{{span_name="{agent.name}"}}'
        until("the span metrics count the agent", lambda: prometheus.query(calls))

        assert {each.name for each in judge.spans} == {agent.name}
        assert {each.event_name for each in judge.logs} == {"gen_ai.user.message"}
        assert prometheus.query('traces_span_metrics_calls_total{span_name=~"evaluation.*"}') == []


def test_a_backend_that_is_down_does_not_hold_up_the_others(tmp_path: Path, judge: Sink) -> None:
    """With nobody at the trace backend's address, agents are answered OK and otel-eval gets their spans, once."""
    environment = {"TRACES_ENDPOINT": "127.0.0.1:1", "OTEL_EVAL_ENDPOINT": address(judge.endpoint)}
    collector = Collector(tmp_path, environment=environment)
    agents = [agent_span(agent=f"agent-{index}") for index in range(20)]
    with collector.part:
        collector.wait_ready()
        for each in agents:
            send(collector, [each])
        until("otel-eval has them all", lambda: len(judge.spans) >= len(agents))
    assert sorted(each.span_id for each in judge.spans) == sorted(each.span_id for each in agents)


def test_conversations_fit_into_what_each_backend_takes(tmp_path: Path, judge: Sink) -> None:
    """Spans of 100 KB, of which a hundred arrive within a second, reach a trace backend that takes 4 MiB at once."""
    jaeger = Jaeger(tmp_path)
    environment = {"TRACES_ENDPOINT": jaeger.otlp_endpoint, "OTEL_EVAL_ENDPOINT": address(judge.endpoint)}
    collector = Collector(tmp_path, environment=environment)
    agents = [agent_span(agent=f"agent-{index}", reply="x" * 100_000) for index in range(100)]
    with jaeger.part, collector.part:
        jaeger.wait_ready()
        collector.wait_ready()
        for start in range(0, len(agents), 20):
            send(collector, agents[start : start + 20])
        until("otel-eval has them all", lambda: len(judge.spans) == len(agents))
        for each in agents:
            until("the trace backend has it", lambda trace_id=each.trace_id: jaeger.spans(trace_id))


def test_an_otel_eval_that_is_down_does_not_fill_the_memory_of_the_others(tmp_path: Path, judge: Sink) -> None:
    """More than the collector's memory comes in while otel-eval is down: no agent is refused, the backend gets it all."""
    judge.refuse()
    with Sink() as backend:
        environment = {
            "TRACES_ENDPOINT": address(backend.endpoint),
            "OTEL_EVAL_ENDPOINT": address(judge.endpoint),
            # A quarter of the defaults.
            "MEMORY_LIMIT_MIB": "128",
            "MEMORY_SPIKE_MIB": "32",
            "QUEUE_BYTES": "16777216",
        }
        collector = Collector(tmp_path, environment=environment)
        with collector.part:
            collector.wait_ready()
            for count in range(1, 101):
                send(collector, [agent_span(agent="support-agent", reply="x" * 100_000) for _ in range(20)])
                until("the backend keeps up", lambda: len(backend.spans) >= 20 * (count - 5))  # noqa: B023
            until("the backend has it all", lambda: len(backend.spans) == 2000)
            judge.accept()
            until("otel-eval has what there was room for", lambda: len(judge.spans) > 50, timeout=60)


def test_the_persistent_queue_outlives_a_collector_that_is_killed(tmp_path: Path, judge: Sink) -> None:
    """otel-eval is down and the collector is killed: what agents were told is taken reaches otel-eval afterwards."""
    judge.refuse()
    environment = {"OTEL_EVAL_ENDPOINT": address(judge.endpoint), "QUEUE_DIRECTORY": str(tmp_path / "queue")}
    collector = Collector(tmp_path, overlays=[COLLECTOR / "persistent-queue.yaml"], environment=environment)
    agents = [agent_span(agent=f"agent-{index}") for index in range(20)]
    with collector.part:
        collector.wait_ready()
        for each in agents:
            send(collector, [each], [log_record("gen_ai.user.message", span=each)])
        collector.part.stop(with_signal=signal.SIGKILL)
    judge.accept()
    with collector.part:
        collector.wait_ready()
        wanted = {each.span_id for each in agents}
        until("otel-eval has every span", lambda: {each.span_id for each in judge.spans} == wanted, timeout=60)
        until("otel-eval has every record", lambda: {each.span_id for each in judge.logs} == wanted, timeout=60)


def test_all_of_a_trace_reaches_the_same_replica(tmp_path: Path) -> None:
    """Behind the load-balancing exporter the spans and log records of a trace, sent apart, arrive at one replica."""
    with ExitStack() as stack:
        replicas = [stack.enter_context(Sink()) for _ in range(3)]
        names = {f"OTEL_EVAL_{index}": address(replica.endpoint) for index, replica in enumerate(replicas)}
        collector = Collector(tmp_path, overlays=[COLLECTOR / "replicas.yaml"], environment=names)
        stack.enter_context(collector.part)
        collector.wait_ready()
        agents = [agent_span(agent=f"agent-{index}") for index in range(60)]
        children = [span("work", parent=each) for each in agents]
        send(collector, children, [log_record("gen_ai.user.message", span=each) for each in agents])
        send(collector, agents)
        until("all spans", lambda: sum(len(replica.spans) for replica in replicas) == 120)
        until("all records", lambda: sum(len(replica.logs) for replica in replicas) == 60)

    where: dict[str, set[int]] = defaultdict(set)
    for index, replica in enumerate(replicas):
        for each in [*replica.spans, *replica.logs]:
            where[str(each.trace_id)].add(index)
    assert {len(places) for places in where.values()} == {1}
    assert all(len(replica.spans) > 20 for replica in replicas), "no replica is left out"


def test_tail_sampling_keeps_what_failed_and_otel_eval_sees_everything(tmp_path: Path, judge: Sink) -> None:
    """The trace backend keeps the trace that failed an evaluation and drops one that passed; otel-eval had both before."""
    jaeger = Jaeger(tmp_path)
    overlay = tmp_path / "sooner.yaml"
    sampling = yaml.safe_load((COLLECTOR / "tail-sampling.yaml").read_text())["processors"]["tail_sampling"]
    sampling["decision_wait"] = "2s"
    (rest,) = [policy for policy in sampling["policies"] if policy["name"] == "rest"]
    rest["probabilistic"]["sampling_percentage"] = 0.000001
    overlay.write_text(yaml.safe_dump({"processors": {"tail_sampling": sampling}}))
    environment = {"TRACES_ENDPOINT": jaeger.otlp_endpoint, "OTEL_EVAL_ENDPOINT": address(judge.endpoint)}
    collector = Collector(tmp_path, overlays=[COLLECTOR / "tail-sampling.yaml", overlay], environment=environment)
    good, bad = agent_span(agent="good"), agent_span(agent="bad")
    verdicts = [
        span("evaluation polite", parent=agent, scope=OURS, attributes={"otel_eval.outcome": outcome})
        for agent, outcome in ((good, "passed"), (bad, "failed"))
    ]
    alone = span("evaluation polite", scope=OURS, attributes={"otel_eval.outcome": "passed"})
    with jaeger.part, collector.part:
        jaeger.wait_ready()
        collector.wait_ready()
        send(collector, [good, bad])
        send_verdicts(collector, [*verdicts, alone], [])
        kept = until("the failed trace is kept", lambda: jaeger.spans(bad.trace_id))
        until("a verdict in a trace of its own is kept", lambda: jaeger.spans(alone.trace_id))
        assert len(kept) == 2
        # The decisions of one tick are made together: were the good trace kept, it would be there by now, or in a moment.
        threading.Event().wait(2)
        assert jaeger.spans(good.trace_id) == []
        assert {each.span_id for each in judge.spans} == {good.span_id, bad.span_id}
