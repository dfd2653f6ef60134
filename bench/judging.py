"""What a judged Interaction costs in CPU, against a bare ``litellm.acompletion`` of the same messages to the same model.

``python -m bench.judging`` runs both in one process, round by round in turn, against a scripted model on loopback in
another. Ours is the whole way: an assembled Interaction is stored, waits in the ledger, is judged, its record stored, and
its span and event exported. CPU is of all threads of the process; the best round of each counts, and the medians are told
beside it, since other work on the machine adds to either.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.exact import Completed, Took, interactions
from bench.neighbours import Neighbours, neighbours
from otel_eval.clock import SystemClock
from otel_eval.config import Config, build_evaluators, build_judges, parse
from otel_eval.config.build import redaction
from otel_eval.dispatch import Dispatcher
from otel_eval.emit.emission import Emission, EmissionSettings
from otel_eval.emit.settings import ExporterSettings
from otel_eval.judges import ModelJudge, litellm_import, prompts
from otel_eval.ledger import AsyncLedger
from otel_eval.ledger.model import Stored
from otel_eval.loop_guard import LoopGuard

MODEL = "openai/scripted"
LISTED = "openai/gpt-4o-mini"
"""A model whose price litellm knows, which makes its calls cheaper: it searches for one otherwise."""

CONCURRENCY = 8
CRITERION = "the reply apologizes and states the refunded amount"


def configuration(around: Neighbours) -> Config:
    """One criterion judge for every agent."""
    model = {
        "model": MODEL, "api_base": around.model, "api_key": "none", "max_concurrency": CONCURRENCY,
        "daily_budget_usd": 1000, "price_per_million_tokens": {"input": 1, "output": 4},
    }  # fmt: skip
    evaluators = {"apologizes": {"judge": {"criterion": CRITERION}, "agents": ["*"]}}
    return parse({"judge_models": {"default": model}, "evaluators": evaluators}, {})


async def ours(completed: Sequence[Completed], around: Neighbours) -> Took:
    """Dispatcher, judges with a budget, ledger on disk, outbox and exporters, as the server wires them."""
    config, guard, clock = configuration(around), LoopGuard(b"sixteen bytes at least"), SystemClock()
    left, ended = len(completed), asyncio.Event()

    def count(stored: tuple[Stored, ...]) -> None:
        nonlocal left
        left -= len(stored)
        if left == 0:
            ended.set()

    with tempfile.TemporaryDirectory(prefix="otel-eval-bench-") as directory:
        settings = EmissionSettings(exporter=ExporterSettings(endpoint=around.collector), instance="bench")
        emission = Emission(settings, guard=guard, redact=redaction(config).text, environ={})
        async with (
            await AsyncLedger.open(f"sqlite:///{Path(directory) / 'ledger.db'}") as ledger,
            emission.running(ledger, clock),
        ):
            judges = build_judges(config, clock=clock, recorder=emission.recorder, guard=guard, budget_store=ledger)
            dispatcher = Dispatcher(
                config=config, evaluators=build_evaluators(config), ledger=ledger, guard=guard, clock=clock,
                recorder=emission.recorder, judges=judges,
            )  # fmt: skip
            async with dispatcher:
                with ledger.listening(count):
                    began, cpu = time.perf_counter(), time.process_time()
                    await dispatcher.accept(completed)
                    await ended.wait()
                    while await ledger.outbox_size():  # noqa: ASYNC110 - what is waited for is another process's answer
                        await asyncio.sleep(0.01)
                    took = Took(time.process_time() - cpu, time.perf_counter() - began)
            await judges.aclose()
    return took


async def bare(completed: Sequence[Completed], around: Neighbours, model: str = MODEL) -> Took:
    """The same messages, as often, at the same concurrency, and nothing else."""
    litellm = await litellm_import.imported()
    judge, places = ModelJudge(), asyncio.Semaphore(CONCURRENCY)
    schema = {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": prompts.VERDICT_SCHEMA},
    }

    async def ask(one: Completed) -> None:
        async with places:
            await litellm.acompletion(
                model=model,
                api_base=around.model,
                api_key="none",
                messages=[
                    {"role": "system", "content": judge.system_message()},
                    {"role": "user", "content": judge.user_message(CRITERION, one.interaction)},
                ],
                response_format=schema,
                max_tokens=2000,
                timeout=30,
            )

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(ask(one) for one in completed))
    took = Took(time.process_time() - cpu, time.perf_counter() - began)
    await litellm.close_litellm_async_clients()
    return took


def main() -> None:
    """Rounds of both in turn, after one of each that does not count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interactions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", help="write a cProfile of one round of ours there, and measure nothing")
    given = parser.parse_args()
    mine, floor, priced = [], [], []
    with neighbours() as around:
        asyncio.run(bare(interactions(10), around))
        asyncio.run(ours(interactions(10), around))
        # As the server does. litellm leaves half a million objects: looking through them all once takes 0.3 s, which would
        # fall on a round of either at random.
        gc.collect()
        gc.freeze()
        if given.profile:
            import cProfile

            profile = cProfile.Profile()
            profile.runcall(lambda: asyncio.run(ours(interactions(given.interactions), around)))
            profile.dump_stats(given.profile)
            return
        for _ in range(given.rounds):
            floor.append(asyncio.run(bare(interactions(given.interactions), around)))
            priced.append(asyncio.run(bare(interactions(given.interactions), around, LISTED)))
            mine.append(asyncio.run(ours(interactions(given.interactions), around)))
    best, least = min(took.cpu for took in mine), min(took.cpu for took in floor)
    figures = {
        "judged_interactions": given.interactions,
        "cpu_ms_each": round(best / given.interactions * 1000, 2),
        "bare_acompletion_cpu_ms_each": round(least / given.interactions * 1000, 2),
        "ratio": round(best / least, 2),
        "ratio_to_a_call_of_a_model_that_litellm_prices": round(best / min(took.cpu for took in priced), 2),
        "medians_ms_each": [
            round(median(took.cpu for took in each) / given.interactions * 1000, 2) for each in (mine, floor)
        ],
        "ratio_of_medians": round(median(took.cpu for took in mine) / median(took.cpu for took in floor), 2),
        "load_average": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
