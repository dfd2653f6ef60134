"""litellm's own bookkeeping: left out where nobody listens, and as ever where somebody does."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from otel_eval.judges import (
    Prices,
    litellm_bookkeeping,
    litellm_import,
)
from otel_eval.judges.litellm_client import LitellmModel
from otel_eval.judges.litellm_import import load
from otel_eval.testing.models import verdict
from otel_eval.testing.scripted_model import Answer, ScriptedModel
from tests.judges.calls.provider import REQUEST, settings

pytestmark = pytest.mark.timeout(60)


async def test_litellm_tells_whoever_listens_to_it(provider: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bookkeeping is left out only where nobody registered a callback."""
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(details: dict[str, Any], *others: object) -> None:
        heard.put_nowait(details["model"])

    monkeypatch.setattr(load(), "_async_success_callback", [hear])
    await LitellmModel(settings(provider, model="openai/gpt-4o-mini"))(REQUEST)
    assert await asyncio.wait_for(heard.get(), 10) == "gpt-4o-mini"


async def test_whoever_listens_is_told_the_users_prices(
    provider: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of this call alone: neither the provider nor litellm's own list learns of them."""
    costs: asyncio.Queue[float] = asyncio.Queue()

    async def hear(details: dict[str, Any], *others: object) -> None:
        costs.put_nowait(details["response_cost"])

    monkeypatch.setattr(load(), "_async_success_callback", [hear])
    provider.answer(Answer(text=verdict(1), input_tokens=1000, output_tokens=100))
    await LitellmModel(settings(provider, prices=Prices(input_per_million=1, output_per_million=4)))(REQUEST)
    assert await asyncio.wait_for(costs.get(), 10) == pytest.approx(0.0014)
    assert not [name for name in provider.requests[-1].body if "cost" in name]
    assert not [name for name in load().model_cost if "scripted" in name]


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
