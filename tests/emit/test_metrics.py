"""Metrics: what Prometheus will call them, exemplars, bounds, and that they stay cumulative."""

from __future__ import annotations

from collections import defaultdict

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource

from otel_eval.emit.exporters import metric_exporter
from otel_eval.emit.metrics import MeterRecorder
from otel_eval.emit.settings import ExporterSettings, targets
from otel_eval.instruments import BY_NAME, INSTRUMENTS, WATCHED, NullRecorder

JUDGED = ("a" * 32, "b" * 16)
ONE = {
    "gen_ai.evaluation.name": "polite",
    "gen_ai.agent.name": "support",
    "otel_eval.outcome": "passed",
    "otel_eval.origin": "live",
    "otel_eval.target.service": "shop",
    "otel_eval.target.environment": "prod",
}


def recorder_to(endpoint, protocol="grpc", **options):
    settings = ExporterSettings(endpoint=endpoint, protocol=protocol)
    (target,) = [one for one in targets(settings, {}) if one.signal == "metrics"]
    return MeterRecorder.exporting(metric_exporter(target), resource=Resource({}), interval_s=3600, **options)


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_counters_histograms_and_gauges_arrive(sink, protocol, monkeypatch):
    """Cumulative with our buckets, also where the process prefers delta and exponential ones."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram")
    recorder = recorder_to(sink.endpoint if protocol == "grpc" else sink.http_endpoint, protocol)
    recorder.record("otel_eval.evaluations", 2, ONE)
    recorder.record("otel_eval.evaluation.score", 0.75, ONE)
    recorder.record("otel_eval.backlog.evaluations", 7)
    recorder.record("otel_eval.backlog.evaluations", 3)
    recorder.flush()
    recorder.record("otel_eval.evaluations", 1, ONE)
    recorder.close()
    total = sink.latest("otel_eval.evaluations", otel_eval__outcome="passed")
    assert (total.value, total.kind, total.cumulative, total.attributes) == (3, "counter", True, ONE)
    score = sink.latest("otel_eval.evaluation.score")
    assert (score.value, score.count, score.cumulative) == (0.75, 1, True)
    assert score.bounds == tuple(n / 10 for n in range(1, 11))
    assert (sink.latest("otel_eval.backlog.evaluations").value, total.scope.name) == (3, "otel_eval")


def test_exemplars_carry_the_judged_span(sink, monkeypatch):
    """On counters and histograms; none without a judged span, whatever the process's own filter says."""
    monkeypatch.setenv("OTEL_METRICS_EXEMPLAR_FILTER", "always_off")
    recorder = recorder_to(sink.endpoint)
    for name in ("otel_eval.evaluations", "otel_eval.evaluation.score", "otel_eval.evaluation.duration"):
        recorder.record(name, 1, ONE, judged=JUDGED)
        recorder.record(name, 1, ONE | {"gen_ai.agent.name": "unjudged"})
    recorder.close()
    for name in ("otel_eval.evaluations", "otel_eval.evaluation.score", "otel_eval.evaluation.duration"):
        assert sink.latest(name, gen_ai__agent__name="support", otel_eval__outcome="passed").exemplars == (JUDGED,)
        assert sink.latest(name, gen_ai__agent__name="unjudged", otel_eval__outcome="passed").exemplars == ()


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_many_series_go_in_requests_that_endpoints_take(sink, protocol):
    """4 MiB where nobody raised the limit; above it a server of many agents would have no metrics at all."""
    recorder = recorder_to(sink.endpoint if protocol == "grpc" else sink.http_endpoint, protocol)
    for agent in range(30):
        for evaluator in range(50):
            labels = ONE | {"gen_ai.agent.name": f"agent-{agent}", "gen_ai.evaluation.name": f"evaluator-{evaluator}"}
            recorder.record("otel_eval.evaluations", 1, labels, judged=JUDGED)
            recorder.record("otel_eval.evaluation.score", 0.75, labels, judged=JUDGED)
    recorder.close()
    sizes = [request.message.ByteSize() for request in sink.requests]
    assert sum(sizes) > 4 * 2**20
    assert max(sizes) < 2**20
    counted = {"otel_eval.evaluations": 6_000, "otel_eval.evaluation.score": 1_500}  # each outcome is born with 0
    assert {name: sum(point.name == name for point in sink.metrics) for name in counted} == counted


def test_all_outcomes_are_born_together():
    """A rate over outcomes sees a rare agent's first failure: its series was there before, with 0."""
    reader = InMemoryMetricReader()
    recorder = MeterRecorder(reader, resource=Resource({}))
    recorder.record("otel_eval.evaluations", 1, ONE)
    recorder.record("otel_eval.evaluations", 1, ONE)
    born = values(reader, "otel_eval.evaluations", "otel_eval.outcome")
    assert born == {"passed": 2, "failed": 0, "inconclusive": 0, "error": 0}
    recorder.close()


def test_series_that_are_known_are_there_before_anything_is_counted():
    """With 0: Prometheus sees no increase in a series whose first sample is 1."""
    reader = InMemoryMetricReader()
    recorder = MeterRecorder(reader, resource=Resource({}))
    recorder.begin()
    born = reader.get_metrics_data()
    assert values(born, "otel_eval.spans.dropped", "otel_eval.reason") == dict.fromkeys(
        ("trace_id", "span_id", "malformed", "unreadable", "own", "late"), 0
    )
    assert values(born, "otel_eval.requests.quarantined", "otel_eval.reason") == {None: 0}
    refused = dict(BY_NAME["otel_eval.requests.refused"].known)
    assert set(values(born, "otel_eval.requests.refused", "otel_eval.reason")) == set(refused["otel_eval.reason"])
    assert "otel_eval.evaluations" not in {metric.name for metric in metrics(born)}
    recorder.close()


def test_reasons_that_alerts_watch_are_born_with_the_first_evaluation():
    """Whatever its outcome: the first spent budget of an agent is an increase. Once, and for each agent its own."""
    reader = InMemoryMetricReader()
    recorder = MeterRecorder(reader, resource=Resource({}))
    recorder.record("otel_eval.evaluations", 1, ONE)
    without = {**ONE, "otel_eval.outcome": "inconclusive", "otel_eval.reason": "budget_spent"}
    recorder.record("otel_eval.evaluation.without_verdict", 1, without)
    recorder.record("otel_eval.evaluations", 1, ONE | {"otel_eval.outcome": "inconclusive"})
    read = reader.get_metrics_data()
    counted = values(read, "otel_eval.evaluation.without_verdict", "otel_eval.reason")
    assert counted.pop("budget_spent") == 1
    assert set(counted) == {cause.value for _, cause in WATCHED} - {"budget_spent"}
    assert set(counted.values()) == {0}
    assert set(values(read, "otel_eval.evaluation.without_verdict", "otel_eval.outcome")) == {"inconclusive", "error"}
    recorder.close()


def test_a_judged_span_with_malformed_ids_is_counted_all_the_same():
    """Without an exemplar."""
    reader = InMemoryMetricReader()
    recorder = MeterRecorder(reader, resource=Resource({}))
    recorder.record("otel_eval.evaluations", 1, ONE, judged=("x", ""))
    assert values(reader, "otel_eval.evaluations") == {"support": 1}
    recorder.close()


def test_agent_names_are_bounded():
    """The first ones stay themselves, the rest is 'other', and the overflow is counted by label."""
    reader = InMemoryMetricReader()
    recorder = MeterRecorder(reader, resource=Resource({}), max_agents=2)
    for agent in ("a", "b", "c", "d", "a"):
        recorder.record("otel_eval.evaluations", 1, ONE | {"gen_ai.agent.name": agent})
    read = reader.get_metrics_data()
    assert values(read, "otel_eval.evaluations") == {"a": 2, "b": 1, "other": 2}
    assert values(read, "otel_eval.labels.overflowed", "otel_eval.label") == {"gen_ai.agent.name": 2}
    recorder.close()


@pytest.mark.parametrize(
    ("agent", "shown"),
    [("You are a helpful agent. " * 200_000, ("You are a helpful agent. " * 8)[:199] + "…"), ("a\ud800", "a?")],
    ids=["long", "not encodable"],
)
def test_a_labels_value_is_fit_to_be_sent(sink, caplog, agent, shown):
    """Telemetry may say anything. An export with 5 MB of a name is refused each time, with all that is in it."""
    recorder = recorder_to(sink.endpoint)
    recorder.record("otel_eval.evaluations", 1, ONE | {"gen_ai.agent.name": agent})
    recorder.close()
    assert sink.latest("otel_eval.evaluations", gen_ai__agent__name=shown, otel_eval__outcome="passed").value == 1
    assert sink.counted("otel_eval.labels.overflowed") == 0
    assert caplog.text == ""


def test_every_label_is_bounded():
    """Services, environments and models too: no label value can explode a Prometheus."""
    reader = InMemoryMetricReader()
    recorder = MeterRecorder(reader, resource=Resource({}), max_values=3)
    for n in range(10):
        recorder.record("otel_eval.judge.cost", 0.5, {"gen_ai.request.model": f"m{n}"})
    assert values(reader, "otel_eval.judge.cost", "gen_ai.request.model") == {
        "m0": 0.5, "m1": 0.5, "m2": 0.5, "other": 3.5,
    }  # fmt: skip
    recorder.close()


@pytest.mark.parametrize("make", [NullRecorder, lambda: MeterRecorder(InMemoryMetricReader(), resource=Resource({}))])
def test_a_metric_that_is_not_declared_is_a_key_error(make):
    """The table in instruments.py is all there is."""
    recorder = make()
    with pytest.raises(KeyError):
        recorder.record("otel_eval.surprise")
    if isinstance(recorder, MeterRecorder):
        with pytest.raises(KeyError, match="no label user"):
            recorder.record("otel_eval.evaluations", 1, {"user": "u1"})
        recorder.close()


def in_prometheus(name: str) -> str:
    """The name as the collector's and Prometheus's own OTLP translation make it."""
    instrument = BY_NAME[name]
    translated = name.replace(".", "_")
    unit = {"s": "seconds", "By": "bytes"}.get(instrument.unit, "")
    if unit and not translated.endswith(f"_{unit}"):
        translated += f"_{unit}"
    return translated + ("_total" if instrument.kind == "counter" else "")


CONTRACT = {
    "otel_eval.evaluations": ("counter", "{evaluation}", "otel_eval_evaluations_total"),
    "otel_eval.evaluation.score": ("histogram", "", "otel_eval_evaluation_score"),
    "otel_eval.evaluation.duration": ("histogram", "s", "otel_eval_evaluation_duration_seconds"),
    "otel_eval.evaluation.revised": ("counter", "{evaluation}", "otel_eval_evaluation_revised_total"),
    "otel_eval.interactions": ("counter", "{interaction}", "otel_eval_interactions_total"),
    "otel_eval.judge.tokens": ("counter", "{token}", "otel_eval_judge_tokens_total"),
    "otel_eval.judge.cost": ("counter", "{USD}", "otel_eval_judge_cost_total"),
    "otel_eval.backlog.evaluations": ("gauge", "{evaluation}", "otel_eval_backlog_evaluations"),
    "otel_eval.backlog.age": ("gauge", "s", "otel_eval_backlog_age_seconds"),
    "otel_eval.spans.received": ("counter", "{span}", "otel_eval_spans_received_total"),
    "otel_eval.spans.dropped": ("counter", "{span}", "otel_eval_spans_dropped_total"),
}


@pytest.mark.parametrize("name", CONTRACT)
def test_the_contracts_instruments_are_declared(name):
    """Kind and unit of each, and the name that dashboards and alerts are written for."""
    kind, unit, prometheus = CONTRACT[name]
    assert (BY_NAME[name].kind, BY_NAME[name].unit) == (kind, unit)
    assert in_prometheus(name) == prometheus


def test_everything_declared_is_made_with_its_unit_and_description():
    """Whatever is in the table arrives as it is declared there."""
    reader = InMemoryMetricReader()
    recorder = MeterRecorder(reader, resource=Resource({}))
    for instrument in INSTRUMENTS:
        recorder.record(instrument.name, 1, dict.fromkeys(instrument.labels, "x"))
    made = {metric.name: (metric.unit, metric.description) for metric in metrics(reader.get_metrics_data())}
    assert made == {instrument.name: (instrument.unit, instrument.description) for instrument in INSTRUMENTS}
    recorder.close()


def metrics(data):
    return [
        metric for resource in data.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics
    ]


def values(read, name, label="gen_ai.agent.name"):
    data = read.get_metrics_data() if isinstance(read, InMemoryMetricReader) else read
    (metric,) = [metric for metric in metrics(data) if metric.name == name]
    summed = defaultdict(float)
    for point in metric.data.data_points:
        summed[point.attributes.get(label)] += point.value
    return dict(summed)
