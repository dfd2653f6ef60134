"""Every alert fires on a real Prometheus for its real cause, for whom it is about and for nobody else.

The rules are those that ship, a minute made a second (and an hour a minute, a day an hour), so that three days pass in the
time of a test. Thresholds are as they are, but for the backlog's age.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from otel_eval.signals import Resource, Span
from otel_eval.testing.scripted_model import Refusal, ScriptedModel
from otel_eval.testing.spans import agent_span, span

from .parts import DEPLOY, Collector, Part, Prometheus, free_ports, send, serve, until

FASTER = {"m": "s", "h": "m", "d": "h"}
QUALITY = {"OtelEvalPassRateFallsFast", "OtelEvalPassRateLow", "OtelEvalPassRateErodes"}
PATIENCE = 120


def shortened(rules: str) -> str:
    """The rules with shorter windows, offsets and waits; the names of what is recorded stay."""
    rules = re.sub(r"\[(\d+)([mhd])\]", lambda found: f"[{found[1]}{FASTER[found[2]]}]", rules)
    rules = re.sub(r"\b(offset|for:) (\d+)([mhd])\b", lambda found: f"{found[1]} {found[2]}{FASTER[found[3]]}", rules)
    assert "_age_seconds) > 600" in rules or "backlog_age" not in rules
    return rules.replace("_age_seconds) > 600", "_age_seconds) > 10")


def prometheus_of(folder: Path, collector: Collector) -> Prometheus:
    """Prometheus with the shortened rules."""
    rules = folder / "rules"
    rules.mkdir()
    for path in (DEPLOY / "prometheus" / "rules").glob("*.yaml"):
        (rules / path.name).write_text(shortened(path.read_text()))
    return Prometheus(folder, collector, rules=rules)


def otel_eval(folder: Path, name: str, collector: Collector, port: int, **sections: Any) -> Part:
    """An otel-eval that reports each second."""
    document = {
        "receivers": {"otlp": {"grpc": {"endpoint": f"127.0.0.1:{port}"}, "http": {"enabled": False}}},
        "exporters": {"otlp": {"endpoint": collector.verdicts_endpoint}},
        "storage": {"directory": str(folder / f"{name}-data")},
        "completion": {"settle": "200ms", "settle_across_processes": "500ms", "late_window": "3s"},
        "emit": {"metrics_interval": "1s"},
        **sections,
    }
    config = folder / f"{name}.yaml"
    config.write_text(yaml.safe_dump(document))
    part = serve(config, folder, name=name)
    part.environment["OTEL_RESOURCE_ATTRIBUTES"] = f"service.instance.id={name}"
    return part


def overlay(folder: Path, **sections: Any) -> Path:
    """What the collector forgets as fast as Prometheus asks, and what else a test wants."""
    path = folder / "faster.yaml"
    path.write_text(yaml.safe_dump({"exporters": {"prometheus": {"metric_expiration": "5s"}}, **sections}))
    return path


def firing(prometheus: Prometheus) -> set[tuple[str, ...]]:
    """The alerts that fire: the name, and what each is about."""
    about = ("gen_ai_evaluation_name", "gen_ai_agent_name", "otel_eval_target_service", "otel_eval_target_environment")
    others = ("gen_ai_request_model", "otel_eval_reason", "instance")
    alerts = [each["metric"] for each in prometheus.query('ALERTS{alertstate="firing"}')]
    return {
        (alert["alertname"], *(alert[label] for label in (*about, *others) if alert.get(label))) for alert in alerts
    }


def becomes(prometheus: Prometheus, wanted: set[tuple[str, ...]]) -> None:
    """Wait until all of them have fired. What else has fired meanwhile is a failure."""
    seen: set[tuple[str, ...]] = set()

    def all_of_them() -> bool:
        seen.update(firing(prometheus))
        assert seen <= wanted, f"fires as well: {seen - wanted}"
        return seen == wanted

    try:
        until("all alerts fire", all_of_them, timeout=PATIENCE)
    except AssertionError as error:
        raise AssertionError(f"{error}; silent: {wanted - seen}") from None


def stays_silent(prometheus: Prometheus, seconds: float) -> None:
    """Nothing fires in that time."""
    pause = threading.Event()
    for _ in range(round(seconds)):
        assert firing(prometheus) == set()
        pause.wait(1)


@contextmanager
def again_and_again(collector: Collector, make: Callable[[], Iterable[Span]]) -> Iterator[None]:
    """Send what ``make`` gives, twice a second, meanwhile."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.5):
            send(collector, make())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def says(agent: str, reply: str | None, service: str = "shop", environment: str = "production") -> Span:
    """An answer of an agent."""
    resource = Resource({"service.name": service, "deployment.environment.name": environment})
    return agent_span(agent=agent, asked=None if reply is None else "Where is it?", reply=reply, resource=resource)


@pytest.mark.timeout(600)
def test_each_alert_fires_for_its_cause(tmp_path: Path) -> None:
    """From an otel-eval to which nobody sent anything, over one whose judging process dies, to one with every trouble."""
    (port,) = free_ports(1)
    environment = {"TRACES_ENDPOINT": "127.0.0.1:1", "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{port}"}
    collector = Collector(tmp_path, overlays=[overlay(tmp_path)], environment=environment)
    prometheus = prometheus_of(tmp_path, collector)
    with ExitStack() as stack:
        down, rambling = (
            stack.enter_context(ScriptedModel(step)) for step in (Refusal(503), "I would rather not say.")
        )
        models = {
            "down": {"model": "openai/down", "api_base": down.base_url, "max_retries": 0},
            "rambling": {"model": "openai/rambling", "api_base": rambling.base_url, "max_retries": 0},
            "broke": {"model": "openai/broke", "api_base": rambling.base_url, "daily_budget_tokens": 0},
        }
        finds_it = {"check": {"reply_should_contain": "It is here"}}
        server = otel_eval(
            tmp_path,
            "otel-eval",
            collector,
            port,
            judge_models={name: model | {"api_key": "none"} for name, model in models.items()},
            evaluators={
                "finds-it": finds_it | {"agents": ["finder"]},
                "speaks": finds_it | {"agents": ["mute"]},
                **{
                    f"judge-{name}": {
                        "judge": {"criterion": "the reply is polite"},
                        "judge_model": name,
                        "agents": [f"for-{name}"],
                    }
                    for name in models
                },
            },
        )
        for part in (collector.part, server, prometheus.part):
            stack.enter_context(part)
        collector.wait_ready()
        prometheus.wait_ready()
        server.until("otel-eval is ready", lambda: "otel-eval is ready" in server.output())
        until("it reports", lambda: prometheus.query("otel_eval_backlog_evaluations"))
        stays_silent(prometheus, 20)
        # What was never sent anything has nothing left, though not even its journal's size is told yet.
        drain = [str(DEPLOY / "kubernetes" / "drain.sh"), f"http://127.0.0.1:{prometheus.port}", "otel-eval", "60"]
        drained = subprocess.run(drain, capture_output=True, text=True, check=False, timeout=90)
        assert drained.returncode == 0, drained.stdout + drained.stderr

        with again_and_again(collector, lambda: [span("GET /")]):
            becomes(prometheus, {("OtelEvalNoInteractions",)})
        with again_and_again(collector, lambda: [says("nobody-judges-me", "Hello.")]):
            until("no more of that", lambda: not firing(prometheus))
            becomes(prometheus, {("OtelEvalNothingEvaluated",)})
        with again_and_again(collector, lambda: [says("finder", "It is here.")]):
            until("no more of that", lambda: not firing(prometheus))
            stays_silent(prometheus, 20)
            (judging,) = server.children
            os.kill(judging, signal.SIGKILL)
            restarted = ("OtelEvalJudgingRestarts", "otel-eval")
            becomes(prometheus, {restarted})

        closed = [says("finder", "It is here.") for _ in range(2)]
        send(collector, closed)
        threading.Event().wait(8)

        def trouble() -> list[Span]:
            """One agent by its name, three by their services and environments, one of which fails; and the others."""
            return [
                says("finder", "It is here."),
                says("finder", "It is here.", environment="staging"),
                says("finder", "I do not know.", service="warehouse"),
                says("mute", None),
                *(says(f"for-{name}", "Hello.") for name in models),
                *(span("late", parent=each) for each in closed),
            ]

        fails = ("finds-it", "finder", "warehouse", "production")
        whose = ("shop", "production")
        with again_and_again(collector, trouble):
            becomes(
                prometheus,
                {(alert, *fails) for alert in QUALITY}
                | {
                    ("OtelEvalTelemetryWithoutContent", "mute", *whose),
                    ("OtelEvalCoverageLow", "speaks", "mute", *whose),
                    ("OtelEvalCoverageLow", "judge-rambling", "for-rambling", *whose),
                    ("OtelEvalCoverageLow", "judge-broke", "for-broke", *whose),
                    ("OtelEvalNothingEvaluated", "for-down", *whose),
                    ("OtelEvalJudgeErrors", "judge-rambling"),
                    ("OtelEvalJudgePaused", "openai/down"),
                    ("OtelEvalBudgetSpent", "judge-broke"),
                    ("OtelEvalBacklogOld", "otel-eval"),
                    ("OtelEvalTelemetryDropped", "late"),
                    restarted,
                },
            )
        assert prometheus.rule_health() == {}


@pytest.mark.timeout(600)
def test_alerts_on_replicas_that_cannot_export_and_that_are_gone(tmp_path: Path) -> None:
    """A collector that takes metrics and no verdicts; then one replica of two is killed, then the other."""
    ports = free_ports(2)
    environment = {"TRACES_ENDPOINT": "127.0.0.1:1", "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{ports[0]}"}
    forgotten = {"traces/backend": {"receivers": ["otlp"]}, "logs/backend": {"receivers": ["otlp"]}}
    faster = overlay(tmp_path, service={"pipelines": forgotten})
    collector = Collector(tmp_path, overlays=[faster], environment=environment)
    prometheus = prometheus_of(tmp_path, collector)
    evaluators = {"finds-it": {"check": {"reply_should_contain": "It is here"}, "agents": ["finder"]}}
    one, other = (
        otel_eval(tmp_path, name, collector, port, evaluators=evaluators)
        for name, port in zip(("one", "other"), ports, strict=True)
    )
    with collector.part, prometheus.part, one, other:
        collector.wait_ready()
        prometheus.wait_ready()
        reporting = "count(otel_eval_backlog_evaluations)"
        until("both report", lambda: prometheus.value(reporting) == 2, timeout=60)
        send(collector, [says("finder", "It is here.") for _ in range(3)])
        stuck = ("OtelEvalVerdictsNotExported", "one")
        becomes(prometheus, {stuck})
        other.stop(with_signal=9)
        becomes(prometheus, {stuck, ("OtelEvalReplicaAbsent", "other")})
        one.stop(with_signal=9)
        until("nobody reports", lambda: ("OtelEvalAbsent",) in firing(prometheus), timeout=PATIENCE)
