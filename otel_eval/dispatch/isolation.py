"""Custom evaluators may block, hang or take long: they run in a thread of their own, for a limited time."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable
from typing import Any

from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Outcome

MAX_HUNG = 4
"""Threads cannot be ended from outside: past so many calls that never came back, an evaluator is not called any more."""


class Isolated(Evaluator):
    """A custom evaluator behind a timeout; one whose ``evaluate`` is not a coroutine function runs in a thread.

    Past the timeout the outcome is an *error*, a coroutine is cancelled, and a thread is left to itself.
    """

    def __init__(self, evaluator: Evaluator, *, timeout: float) -> None:
        self._evaluator = evaluator
        self._timeout = timeout
        self._hung = 0
        self.check = evaluator.check
        self.threshold = evaluator.threshold
        self.trigger_on_failure = evaluator.trigger_on_failure
        self.asks_model = evaluator.asks_model

    @property
    def id(self) -> str:
        """The id of the evaluator inside."""
        return self._evaluator.id

    @property
    def version(self) -> str:
        """The version of the evaluator inside."""
        return self._evaluator.version

    @property
    def hung(self) -> int:
        """Calls that were given up on and have not come back."""
        return self._hung

    async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        """The inner evaluator's outcome, or an error when its time is up. Raises what the inner one raises."""
        if self._hung >= MAX_HUNG:
            return Errored(reason=f"not called: {self._hung} earlier calls have not come back", error_type="hung")
        try:
            async with asyncio.timeout(self._timeout) as limit:
                return await self._call(interaction, context)
        except TimeoutError:
            if not limit.expired():
                raise  # the evaluator's own
            return Errored(reason=f"took longer than {self._timeout:g} s", error_type="timeout")

    async def _call(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        evaluate: Callable[..., Any] = self._evaluator.evaluate
        if inspect.iscoroutinefunction(evaluate):
            outcome: Outcome = await evaluate(interaction, context)
            return outcome
        given = await self._in_thread(lambda: evaluate(interaction, context))
        return await given if inspect.isawaitable(given) else given  # type: ignore[no-any-return]

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        inside = contextvars.copy_context()

        def deliver(result: Any, error: BaseException | None) -> None:
            if future.done():  # given up on meanwhile: it has come back after all
                self._hung -= 1
            elif error is None:
                future.set_result(result)
            else:
                future.set_exception(_transferable(error))

        def work() -> None:
            result, failure = None, None
            try:
                result = inside.run(call)
            except BaseException as error:  # noqa: BLE001 - carried to the task that waits for it
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(deliver, result, failure)

        threading.Thread(target=work, name=f"otel-eval-{self.id}", daemon=True).start()
        try:
            return await future
        except asyncio.CancelledError:
            self._hung += 1
            raise


def _transferable(error: BaseException) -> BaseException:
    """A future refuses StopIteration, and KeyboardInterrupt or CancelledError of a thread are not this task's."""
    if isinstance(error, Exception | SystemExit) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
