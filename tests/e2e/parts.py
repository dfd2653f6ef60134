"""The real parts: where they are, how each is started, and what to ask them. Every port is free and on 127.0.0.1."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import httpx
import pytest
import yaml

from otel_eval.signals import LogRecord, Span
from otel_eval.testing.otlp import otlp_logs_request, otlp_request

REPOSITORY = Path(__file__).parents[2]
DEPLOY = REPOSITORY / "deploy"
CACHE = Path(
    os.environ.get("OTEL_EVAL_TOOLS") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "otel-eval-tools"
)

NOT_GIVEN = (16_000, 32_000)
"""Below the range that Linux gives ports from (32768 on)."""

T = TypeVar("T")


def tool(name: str) -> str:
    """The path of a real part; skips the test, in one line that says how to get it, where there is none."""
    cached = CACHE.expanduser() / "bin" / name
    found = str(cached) if cached.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"missing: {name} — run: make tools")
    return found


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, all different.

    Not those that the system gives to whoever asks for any (port 0, each outgoing connection): from the moment that they
    were found free until a part listens, it would give them to somebody else.
    """
    held: list[socket.socket] = []
    try:
        while len(held) < count:
            each = socket.socket()
            try:
                each.bind(("127.0.0.1", random.randrange(*NOT_GIVEN)))
            except OSError:
                each.close()
            else:
                held.append(each)
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


def until(what: str, check: Callable[[], T | None], *, timeout: float = 30.0, every: float = 0.1) -> T:
    """What ``check`` gives as soon as it gives something true. Raises AssertionError after ``timeout`` seconds.

    The parts are processes of others and announce nothing, so they are asked again and again.
    """
    pause, deadline = threading.Event(), time.monotonic() + timeout
    while True:
        try:
            found, trouble = check(), ""
        except httpx.TransportError as error:
            found, trouble = None, f" ({error})"
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {what}{trouble}")
        pause.wait(every)


class Part:
    """A process that runs until the ``with`` ends, its output in a file that a failure quotes."""

    def __init__(
        self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.command = list(command)
        self.folder = folder
        self.environment = dict(environment or {})
        self.log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Part:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, cwd=self.folder, env=os.environ | self.environment, stdout=log, stderr=log
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self, *, with_signal: int = signal.SIGTERM) -> int:
        """Signal it and wait until it is gone; its exit status. Kills after 20 seconds."""
        process = self._process
        assert process is not None, "never started"
        if process.poll() is None:
            process.send_signal(with_signal)
        try:
            return process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    @property
    def children(self) -> list[int]:
        """The pids of the processes that it has started and that run (Linux)."""
        assert self._process is not None, "never started"
        pid = self._process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def until(self, what: str, check: Callable[[], T | None], *, timeout: float = 30.0) -> T:
        """As :func:`until`, but a process that is gone fails at once, and a failure quotes the end of the output."""

        def alive() -> T | None:
            assert self._process is not None, "never started"
            if self._process.poll() is not None:
                raise AssertionError(f"{self.name} ended with {self._process.returncode}: {self.output()[-2000:]}")
            return check()

        try:
            return until(what, alive, timeout=timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.name} said: {self.output()[-2000:]}") from None

    def output(self) -> str:
        """All that it printed so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""


def plain(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    """OTLP/JSON attributes as a mapping."""
    return {pair["key"]: next(iter(pair["value"].values()), None) for pair in attributes}


def _answers(url: str) -> Callable[[], bool]:
    return lambda: httpx.get(url).status_code < 400


@dataclass(slots=True)
class Collector:
    """A collector that runs the repository's own configuration, its addresses set from outside as a user would."""

    folder: Path
    overlays: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    name: str = "otelcol"
    ports: list[int] = field(default_factory=lambda: free_ports(5))
    part: Part = field(init=False)

    def __post_init__(self) -> None:
        grpc, http, verdicts, prometheus, health = self.ports
        configs = [REPOSITORY / "collector-config.yaml", *self.overlays, self._test_overlay()]
        self.part = Part(
            self.name,
            [tool("otelcol"), *(f"--config={path}" for path in configs)],
            self.folder,
            {
                "OTLP_GRPC_LISTEN": f"127.0.0.1:{grpc}",
                "OTLP_HTTP_LISTEN": f"127.0.0.1:{http}",
                "VERDICTS_GRPC_LISTEN": f"127.0.0.1:{verdicts}",
                "PROMETHEUS_LISTEN": f"127.0.0.1:{prometheus}",
                "HEALTH_LISTEN": f"127.0.0.1:{health}",
                **self.environment,
            },
        )

    def _test_overlay(self) -> Path:
        """Logs to a file, since there is no log backend here; the collector's own metrics off, since their port is fixed."""
        overlay = self.folder / f"{self.name}-overlay.yaml"
        overlay.write_text(
            yaml.safe_dump(
                {
                    "exporters": {"file/logs": {"path": str(self.logs_file), "flush_interval": "200ms"}},
                    "service": {
                        "telemetry": {"metrics": {"level": "none"}},
                        "pipelines": {"logs/backend": {"exporters": ["file/logs"]}},
                    },
                }
            )
        )
        return overlay

    @property
    def logs_file(self) -> Path:
        return self.folder / f"{self.name}-logs.jsonl"

    @property
    def grpc_endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def http_endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports[1]}"

    @property
    def verdicts_endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports[2]}"

    @property
    def metrics_port(self) -> int:
        return self.ports[3]

    def log_records(self) -> list[dict[str, Any]]:
        """What is in the log file: each record as OTLP/JSON, with the attributes of its resource as ``resource``."""
        lines = self.logs_file.read_text().splitlines() if self.logs_file.exists() else []
        return [
            record | {"resource": plain(resource["resource"].get("attributes", []))}
            for line in lines
            for resource in json.loads(line)["resourceLogs"]
            for scope in resource["scopeLogs"]
            for record in scope["logRecords"]
        ]

    def wait_ready(self) -> None:
        self.part.until("the collector is healthy", _answers(f"http://127.0.0.1:{self.ports[4]}/"))


@dataclass(slots=True)
class Jaeger:
    """A trace backend in memory."""

    folder: Path
    ports: list[int] = field(default_factory=lambda: free_ports(7))
    part: Part = field(init=False)

    def __post_init__(self) -> None:
        flags = (
            "collector.otlp.grpc",
            "query.http-server",
            "collector.otlp.http",
            "collector.grpc-server",
            "collector.http-server",
            "query.grpc-server",
            "admin.http",
        )
        addresses = [f"--{flag}.host-port=127.0.0.1:{port}" for flag, port in zip(flags, self.ports, strict=True)]
        self.part = Part("jaeger", [tool("jaeger"), *addresses, "--memory.max-traces=1000"], self.folder)

    @property
    def otlp_endpoint(self) -> str:
        return f"127.0.0.1:{self.ports[0]}"

    def wait_ready(self) -> None:
        self.part.until("jaeger answers", _answers(f"http://127.0.0.1:{self.ports[1]}/api/services"))

    def spans(self, trace_id: str) -> list[dict[str, Any]]:
        """The spans of a trace as Jaeger tells them, tags as a mapping; none where it does not know the trace."""
        answer = httpx.get(f"http://127.0.0.1:{self.ports[1]}/api/traces/{trace_id}")
        if answer.status_code == 404:
            return []
        spans = [span for trace in answer.json()["data"] or () for span in trace["spans"]]
        return [span | {"tags": {tag["key"]: tag["value"] for tag in span["tags"]}} for span in spans]


@dataclass(slots=True)
class Prometheus:
    """Prometheus with the repository's own configuration and rules, asked often so that a test need not wait long."""

    folder: Path
    collector: Collector
    rules: Path = DEPLOY / "prometheus" / "rules"
    port: int = field(default_factory=lambda: free_ports(1)[0])
    part: Part = field(init=False)

    def __post_init__(self) -> None:
        configuration = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
        configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        configuration["rule_files"] = [str(self.rules / "*.yaml")]
        (scrape,) = configuration["scrape_configs"]
        scrape["static_configs"] = [{"targets": [f"127.0.0.1:{self.collector.metrics_port}"]}]
        target = self.folder / "prometheus.yaml"
        target.write_text(yaml.safe_dump(configuration))
        self.part = Part(
            "prometheus",
            [
                tool("prometheus"),
                f"--config.file={target}",
                f"--storage.tsdb.path={self.folder / 'prometheus'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--enable-feature=exemplar-storage",
            ],
            self.folder,
        )

    def wait_ready(self) -> None:
        self.part.until("prometheus is ready", _answers(f"http://127.0.0.1:{self.port}/-/ready"))

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples that an expression gives now."""
        answer = httpx.get(f"http://127.0.0.1:{self.port}/api/v1/query", params={"query": expression}).json()
        assert answer["status"] == "success", f"{expression}: {answer.get('error')}"
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def value(self, expression: str) -> float | None:
        """The one number that an expression gives; None where it gives nothing."""
        found = self.query(expression)
        assert len(found) <= 1, f"{expression} gives {len(found)} series"
        return float(found[0]["value"][1]) if found else None

    def exemplars(self, selector: str) -> list[dict[str, Any]]:
        """The exemplars of the last hour."""
        now = time.time()
        answer = httpx.get(
            f"http://127.0.0.1:{self.port}/api/v1/query_exemplars",
            params={"query": selector, "start": now - 3600, "end": now},
        ).json()
        assert answer["status"] == "success", f"{selector}: {answer.get('error')}"
        return [exemplar for series in answer["data"] for exemplar in series["exemplars"]]

    def rule_health(self) -> dict[str, str]:
        """Each rule's name with the error of its last evaluation, where there was one."""
        groups = httpx.get(f"http://127.0.0.1:{self.port}/api/v1/rules").json()["data"]["groups"]
        return {rule["name"]: rule["lastError"] for group in groups for rule in group["rules"] if rule.get("lastError")}


def send(collector: Collector, spans: Iterable[Span] = (), logs: Iterable[LogRecord] = ()) -> None:
    """Export as an agent does, over HTTP. Raises where the collector does not take it."""
    for path, body in (("traces", otlp_request(spans)), ("logs", otlp_logs_request(logs))):
        if body:
            answer = httpx.post(
                f"{collector.http_endpoint}/v1/{path}", content=body, headers={"content-type": "application/x-protobuf"}
            )
            answer.raise_for_status()


@dataclass(frozen=True, slots=True)
class Answered:
    """The traces of the example agent's answers: those that it looked up, and those that it made up."""

    careful: tuple[str, ...]
    careless: tuple[str, ...]

    @property
    def traces(self) -> frozenset[str]:
        return frozenset((*self.careful, *self.careless))

    def __add__(self, other: Answered) -> Answered:
        return Answered(self.careful + other.careful, self.careless + other.careless)


def ask_the_agent(collector: Collector, runs: int, *, careless: int = 4, interval: float = 0.2) -> Answered:
    """Let the example agent (deploy/example-agent) answer that many questions, one in ``careless`` made up."""
    answered = subprocess.run(
        [sys.executable, str(DEPLOY / "example-agent" / "agent.py")],
        env=os.environ
        | {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.grpc_endpoint,
            "OTEL_SERVICE_NAME": "shop",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=e2e",
            "RUNS": str(runs),
            "CARELESS": str(careless),
            "INTERVAL": str(interval),
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout.splitlines()
    hurried = tuple(line.split()[0] for line in answered if "quickly" in line)
    return Answered(tuple(line.split()[0] for line in answered if "quickly" not in line), hurried)


def serve(config: Path, folder: Path, *, name: str = "otel-eval") -> Part:
    """``otel-eval serve`` as a user starts it."""
    command = [str(Path(sys.executable).with_name("otel-eval")), "serve", "--config", str(config)]
    return Part(name, command, folder, {"LITELLM_LOCAL_MODEL_COST_MAP": "True"})
