"""The form in which an answer is asked for steps down to what the server takes."""

from __future__ import annotations

import pytest

from otel_eval.judges import (
    JudgeError,
    JudgeUnavailable,
)
from otel_eval.judges.litellm_client import LitellmModel
from otel_eval.testing.scripted_model import Refusal, ScriptedModel
from tests.judges.calls.provider import REQUEST, settings

pytestmark = pytest.mark.timeout(60)


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
