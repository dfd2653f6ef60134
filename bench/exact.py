"""Exact evaluators, end to end: from the assembled Interaction to the committed record and the exported event.

``python -m bench.exact`` prints evaluations per second of CPU (of all threads of the process, so: on one core) and, from
the same run, what the SDK alone takes to make and export as many spans and log records with as many attributes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.neighbours import neighbours
from otel_eval.clock import SystemClock
from otel_eval.config import build_evaluators, parse
from otel_eval.dispatch import Dispatcher
from otel_eval.emit.emission import Emission, EmissionSettings
from otel_eval.emit.settings import ExporterSettings
from otel_eval.interaction import Interaction
from otel_eval.ledger import AsyncLedger
from otel_eval.loop_guard import LoopGuard
from otel_eval.testing.interactions import interaction, tool_call

EVALUATORS = {
    "looks-up-the-order": {"check": {"should_call_tool": "getOrder"}, "agents": ["*"]},
    "does-not-fail": {"check": "should_not_fail", "agents": ["*"]},
}
BATCH = 100
EXPORT_BATCH = 500


@dataclass(frozen=True, slots=True)
class Completed:
    """An Interaction as assembly hands it over."""

    interaction: Interaction
    digest: str


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of one round."""

    cpu: float
    wall: float


def interactions(count: int) -> list[Completed]:
    """Of a support agent: a question, two tool calls, a reply of two lines."""
    ended = time.time_ns()
    order = {"id": "o_9", "status": "delivered", "totalCents": 4999, "note": ""}
    made = (
        interaction(
            asked=f"Order o_{number} arrived broken. I want my money back.",
            reply="I am sorry the order arrived broken.\nI have refunded 49.99 to your card.",
            tool_calls=[
                tool_call("getOrder", {"orderId": "o_9"}, order),
                tool_call("issueRefund", {"orderId": "o_9", "amountCents": 4999}, {"reference": "ref_1"}),
            ],
            model_calls=3,
            started_ns=ended - 1_000_000_000,
            ended_ns=ended,
        )
        for number in range(count)
    )
    return [Completed(one, f"digest-{one.id}") for one in made]


async def ours(completed: Sequence[Completed], collector: str) -> Took:
    """Dispatcher, ledger on disk, outbox and exporters, as the server wires them."""
    config = parse({"evaluators": EVALUATORS}, {})
    guard, clock = LoopGuard(b"sixteen bytes at least"), SystemClock()
    with tempfile.TemporaryDirectory(prefix="otel-eval-bench-") as directory:
        settings = EmissionSettings(exporter=ExporterSettings(endpoint=collector), instance="bench")
        emission = Emission(settings, guard=guard, environ={})
        async with (
            await AsyncLedger.open(f"sqlite:///{Path(directory) / 'ledger.db'}") as ledger,
            emission.running(ledger, clock),
            Dispatcher(
                config=config, evaluators=build_evaluators(config), ledger=ledger, guard=guard, clock=clock,
                recorder=emission.recorder,
            ) as dispatcher,
        ):  # fmt: skip
            began, cpu = time.perf_counter(), time.process_time()
            for start in range(0, len(completed), BATCH):
                await dispatcher.accept(completed[start : start + BATCH])
            while await ledger.outbox_size():  # noqa: ASYNC110 - what is waited for is another process's answer
                await asyncio.sleep(0.005)
            return Took(time.process_time() - cpu, time.perf_counter() - began)


def sdk_alone(count: int, collector: str) -> Took:
    """The floor of any emission by the SDK: as many spans and log records, with as many attributes, made and exported."""
    from opentelemetry._logs import SeverityNumber
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    attributes: dict[str, Any] = {f"gen_ai.evaluation.attribute_{number}": f"value {number}" for number in range(13)}
    spans, logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
    tracer_provider, logger_provider = TracerProvider(shutdown_on_exit=False), LoggerProvider(shutdown_on_exit=False)
    tracer_provider.add_span_processor(SimpleSpanProcessor(spans))
    logger_provider.add_log_record_processor(SimpleLogRecordProcessor(logs))
    tracer, logger = tracer_provider.get_tracer("bench"), logger_provider.get_logger("bench")
    span_exporter = OTLPSpanExporter(endpoint=collector, insecure=True)
    log_exporter = OTLPLogExporter(endpoint=collector, insecure=True)
    began, cpu = time.perf_counter(), time.process_time()
    for start in range(0, count, EXPORT_BATCH):
        for _ in range(start, min(start + EXPORT_BATCH, count)):
            tracer.start_span("evaluation", attributes=attributes).end()
            logger.emit(
                severity_number=SeverityNumber.INFO, body="PASS", attributes=attributes, event_name="evaluation"
            )
        span_exporter.export(spans.get_finished_spans())
        log_exporter.export(logs.get_finished_logs())
        spans.clear()
        logs.clear()
    took = Took(time.process_time() - cpu, time.perf_counter() - began)
    span_exporter.shutdown()
    log_exporter.shutdown()
    return took


def main() -> None:
    """Rounds of both, one after the other; the best of each counts, since a busy machine only ever adds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interactions", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", help="write a cProfile of one round there, and measure nothing")
    given = parser.parse_args()
    evaluations = given.interactions * len(EVALUATORS)
    with neighbours() as around:
        if given.profile:
            import cProfile

            profile = cProfile.Profile()
            profile.runcall(lambda: asyncio.run(ours(interactions(given.interactions), around.collector)))
            profile.dump_stats(given.profile)
            return
        mine, floor = [], []
        for _ in range(given.rounds):
            mine.append(asyncio.run(ours(interactions(given.interactions), around.collector)))
            floor.append(sdk_alone(evaluations, around.collector))
    best, least = min(mine, key=lambda took: took.cpu), min(floor, key=lambda took: took.cpu)
    figures = {
        "evaluations": evaluations,
        "evaluations_per_cpu_second": round(evaluations / best.cpu),
        "evaluations_per_second": round(evaluations / min(took.wall for took in mine)),
        "sdk_alone_per_cpu_second": round(evaluations / least.cpu),
        "ratio_to_sdk_alone": round(least.cpu / best.cpu, 2),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
