"""The conversation that a judge call runs in: which evaluation it belongs to, whom it may ask, and what is kept of it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import secrets
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from otel_eval.judges.errors import JudgeTimeout
from otel_eval.record import JudgeCall

if TYPE_CHECKING:
    from otel_eval.judges.registry import Judges

Answer = TypeVar("Answer")


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One verdict's conversation. ``calls`` and ``cut`` are filled as it goes on.

    ``id`` is ``<evaluation id>-judge`` or ``-label-judge``, with the number of the vote from the second on. ``timeout``
    (seconds) bounds judges and completion functions of the user's own; models have limits of their own.
    """

    evaluation_id: str
    kind: str = "judge"
    vote: int = 1
    judges: Judges | None = None
    timeout: float | None = None
    calls: list[JudgeCall] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        name = f"{self.evaluation_id}-{self.kind}"
        return name if self.vote == 1 else f"{name}-{self.vote}"

    async def in_time(self, answer: Awaitable[Answer], whose: str) -> Answer:
        """The answer, or JudgeTimeout once ``timeout`` is over; it is cancelled then."""
        try:
            async with asyncio.timeout(self.timeout) as limit:
                return await answer
        except TimeoutError as error:
            if not limit.expired():
                raise  # its own
            raise JudgeTimeout(f"{whose} gave no answer within {self.timeout:g} s") from error


_current: contextvars.ContextVar[Conversation | None] = contextvars.ContextVar("otel_eval_conversation", default=None)


@contextlib.contextmanager
def holding(conversation: Conversation) -> Iterator[Conversation]:
    """Make it the conversation of every judge that decides within the block, threads started from it included."""
    token = _current.set(conversation)
    try:
        yield conversation
    finally:
        _current.reset(token)


def current_conversation() -> Conversation:
    """The conversation of the evaluation that is running; one of its own for a judge that is asked outside of any."""
    return _current.get() or Conversation(evaluation_id=secrets.token_hex(16))
