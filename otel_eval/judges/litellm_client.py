"""Asking a model through litellm.

Retries are ours, not ``litellm.Router``'s: the Router also sleeps after its last try, and holds a caller for as long as
Retry-After says, where we would rather pause the model (docs/decisions/judge-retries.md).
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from otel_eval.judges import litellm_bookkeeping, litellm_import
from otel_eval.judges.completion import ModelAnswer, ModelRequest
from otel_eval.judges.errors import JudgeError, JudgeTimeout, JudgeUnavailable
from otel_eval.judges.litellm_errors import FormatRefused, Troubles
from otel_eval.judges.prices import known_prices
from otel_eval.judges.settings import JudgeModelSettings
from otel_eval.judges.usage import told
from otel_eval.outcome import Cause

PATIENCE = 20.0
"""Seconds that a call waits for Retry-After itself; where the provider asks for more, the model is paused instead."""

_LONGEST_BACKOFF = 8.0
_FORMATS = ("json_schema", "json_object", "text")


class LitellmModel:
    """A completion function that asks one litellm model. Belongs to the event loop that it is first called on.

    Raises JudgeUnavailable where the provider is down, JudgeTimeout where this call alone got no answer in time, JudgeError
    where the request was refused for what it is. Cancelling it closes the HTTP call. ``name`` is what errors call the model;
    ``before_retry`` is awaited before each try after the first (a rate limit).
    """

    def __init__(
        self,
        settings: JudgeModelSettings,
        name: str | None = None,
        *,
        before_retry: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._settings = settings
        self._before_retry = before_retry
        self._name = name or settings.model
        self._formats: tuple[str, ...] = _FORMATS if settings.response_format == "auto" else (settings.response_format,)
        self._troubles = Troubles(settings, self._name)
        self._answered_at = float("-inf")

    async def __call__(self, request: ModelRequest, /) -> ModelAnswer:
        litellm = await litellm_import.imported()
        began = asyncio.get_running_loop().time()
        for tries_left in range(self._settings.max_retries, -1, -1):
            try:
                answer = await self._step_down(litellm, request)
            except JudgeUnavailable as error:
                patient = error.retry_after is None or error.retry_after <= PATIENCE
                if tries_left == 0 or error.final or not patient:
                    raise self._own_trouble(error, began) from error.__cause__
                await asyncio.sleep(_delay(error, self._settings.max_retries - tries_left))
                if self._before_retry is not None:
                    await self._before_retry()
            else:
                self._answered_at = asyncio.get_running_loop().time()
                return answer
        raise AssertionError("the last try returns or raises")

    async def aclose(self) -> None:
        """Close litellm's connections; all of them, since it shares them between models. It opens new ones when it
        is asked again."""
        litellm = await litellm_import.imported()
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()  # it would hand out the ones that are closed

    def _own_trouble(self, error: JudgeUnavailable, began: float) -> JudgeError:
        """A timeout of this call alone, where the model answered others meanwhile, is no outage of the provider."""
        if error.cause is Cause.JUDGE_TIMEOUT and self._answered_at >= began:
            return JudgeTimeout(str(error))
        return error

    async def _step_down(self, litellm: Any, request: ModelRequest) -> ModelAnswer:
        """Ask in the strictest form that the server takes, and remember which it is once one was answered."""
        formats = self._formats
        for index, name in enumerate(formats):
            try:
                answer = await self._once(litellm, request, name)
            except FormatRefused as refusal:
                if index + 1 == len(formats):
                    raise JudgeError(str(refusal)) from refusal.__cause__
            else:
                self._formats = formats[index:]
                return answer
        raise AssertionError("the last form returns or raises")

    async def _once(self, litellm: Any, request: ModelRequest, form: str) -> ModelAnswer:
        timeout = self._settings.timeout
        arguments = self._arguments(request, form)
        # Only prices of litellm's need litellm to work out the cost (it knows of cached tokens).
        listed = self._settings.prices is None and known_prices(self._settings.model) is not None
        arguments |= litellm_bookkeeping.silencing(litellm, arguments, cost=listed)
        try:
            # A deadline of ours as well: litellm's bounds the wait for each chunk of a response, not the whole of it.
            async with asyncio.timeout(timeout + 0.5):
                response = await litellm.acompletion(**arguments)
            return self._answer(response)
        except TimeoutError as error:
            raise self._troubles.timeout() from error
        except Exception as error:
            raise self._troubles.mapped(litellm, error, form) from error

    def _arguments(self, request: ModelRequest, form: str) -> dict[str, Any]:
        settings = self._settings
        arguments: dict[str, Any] = {
            **settings.parameters,
            "model": settings.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "timeout": settings.timeout,
            "max_retries": 0,
            "num_retries": 0,
            "stream": False,
            "extra_headers": {**settings.headers, **request.headers},
        }
        optional = {
            "api_base": settings.api_base,
            "api_key": settings.api_key,
            "temperature": settings.temperature,
            "max_tokens": request.max_output_tokens,
            "response_format": _response_format(form, request.schema),
        }
        arguments.update({name: value for name, value in optional.items() if value is not None})
        if settings.prices is not None:
            # For callbacks that the user gave litellm. It does not send them, and forgets them after the call.
            arguments.setdefault("input_cost_per_token", settings.prices.input_per_million / 1_000_000)
            arguments.setdefault("output_cost_per_token", settings.prices.output_per_million / 1_000_000)
        return arguments

    def _answer(self, response: Any) -> ModelAnswer:
        """What came, and what it cost. Without any choice the text is empty where usage was billed: then it is booked.

        litellm puts zeros where the provider told no usage, and passes on whatever it told. No prompt has 0 tokens.
        """
        choices = getattr(response, "choices", None)
        choice = choices[0] if choices else None
        usage = getattr(response, "usage", None)
        text = "" if choice is None else choice.message.content or ""
        tokens_in = told(getattr(usage, "prompt_tokens", None), at_least=1)
        told_output = told(getattr(usage, "completion_tokens", None), at_least=1 if text else 0)
        tokens_out = None if tokens_in is None and told_output == 0 else told_output
        if choice is None and tokens_in is None:
            raise JudgeError("the provider's response has no answer in it")
        return ModelAnswer(
            text=text,
            model=getattr(response, "model", None),
            response_id=getattr(response, "id", None),
            cut=choice is not None and choice.finish_reason == "length",
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            cost_usd=self._cost(response, tokens_in, tokens_out),
        )

    def _cost(self, response: Any, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """By the user's prices; else litellm's sum (it knows of cached tokens) where it has the model's price."""
        if tokens_in is None or tokens_out is None:
            return None
        if self._settings.prices is not None:
            return self._settings.prices.cost(tokens_in, tokens_out)
        listed = known_prices(self._settings.model)
        if listed is None:
            return None
        cost = getattr(response, "_hidden_params", {}).get("response_cost")
        return float(cost) if cost and 0 < cost < math.inf else listed.cost(tokens_in, tokens_out)


def _response_format(form: str, schema: Mapping[str, object]) -> dict[str, Any] | None:
    if form == "json_schema":
        return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
    return {"type": "json_object"} if form == "json_object" else None


def _delay(error: JudgeUnavailable, tries: int) -> float:
    """What the provider asked for, else twice as long each time, with jitter so that callers do not return together."""
    if error.retry_after is not None:
        return error.retry_after + random.uniform(0, 0.25)
    return min(_LONGEST_BACKOFF, 0.5 * 2.0**tries) * random.uniform(0.75, 1.25)
