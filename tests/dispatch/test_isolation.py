"""Custom evaluators may block, hang or misbehave; the pipeline does not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from otel_eval.aside import MAX_HUNG
from otel_eval.dispatch.isolation import Isolated
from otel_eval.evaluators.contract import EvaluationContext, Evaluator, run
from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Passed
from otel_eval.testing.interactions import interaction

CONTEXT = EvaluationContext(evaluation_id="e" * 32, evaluator_id="custom")


class Custom(Evaluator):
    """Does what it was made with."""

    check = "custom"

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Any:
        return self.work()


async def test_a_blocking_evaluator_runs_in_a_thread() -> None:
    """It does not hold up the event loop: it ends only because the loop went on."""
    go = threading.Event()

    def blocked() -> Passed:
        assert go.wait(10)
        return Passed(threading.current_thread().name)

    running = asyncio.ensure_future(run(Isolated(Custom(blocked), timeout=10), interaction(), CONTEXT))
    await asyncio.sleep(0)
    go.set()
    assert await running == Passed("otel-eval-custom")


async def test_an_awaitable_outcome_is_awaited() -> None:
    """A plain function may return a coroutine."""

    async def later() -> Passed:
        return Passed("later")

    assert await run(Isolated(Custom(later), timeout=10), interaction(), CONTEXT) == Passed("later")


@pytest.mark.parametrize(
    ("error", "type_name"),
    [
        (ValueError("bad"), "ValueError"),
        (SystemExit(3), "SystemExit"),
        (KeyboardInterrupt(), "RuntimeError"),
        (StopIteration(), "RuntimeError"),
        (asyncio.CancelledError(), "RuntimeError"),
        (TimeoutError("its own"), "TimeoutError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_whatever_is_raised_in_the_thread_is_an_error_outcome(error: BaseException, type_name: str) -> None:
    """Nothing that an evaluator raises ends the worker or the process."""

    def broken() -> Passed:
        raise error

    outcome = await run(Isolated(Custom(broken), timeout=10), interaction(), CONTEXT)
    assert isinstance(outcome, Errored)
    assert outcome.error_type == type_name


async def test_one_that_hangs_is_given_up_and_in_the_end_not_called() -> None:
    """Past its timeout the outcome is an error; with too many threads that hang it is not called until they came back."""
    go = threading.Event()
    calls: list[int] = []

    def hangs() -> Passed:
        calls.append(1)
        go.wait(30)
        return Passed("at last")

    evaluator = Isolated(Custom(hangs), timeout=0.01)
    outcomes = [await run(evaluator, interaction(), CONTEXT) for _ in range(MAX_HUNG + 2)]
    assert [outcome.error_type for outcome in outcomes] == ["timeout"] * MAX_HUNG + ["hung"] * 2
    assert len(calls) == MAX_HUNG
    go.set()
    async with asyncio.timeout(60):
        while evaluator.hung:  # noqa: ASYNC110 - lets the loop turn while the threads come back
            await asyncio.sleep(0)
    await run(evaluator, interaction(), CONTEXT)
    assert len(calls) == MAX_HUNG + 1
