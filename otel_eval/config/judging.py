"""The sections of the file about judges: the models they ask, and what they may be sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from otel_eval.config.numbers import Timeout, amount, whole
from otel_eval.config.values import Flag, HeaderName, HttpUrl, Secret, Section, Text, refuse

_OWN_KEYS = {
    "model": "model",
    "api_base": "api_base",
    "base_url": "api_base",
    "api_key": "api_key",
    "timeout": "timeout",
    "request_timeout": "timeout",
    "max_retries": "max_retries",
    "num_retries": "max_retries",
    "fallbacks": "fallbacks",
    "temperature": "temperature",
    "max_tokens": "max_output_tokens",
    "extra_headers": "headers",
    "response_format": "response_format",
}
_NOT_TO_SAY = ("messages", "stream", "mock_response")


def _further(parameters: dict[str, Any]) -> dict[str, Any]:
    for name in parameters:
        if name in _OWN_KEYS:
            raise refuse(f"further arguments for litellm; {name} has a key of its own, {_OWN_KEYS[name]}")
        if name in _NOT_TO_SAY:
            raise refuse(f"further arguments for litellm; {name} is the judge's to say")
    return parameters


class Price(Section):
    """What a model costs, in US dollars for a million tokens: for models whose price is not known."""

    input: Annotated[float, amount(1_000_000)]
    """Dollars for a million input tokens."""
    output: Annotated[float, amount(1_000_000)]
    """Dollars for a million output tokens."""


class JudgeModel(Section):
    """A model that judges can ask, and its limits."""

    model: Text
    """The name as litellm has it: `openai/gpt-4o-mini`, `anthropic/…`."""
    api_base: HttpUrl | None = None
    """Where the model is served, if not at its provider's."""
    api_key: Secret | None = None
    """Else what the provider's own environment variable says."""
    headers: dict[HeaderName, Secret] = Field(default_factory=dict)
    """Sent with every call, for gateways."""
    max_concurrency: Annotated[int, whole(1, 10_000)] = 8
    """Calls at the same time."""
    requests_per_minute: Annotated[int, whole(1, 10_000_000)] | None = None
    """No limit without it."""
    tokens_per_minute: Annotated[int, whole(1, 10_000_000_000)] | None = None
    """No limit without it."""
    timeout: Timeout = 30.0
    """After which a call is cancelled."""
    max_retries: Annotated[int, whole(0, 100)] = 3
    """Further tries after a rate limit, a server error or a lost connection."""
    max_output_tokens: Annotated[int, whole(1, 1_000_000)] = 2000
    """Room for the answer; one that is cut is asked for once more, with more room."""
    temperature: Annotated[float, amount(2)] | None = None
    """Not sent unless given: some models refuse it."""
    daily_budget_usd: Annotated[float, amount(1_000_000)] | None = None
    """For a day (UTC); past it this model's evaluations end inconclusive. 0 allows no call."""
    daily_budget_tokens: Annotated[int, whole(0, 10**15)] | None = None
    """The same in tokens."""
    price_per_million_tokens: Price | None = None
    """For a budget on a model whose price is not known."""
    fallbacks: tuple[Text, ...] = ()
    """Entries of `judge_models`, or litellm names, asked in order where `model` is down; theirs are not asked in turn."""
    response_format: Literal["auto", "json_schema", "json_object", "text"] = "auto"
    """How the answer is asked for; `auto` starts with a schema and steps down when the server refuses it."""
    parameters: Annotated[dict[str, Any], AfterValidator(_further)] = Field(default_factory=dict)
    """Further arguments for litellm, as they are (`seed`, `top_p`, `reasoning_effort`, …); not those that have a key here."""


class Judges(Section):
    """What holds for every judge."""

    max_input_chars: Annotated[int, whole(100, 100_000_000)] = 20_000
    """The longest section of what a judge is sent; the cut is marked and recorded."""
    keep_content: Flag = True
    """Whether records keep what a judge was sent and what it answered."""
