"""The whole pipeline on real parts: agent (Pydantic AI) -> collector -> otel-eval -> collector -> Prometheus and Jaeger.

One run for the whole module: the example agent answers questions and is careless one time in four; exact evaluators and a
judge, whose model is a server on loopback, find that out; what comes of it is looked for in each place a person would look.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from otel_eval.testing.models import verdict
from otel_eval.testing.scripted_model import ModelRequest, ScriptedModel

from .parts import (
    DEPLOY,
    Answered,
    Collector,
    Jaeger,
    Prometheus,
    ask_the_agent,
    free_ports,
    plain,
    serve,
    until,
)

WARM_UP, RUNS = 8, 24
AGENT = 'gen_ai_agent_name="support-agent", otel_eval_target_service="shop", otel_eval_target_environment="e2e"'
DASHBOARDS = sorted((DEPLOY / "grafana" / "dashboards").glob("*.json"))
VARIABLES = {
    "$__rate_interval": "5m",
    "${window}": "5m",
    "$window": "5m",
    "$service": ".*",
    "$environment": ".*",
    "$agent": ".*",
    "$evaluator": ".*",
    "$instance": ".*",
}


@dataclass(frozen=True, slots=True)
class Run:
    """The parts, and what the agent answered."""

    jaeger: Jaeger
    collector: Collector
    prometheus: Prometheus
    answered: Answered


def judge(request: ModelRequest) -> str:
    """A model that reads what it was sent: an answer that was looked up is grounded, another is not."""
    return verdict(0.9 if "I looked it up" in request.user else 0.1)


def configuration(grpc: int, http: int, verdicts: str, folder: Path, model: str) -> dict[str, Any]:
    """otel-eval's configuration, reports each second."""
    return {
        "receivers": {
            "otlp": {"grpc": {"endpoint": f"127.0.0.1:{grpc}"}, "http": {"endpoint": f"127.0.0.1:{http}"}},
        },
        "exporters": {"otlp": {"endpoint": verdicts}},
        "storage": {"directory": str(folder / "otel-eval-data")},
        # A busy machine may hold a span back for a second.
        "completion": {"settle": "3s", "settle_across_processes": "5s"},
        "emit": {"metrics_interval": "1s"},
        "judge_models": {
            "default": {
                "model": "openai/scripted",
                "api_base": model,
                "api_key": "none",
                "price_per_million_tokens": {"input": 1, "output": 1},
            }
        },
        "evaluators": {
            "looks-up-the-order": {"check": {"should_call_tool": "get_order"}, "agents": ["support-agent"]},
            "tells-the-state": {
                "check": {"tool_result_should_contain": ["get_order", "delivered"]},
                "agents": ["support-agent"],
            },
            "grounded": {
                "judge": {"criterion": "the reply states only what the tools returned", "threshold": 0.7},
                "agents": ["support-agent"],
            },
        },
    }


def ended(prometheus: Prometheus) -> float:
    """How many evaluations have ended, as Prometheus knows."""
    return prometheus.value("sum(otel_eval_evaluations_total)") or 0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Start everything, let the agent answer, and wait until Prometheus has all that came of it."""
    folder = tmp_path_factory.mktemp("pipeline")
    grpc, http = free_ports(2)
    overlay = folder / "fast.yaml"
    overlay.write_text("connectors: {span_metrics: {metrics_flush_interval: 1s}}\n")
    jaeger = Jaeger(folder)
    environment = {"TRACES_ENDPOINT": jaeger.otlp_endpoint, "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{grpc}"}
    collector = Collector(folder, overlays=[overlay], environment=environment)
    prometheus = Prometheus(folder, collector)
    with ExitStack() as stack:
        model = stack.enter_context(ScriptedModel(judge))
        config = folder / "otel-eval.yaml"
        config.write_text(
            yaml.safe_dump(configuration(grpc, http, collector.verdicts_endpoint, folder, model.base_url))
        )
        otel_eval = serve(config, folder)
        for part in (jaeger.part, collector.part, prometheus.part, otel_eval):
            stack.enter_context(part)
        for each in (jaeger, collector, prometheus):
            each.wait_ready()
        otel_eval.until("otel-eval is ready", lambda: "otel-eval is ready" in otel_eval.output())
        # A counter that is born has not increased, so Prometheus has to have seen each before the run that is looked at.
        answered = ask_the_agent(collector, WARM_UP)
        until("the warm-up is judged", lambda: ended(prometheus) == 3 * WARM_UP, timeout=90)
        answered += ask_the_agent(collector, RUNS)
        until("everything is judged", lambda: ended(prometheus) == 3 * (WARM_UP + RUNS), timeout=90)
        # Rules look at what was scraped before them.
        evaluator = 'otel_eval:conclusive:increase5m{gen_ai_evaluation_name="looks-up-the-order"}'
        until("the rules have seen it", lambda: (prometheus.value(evaluator) or 0) >= 0.9 * RUNS)
        yield Run(jaeger, collector, prometheus, answered)


def test_the_evaluation_span_is_in_the_agents_trace(run: Run) -> None:
    """In the trace backend: the agent's span, below it an evaluation span for each evaluator, below one the judge's call."""
    trace_id = run.answered.careless[0]
    spans = {span["operationName"]: span for span in run.jaeger.spans(trace_id)}
    agent = spans["invoke_agent support-agent"]
    for evaluator in ("looks-up-the-order", "tells-the-state", "grounded"):
        span = spans[f"evaluation {evaluator}"]
        (parent,) = span["references"]
        assert (parent["refType"], parent["spanID"]) == ("CHILD_OF", agent["spanID"])
        assert span["tags"]["otel.scope.name"] == "otel_eval"
    assert spans["evaluation looks-up-the-order"]["tags"]["otel_eval.outcome"] == "failed"
    assert spans["evaluation tells-the-state"]["tags"]["otel_eval.outcome"] == "inconclusive"
    below = [
        span
        for span in spans.values()
        for parent in span["references"]
        if parent["spanID"] == spans["evaluation grounded"]["spanID"]
    ]
    (asked,) = below
    assert asked["tags"]["gen_ai.operation.name"] == "chat"
    assert asked["tags"]["gen_ai.usage.input_tokens"] > 0


def test_the_event_is_in_the_collectors_file(run: Run) -> None:
    """In the collector's output: a `gen_ai.evaluation.result` for each evaluation, on the span that was judged."""
    found = [each for each in run.collector.log_records() if each.get("eventName") == "gen_ai.evaluation.result"]
    judged = {(each["traceId"], plain(each["attributes"])["gen_ai.evaluation.name"]) for each in found}
    assert len(judged) == 3 * (WARM_UP + RUNS)
    trace_id = run.answered.careless[0]
    agent = next(each for each in run.jaeger.spans(trace_id) if each["operationName"] == "invoke_agent support-agent")
    on_the_span = [each for each in found if (each["traceId"], each["spanId"]) == (trace_id, agent["spanID"])]
    events = {event["gen_ai.evaluation.name"]: event for event in (plain(each["attributes"]) for each in on_the_span)}
    assert set(events) == {"looks-up-the-order", "tells-the-state", "grounded"}
    assert events["grounded"]["gen_ai.evaluation.score.value"] == 0.1
    assert events["grounded"]["gen_ai.evaluation.score.label"] == "fail"
    assert events["grounded"]["otel_eval.interaction.id"] == f"{trace_id}-{agent['spanID']}"


def test_the_pass_rate_is_in_prometheus(run: Run) -> None:
    """The recorded pass rate is that of the agent, its bounds lie around it, and what is inconclusive lowers coverage."""
    labels = f'{AGENT}, gen_ai_evaluation_name="looks-up-the-order"'
    rate = run.prometheus.value(f"otel_eval:pass_rate:ratio5m{{{labels}}}")
    assert rate == pytest.approx(0.75, abs=0.05)
    lower = run.prometheus.value(f"otel_eval:pass_rate_lower:ratio5m{{{labels}}}")
    upper = run.prometheus.value(f"otel_eval:pass_rate_upper:ratio5m{{{labels}}}")
    assert lower is not None
    assert upper is not None
    assert 0.5 < lower < rate < upper < 0.95
    assert run.prometheus.value(f"otel_eval:coverage:ratio5m{{{labels}}}") == pytest.approx(1)
    partly = f'{AGENT}, gen_ai_evaluation_name="tells-the-state"'
    assert run.prometheus.value(f"otel_eval:coverage:ratio5m{{{partly}}}") == pytest.approx(0.75, abs=0.05)
    assert run.prometheus.value(f"otel_eval:pass_rate:ratio5m{{{partly}}}") == pytest.approx(1)


def test_counters_say_exactly_what_happened(run: Run) -> None:
    """Counted once each: every Interaction, every outcome of every evaluator; nothing of the judge's own telemetry."""
    outcomes = {
        (sample["metric"]["gen_ai_evaluation_name"], sample["metric"]["otel_eval_outcome"]): float(sample["value"][1])
        for sample in run.prometheus.query(f"otel_eval_evaluations_total{{{AGENT}}} > 0")
    }
    careful, careless = len(run.answered.careful), len(run.answered.careless)
    assert outcomes == {
        ("looks-up-the-order", "passed"): careful,
        ("looks-up-the-order", "failed"): careless,
        ("tells-the-state", "passed"): careful,
        ("tells-the-state", "inconclusive"): careless,
        ("grounded", "passed"): careful,
        ("grounded", "failed"): careless,
    }
    assert run.prometheus.value("sum(otel_eval_interactions_total)") == careful + careless
    assert run.prometheus.value("sum(otel_eval_judge_cost_total)") > 0


def test_reasons_for_no_verdict_are_counted(run: Run) -> None:
    """Each evaluation without a verdict is counted with its reason, as the alerts on telemetry and judges need it."""
    labels = f'{AGENT}, gen_ai_evaluation_name="tells-the-state", otel_eval_outcome="inconclusive"'
    without = f"sum by (otel_eval_reason) (otel_eval_evaluation_without_verdict_total{{{labels}}}) > 0"
    counted = {each["metric"]["otel_eval_reason"]: float(each["value"][1]) for each in run.prometheus.query(without)}
    assert counted == {"depends_on_other_check": len(run.answered.careless)}


def test_what_an_evaluators_judge_costs_is_counted(run: Run) -> None:
    """The cost of one evaluator's judge calls is that of the model that it asks."""
    cost = run.prometheus.value(f'sum(otel_eval_evaluation_cost_total{{{AGENT}, gen_ai_evaluation_name="grounded"}})')
    assert cost == pytest.approx(run.prometheus.value("sum(otel_eval_judge_cost_total)"))


@pytest.mark.parametrize(
    "series",
    [
        "otel_eval_evaluations_total",
        "otel_eval_evaluation_score_bucket",
        "otel_eval_evaluation_duration_seconds_bucket",
    ],
)
def test_an_exemplar_leads_to_the_judged_trace(run: Run, series: str) -> None:
    """Points of these series carry the span that was judged, and the trace backend has it."""
    found = until(f"{series} has exemplars", lambda: run.prometheus.exemplars(f"{series}{{{AGENT}}}"))
    for exemplar in found:
        assert exemplar["labels"]["trace_id"] in run.answered.traces
    newest = found[-1]["labels"]
    assert newest["span_id"] in {span["spanID"] for span in run.jaeger.spans(newest["trace_id"])}


def test_span_metrics_are_about_agents_only(run: Run) -> None:
    """The collector's span metrics count the agent's spans and not one of ours."""
    names = until(
        "span metrics",
        lambda: {sample["metric"]["span_name"] for sample in run.prometheus.query("traces_span_metrics_calls_total")},
    )
    assert names == {"POST /support", "invoke_agent support-agent", "execute_tool get_order", "chat function:scripted:"}


def test_the_rules_evaluate_and_the_ticket_is_on_its_way(run: Run) -> None:
    """No rule fails; a quarter of the answers made up is over the ticket's limit, under the page's."""
    assert run.prometheus.rule_health() == {}
    pending = f'ALERTS{{alertname="OtelEvalPassRateLow", gen_ai_evaluation_name="looks-up-the-order", {AGENT}}}'
    (alert,) = until("the ticket is pending", lambda: run.prometheus.query(pending))
    assert alert["metric"]["severity"] == "ticket"
    assert run.prometheus.query('ALERTS{alertname="OtelEvalPassRateFallsFast"}') == []


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_has_data(run: Run, path: Path) -> None:
    """Each query of each panel, its variables filled in as Grafana would, gives series that are not empty."""
    empty = []
    for panel in json.loads(path.read_text())["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            assert "$" not in expression, expression
            samples = run.prometheus.query(expression)
            if not samples or all(sample["value"][1] == "NaN" for sample in samples):
                empty.append(f"{panel['title']}: {expression}")
    assert empty == []


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_variable_has_values(run: Run, path: Path) -> None:
    """Each variable that asks for the values of a label gets some."""
    for variable in json.loads(path.read_text())["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.+), ([a-z_]+)\)", variable["query"]).groups()  # type: ignore[union-attr]
            for name, value in VARIABLES.items():
                metric = metric.replace(name, value)
            assert [sample for sample in run.prometheus.query(metric) if sample["metric"].get(label)], variable["name"]


def test_a_replica_is_drained_when_it_has_nothing_left(run: Run) -> None:
    """deploy/kubernetes/drain.sh waits until journal, backlog and outbox are empty, and knows a replica from none."""
    (sample,) = run.prometheus.query("otel_eval_outbox_evaluations")
    script, url = str(DEPLOY / "kubernetes" / "drain.sh"), f"http://127.0.0.1:{run.prometheus.port}"
    drained = subprocess.run(
        [script, url, sample["metric"]["instance"], "110"], capture_output=True, text=True, check=False, timeout=115
    )
    assert drained.returncode == 0, drained.stdout + drained.stderr
    nobody = subprocess.run([script, url, "nobody"], capture_output=True, text=True, check=False, timeout=30)
    assert nobody.returncode == 2
