"""How one judge model is reached, and within which limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from otel_eval.judges.errors import JudgeConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for a million tokens."""

    input_per_million: float
    output_per_million: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """What that many tokens cost, in US dollars."""
        return (input_tokens * self.input_per_million + output_tokens * self.output_per_million) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeModelSettings:
    """An entry of ``judge_models``. ``model`` is a litellm model name (``openai/gpt-4o-mini``).

    ``timeout`` is in seconds and bounds one call; ``max_retries`` are calls after the first. A limit that is None is no
    limit.
    ``temperature`` is sent only where it is given: some models refuse it. ``max_output_tokens`` None sends no limit.
    ``prices`` come before litellm's own list. ``response_format`` ``auto`` asks with a JSON schema and steps down to a JSON
    object, then to plain text, where the server refuses it. ``fallbacks`` are names as ``with_model`` takes them,
    asked in order where this model is down. ``headers`` go with every call, ``parameters`` to litellm as they stand.
    Raises JudgeConfigError for a value out of its range.
    """

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    max_concurrency: int = 8
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = 30.0
    max_retries: int = 3
    temperature: float | None = None
    max_output_tokens: int | None = None
    daily_budget_usd: float | None = None
    daily_budget_tokens: int | None = None
    prices: Prices | None = None
    fallbacks: tuple[str, ...] = ()
    response_format: Literal["auto", "json_schema", "json_object", "text"] = "auto"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise JudgeConfigError("a judge model needs the name of a model, as openai/gpt-4o-mini")
        for name in ("max_concurrency", "requests_per_minute", "tokens_per_minute", "timeout", "max_output_tokens"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise JudgeConfigError(f"{name} is more than 0, not {value}")
        for name in ("max_retries", "daily_budget_usd", "daily_budget_tokens"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise JudgeConfigError(f"{name} is at least 0, not {value}")
