"""Calling the agent under test: sync or async, with a reply that is text."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

_Ending: TypeAlias = tuple[Any, BaseException | None]


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

    What it raises is its failure, SystemExit too; cancellation, KeyboardInterrupt and what ends a test pass. After so many ``seconds`` an async agent is cancelled; a thread
    cannot be, so a sync one goes on unheard.
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
    returned, raised = await _in_thread(agent, command)
    if raised is not None:
        raise raised
    return await returned if inspect.isawaitable(returned) else returned


def _in_thread(agent: Callable[[str], Any], command: str) -> asyncio.Future[_Ending]:
    """A thread of its own with the caller's context. Not the loop's executor: closing the loop would wait for one that hangs."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[_Ending] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        ending = context.run(_to_the_end, agent, command)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any longer
            loop.call_soon_threadsafe(_hand_over, ended, ending)

    threading.Thread(target=work, name="agent-under-test", daemon=True).start()
    return ended


def _to_the_end(agent: Callable[[str], Any], command: str) -> _Ending:
    try:
        return agent(command), None
    except StopIteration as error:  # which a coroutine cannot raise
        return None, RuntimeError(f"the agent function raised StopIteration: {error}")
    except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
        return None, error


def _hand_over(ended: asyncio.Future[_Ending], ending: _Ending) -> None:
    if not ended.done():
        ended.set_result(ending)


def _is_async(agent: Callable[[str], Any]) -> bool:
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(getattr(agent, "__call__", None))  # noqa: B004


def _read(returned: Any, reply: Callable[[Any], Any] | None) -> Answered:
    if reply is not None:
        try:
            returned = reply(returned)
        except Exception as error:  # noqa: BLE001 - the experiment's own function, reported as its mistake
            return Answered(unreadable=f"reply= raised {type(error).__name__}: {error}")
    if returned is None or isinstance(returned, str):
        return Answered(reply=returned)
    kind = type(returned).__name__
    if reply is not None:
        return Answered(unreadable=f"reply= gave {kind}, not text")
    return Answered(
        unreadable=f"the agent function returned {kind}, not text: say where its text is, as in reply=lambda r: r.output"
    )
