"""The judging process: everything behind the journal, for the receiving process that started it (``supervision.py``)."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket

from otel_eval.clock import SystemClock
from otel_eval.config import ConfigError
from otel_eval.instruments import Recorder
from otel_eval.journal import JournalError
from otel_eval.journal.frames import Frames
from otel_eval.journal.remote import RemoteConsumer
from otel_eval.ledger import LedgerError
from otel_eval.server.errors import ServerError
from otel_eval.server.judging import judging, plan
from otel_eval.server.lifeline import Lifeline
from otel_eval.server.messages import (
    STOP_SIGNALS,
    Alive,
    Begin,
    CannotStart,
    Counted,
    Died,
    Go,
    Message,
    Prepared,
    Ready,
    Stop,
    StopAsked,
)
from otel_eval.server.stages import StageDied, watched
from otel_eval.server.watching import Watching

log = logging.getLogger("otel_eval.server")

NICE = 5
"""How much lower its priority is: where cores are short, acknowledging does not wait for judging."""

ALIVE_EVERY_S = 1.0
"""How often it says that its event loop turns."""

REFUSED = (ConfigError, ServerError, JournalError, LedgerError)


def run(lifeline: Lifeline, journal: socket.socket) -> int:
    """Run until told to stop; the exit status, which is the one that ``serve`` ends with for the same reason."""
    _pass_signals_on(lifeline)
    begin = lifeline.next()
    assert isinstance(begin, Begin)
    watching = Watching() if begin.setup is None else begin.setup()
    try:
        asyncio.run(_judge(begin, watching, lifeline, journal))
    except REFUSED as error:
        lifeline.send(CannotStart(str(error)))
        return 2
    except StageDied as error:
        lifeline.send(Died(str(error)))
        return 1
    return 0


async def _judge(begin: Begin, watching: Watching, lifeline: Lifeline, connection: socket.socket) -> None:
    planned = await plan(begin.config, complete=None, environ=os.environ)
    lifeline.send(Prepared())
    go = await asyncio.to_thread(lifeline.next)
    assert isinstance(go, Go)
    frames = await Frames.over(connection)

    async def open_journal(recorder: Recorder) -> RemoteConsumer:
        return await RemoteConsumer.attach(go.directory, frames, recorder=recorder)

    async with (
        watched() as stages,
        judging(
            planned,
            directory=go.directory,
            open_journal=open_journal,
            stages=stages,
            clock=SystemClock(),
            watching=watching,
            api_endpoint=go.api,
        ) as behind,
    ):
        stop = _stop(lifeline, behind.recorder)
        lifeline.send(Ready(behind.destinations, behind.exports_to, behind.api))
        behind.start()  # not before: one that dies of what it does is started again, one that never was ready is not
        os.nice(NICE)
        _collect_rarely()
        async with stages.running("saying that it is alive", _say_alive(lifeline)):
            with stages.stopping():
                await stop.wait()


async def _say_alive(lifeline: Lifeline) -> None:
    """On the event loop, not in a thread: it is the loop whose standing still is to be noticed."""
    while True:
        lifeline.send(Alive())
        await asyncio.sleep(ALIVE_EVERY_S)


def _collect_rarely() -> None:
    """The modules are there for good, and so are most spans for some seconds: looking for cycles in them took a
    tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _stop(lifeline: Lifeline, recorder: Recorder) -> asyncio.Event:
    """Set when it is time to stop; until then what the receiving process counted is recorded."""
    stop = asyncio.Event()

    def take(message: Message) -> None:
        match message:
            case Counted(measurements):
                for name, amount, labels in measurements:
                    recorder.record(name, amount, labels)
            case Stop():
                stop.set()

    lifeline.attend(take)
    return stop


def _pass_signals_on(lifeline: Lifeline) -> None:
    """What asks this process to stop asks the server to. Blocked until now, when there is somebody to take it.

    Before any thread is started that may start processes: they would inherit what is blocked.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: lifeline.send(StopAsked()))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
