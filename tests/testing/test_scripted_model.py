import asyncio

import httpx
import pytest
from openai import APITimeoutError, AsyncOpenAI, BadRequestError, OpenAI, RateLimitError

from otel_eval.testing.models import verdict
from otel_eval.testing.scripted_model import Answer, Bill, Drop, Garbage, Hang, Refusal, ScriptedModel

MESSAGES = [{"role": "system", "content": "be strict"}, {"role": "user", "content": "judge this"}]


def client(model: ScriptedModel, **settings) -> OpenAI:
    return OpenAI(base_url=model.base_url, api_key="none", max_retries=0, **settings)


def ask(model: ScriptedModel, **settings):
    with client(model) as openai:
        return openai.chat.completions.create(model="scripted", messages=MESSAGES, **settings)


def test_the_openai_client_gets_the_scripted_answer():
    """A completion with usage comes back, and the request is kept with its headers."""
    with ScriptedModel(Answer(text="hello", input_tokens=7, output_tokens=3)) as model:
        answer = ask(model, temperature=0)
    assert answer.choices[0].message.content == "hello"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 3)
    (request,) = model.requests
    assert (request.model, request.system, request.user) == ("scripted", "be strict", "judge this")
    assert request.body["temperature"] == 0
    assert request.headers["authorization"] == "Bearer none"
    assert model.billed == Bill(1, 7, 3)


def test_a_streamed_answer_comes_in_chunks_with_usage():
    """The same answer, streamed, ends with its finish reason and the usage where asked for."""
    options = {"stream": True, "stream_options": {"include_usage": True}}
    with (
        ScriptedModel(Answer(text="hello there", output_tokens=4)) as model,
        client(model) as openai,
        openai.chat.completions.create(model="scripted", messages=MESSAGES, **options) as stream,
    ):
        chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "hello there"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage.completion_tokens == 4


def test_a_queue_is_followed_and_its_end_is_an_error():
    """One step for each request; a request past the end is answered 500 with the reason."""
    with ScriptedModel([0.4, "text", {"label": "good"}]) as model:
        texts = [ask(model).choices[0].message.content for _ in range(3)]
        assert texts == [verdict(0.4), "text", '{"label": "good"}']
        past = httpx.post(f"{model.base_url}/chat/completions", json={"messages": []})
    assert past.status_code == 500
    assert "3 steps, this is request 4" in past.json()["error"]["message"]


def test_a_function_answers_from_the_request():
    """The script may look at what it was asked."""
    with ScriptedModel(lambda request: f"you said {request.user}") as model:
        assert ask(model).choices[0].message.content == "you said judge this"


def test_a_refusal_carries_retry_after_and_is_not_billed():
    """429 with its delay, as providers send it."""
    with ScriptedModel(Refusal(429, retry_after=2)) as model, pytest.raises(RateLimitError) as refused:
        ask(model)
    assert refused.value.response.headers["retry-after"] == "2"
    assert model.billed == Bill()


def test_unsupported_response_formats_are_refused_and_others_taken():
    """400 for json_schema does not use up a step of the script."""
    with ScriptedModel(["taken"], unsupported=["json_schema"]) as model:
        schema = {"type": "json_schema", "json_schema": {"name": "v", "schema": {"type": "object"}}}
        with pytest.raises(BadRequestError, match="json_schema is not supported"):
            ask(model, response_format=schema)
        assert ask(model, response_format={"type": "json_object"}).choices[0].message.content == "taken"
    assert [request.response_format for request in model.requests] == ["json_schema", "json_object"]


def test_a_cut_answer_says_so():
    """finish_reason length is an answer cut by the token limit."""
    with ScriptedModel(Answer(text='{"reason": "it', finish_reason="length")) as model:
        assert ask(model).choices[0].finish_reason == "length"


async def test_a_hanging_call_sees_its_client_go():
    """A client that gives up is noticed: cancellation can be proved."""
    async with (
        ScriptedModel(Hang()) as model,
        AsyncOpenAI(base_url=model.base_url, api_key="none", max_retries=0) as openai,
    ):
        call = asyncio.create_task(openai.chat.completions.create(model="scripted", messages=MESSAGES))
        await model.wait_for_requests(1)
        assert model.in_flight == 1
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await model._arrivals.wait_for(lambda: model.requests[0].abandoned, 5, lambda: "still there")
    assert model.billed.calls == 0


def test_a_hanging_call_runs_into_the_clients_timeout():
    """The server stays silent; stopping it does not wait for the client."""
    with ScriptedModel(Hang()) as model, client(model, timeout=0.2) as openai, pytest.raises(APITimeoutError):
        openai.chat.completions.create(model="scripted", messages=MESSAGES)


def test_garbage_and_dropped_connections():
    """Status 200 without a completion in it, and no answer at all."""
    with ScriptedModel([Garbage(), Drop()]) as model:
        url = f"{model.base_url}/chat/completions"
        assert httpx.post(url, json={"messages": []}).text == "<html>gateway</html>"
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(url, json={"messages": []})


async def test_requests_in_flight_are_counted():
    """The most requests at one time is known, so that a concurrency limit can be tested."""
    async with ScriptedModel(Answer(text="x", delay=0.1)) as model, httpx.AsyncClient() as http:
        calls = [http.post(f"{model.base_url}/chat/completions", json={"messages": []}) for _ in range(5)]
        await asyncio.gather(*calls)
    assert 2 <= model.most_in_flight <= 5
    assert model.in_flight == 0


def test_a_model_that_was_down_comes_back_on_its_port():
    """stop refuses connections; start listens at the same address again."""
    with ScriptedModel("x") as model:
        url = f"{model.base_url}/chat/completions"
        model.stop()
        with pytest.raises(httpx.ConnectError):
            httpx.post(url, json={"messages": []})
        model.start()
        model.answer("back")
        assert httpx.post(url, json={"messages": []}).json()["choices"][0]["message"]["content"] == "back"


async def test_waiting_in_vain_says_what_arrived():
    """The timeout names what came instead."""
    async with ScriptedModel() as model:
        with pytest.raises(TimeoutError, match="0 of 2 requests arrived"):
            await model.wait_for_requests(2, timeout=0.01)
