"""A provider that is down, and a call that has trouble of its own: retries, timeouts, cancelling."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from otel_eval.judges import (
    JudgeError,
    JudgeTimeout,
    JudgeUnavailable,
)
from otel_eval.judges.litellm_client import LitellmModel
from otel_eval.outcome import Cause
from otel_eval.testing.models import verdict
from otel_eval.testing.scripted_model import Drop, Garbage, Hang, Refusal, Script, ScriptedModel
from tests.judges.calls.provider import KEY, REQUEST, settings

pytestmark = pytest.mark.timeout(60)


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
    """And up again afterwards. The reason says where nobody was, and no status that nobody sent."""
    model = LitellmModel(settings(provider, max_retries=0), "strict")
    host = provider.base_url.split("/")[2]
    provider.stop()
    with pytest.raises(JudgeUnavailable) as raised:
        await model(REQUEST)
    assert str(raised.value).startswith(f"strict: the call failed: Cannot connect to host {host} [Connect call failed")
    provider.start()
    assert (await model(REQUEST)).text == verdict(0.9)


NO_COMPLETION: list[tuple[str, Script, str]] = [
    ("a page", Garbage(), "its answer is no completion: Empty or invalid response from LLM endpoint."),
    ("nothing", Garbage("", "application/json"), "its answer is no completion: Expecting value"),
    ("no choices", Garbage('{"id": "x"}', "application/json"), "its answer is no completion: "),
    ("no list", Garbage('{"choices": null}', "application/json"), "its answer is no completion: "),
    ("too deep", Garbage("[" * 100_000, "application/json"), "its answer is no completion: maximum recursion depth"),
    ("connection lost", Drop(), "the call failed: "),
    ("server error", Refusal(503), "HTTP 503: refused by the script"),
]


@pytest.mark.parametrize(("script", "said"), [row[1:] for row in NO_COMPLETION], ids=[row[0] for row in NO_COMPLETION])
async def test_the_reason_names_a_status_only_where_one_came(
    provider: ScriptedModel, script: Script, said: str
) -> None:
    """litellm says 500 of everything; whoever reads that looks for a fault on the other side, not in ``api_base``."""
    provider.answer(script)
    with pytest.raises(JudgeUnavailable) as raised:
        await LitellmModel(settings(provider, max_retries=0), "strict")(REQUEST)
    assert str(raised.value).startswith(f"strict: {said}")


async def test_of_a_long_error_the_beginning_is_told(provider: ScriptedModel) -> None:
    """A provider may send any number of characters, and redacting takes time for each of them."""
    provider.answer(Refusal(400, message="word " * 2_000))
    with pytest.raises(JudgeError) as raised:
        await LitellmModel(settings(provider, max_retries=0), "strict")(REQUEST)
    assert len(str(raised.value)) <= 300


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
    hanging = asyncio.create_task(model(replace(REQUEST, user="hang")))
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


async def abandoned(provider: ScriptedModel) -> None:
    async with asyncio.timeout(5):
        while not provider.requests[-1].abandoned:  # noqa: ASYNC110 - set by the server's thread
            await asyncio.sleep(0.01)
