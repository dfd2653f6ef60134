"""The dispatcher with evaluators and judges as a configuration makes them; only the model is scripted."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace

from otel_eval.config import Config, build_evaluators, build_judges, parse
from otel_eval.dispatch import Dispatcher
from otel_eval.evaluators.criterion import JudgeEvaluator
from otel_eval.evaluators.label_judge import label_judge
from otel_eval.judges import CompletionFunction, JudgeUnavailable, ModelAnswer, ModelJudge, ModelRequest
from otel_eval.judges.budget import Spent, utc_day
from otel_eval.ledger import AsyncLedger
from otel_eval.outcome import Cause
from otel_eval.testing.interactions import interaction, tool_call
from tests.dispatch.kit import GUARD, Pipeline, arrived, until


@contextlib.asynccontextmanager
async def dispatching(pipeline: Pipeline, config: Config, complete: CompletionFunction) -> AsyncIterator[Dispatcher]:
    """A dispatcher of that configuration on the pipeline's ledger; ``complete`` answers for every model."""
    ledger = await AsyncLedger.open(pipeline.url)
    judges = build_judges(config, complete=complete, clock=pipeline.clock, guard=GUARD, recorder=pipeline.counts)
    dispatcher = Dispatcher(
        config=config, evaluators=build_evaluators(config), ledger=ledger, guard=GUARD, clock=pipeline.clock,
        recorder=pipeline.counts, judges=judges,
    )  # fmt: skip
    with ledger.listening(pipeline.stored):
        async with dispatcher:
            yield dispatcher
    await ledger.close()


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
    async with dispatching(pipeline, config, complete) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        first = {record.evaluator: record for record in await pipeline.ended(2)}
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        await pipeline.clock.run_for(590)
        assert len(pipeline.records) == 2
        await pipeline.clock.run_for(15)
        last = (await pipeline.ended(3))[2]
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


async def test_a_judge_is_asked_again_only_where_its_prompt_changes(pipeline: Pipeline) -> None:
    """A tool call that comes late is shown to the criterion judge, and not to the one that reads the reply alone."""
    asked: list[str] = []

    async def complete(request: ModelRequest) -> ModelAnswer:
        asked.append(request.model)
        verdict = (
            {"reason": "kind", "score": 1}
            if "Criterion:" in request.user
            else {"explanation": "nice", "label": "non-toxic"}
        )
        return ModelAnswer(text=json.dumps(verdict), model="m")

    config = parse(CONFIG, {})
    one = interaction(reply="delivered")
    async with dispatching(pipeline, config, complete) as dispatcher:
        await dispatcher.accept([arrived(one, "d1")])
        await pipeline.ended(3)
        await dispatcher.accept([arrived(replace(one, tool_calls=(tool_call("getOrder"),)), "d2")])
        await pipeline.ended(5)  # the exact one and the criterion judge
        await dispatcher.accept([arrived(replace(one, reply="never"), "d3")])
        await pipeline.ended(8)
    assert sorted(asked) == ["one", "one", "one", "two", "two"]


CHILD_SAFE = label_judge(
    "child-safe",
    system="Is the reply fit for children?",
    user="{reply}",
    labels={"pass": ["safe"], "fail": ["unsafe"]},
)
KIND = JudgeEvaluator(criterion="the reply is kind", judge=ModelJudge("one"))


async def test_a_judge_that_code_made_waits_as_one_of_the_configuration_does(pipeline: Pipeline) -> None:
    """It is no custom evaluator: it waits for its model, and the time for those does not end it."""
    down = True

    async def complete(request: ModelRequest) -> ModelAnswer:
        if down:
            raise JudgeUnavailable("HTTP 503: overloaded", model=request.model)
        said = {"explanation": "nice", "label": "safe"} if "label" in request.system else {"reason": "nice", "score": 1}
        return ModelAnswer(text=json.dumps(said), model="one-0125")

    uses = {
        "safe": {"use": "tests.dispatch.test_with_judges:CHILD_SAFE", "judge_model": "one", "agents": ["*"]},
        "kind": {"use": "tests.dispatch.test_with_judges:KIND", "agents": ["*"]},
    }
    config = parse({"judge_models": {"one": {"model": "p/one"}}, "evaluators": uses}, {})
    async with dispatching(pipeline, config, complete) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        await pipeline.clock.run_for(120)
        assert pipeline.records == []
        down = False
        await pipeline.clock.run_for(120)
        records = await pipeline.ended(2)
    assert {(record.evaluator, record.outcome.name) for record in records} == {("safe", "passed"), ("kind", "passed")}


BUDGETED = """
judge_models:
  dear: {model: p/dear, daily_budget_tokens: 1000}
  cheap: {model: p/cheap, daily_budget_tokens: 0}
evaluators:
  kind: {judge: {criterion: the reply is kind}, judge_model: dear, agents: ["*"]}
  ok: {check: {reply_should_contain: delivered}, agents: [checked]}
  never: {builtin: toxicity, judge_model: cheap, agents: [cheap]}
"""


async def test_what_a_spent_budget_keeps_from_being_judged_is_counted_so(pipeline: Pipeline) -> None:
    """As long as nothing else judges it; the record says why, and the next day's Interactions are evaluated again."""
    config = parse(BUDGETED, {})
    ledger = await AsyncLedger.open(pipeline.url)
    day = utc_day(pipeline.clock.now_ns())
    await ledger.add("dear", day, 0.0, 1000)
    judges = build_judges(config, clock=pipeline.clock, guard=GUARD, recorder=pipeline.counts, budget_store=ledger)
    dispatcher = Dispatcher(
        config=config, evaluators=build_evaluators(config), ledger=ledger, guard=GUARD, clock=pipeline.clock,
        recorder=pipeline.counts, judges=judges,
    )  # fmt: skip
    with ledger.listening(pipeline.stored):
        async with dispatcher:
            alone, checked, cheap = await dispatcher.accept(
                [arrived(interaction(agent=agent)) for agent in ("alone", "checked", "cheap")]
            )
            records = await pipeline.ended(5)
    await ledger.close()
    assert [each.disposition for each in (alone, checked, cheap)] == ["budget", "evaluated", "budget"]
    assert pipeline.counts.by["otel_eval.interactions", "budget"] == 2
    judged = {record.evaluator: record.outcome for record in records if record.evaluator != "ok"}
    assert {outcome.cause for outcome in judged.values()} == {Cause.BUDGET_SPENT}  # type: ignore[union-attr]
    assert "budget spent: dear may use 1000 tokens a day (UTC)" in judged["kind"].reason  # type: ignore[union-attr]


class Unreadable:
    """A budget store that is down."""

    async def spent(self, model: str, day: str) -> Spent:
        raise OSError("the disk is gone")

    async def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        raise OSError("the disk is gone")


async def test_with_what_is_left_of_a_budget_it_is_evaluated(pipeline: Pipeline) -> None:
    """Yesterday's spending, a model without a budget and a store that cannot be read keep nobody from being judged."""
    config = parse(BUDGETED, {})
    ledger = await AsyncLedger.open(pipeline.url)
    await ledger.add("dear", utc_day(pipeline.clock.now_ns() - 86_400 * 10**9), 0.0, 1000)
    judges = build_judges(config, clock=pipeline.clock, budget_store=ledger)
    assert not await judges.budget_spent("dear")
    assert not await judges.budget_spent("p/unknown")
    await ledger.add("dear", utc_day(pipeline.clock.now_ns()), 0.0, 1000)
    pipeline.clock.advance(2)
    assert await judges.budget_spent("dear")
    await ledger.close()
    unread = build_judges(config, budget_store=Unreadable())
    given = build_judges(config, budget_store=ledger, complete=lambda system, user: "")
    assert [await each.budget_spent("dear") for each in (unread, given)] == [False, False]
