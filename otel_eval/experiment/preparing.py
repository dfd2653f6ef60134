"""Calling ``prepare`` before an attempt: sync or async, for as long as the attempt's agent may take."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from typing import Any

from otel_eval.aside import Aside
from otel_eval.experiment.cases import EvalCase
from otel_eval.faults import told
from otel_eval.outcome import Errored

_ABSENT = object()


async def prepared(prepare: Callable[[EvalCase], Any] | None, case: EvalCase, seconds: float | None) -> Errored | None:
    """None once it is done; else why the case cannot be prepared. Cancellation, KeyboardInterrupt and what ends a test pass.

    After so many ``seconds`` an async one is cancelled; a thread cannot be, so a sync one goes on unheard.
    """
    if prepare is None:
        return None
    try:
        async with asyncio.timeout(seconds) as limit:
            await _call(prepare, case)
    except TimeoutError as error:
        if limit.expired():
            return Errored(reason=f"prepare took longer than {seconds:g} s", error_type="timeout")
        return _raised(error)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return _raised(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's function; the batch goes on without this attempt
        return _raised(error)
    return None


async def _call(prepare: Callable[[EvalCase], Any], case: EvalCase) -> None:
    if inspect.iscoroutinefunction(prepare):
        await prepare(case)
        return

    def work() -> tuple[Any, contextvars.Context]:
        return prepare(case), contextvars.copy_context()

    ended, raised = await Aside("prepare").ending(work)
    if isinstance(raised, StopIteration):  # which a coroutine cannot raise
        raise RuntimeError(f"StopIteration: {raised}")
    if raised is not None:
        raise raised
    returned, context = ended
    for variable, value in context.items():  # what it sets is there for the agent, as if it had run here
        if variable.get(_ABSENT) is not value:
            variable.set(value)
    if inspect.isawaitable(returned):
        await returned


def _raised(error: BaseException) -> Errored:
    return Errored(reason=told(error), error_type=type(error).__name__)
