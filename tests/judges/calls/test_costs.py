"""What calls cost: tokens as providers tell them, prices by list and by hand, budgets."""

from __future__ import annotations

import pytest

from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.judges import (
    JudgeConfigError,
    JudgeError,
    Judges,
    JudgeUnavailable,
    MemoryBudget,
    ModelJudge,
    Prices,
    litellm_bookkeeping,
    price_known,
)
from otel_eval.judges.budget import utc_day
from otel_eval.judges.litellm_client import LitellmModel
from otel_eval.judges.litellm_import import load
from otel_eval.outcome import Cause, Inconclusive, Passed
from otel_eval.testing.interactions import interaction
from otel_eval.testing.models import verdict
from otel_eval.testing.scripted_model import Answer, ScriptedModel
from tests.judges.calls.provider import REQUEST, completion, settings

pytestmark = pytest.mark.timeout(60)


def test_a_budget_in_dollars_needs_a_price(provider: ScriptedModel) -> None:
    """Without one it would never be spent; that is said before the first call."""
    with pytest.raises(JudgeConfigError, match="judge model spare: a budget in dollars needs a price"):
        Judges({"spare": settings(provider, model="openai/unheard-of", daily_budget_usd=5)})


async def test_a_budget_that_is_spent_ends_evaluations_inconclusive(provider: ScriptedModel) -> None:
    """By prices that were given; nobody is asked any more."""
    prices = Prices(input_per_million=0, output_per_million=1_000_000)
    provider.answer(Answer(text=verdict(0.9), output_tokens=3))
    judges = Judges({"default": settings(provider, daily_budget_usd=5, prices=prices)})

    async def judged() -> object:
        context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
        return await run(ModelJudge().should_satisfy("c"), interaction(), context)

    assert isinstance(await judged(), Passed)
    assert isinstance(await judged(), Passed)
    assert await judged() == Inconclusive("c: budget spent: default may cost 5.00 USD a day (UTC)", Cause.BUDGET_SPENT)
    assert provider.billed.calls == 2


async def test_the_cost_of_a_model_on_litellms_list_is_known(provider: ScriptedModel) -> None:
    """And unknown where there is no price, rather than nothing."""
    provider.answer(Answer(text=verdict(1), input_tokens=1000, output_tokens=100))
    listed = await LitellmModel(settings(provider, model="openai/gpt-4o-mini"))(REQUEST)
    assert listed.cost_usd == pytest.approx((1000 * 0.15 + 100 * 0.6) / 1e6)
    assert (await LitellmModel(settings(provider))(REQUEST)).cost_usd is None
    assert not price_known("openai/scripted")


USAGE: list[tuple[str, object, tuple[int | None, int | None]]] = [
    ("none", None, (None, None)),
    ("empty", {}, (None, None)),
    ("zeros", {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, (None, None)),
    ("nulls", {"prompt_tokens": None, "completion_tokens": None}, (None, None)),
    ("a total alone", {"total_tokens": 80}, (None, None)),
    ("negative", {"prompt_tokens": -5, "completion_tokens": -3, "total_tokens": -8}, (None, None)),
    ("absurd", {"prompt_tokens": 10**18, "completion_tokens": 10**12, "total_tokens": 0}, (None, None)),
    ("fractions", {"prompt_tokens": 80.5, "completion_tokens": 9.25, "total_tokens": 89.75}, (None, None)),
    ("whole numbers with a point", {"prompt_tokens": 80.0, "total_tokens": 80.0}, (80, None)),
    ("a fraction in the details", {"prompt_tokens": 80, "prompt_tokens_details": {"cached_tokens": 1.5}}, (80, None)),
    ("no numbers", {"prompt_tokens": [80], "completion_tokens": {}}, (None, None)),
    ("no object", "80 tokens", (None, None)),
    ("the prompt's alone", {"prompt_tokens": 80}, (80, None)),
    ("the answer's alone", {"completion_tokens": 9}, (None, 9)),
]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "openai/scripted"])
@pytest.mark.parametrize(("usage", "tokens"), [row[1:] for row in USAGE], ids=[row[0] for row in USAGE])
async def test_what_no_provider_can_have_counted_is_unknown(
    provider: ScriptedModel, model: str, usage: object, tokens: tuple[int | None, int | None]
) -> None:
    """litellm puts zeros where usage is missing; nothing is told to be free, and no answer is lost for its bill."""
    provider.answer(completion(usage))
    prices = Prices(input_per_million=1, output_per_million=1) if model == "openai/scripted" else None
    answer = await LitellmModel(settings(provider, model=model, prices=prices))(REQUEST)
    assert (answer.input_tokens, answer.output_tokens, answer.cost_usd) == (*tokens, None)


@pytest.mark.parametrize("budget", [{"daily_budget_usd": 1}, {"daily_budget_tokens": 1}], ids=["dollars", "tokens"])
async def test_a_budget_fills_where_no_usage_is_told(provider: ScriptedModel, budget: dict[str, object]) -> None:
    """By an estimate; the record says that nothing is known."""
    provider.answer(completion())
    prices = Prices(input_per_million=1_000_000, output_per_million=1_000_000)
    judges = Judges({"default": settings(provider, prices=prices, **budget)})
    contexts = [EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges) for _ in range(2)]
    first, second = [await run(ModelJudge().should_satisfy("c"), interaction(), context) for context in contexts]
    assert isinstance(first, Passed)
    assert isinstance(second, Inconclusive)
    assert second.cause is Cause.BUDGET_SPENT
    [call] = contexts[0].judge_calls
    assert (call.input_tokens, call.output_tokens, call.cost_usd) == (None, None, None)


async def test_a_response_without_an_answer_is_booked_where_it_was_billed(provider: ScriptedModel) -> None:
    """No verdict comes of it, and its record says what it cost."""
    provider.answer(completion({"prompt_tokens": 50, "completion_tokens": 0, "total_tokens": 50}, choices=()))
    store = MemoryBudget()
    judges = Judges({"default": settings(provider, daily_budget_tokens=60)}, budget_store=store)
    context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
    outcome = await run(ModelJudge().should_satisfy("c"), interaction(), context)
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause is Cause.JUDGE_ANSWER_UNUSABLE
    [call] = context.judge_calls
    assert (call.input_tokens, call.output_tokens) == (50, 0)
    assert (await store.spent("default", utc_day(call.ended_ns))).tokens == 50


async def test_a_response_with_neither_answer_nor_bill_is_an_error(provider: ScriptedModel) -> None:
    """Nothing of it can be booked."""
    provider.answer(completion(choices=()))
    with pytest.raises(JudgeError, match="the provider's response has no answer in it"):
        await LitellmModel(settings(provider))(REQUEST)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
async def test_an_answer_that_litellm_cannot_read_is_no_outage(
    provider: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was paid for, so it is asked for once; the other evaluations do not wait for it."""
    monkeypatch.setattr(litellm_bookkeeping, "_silent", None)
    provider.answer(completion({"prompt_tokens": 80.5}))
    with pytest.raises(JudgeError, match="scripted: its answer is no completion that litellm can read") as raised:
        await LitellmModel(settings(provider))(REQUEST)
    assert not isinstance(raised.value, JudgeUnavailable)
    assert len(provider.requests) == 1


async def test_prices_that_were_registered_with_litellm_count(
    provider: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For budgets, too; also of a model that is on no list."""
    name = "openai/registered-by-hand"
    provider.answer(Answer(text=verdict(1), input_tokens=1000, output_tokens=100))
    model = LitellmModel(settings(provider, model=name))
    assert (await model(REQUEST)).cost_usd is None
    own = {"input_cost_per_token": 2e-6, "output_cost_per_token": 4e-6, "litellm_provider": "openai", "mode": "chat"}
    monkeypatch.setitem(load().model_cost, name, own)
    assert (await model(REQUEST)).cost_usd == pytest.approx(0.0024)
    assert price_known(name)
    Judges({"default": settings(provider, model=name, daily_budget_usd=1)})


@pytest.mark.parametrize("entry", [None, 7, {}, {"input_cost_per_token": None}, {"input_cost_per_token": "free"}])
def test_what_is_no_price_is_none(entry: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever somebody registered."""
    monkeypatch.setitem(load().model_cost, "openai/registered-by-hand", entry)
    assert not price_known("openai/registered-by-hand")
