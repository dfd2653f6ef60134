"""A judge's call through litellm: what is sent, what is recorded, and who is asked next."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace

import pytest

from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.judges import (
    JudgeError,
    Judges,
    JudgeUnavailable,
    ModelJudge,
    UnknownModel,
)
from otel_eval.judges.litellm_client import LitellmModel
from otel_eval.loop_guard import LoopGuard
from otel_eval.outcome import Inconclusive, Passed
from otel_eval.testing.interactions import interaction
from otel_eval.testing.scripted_model import Answer, Refusal, ScriptedModel
from tests.judges.calls.provider import KEY, REQUEST, settings

pytestmark = pytest.mark.timeout(60)


def test_importing_litellm_touches_no_network(reached: list[str]) -> None:
    """It would fetch a price list otherwise. (Imported before by another module's tests, it proves nothing here.)"""
    assert reached == []


def test_importing_the_judges_does_not_import_litellm() -> None:
    """Nor does making a model judge and its evaluator."""
    code = (
        "import sys; from otel_eval.judges import ModelJudge, price_known; ModelJudge('m').should_satisfy('c');"
        "price_known('gpt-4o-mini'); print('litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


async def test_a_verdict_comes_from_a_model(provider: ScriptedModel) -> None:
    """Through an evaluator and a registry; the call carries our marks, no temperature and no token limit."""
    guard = LoopGuard(b"k" * 32)
    judges = Judges({"default": settings(provider, headers={"x-tenant": "shop"})}, guard=guard)
    context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
    outcome = await run(ModelJudge().should_satisfy("c"), interaction(reply="Fine."), context)
    assert isinstance(outcome, Passed)
    [sent] = provider.requests
    assert set(sent.body) == {"model", "messages", "response_format"}
    assert sent.response_format == "json_schema"
    assert guard.owns_text(sent.system)
    assert guard.owns_trace(sent.headers["traceparent"].split("-")[1])
    assert sent.headers["baggage"] == f"otel_eval.evaluation={'e' * 32}"
    assert sent.headers["x-tenant"] == "shop"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    [call] = context.judge_calls
    assert (call.requested_model, call.answered_model, call.error) == ("openai/scripted", "scripted", None)
    assert call.output_tokens == provider.billed.output_tokens
    assert call.response_id == "chatcmpl-1"
    await judges.aclose()


async def test_what_is_configured_is_sent(provider: ScriptedModel) -> None:
    """Temperature, room for the answer, further parameters."""
    model = LitellmModel(settings(provider, temperature=0, max_output_tokens=50, parameters={"seed": 7}))
    await model(replace(REQUEST, max_output_tokens=50))
    body = provider.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0, 50, 7)


async def test_a_cut_answer_is_asked_for_once_more_with_more_room(provider: ScriptedModel) -> None:
    """finish_reason length."""
    provider.answer([Answer(text='{"reason": "it', finish_reason="length"), 0.9])
    judge = ModelJudge("openai/scripted", api_base=provider.base_url, api_key=KEY)
    assert (await judge.decide("c", interaction())).score == 0.9
    assert [sent.body.get("max_tokens") for sent in provider.requests] == [None, 8000]


async def test_a_fallback_is_asked_where_the_model_is_down(provider: ScriptedModel) -> None:
    """By its entry's name; the record shows both calls, by the litellm models that were asked."""
    provider.answer(lambda sent: Refusal(500) if sent.model == "first" else 0.9)
    judges = Judges(
        {
            "default": settings(provider, model="openai/first", max_retries=0, fallbacks=("spare",)),
            "spare": settings(provider, model="openai/second"),
        }
    )
    context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
    outcome = await run(ModelJudge().should_satisfy("c"), interaction(), context)
    assert isinstance(outcome, Passed)
    assert [call.requested_model for call in context.judge_calls] == ["openai/first", "openai/second"]
    assert context.judge_calls[0].error is not None


async def test_a_fallback_that_is_spent_does_not_end_the_backlog(provider: ScriptedModel) -> None:
    """The model is down and worth waiting for, whatever trouble its spare has."""
    provider.answer(Refusal(500))
    judges = Judges(
        {
            "default": settings(provider, model="openai/first", max_retries=0, fallbacks=("spare",)),
            "spare": settings(provider, model="openai/second", daily_budget_tokens=0),
        }
    )
    context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
    with pytest.raises(JudgeUnavailable) as raised:
        await ModelJudge().should_satisfy("c").evaluate(interaction(), context)
    assert raised.value.model == "default"
    assert raised.value.reason.startswith("c: default: HTTP 500")
    assert raised.value.reason.endswith("; fallback spare: budget spent: spare may use 0 tokens a day (UTC)")


async def test_at_most_so_many_calls_run_at_once(provider: ScriptedModel) -> None:
    """As the provider sees it."""
    async with ScriptedModel(0.9, delay=0.05) as slow:
        judges = Judges({"default": settings(slow, max_concurrency=2)})

        async def judged() -> None:
            context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
            await run(ModelJudge().should_satisfy("c"), interaction(), context)

        await asyncio.gather(*(judged() for _ in range(8)))
        assert (slow.most_in_flight, slow.billed.calls) == (2, 8)


@pytest.mark.parametrize(
    ("entries", "here"),
    [
        pytest.param((), "none, they are those of the configuration given as config= or --config", id="no-config"),
        pytest.param(("strict-one", "default"), "strict-one, default", id="others"),
    ],
)
async def test_a_name_that_nobody_knows_is_said_to_be_no_entry(
    provider: ScriptedModel, entries: tuple[str, ...], here: str
) -> None:
    """litellm's own words speak of a provider to pass in, where a name of the configuration was meant."""
    judges = Judges({name: settings(provider) for name in entries})
    context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
    outcome = await run(ModelJudge("strict").should_satisfy("c"), interaction(reply="Fine."), context)
    said = (
        f"strict: neither an entry of judge_models (here: {here}) "
        "nor a model whose provider litellm can tell, as openai/gpt-4o-mini"
    )
    assert isinstance(outcome, Inconclusive)
    assert outcome.reason == f"c: {said}"
    assert [call.error for call in context.judge_calls] == [said]
    assert provider.requests == []


async def test_an_entry_whose_model_has_no_provider_names_the_model(provider: ScriptedModel) -> None:
    """The name is right there, and what is to be changed stands under it."""
    judges = Judges({"default": settings(provider, model="strict", api_base=None)})
    context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
    outcome = await run(ModelJudge().should_satisfy("c"), interaction(reply="Fine."), context)
    assert isinstance(outcome, Inconclusive)
    assert outcome.reason == "c: default: litellm cannot tell the provider of 'strict': put it first, as openai/strict"


async def test_what_a_proxy_says_of_its_own_models_is_left_as_it_is(provider: ScriptedModel) -> None:
    """A proxy may be litellm itself; our name for it is right, and another prefix would mend nothing."""
    words = "LLM Provider NOT provided. You passed model=scripted"
    provider.answer(lambda sent: Refusal(400, message=words))
    with pytest.raises(JudgeError, match=r"HTTP 400: .*LLM Provider NOT provided") as raised:
        await LitellmModel(settings(provider))(REQUEST)
    assert not isinstance(raised.value, UnknownModel)
