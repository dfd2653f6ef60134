"""litellm's whole path, against a scripted provider on loopback. The one module that imports litellm (some seconds)."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import pytest

from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.judges import (
    JudgeConfigError,
    JudgeError,
    JudgeModelSettings,
    Judges,
    JudgeTimeout,
    JudgeUnavailable,
    MemoryBudget,
    ModelJudge,
    ModelRequest,
    Prices,
    litellm_bookkeeping,
    litellm_import,
    price_known,
)
from otel_eval.judges.budget import utc_day
from otel_eval.judges.litellm_client import LitellmModel
from otel_eval.judges.litellm_import import load
from otel_eval.judges.prompts import VERDICT_SCHEMA
from otel_eval.loop_guard import LoopGuard
from otel_eval.outcome import Cause, Inconclusive, Passed
from otel_eval.testing.interactions import interaction
from otel_eval.testing.models import verdict
from otel_eval.testing.scripted_model import Answer, Drop, Garbage, Hang, Refusal, Script, ScriptedModel

KEY = "sk-" + "loopback" * 4
REQUEST = ModelRequest(
    model="m", system="s", user="u", conversation_id="c", schema=VERDICT_SCHEMA, headers={"baggage": "k=v"}
)

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module", autouse=True)
def reached() -> list[str]:
    """litellm imported, once, so that no test pays for it within its own timeouts; the network calls that this made."""
    calls: list[str] = []
    importing = True

    def audit(event: str, arguments: object) -> None:
        if importing and event in ("socket.connect", "socket.getaddrinfo"):
            calls.append(event)

    sys.addaudithook(audit)
    load()
    importing = False
    return calls


@pytest.fixture
async def provider() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel(0.9) as served:
        yield served
        await LitellmModel(JudgeModelSettings(model="openai/scripted")).aclose()


def settings(provider: ScriptedModel, **changes: object) -> JudgeModelSettings:
    arguments: dict[str, object] = {"model": "openai/scripted", "api_base": provider.base_url, "api_key": KEY}
    return JudgeModelSettings(**{**arguments, **changes})  # type: ignore[arg-type]


def test_importing_litellm_touches_no_network(reached: list[str]) -> None:
    """It would fetch a price list otherwise. (Imported before by another module's tests, it proves nothing here.)"""
    assert reached == []


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
    await model(ModelRequest(**{**as_dict(REQUEST), "max_output_tokens": 50}))
    body = provider.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0, 50, 7)


async def test_a_format_that_the_server_refuses_is_stepped_down_from_and_remembered(provider: ScriptedModel) -> None:
    """json_schema, json_object, then plain text."""
    async with ScriptedModel(0.9, unsupported=["json_schema", "json_object"]) as picky:
        model = LitellmModel(settings(picky))
        await model(REQUEST)
        await model(REQUEST)
    assert [sent.response_format for sent in picky.requests] == ["json_schema", "json_object", None, None]


async def test_a_format_may_be_refused_as_a_server_error(provider: ScriptedModel) -> None:
    """llama-cpp-python's server says 500 and names the field; it is not taken for an outage, nor asked so again."""
    message = "1 validation error: {'loc': ('body', 'response_format', 'type'), 'input': 'json_schema'}"
    provider.answer(lambda sent: Refusal(500, message=message) if sent.response_format == "json_schema" else 0.9)
    model = LitellmModel(settings(provider))
    await model(REQUEST)
    await model(REQUEST)
    assert [sent.response_format for sent in provider.requests] == ["json_schema", "json_object", "json_object"]


async def test_a_server_error_without_a_format_is_an_outage(provider: ScriptedModel) -> None:
    """Whatever it speaks of: in plain text there is no format to be refused."""
    provider.answer(Refusal(500, message="response_format"))
    with pytest.raises(JudgeUnavailable):
        await LitellmModel(settings(provider, response_format="text", max_retries=0))(REQUEST)


async def test_a_request_that_is_refused_in_every_form_is_no_outage(provider: ScriptedModel) -> None:
    """And nothing is remembered of it."""
    provider.answer([Refusal(400, message="too long"), Refusal(400), Refusal(400, message="too long"), 0.9])
    model = LitellmModel(settings(provider))
    with pytest.raises(JudgeError, match="HTTP 400: too long") as raised:
        await model(REQUEST)
    assert not isinstance(raised.value, JudgeUnavailable)
    await model(REQUEST)
    assert provider.requests[-1].response_format == "json_schema"


async def test_retry_after_is_honoured(provider: ScriptedModel) -> None:
    """Then the answer counts."""
    provider.answer([Refusal(429, retry_after=0.3), Refusal(503, retry_after=0.1), 0.9])
    began = time.monotonic()
    answer = await LitellmModel(settings(provider))(REQUEST)
    assert answer.text == verdict(0.9)
    assert time.monotonic() - began >= 0.4


async def test_a_retry_waits_for_the_rate_limit_too(provider: ScriptedModel) -> None:
    """A provider counts it like any other request."""
    waited: list[int] = []

    async def before_retry() -> None:
        waited.append(len(provider.requests))

    provider.answer([Refusal(429, retry_after=0), Refusal(503, retry_after=0), 0.9])
    await LitellmModel(settings(provider), before_retry=before_retry)(REQUEST)
    assert waited == [1, 2]


DOWN: list[tuple[str, Script, dict[str, object], int, float | None]] = [
    ("rate limit for long", Refusal(429, retry_after=120), {}, 1, 120),
    ("rate limit to the end", Refusal(429, retry_after=0.01), {"max_retries": 2}, 3, 0.01),
    ("server error", Refusal(500), {"max_retries": 1}, 2, None),
    ("bad key", Refusal(401, message=f"Incorrect API key provided: {KEY}"), {}, 1, None),
    ("no permission", Refusal(403), {}, 1, None),
    ("no such model", Refusal(404), {}, 1, None),
    ("connection lost", Drop(), {"max_retries": 0}, 1, None),
    ("no completion", Garbage(), {"max_retries": 0}, 1, None),
]


@pytest.mark.parametrize(
    ("script", "changes", "calls", "retry_after"), [row[1:] for row in DOWN], ids=[row[0] for row in DOWN]
)
async def test_a_provider_that_is_down_is_worth_waiting_for(
    provider: ScriptedModel, script: Script, changes: dict[str, object], calls: int, retry_after: float | None
) -> None:
    """JudgeUnavailable, by the entry's name and with the provider's delay; never with a key in it."""
    provider.answer(script)
    with pytest.raises(JudgeUnavailable) as raised:
        await LitellmModel(settings(provider, **changes), "strict")(REQUEST)
    assert (len(provider.requests), raised.value.retry_after) == (calls, retry_after)
    assert raised.value.model == "strict"
    assert KEY not in str(raised.value)


async def test_a_provider_that_cannot_be_reached_is_down(provider: ScriptedModel) -> None:
    """And up again afterwards."""
    model = LitellmModel(settings(provider, max_retries=0))
    provider.stop()
    with pytest.raises(JudgeUnavailable):
        await model(REQUEST)
    provider.start()
    assert (await model(REQUEST)).text == verdict(0.9)


async def test_a_timeout_cancels_the_http_call(provider: ScriptedModel) -> None:
    """A hung model holds nobody."""
    provider.answer(Hang())
    with pytest.raises(JudgeUnavailable) as raised:
        await LitellmModel(settings(provider, timeout=0.2, max_retries=0))(REQUEST)
    assert raised.value.cause is Cause.JUDGE_TIMEOUT
    await abandoned(provider)


async def test_a_timeout_of_one_call_alone_is_no_outage(provider: ScriptedModel) -> None:
    """The model answered another meanwhile."""
    provider.answer(lambda sent: Hang() if sent.user == "hang" else 0.9)
    model = LitellmModel(settings(provider, timeout=0.5, max_retries=0))
    hanging = asyncio.create_task(model(ModelRequest(**{**as_dict(REQUEST), "user": "hang"})))
    await provider.wait_for_requests(1)
    await model(REQUEST)
    with pytest.raises(JudgeTimeout):
        await hanging


async def test_cancelling_closes_the_http_call(provider: ScriptedModel) -> None:
    """Down to the socket."""
    provider.answer(Hang())
    task = asyncio.create_task(LitellmModel(settings(provider))(REQUEST))
    await provider.wait_for_requests(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await abandoned(provider)


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


def completion(usage: object = None, choices: Sequence[object] | None = None) -> Garbage:
    """A completion as other servers send it, that of the scripted model being without fault. None leaves usage out."""
    message = {"role": "assistant", "content": verdict(0.9)}
    body: dict[str, object] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}] if choices is None else choices,
    }
    return Garbage(json.dumps(body if usage is None else {**body, "usage": usage}), "application/json")


USAGE: list[tuple[str, object, tuple[int | None, int | None]]] = [
    ("none", None, (None, None)),
    ("empty", {}, (None, None)),
    ("zeros", {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, (None, None)),
    ("nulls", {"prompt_tokens": None, "completion_tokens": None}, (None, None)),
    ("a total alone", {"total_tokens": 80}, (None, None)),
    ("negative", {"prompt_tokens": -5, "completion_tokens": -3, "total_tokens": -8}, (None, None)),
    ("absurd", {"prompt_tokens": 10**18, "completion_tokens": 10**12, "total_tokens": 0}, (None, None)),
    ("the prompt's alone", {"prompt_tokens": 80}, (80, None)),
    ("the answer's alone", {"completion_tokens": 9}, (None, 9)),
]


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "openai/scripted"])
@pytest.mark.parametrize(("usage", "tokens"), [row[1:] for row in USAGE], ids=[row[0] for row in USAGE])
async def test_what_no_provider_can_have_counted_is_unknown(
    provider: ScriptedModel, model: str, usage: object, tokens: tuple[int | None, int | None]
) -> None:
    """litellm puts zeros where usage is missing; nothing is told to be free."""
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
    assert outcome.cause is Cause.JUDGE_ANSWER
    [call] = context.judge_calls
    assert (call.input_tokens, call.output_tokens) == (50, 0)
    assert (await store.spent("default", utc_day(call.ended_ns))).tokens == 50


async def test_a_response_with_neither_answer_nor_bill_is_an_error(provider: ScriptedModel) -> None:
    """Nothing of it can be booked."""
    provider.answer(completion(choices=()))
    with pytest.raises(JudgeError, match="the provider's response has no answer in it"):
        await LitellmModel(settings(provider))(REQUEST)


async def test_at_most_so_many_calls_run_at_once(provider: ScriptedModel) -> None:
    """As the provider sees it."""
    async with ScriptedModel(0.9, delay=0.05) as slow:
        judges = Judges({"default": settings(slow, max_concurrency=2)})

        async def judged() -> None:
            context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="x", judges=judges)
            await run(ModelJudge().should_satisfy("c"), interaction(), context)

        await asyncio.gather(*(judged() for _ in range(8)))
        assert (slow.most_in_flight, slow.billed.calls) == (2, 8)


def test_importing_the_judges_does_not_import_litellm() -> None:
    """Nor does making a model judge and its evaluator."""
    code = (
        "import sys; from otel_eval.judges import ModelJudge, price_known; ModelJudge('m').should_satisfy('c');"
        "price_known('gpt-4o-mini'); print('litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


async def abandoned(provider: ScriptedModel) -> None:
    async with asyncio.timeout(5):
        while not provider.requests[-1].abandoned:  # noqa: ASYNC110 - set by the server's thread
            await asyncio.sleep(0.01)


def as_dict(request: ModelRequest) -> dict[str, object]:
    return {name: getattr(request, name) for name in request.__slots__}


async def test_litellm_tells_whoever_listens_to_it(provider: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bookkeeping is left out only where nobody registered a callback."""
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(details: dict[str, Any], *others: object) -> None:
        heard.put_nowait(details["model"])

    monkeypatch.setattr(load(), "_async_success_callback", [hear])
    await LitellmModel(settings(provider, model="openai/gpt-4o-mini"))(REQUEST)
    assert await asyncio.wait_for(heard.get(), 10) == "gpt-4o-mini"


@pytest.mark.parametrize("silent", [True, False])
async def test_a_call_is_the_same_without_litellms_books(
    provider: ScriptedModel, monkeypatch: pytest.MonkeyPatch, silent: bool
) -> None:
    """What is asked, answered and paid does not depend on whether this litellm takes a logging object of ours."""
    assert litellm_bookkeeping._silent is not None, "the installed litellm no longer takes it: calls cost more"
    if not silent:
        monkeypatch.setattr(litellm_bookkeeping, "_silent", None)
    provider.answer(Answer(text=verdict(1), input_tokens=1000, output_tokens=100))
    own = settings(provider, prices=Prices(input_per_million=1, output_per_million=4))
    answer = await LitellmModel(own)(REQUEST)
    assert (answer.text, answer.cost_usd) == (verdict(1), pytest.approx(0.0014))
    listed = await LitellmModel(settings(provider, model="openai/gpt-4o-mini"))(REQUEST)
    assert listed.cost_usd == pytest.approx((1000 * 0.15 + 100 * 0.6) / 1e6)


def test_a_litellm_that_refuses_our_logging_object_is_left_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial call at import decides, so that another version of litellm costs time and nothing else."""
    monkeypatch.setattr(litellm_bookkeeping, "_silent", litellm_bookkeeping._silent)

    def refuse(parameters: Mapping[str, Any]) -> None:
        raise TypeError(f"unexpected {', '.join(parameters)}")

    litellm_bookkeeping.try_out(load(), refuse)
    assert litellm_bookkeeping.silencing(load(), {"model": "m", "messages": []}, cost=True) == {}


@pytest.fixture
def again(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Makes litellm ready as at the first question; what is set in litellm and in the bookkeeping is put back later."""
    litellm = load()
    for name in litellm_bookkeeping._LISTENERS:
        value = getattr(litellm, name)
        monkeypatch.setattr(litellm, name, list(value) if isinstance(value, list) else value)
    monkeypatch.setattr(litellm.utils, "callback_list", [])
    monkeypatch.setattr(litellm_bookkeeping, "_silent", None)
    return litellm_import._imported


def listen_by_callback(litellm: Any, heard: list[str]) -> None:
    from litellm.integrations.custom_logger import CustomLogger

    class Listener(CustomLogger):  # type: ignore[misc]
        def log_pre_api_call(self, model: str, messages: object, kwargs: object) -> None:
            heard.append(model)

    litellm.callbacks = [Listener()]


def listen_by_function(litellm: Any, heard: list[str]) -> None:
    async def hear(details: dict[str, Any], *others: object) -> None:
        heard.append(details["model"])

    litellm.success_callback = [hear]


def listen_by_rule(litellm: Any, heard: list[str]) -> None:
    def rule(input: str) -> bool:
        heard.append("scripted" if "as scripted" in input else input)
        return input != "{}"

    litellm.post_call_rules = [rule]


def listen_around(litellm: Any, heard: list[str]) -> None:
    asked = litellm.acompletion

    @functools.wraps(asked)
    async def acompletion(*arguments: Any, **named: Any) -> Any:
        heard.append(named["model"].removeprefix("openai/"))
        return await asked(*arguments, **named)

    litellm.acompletion = acompletion


LISTENERS = [listen_by_callback, listen_by_function, listen_by_rule, listen_around]


@pytest.mark.parametrize("listen", LISTENERS)
async def test_a_listener_hears_of_no_call_but_the_judges(
    listen: Callable[[Any, list[str]], None],
    provider: ScriptedModel,
    again: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is tried out where somebody listened before the first question, and no judgement fails for it."""
    heard: list[str] = []
    monkeypatch.setattr(load(), "acompletion", load().acompletion)
    listen(load(), heard)
    await asyncio.to_thread(again)
    assert heard == []
    assert (await LitellmModel(settings(provider))(REQUEST)).text == verdict(0.9, "as scripted")
    async with asyncio.timeout(5):
        while not heard:  # noqa: ASYNC110 - some are told from a thread of litellm's
            await asyncio.sleep(0.01)
    assert set(heard) == {"scripted"}


async def test_litellms_cache_holds_answers_of_the_judge_alone(
    provider: ScriptedModel, again: Callable[[], Any]
) -> None:
    """The user's cache works as for any call, and has nothing in it that nobody asked for."""
    from litellm.caching.caching import Cache

    litellm = load()
    litellm.cache = Cache(type="local")
    await asyncio.to_thread(again)
    kept = litellm.cache.cache.cache_dict
    assert kept == {}
    assert (await LitellmModel(settings(provider))(REQUEST)).text == verdict(0.9, "as scripted")
    async with asyncio.timeout(5):
        while not kept:  # noqa: ASYNC110 - it is kept in a task of litellm's
            await asyncio.sleep(0.01)
    assert len(kept) == 1


async def test_where_nobody_listens_nothing_is_left_of_the_trial(again: Callable[[], Any]) -> None:
    """Its client is not kept, and litellm's worker for callbacks is not bound to the trial's event loop."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    clients = set(load().in_memory_llm_clients_cache.cache_dict)
    loop = GLOBAL_LOGGING_WORKER._bound_loop
    await asyncio.to_thread(again)
    assert litellm_bookkeeping._silent is not None
    assert set(load().in_memory_llm_clients_cache.cache_dict) == clients
    assert GLOBAL_LOGGING_WORKER._bound_loop is loop


@pytest.mark.parametrize("failure", [TypeError("unexpected"), ValueError("another answer"), asyncio.CancelledError()])
async def test_a_trial_that_fails_fails_no_judgement(
    failure: BaseException, provider: ScriptedModel, again: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """litellm is then left to itself."""

    def fail(litellm: Any, parameters: Mapping[str, Any]) -> None:
        raise failure

    monkeypatch.setattr(litellm_import, "_ask", fail)
    await asyncio.to_thread(again)
    assert (await LitellmModel(settings(provider))(REQUEST)).text == verdict(0.9, "as scripted")


async def test_a_callback_that_breaks_is_logged(
    provider: ScriptedModel, again: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    """By litellm, whose errors are let through, and the verdict stands."""

    from litellm.integrations.custom_logger import CustomLogger

    class Broken(CustomLogger):  # type: ignore[misc]
        async def async_log_success_event(self, *details: object, **named: object) -> None:
            raise RuntimeError("the collector is away")

    load().callbacks = [Broken()]
    assert (await LitellmModel(settings(provider))(REQUEST)).text == verdict(0.9, "as scripted")
    async with asyncio.timeout(5):
        while not any(record.name == "LiteLLM" for record in caplog.records):  # noqa: ASYNC110 - litellm's task logs it
            await asyncio.sleep(0.01)
    assert "the collector is away" in caplog.text


@pytest.mark.parametrize(
    ("variable", "before", "after"),
    [
        (None, logging.NOTSET, logging.ERROR),
        (None, logging.DEBUG, logging.DEBUG),
        ("INFO", logging.NOTSET, logging.NOTSET),
    ],
)
def test_litellm_logs_errors_alone_unless_told_otherwise(
    variable: str | None, before: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A level that somebody set, or LITELLM_LOG, stays."""
    logger = logging.getLogger("LiteLLM")
    monkeypatch.setattr(logger, "level", before)
    monkeypatch.delenv("LITELLM_LOG", raising=False)
    if variable is not None:
        monkeypatch.setenv("LITELLM_LOG", variable)
    litellm_import._quiet()
    assert logger.level == after
