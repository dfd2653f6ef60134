"""The dispatcher with evaluators and judges as a configuration makes them; only the model is scripted."""

from __future__ import annotations

import json

from otel_eval.config import build_evaluators, build_judges, parse
from otel_eval.dispatch import Dispatcher
from otel_eval.judges import JudgeUnavailable, ModelAnswer, ModelRequest
from otel_eval.ledger import AsyncLedger
from otel_eval.outcome import Cause
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import GUARD, Pipeline, arrived, until

CONFIG = """
dispatch: {max_wait: 10m}
judge_models:
  one: {model: p/one}
  two: {model: p/two}
evaluators:
  kind: {judge: {criterion: the reply is kind}, judge_model: one, agents: ["*"]}
  toxicity: {builtin: toxicity, judge_model: two, agents: ["*"]}
  ok: {check: {reply_should_contain: delivered}, agents: ["*"]}
"""


async def test_an_outage_of_one_model_leaves_the_others_alone(pipeline: Pipeline) -> None:
    """The real evaluators let the outage through; after max_wait it is inconclusive, with criterion and cause."""
    asked: list[str] = []

    async def complete(request: ModelRequest) -> ModelAnswer:
        asked.append(request.model)
        if "Criterion:" in request.user:
            raise JudgeUnavailable("HTTP 503: overloaded", model=request.model)
        return ModelAnswer(
            text=json.dumps({"explanation": "nice", "label": "non-toxic"}),
            model="two-0125",
            input_tokens=9,
            cost_usd=0.1,
        )

    config = parse(CONFIG, {})
    ledger = await AsyncLedger.open(pipeline.url)
    judges = build_judges(config, complete=complete, clock=pipeline.clock, guard=GUARD, recorder=pipeline.counts)
    dispatcher = Dispatcher(
        config=config, evaluators=build_evaluators(config), ledger=ledger, guard=GUARD, clock=pipeline.clock,
        recorder=pipeline.counts, judges=judges,
    )  # fmt: skip
    with ledger.listening(pipeline.stored):
        async with dispatcher:
            await dispatcher.accept([arrived(interaction())])
            first = {record.evaluator: record for record in await pipeline.ended(2)}
            await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
            await pipeline.clock.run_for(590)
            assert len(pipeline.records) == 2
            await pipeline.clock.run_for(15)
            last = (await pipeline.ended(3))[2]
    await ledger.close()
    assert {name: record.outcome.name for name, record in first.items()} == {"ok": "passed", "toxicity": "passed"}
    [call] = first["toxicity"].judge_calls
    assert (call.requested_model, call.answered_model) == ("p/two", "two-0125")
    counted = {name: value for name, value in pipeline.counts.by if name.startswith("otel_eval.judge.")}
    assert pipeline.counts.by["otel_eval.judge.tokens", "p/two"] == 9
    assert counted["otel_eval.judge.cost"] == "p/two"
    assert counted["otel_eval.judge.paused"] == "p/one"
    assert GUARD.owns_text(first["toxicity"].judge_calls[0].system_message or "")
    assert last.outcome.cause is Cause.JUDGE_UNAVAILABLE
    assert last.describe() == (
        "INCONCLUSIVE judge: the reply is kind: the judge's model was not available for 10m: HTTP 503: overloaded"
    )
