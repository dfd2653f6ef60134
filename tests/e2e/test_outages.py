"""Several otel-evals, and one that is killed: on real processes, every Interaction is judged once, and whole."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path

import yaml

from .parts import DEPLOY, Answered, Collector, Part, ask_the_agent, free_ports, plain, serve, until

COLLECTOR = DEPLOY / "collector"
RUNS = 20


def otel_eval(folder: Path, name: str, port: int, verdicts: str) -> Part:
    """An otel-eval with a directory of its own and one exact evaluator."""
    config = folder / f"{name}.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "receivers": {"otlp": {"grpc": {"endpoint": f"127.0.0.1:{port}"}, "http": {"enabled": False}}},
                "exporters": {"otlp": {"endpoint": verdicts}},
                "storage": {"directory": str(folder / name)},
                "evaluators": {
                    "looks-up-the-order": {"check": {"should_call_tool": "get_order"}, "agents": ["support-agent"]}
                },
            }
        )
    )
    return serve(config, folder, name=name)


def wait_ready(part: Part) -> None:
    part.until("otel-eval is ready", lambda: part.output().count("otel-eval is ready"))


def events(collector: Collector) -> list[tuple[str, int, str, str]]:
    """Trace id, revision, outcome and replica of each evaluation event that the collector has."""
    return [
        (
            each["traceId"],
            int(said["otel_eval.revision"]),
            said["otel_eval.outcome"],
            each["resource"]["service.instance.id"],
        )
        for each in collector.log_records()
        if each.get("eventName") == "gen_ai.evaluation.result"
        for said in (plain(each["attributes"]),)
    ]


def current(collector: Collector) -> dict[str, str]:
    """Each trace's outcome at its newest revision. What a queue delivers again after an outage may be out of order, so an
    Interaction may be judged first without a span that was on its way, and again when it came."""
    return {trace_id: outcome for trace_id, _, outcome, _ in sorted(events(collector))}


def expected(answered: Answered) -> dict[str, str]:
    """What the outcomes should be."""
    return dict.fromkeys(answered.careful, "passed") | dict.fromkeys(answered.careless, "failed")


def test_replicas_share_the_traces_and_each_is_judged_once(tmp_path: Path) -> None:
    """Three replicas behind the load-balancing exporter: each Interaction is judged by one of them, once at each revision
    (a span that a busy machine delays makes another), and all by several."""
    ports = free_ports(3)
    environment = {"TRACES_ENDPOINT": "127.0.0.1:1"} | {
        f"OTEL_EVAL_{index}": f"127.0.0.1:{port}" for index, port in enumerate(ports)
    }
    collector = Collector(tmp_path, overlays=[COLLECTOR / "replicas.yaml"], environment=environment)
    replicas = [
        otel_eval(tmp_path, f"otel-eval-{index}", port, collector.verdicts_endpoint) for index, port in enumerate(ports)
    ]
    with ExitStack() as stack:
        for part in (collector.part, *replicas):
            stack.enter_context(part)
        collector.wait_ready()
        for each in replicas:
            wait_ready(each)
        answered = ask_the_agent(collector, RUNS)
        until("all are judged", lambda: current(collector) == expected(answered), timeout=90)
    found = events(collector)
    assert current(collector) == expected(answered)
    assert len({(trace_id, revision) for trace_id, revision, _, _ in found}) == len(found), "judged once each"
    assert len({(trace_id, replica) for trace_id, _, _, replica in found}) == RUNS, "by one replica each"
    assert len({replica for _, _, _, replica in found}) > 1


def test_nothing_is_lost_when_otel_eval_is_killed(tmp_path: Path) -> None:
    """kill -9 amid the agent's answers, started again after them: every Interaction has its verdict, the right one."""
    (port,) = free_ports(1)
    environment = {
        "TRACES_ENDPOINT": "127.0.0.1:1",
        "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{port}",
        "QUEUE_DIRECTORY": str(tmp_path / "queue"),
    }
    collector = Collector(tmp_path, overlays=[COLLECTOR / "persistent-queue.yaml"], environment=environment)
    server = otel_eval(tmp_path, "otel-eval", port, collector.verdicts_endpoint)
    with collector.part:
        collector.wait_ready()
        with server:
            wait_ready(server)
            answered = ask_the_agent(collector, RUNS)
            server.stop(with_signal=signal.SIGKILL)
        answered += ask_the_agent(collector, RUNS)
        with server:
            server.until("all are judged", lambda: current(collector) == expected(answered), timeout=90)
