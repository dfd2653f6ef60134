"""What a judge model is spared: more calls at once, or in a minute, than it is said to take. Callers wait in turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from aiolimiter import AsyncLimiter

from otel_eval.judges.settings import JudgeModelSettings

CHARS_PER_TOKEN = 4
"""A rule of thumb for English text, where no tokenizer is at hand; only ever used before a call."""

_EXPECTED_OUTPUT_TOKENS = 200
_TOKEN_WINDOW = 15.0


def estimated_tokens(*texts: str) -> int:
    """About how many tokens a call with these messages will use, its answer included."""
    return sum(len(text) for text in texts) // CHARS_PER_TOKEN + _EXPECTED_OUTPUT_TOKENS


class ModelLimits:
    """Concurrency, requests and tokens per minute of one model, on one event loop.

    Rates are smoothed: 600 requests a minute are 10 at once and 10 more each second, since providers count in windows
    shorter than a minute.
    """

    def __init__(self, settings: JudgeModelSettings) -> None:
        self._slots = asyncio.Semaphore(settings.max_concurrency)
        self._requests = _requests(settings.requests_per_minute)
        self._tokens = _tokens(settings.tokens_per_minute)

    @contextlib.asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[None]:
        """Wait until a call of about that many tokens may start; the slot is given back at the end, also when cancelled."""
        async with self._slots:
            await self.another_try()
            if self._tokens is not None:
                await self._tokens.acquire(min(tokens, self._tokens.max_rate))
            yield

    async def another_try(self) -> None:
        """Wait until one more request may be sent within a turn: a retry counts as a request, too."""
        if self._requests is not None:
            await self._requests.acquire()


def _requests(per_minute: int | None) -> AsyncLimiter | None:
    if per_minute is None:
        return None
    if per_minute < 60:
        return AsyncLimiter(1, 60 / per_minute)
    return AsyncLimiter(per_minute / 60, 1)


def _tokens(per_minute: int | None) -> AsyncLimiter | None:
    return None if per_minute is None else AsyncLimiter(per_minute * _TOKEN_WINDOW / 60, _TOKEN_WINDOW)
