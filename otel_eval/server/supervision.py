"""The judging process, kept alive: started, started again where it dies, and stopped in good order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from otel_eval.clock import Clock
from otel_eval.config import Config
from otel_eval.crashes import disregard, take_stock
from otel_eval.journal import Journal
from otel_eval.server.errors import ServerError
from otel_eval.server.life import CLEANLY, Life
from otel_eval.server.messages import Begin, Ready
from otel_eval.server.stages import StageDied
from otel_eval.server.tally import Tally

log = logging.getLogger("otel_eval.server")

RESTART_S = (1.0, 2.0, 5.0, 15.0)
"""How long is waited before it is started again, after one death, two in a row, and so on."""
MAX_DEATHS = len(RESTART_S) + 1
"""So many in a row are no accident: the server stops."""
STEADY_S = 60.0
"""A process that ran for so long resets the count of deaths. So does a death whose cause is known, since that is left out
from then on; one after which something new is suspected is not counted."""
TELL_EVERY_S = 1.0
"""What was counted is handed over so often."""

LOOK_EVERY_S = 1.0
"""It is looked so often whether it said that it is alive."""
SILENT_S = 10.0
"""Silent for so long, it stands still: that is told."""
TELL_OF_SILENCE_EVERY_S = 60.0
"""And told again, for as long as it lasts."""
CLOSING_S = 10.0
"""How long closing may take, beside the evaluations that end and the exports: the outbox (5), judges, ledger and journal."""
EXPORT_S = 10.0
"""How long an export may take where the configuration does not say: the exporters' own default."""
LATER = "what it had not finished follows after the next start"


def stops_within(config: Config) -> float:
    """Seconds after which a judging process that was told to stop is killed: what its stages may take one after another.

    Evaluations that run have their time; then an export that is under way, and the last one of metrics; then the rest.
    """
    export = EXPORT_S if config.exporters.otlp is None else config.exporters.otlp.timeout
    return config.dispatch.shutdown_grace + 2 * export + CLOSING_S


class JudgingProcess:
    """One for a server. Used in order: :meth:`begin`, :meth:`prepared`, :meth:`start`, :meth:`run` as a stage,
    :meth:`stop`, :meth:`close`."""

    def __init__(self, begin: Begin, *, tally: Tally, clock: Clock, asked_to_stop: Callable[[], None]) -> None:
        self._begin = begin
        self._tally = tally
        self._clock = clock
        self._asked_to_stop = asked_to_stop
        self._life: Life | None = None
        self._restarts = 0
        self._api: str | None = None  # where callers know it, also where the configuration lets the port be any
        self._cut_short = False
        self._directory: Path | None = None

    @property
    def pid(self) -> int | None:
        """Of the one that was started last."""
        return None if self._life is None else self._life.pid

    async def begin(self) -> None:
        """Start it; return at once. Raises ServerError where that is not possible."""
        self._life = await Life.begin(self._begin, self._asked_to_stop)

    async def prepared(self) -> None:
        """Return once it finds nothing wrong with what to run. Raises ServerError."""
        assert self._life is not None
        await self._life.prepared()

    async def start(self, directory: Path, journal: Journal) -> Ready:
        """Return once it consumes the journal in that directory. Raises ServerError."""
        assert self._life is not None
        self._directory = directory
        ready = await self._life.ready(directory, journal, self._api)
        self._api = ready.api
        return ready

    async def run(self, directory: Path, journal: Journal) -> None:
        """Keep it alive until cancelled. Raises StageDied where a stage of it broke, and where it dies again and again."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep_alive(directory, journal))
            tasks.create_task(self._tell_now_and_then())
            tasks.create_task(self._listen_for_silence())

    async def stop(self) -> None:
        """Have it close everything, and wait for its end. Raises StageDied where a stage of it broke over that."""
        life = self._life
        if life is None:
            return
        if life.is_ready:
            life.tell(self._tally)
            life.stop()
            how = await self._end_of(life)
            if not self._cut_short and life.died is None and how != CLEANLY:
                log.warning("the judging process %s while it stopped: %s", how, LATER)
        if life.died is not None:
            raise StageDied(life.died)

    def cut_short(self) -> None:
        """Whoever stops the server loses patience: end it now, and start no other. Nothing is lost, and it is said."""
        self._cut_short = True
        if self._life is not None and self._life.runs:
            log.warning("told to stop again: the judging process is killed, %s", LATER)
            self._life.kill()

    async def close(self) -> None:
        """End it where it still runs. What it was busy with is not suspected of an end that others made."""
        if self._life is None:
            return
        killed = self._cut_short or self._life.runs
        await self._life.close()
        if killed and self._directory is not None:
            await asyncio.to_thread(disregard, self._directory)

    async def _end_of(self, life: Life) -> str:
        """How the one that was told to stop ended; it is killed where it does not in time."""
        limit = stops_within(self._begin.config)
        ended = asyncio.ensure_future(life.ended())
        time_is_up = asyncio.ensure_future(self._clock.sleep_until(self._clock.monotonic() + limit))
        await asyncio.wait((ended, time_is_up), return_when=asyncio.FIRST_COMPLETED)
        time_is_up.cancel()
        if not ended.done() and not self._cut_short:
            self._cut_short = True
            log.warning("the judging process has not stopped within %g s: it is killed, %s", limit, LATER)
            life.kill()
        return await ended

    async def _keep_alive(self, directory: Path, journal: Journal) -> None:
        deaths = 0
        while True:
            began = self._clock.monotonic()
            reason = await self._death()
            if self._cut_short:
                return
            stock = await asyncio.to_thread(take_stock, directory, self._clock.now_ns())
            if self._clock.monotonic() - began >= STEADY_S or stock.convicted:
                deaths = 1
            else:
                deaths = max(1, deaths if stock.suspected else deaths + 1)
            if deaths >= MAX_DEATHS:
                raise StageDied(f"the judging process {reason}, {deaths} times in a row")
            delay = RESTART_S[deaths - 1]
            log.error(
                "the judging process %s: it is started again in %g s, telemetry is taken meanwhile", reason, delay
            )
            await self._clock.sleep_until(self._clock.monotonic() + delay)
            await self._revive(directory, journal)

    async def _death(self) -> str:
        """Wait for it; how it came. Raises StageDied where a stage broke."""
        assert self._life is not None
        how = await self._life.ended()
        if self._life.died is not None:
            raise StageDied(self._life.died)
        return how if self._life.refused is None else f"cannot start ({self._life.refused})"

    async def _revive(self, directory: Path, journal: Journal) -> None:
        """Start it again. Where that fails it has died once more: nothing is raised."""
        self._restarts += 1
        try:
            await self.begin()
            await self.prepared()
            await self.start(directory, journal)
        except ServerError:
            return
        self._tell_of_restarts(journal)
        log.warning("the judging process runs again")

    def _tell_of_restarts(self, journal: Journal) -> None:
        """What the new one cannot know. All restarts, not one more: it counts from 0, before it exports for the first time.

        Each life would export the same 1 otherwise, and no ``increase()`` would see any restart but the first. At once, so
        that what a life was not told any more is not added to what the next one is.
        """
        assert self._life is not None
        self._tally.record("otel_eval.journal.bytes", journal.backlog_bytes)
        self._tally.record("otel_eval.judging.restarts", self._restarts)
        self._life.tell(self._tally)

    async def _tell_now_and_then(self) -> None:
        while True:
            await self._tally.filled.wait()
            if self._life is not None and self._life.is_ready:
                self._life.tell(self._tally)
            await self._clock.sleep_until(self._clock.monotonic() + TELL_EVERY_S)

    async def _listen_for_silence(self) -> None:
        """Tell of one that stands still. It is not killed: a trace may be huge, and what it does begin again and again."""
        heard: tuple[Life | None, int] = (None, 0)
        since = told = self._clock.monotonic()
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + LOOK_EVERY_S)
            now, life = self._clock.monotonic(), self._life
            signs = (None, 0) if life is None or not life.is_ready else (life, life.signs)
            if signs != heard:
                if signs[0] is heard[0] and told > since:
                    log.warning("the judging process answers again, after %.0f s", now - since)
                heard, since, told = signs, now, now
            elif heard[0] is not None and now >= (
                since + SILENT_S if told == since else told + TELL_OF_SILENCE_EVERY_S
            ):
                log.warning(
                    "the judging process has not answered for %.0f s: an evaluator that does not give way?", now - since
                )
                told = now
