"""What a model's client returned, serialised whole into an attribute: the SDKs' response objects and LangChain's results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import first_number, is_object, text
from otel_eval.interaction import Message, Usage

_USAGE_KEYS: dict[str, tuple[str, ...]] = {
    "input_tokens": ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "prompt_token_count", "input"),
    "output_tokens": (
        "output_tokens",
        "completion_tokens",
        "outputTokens",
        "completionTokens",
        "candidates_token_count",
        "output",
    ),
    "cache_read_tokens": (
        "cache_read_input_tokens",
        "cached_tokens",
        "cache_read",
        "input_cached_tokens",
        "input_cache_read",
        "cachedContentTokens",
        "cachedInputTokens",
    ),
    "cache_write_tokens": ("cache_creation_input_tokens", "cache_creation", "input_cache_creation"),
    "reasoning_tokens": (
        "reasoning_tokens",
        "output_reasoning_tokens",
        "output_reasoning",
        "thoughtsTokens",
        "reasoning",
    ),
}
"""As OpenAI, Anthropic, Gemini, LangChain, Genkit, Langfuse and MLflow count them, in one object."""

_DETAILS = (
    "prompt_tokens_details",
    "completion_tokens_details",
    "input_tokens_details",
    "output_tokens_details",
    "input_token_details",
    "output_token_details",
)


def answer_messages(answer: Any) -> tuple[Message, ...]:
    """The messages in a response of OpenAI (chat, responses), Anthropic, Gemini, Genkit or LangChain, or in a list
    of them."""
    if isinstance(answer, list) and answer and all(is_object(item) and "output" in item for item in answer):
        return tuple(message for item in answer for message in answer_messages(item))
    if is_object(answer):
        for key in ("choices", "candidates"):
            choices = answer.get(key)
            if isinstance(choices, list) and (found := _choices(choices)):
                return found
        if isinstance(answer.get("output"), list):  # OpenAI's responses
            return read_messages(answer["output"], "assistant")
        generations = answer.get("generations")
        if isinstance(generations, list):
            flat = [g for batch in generations for g in (batch if isinstance(batch, list) else [batch])]
            return read_messages([g.get("message", g) for g in flat if is_object(g)], "assistant")
    return read_messages(answer, "assistant")


def _choices(choices: list[Any]) -> tuple[Message, ...]:
    """OpenAI's choices hold a ``message``, Gemini's candidates a ``content``."""
    held = [c.get("message", c.get("content")) for c in choices if is_object(c)]
    return read_messages([message for message in held if is_object(message)], "assistant")


def answer_id(answer: Any) -> str | None:
    """The id that the provider gave to the response."""
    return text(answer.get("id")) if is_object(answer) else None


def counted(usage: Any) -> Usage:
    """The token counts in a usage object of any of these."""
    if not is_object(usage):
        return Usage()
    flat: Mapping[str, Any] = {
        **{key: value for name in _DETAILS if is_object(usage.get(name)) for key, value in usage[name].items()},
        **usage,
    }
    return Usage(**{field: first_number(flat, names) for field, names in _USAGE_KEYS.items()})
