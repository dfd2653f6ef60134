"""One model as judges ask it: its limits before each call, its budget around it."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass

from otel_eval.clock import Clock, sleep_until_set
from otel_eval.judges.budget import UNBOOKED, Budget, BudgetStore, Spent
from otel_eval.judges.completion import Complete, ModelAnswer, ModelRequest
from otel_eval.judges.errors import BudgetSpent, JudgeUnavailable
from otel_eval.judges.limits import CHARS_PER_TOKEN, ModelLimits, estimated_tokens
from otel_eval.judges.litellm_client import PATIENCE, LitellmModel
from otel_eval.judges.prices import known_prices
from otel_eval.judges.settings import JudgeModelSettings, Prices

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A completion function with what holds for its model. Without limits and budget: a function given by the user.

    ``model`` is the litellm model that is asked, ``name`` what the configuration calls it where that is something else.
    ``longest`` (seconds) is what one call may take, retries included.
    """

    model: str
    complete: Complete
    name: str | None = None
    room: int | None = None
    fallbacks: tuple[str, ...] = ()
    prices: Prices | None = None
    limits: ModelLimits | None = None
    budget: Budget | None = None
    longest: float = math.inf

    @property
    def known_as(self) -> str:
        """What the configuration, and so an error, calls it."""
        return self.model if self.name is None else self.name

    @contextlib.asynccontextmanager
    async def turn(self, request: ModelRequest, clock: Clock) -> AsyncIterator[Turn]:
        """Wait for the call's turn.

        Raises BudgetSpent before waiting, and again where it was spent meanwhile; JudgeUnavailable where the budget's
        store does not answer. Where the calls under way may use up the budget, their end is waited for, as long as one may
        take with its retries, and again that long after each that is booked; then JudgeUnavailable: they get no answer.
        """
        tokens = estimated_tokens(request.system, request.user)
        if self.limits is None or self.budget is None:
            yield Turn(tokens=tokens, clock=clock, budget=None, prices=None)
            return
        await self._check(self.budget, clock)
        async with self.limits.turn(tokens):
            await self._check(self.budget, clock)
            usd = 0.0 if self.prices is None else self.prices.cost(tokens, 0)
            with self.budget.expecting(Spent(usd, tokens)):
                yield Turn(tokens=tokens, clock=clock, budget=self.budget, prices=self.prices)

    async def _check(self, budget: Budget, clock: Clock) -> None:
        booked, deadline = budget.booked, clock.monotonic() + self.longest
        try:
            while (one_ended := await budget.check(clock.now_ns())) is not None:
                if budget.booked != booked:
                    booked, deadline = budget.booked, clock.monotonic() + self.longest
                elif clock.monotonic() >= deadline:
                    raise self._unavailable("the calls under way may use up its budget, and none of them is answered")
                await sleep_until_set(clock, one_ended, deadline)
        except (BudgetSpent, JudgeUnavailable):
            raise
        except Exception as error:
            raise self._unavailable(f"its budget cannot be read: {error}") from error

    def _unavailable(self, reason: str) -> JudgeUnavailable:
        return JudgeUnavailable(f"{self.known_as}: {reason}", model=self.known_as)

    async def aclose(self) -> None:
        """Close what the completion function holds open, once the bills of its calls are stored."""
        if self.budget is not None:
            await self.budget.settled()
        if isinstance(self.complete, LitellmModel):
            await self.complete.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A call that may be made now. ``tokens`` is how many it was expected to use."""

    tokens: int
    clock: Clock
    budget: Budget | None
    prices: Prices | None

    async def book(self, answer: ModelAnswer) -> None:
        """Add to the day's budget what the call used; where the provider does not tell, what was estimated."""
        if self.budget is None:
            return
        try:
            await self.budget.book(self.clock.now_ns(), self._used(answer))
        except Exception as error:  # noqa: BLE001 - a verdict that was paid for is not thrown away over its bill
            log.warning(UNBOOKED, error)

    def _used(self, answer: ModelAnswer) -> Spent:
        """An estimate is rather too high: a budget that never fills is none."""
        tokens_in = self.tokens if answer.input_tokens is None else answer.input_tokens
        tokens_out = len(answer.text) // CHARS_PER_TOKEN if answer.output_tokens is None else answer.output_tokens
        usd = answer.cost_usd
        if usd is None:
            usd = 0.0 if self.prices is None else self.prices.cost(tokens_in, tokens_out)
        return Spent(usd, tokens_in + tokens_out)


def model_client(name: str, settings: JudgeModelSettings, store: BudgetStore) -> Client:
    """The client of one entry of ``judge_models``, or of a litellm model by its bare name."""
    limits = ModelLimits(settings)
    return Client(
        model=settings.model,
        name=name,
        complete=LitellmModel(settings, name, before_retry=limits.another_try),
        room=settings.max_output_tokens,
        fallbacks=settings.fallbacks,
        prices=_expected_prices(settings),
        limits=limits,
        budget=Budget(name, settings, store),
        longest=(settings.timeout + PATIENCE) * (settings.max_retries + 1),
    )


def _expected_prices(settings: JudgeModelSettings) -> Prices | None:
    """What a call is expected to cost while it is under way; only a budget in dollars asks."""
    if settings.prices is not None or settings.daily_budget_usd is None:
        return settings.prices
    return known_prices(settings.model)
