"""A run: a real ``otel-eval serve`` judges a stream of Interactions, and is stopped and killed amid it.

The model that it asks is scripted (``script.py``) and lives here, in the process of the test, as does the collector that
its verdicts go to.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import yaml

from otel_eval.ledger import Ledger
from otel_eval.record import EvaluationRecord
from otel_eval.signals import LogRecord
from otel_eval.testing.metrics import Point
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.scripted_model import Bill, ScriptedModel
from otel_eval.testing.sink import Sink
from otel_eval.testing.spans import conversation
from tests.judges_run.script import CRITERION, CRITERION_TEXT, LABEL, Script
from tests.server.process import ServeProcess, serving

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
IN_A_REQUEST = 20
USD_PER_MILLION_IN, USD_PER_MILLION_OUT = 1.0, 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long, and where it is interrupted.

    ``stops`` are (share of the Interactions that were sent, share of the evaluations that have ended, kill or terminate).
    """

    interactions: int
    seed: int = 1
    concurrency: int = 16
    slowest: float = 0.3
    timeout: float = 2.0
    stops: Sequence[tuple[float, float, str]] = ((0.5, 0.25, "terminate"), (0.8, 0.6, "kill"))
    max_retries: int = 2
    patience: float = 60.0
    max_wait: float = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is left of a run, for the proofs. ``numbers`` are the Interactions' numbers by id."""

    plan: Plan
    script: Script
    billed: Bill
    numbers: dict[str, int]
    records: tuple[EvaluationRecord, ...]
    waiting: int
    booked_tokens: int
    booked_usd: float
    events: list[LogRecord]
    metrics: list[Point]
    exits: list[int]
    seconds: float
    in_flight_at_stops: list[int] = field(default_factory=list)

    @property
    def kills(self) -> int:
        """How often the server had no chance to say good-bye."""
        return sum(how == "kill" for _, _, how in self.plan.stops)


async def judged_run(directory: Path, plan: Plan) -> Run:
    """Send, judge, interrupt, and wait until every evaluation has ended. Raises TimeoutError after ``plan.patience``."""
    began = time.monotonic()
    script = Script(plan.seed, plan.slowest)
    numbers: dict[str, int] = {}
    exits: list[int] = []
    in_flight: list[int] = []
    async with Sink() as sink, ScriptedModel(script) as model:
        config = write_config(directory, plan, model, sink)
        for share_sent, share_ended, how in (*plan.stops, (1.0, 1.0, "terminate")):
            async with serving(config) as server:
                await send(server, range(len(numbers), round(plan.interactions * share_sent)), numbers)
                await ended(sink, round(2 * plan.interactions * share_ended), plan.patience)
                in_flight.append(model.in_flight)
                if how == "kill":
                    await server.kill()
                else:
                    exits.append(await server.terminate())
        with Ledger.open(f"sqlite:///{directory / 'data' / 'ledger.db'}", create=False) as ledger:
            booked = [ledger.spent("default", day) for day in _days(began)]
            return Run(
                plan=plan,
                script=script,
                billed=model.billed,
                numbers=numbers,
                records=tuple(ledger.records()),
                waiting=ledger.backlog().count,
                booked_tokens=sum(each.tokens for each in booked),
                booked_usd=sum(each.usd for each in booked),
                events=sink.log("gen_ai.evaluation.result"),
                metrics=sink.metrics,
                exits=exits,
                seconds=time.monotonic() - began,
                in_flight_at_stops=in_flight,
            )


def write_config(
    directory: Path, plan: Plan, model: ScriptedModel, sink: Sink, *, only_criterion: bool = False, **of_model: object
) -> Path:
    """A server on free ports whose judges ask that model; ``of_model`` are further settings of its entry."""
    config = directory / "otel-eval.yaml"
    listeners = {"grpc": {"endpoint": "127.0.0.1:0"}, "http": {"endpoint": "127.0.0.1:0"}}
    judge_model = {
        "model": "openai/scripted",
        "api_base": model.base_url,
        "api_key": "none",
        "max_concurrency": plan.concurrency,
        "timeout": f"{plan.timeout}s",
        "max_retries": plan.max_retries,
        "daily_budget_usd": 1_000_000,
        "price_per_million_tokens": {"input": USD_PER_MILLION_IN, "output": USD_PER_MILLION_OUT},
        **of_model,
    }
    sections: dict[str, Any] = {
        "receivers": {"otlp": listeners},
        "exporters": {"otlp": {"endpoint": sink.endpoint}},
        "storage": {"directory": str(directory / "data")},
        "completion": {"settle": "200ms", "settle_across_processes": "500ms"},
        "dispatch": {"shutdown_grace": "1s", "max_wait": f"{plan.max_wait}s"},
        "emit": {"metrics_interval": "500ms"},
        "judge_models": {"default": judge_model},
        "evaluators": {
            CRITERION: {"judge": {"criterion": CRITERION_TEXT}, "agents": ["*"]},
            LABEL: {"builtin": "toxicity", "agents": ["*"]},
        },
    }
    if only_criterion:
        del sections["evaluators"][LABEL]
    config.write_text(yaml.safe_dump(sections), encoding="utf-8")
    return config


async def send(server: ServeProcess, wanted: range, numbers: dict[str, int]) -> None:
    """Send these Interactions; they are in ``numbers`` once acknowledged."""
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        export = channel.unary_unary(EXPORT)
        for start in range(wanted.start, wanted.stop, IN_A_REQUEST):
            spans, sent = [], {}
            for number in range(start, min(start + IN_A_REQUEST, wanted.stop)):
                one = conversation(asked=f"Where is parcel {number}?", reply=f"Sorry, parcel {number} is late.")
                spans += one
                sent[f"{one[0].trace_id}-{one[0].span_id}"] = number
            await export(otlp_request(spans))
            numbers.update(sent)


async def ended(sink: Sink, count: int, patience: float) -> None:
    """Return once so many evaluations were reported as ended."""
    reported: set[tuple[object, object]] = set()
    read = 0

    def enough(sink: Sink) -> bool:
        nonlocal read
        logs = sink.logs
        reported.update(key_of(each) for each in logs[read:])
        read = len(logs)
        return len(reported) >= count

    await sink.wait_for(enough, timeout=patience)


def key_of(event: LogRecord) -> tuple[object, object]:
    """Interaction and evaluator of an event."""
    return event.attributes["otel_eval.interaction.id"], event.attributes["gen_ai.evaluation.name"]


def _days(began: float) -> list[str]:
    """The days (UTC) that the run was in."""
    now = time.time()
    moments = {now - (time.monotonic() - began), now}
    return sorted({time.strftime("%Y-%m-%d", time.gmtime(moment)) for moment in moments})
