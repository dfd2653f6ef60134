"""The sections of the file about judges: the models they ask, and what they may be sent."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from otel_eval.config.values import Amount, Count, CountOrNone, Duration, Flag, Secret, Section, Text


class Price(Section):
    """What a model costs, in US dollars for a million tokens: for models whose price is not known."""

    input: Amount
    """Dollars for a million input tokens."""
    output: Amount
    """Dollars for a million output tokens."""


class JudgeModel(Section):
    """A model that judges can ask, and its limits."""

    model: Text
    """The name as litellm has it: `openai/gpt-4o-mini`, `anthropic/…`."""
    api_base: Text | None = None
    """Where the model is served, if not at its provider's."""
    api_key: Secret | None = None
    """Else what the provider's own environment variable says."""
    headers: dict[str, Secret] = Field(default_factory=dict)
    """Sent with every call, for gateways."""
    max_concurrency: Count = 8
    """Calls at the same time."""
    requests_per_minute: Count | None = None
    """No limit without it."""
    tokens_per_minute: Count | None = None
    """No limit without it."""
    timeout: Duration = 30.0
    """After which a call is cancelled."""
    max_retries: CountOrNone = 3
    """Further tries after a rate limit, a server error or a lost connection."""
    max_output_tokens: Count = 2000
    """Room for the answer; one that is cut is asked for once more, with more room."""
    temperature: Amount | None = None
    """Not sent unless given: some models refuse it."""
    daily_budget_usd: Amount | None = None
    """For a day (UTC); past it this model's evaluations end inconclusive. 0 allows no call."""
    daily_budget_tokens: CountOrNone | None = None
    """The same in tokens."""
    price_per_million_tokens: Price | None = None
    """For a budget on a model whose price is not known."""
    fallbacks: tuple[Text, ...] = ()
    """Further litellm names, asked in order where `model` is down."""
    response_format: Literal["auto", "json_schema", "json_object", "text"] = "auto"
    """How the answer is asked for; `auto` starts with a schema and steps down when the server refuses it."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Further arguments for litellm, as they are."""


class Judges(Section):
    """What holds for every judge."""

    max_input_chars: Count = 20_000
    """The longest section of what a judge is sent; the cut is marked and recorded."""
    keep_content: Flag = True
    """Whether records keep what a judge was sent and what it answered."""
