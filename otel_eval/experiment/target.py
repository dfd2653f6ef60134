"""Calling the agent under test: sync or async, with a reply that is text."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from otel_eval.aside import Aside
from otel_eval.faults import told

_THREADS = "agent-under-test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the agent function did: a reply, or ``failure``, or a reply that could not be read (``unreadable``)."""

    reply: str | None = None
    failure: BaseException | None = None
    unreadable: str | None = None


async def ask(
    agent: Callable[[str], Any], command: str, reply: Callable[[Any], Any] | None, seconds: float | None
) -> Answered:
    """Call it once. A sync function runs in a thread, so that it may start an event loop of its own.

    What it raises is its failure, SystemExit too; cancellation, KeyboardInterrupt and what ends a test pass. After so
    many ``seconds`` an async agent is cancelled; a thread cannot be, so a sync one goes on unheard.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            returned = await _call(agent, command)
    except TimeoutError as error:
        return Answered(failure=TimeoutError(f"no reply within {seconds:g} s") if limit.expired() else error)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return Answered(failure=error)  # nobody asked for it: a cancel scope of the agent's own leaked
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the agent is the user's, and whatever it raises is the result
        return Answered(failure=error)
    return _read(returned, reply)


async def _call(agent: Callable[[str], Any], command: str) -> Any:
    if _is_async(agent):
        return await agent(command)
    returned, raised = await Aside(_THREADS).ending(lambda: agent(command))
    if isinstance(raised, StopIteration):  # which a coroutine cannot raise
        raise RuntimeError(f"the agent function raised StopIteration: {raised}")
    if raised is not None:
        raise raised
    return await returned if inspect.isawaitable(returned) else returned


def _is_async(agent: Callable[[str], Any]) -> bool:
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(getattr(agent, "__call__", None))  # noqa: B004


def _read(returned: Any, reply: Callable[[Any], Any] | None) -> Answered:
    if reply is not None:
        try:
            returned = reply(returned)
        except Exception as error:  # noqa: BLE001 - the experiment's own function, reported as its mistake
            return Answered(unreadable=f"reply= raised {told(error)}")
    if returned is None or isinstance(returned, str):
        return Answered(reply=returned)
    kind = type(returned).__name__
    if reply is not None:
        return Answered(unreadable=f"reply= gave {kind}, not text")
    return Answered(
        unreadable=f"the agent function returned {kind}, not text: say where its text is, as in reply=lambda r: r.output"
    )
