"""What may end the process is noted while it is under way; what is suspected is done alone, what is convicted not at all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path

from otel_eval.clock import Clock
from otel_eval.crashes.gate import Gate
from otel_eval.crashes.notes import NO_SLOT, Notes
from otel_eval.crashes.suspects import ALONE_FROM, DEATHS, KEPT_NS, Suspect, Suspects
from otel_eval.crashes.work import Kind, kind_of, owner, work

APART_S = 5.0
"""A process has to live so long before suspects are done: one that dies sooner died of something else."""
FURTHER = 4.0
"""And then so many times longer than what died alone had waited: a kill from outside at intervals comes before it then."""

MOST_CONVICTED = 3
"""Past so many deadly evaluations within :data:`REST_S`, an evaluator is not called."""
REST_S = 3600.0

BESIDE = 16
"""Room in the notes beside what is evaluated at the same time by limit."""

_LETHAL = (KeyboardInterrupt, SystemExit)
"""What ends the process in good order, though whoever raised it is the cause."""


class DiedBefore(Exception):
    """Not done: it was under way at too many deaths. The message says so."""


class Caution:
    """For one process that judges, and its event loop. Without ``notes`` it is careless: nothing is known, nothing noted."""

    def __init__(
        self,
        *,
        notes: Notes | None = None,
        suspects: Suspects | None = None,
        directory: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Use :meth:`begin`, or nothing for one that is careless."""
        self._notes = notes
        self._suspects = suspects or Suspects()
        self._directory = directory
        self._clock = clock
        self._born = 0.0 if clock is None else clock.monotonic()
        self._gate = Gate()
        self._begun = asyncio.Event()
        self._calm = False
        self._most = ALONE_FROM
        self._first_s = APART_S
        self._owners: set[str] = set()
        if notes is None:
            self.start()

    @classmethod
    def begin(cls, directory: Path, *, at_once: int, clock: Clock) -> Caution:
        """With what is known of earlier deaths. ``at_once`` evaluations are under way at the same time. Blocks; raises
        nothing.

        Stock is to be taken before. The directory is ours. Nothing goes on before :meth:`start`.
        """
        suspects = Suspects.load(directory)
        suspects.forget(clock.now_ns() - KEPT_NS)
        notes = Notes.begin(directory, at_once + BESIDE)
        return cls(notes=notes, suspects=suspects, directory=directory, clock=clock)

    def start(self) -> None:
        """Everything is up: a process that dies from now on did start, and can be started again."""
        self._begun.set()
        self._look_again()

    async def started(self) -> None:
        """Return once it did. For what is not noted, and yet had better not go on before."""
        await self._begun.wait()

    def close(self) -> None:
        """When nothing is under way any more."""
        if self._notes is not None:
            self._notes.close()
            self._notes = None

    def during(self, kind: Kind, name: str, owner: str = "") -> During:
        """It is under way in the block (``async with``), with nothing beside it where it is suspected; else as :meth:`noted`.

        Where another one of the same ``owner`` is suspected it is done alone as well, and later: what kills may do so for all
        of them, and they are not to die, one after the other, before that one had its turn.
        """
        return During(self, work(kind, name, owner))

    def noted(self, kind: Kind, name: str) -> Noted:
        """It is under way in the block (``with``), and cleared of suspicion where that comes to its end.

        Entering raises DiedBefore where it was under way at too many deaths.
        """
        return Noted(self, work(kind, name))

    @contextlib.asynccontextmanager
    async def apart(self, kind: Kind, is_due: Callable[[str], bool]) -> AsyncIterator[None]:
        """A block in which several of that kind are :meth:`noted`: with nothing beside them where a suspected one is due."""
        if self._calm:
            yield
            return
        prefix = work(kind, "")
        due = [text for text in self._suspected() if text.startswith(prefix) and is_due(text.removeprefix(prefix))]
        await self._enter(due)
        try:
            yield
        finally:
            self._gate.leave()

    def at_rest(self, evaluator: str, version: str) -> str | None:
        """Why that version of an evaluator is not called: too many of its evaluations were deadly; None where it is
        called."""
        if self._calm or self._clock is None:
            return None
        since_ns = self._clock.now_ns() - int(REST_S * 1e9)
        deadly = self._suspects.convicted.get(_by(evaluator, version), {})
        recent = sum(at_ns >= since_ns for at_ns in deadly.values())
        if recent < MOST_CONVICTED:
            return None
        return f"not called: the judging process died of {recent} other evaluations of it within the last hour"

    def convict(self, evaluator: str, version: str, name: str) -> bool:
        """Record that this evaluation takes the process with it. True the first time."""
        deadly = self._suspects.convicted.setdefault(_by(evaluator, version), {})
        if name in deadly or self._clock is None:
            return False
        deadly[name] = self._clock.now_ns()
        self._save()
        return True

    def _begin(self, text: str) -> int:
        """The slot that it is noted in. Raises DiedBefore."""
        if not self._calm and self._deaths(text) >= DEATHS:
            raise DiedBefore(_told(text))
        return NO_SLOT if self._notes is None else self._notes.put(text)

    def _end(self, text: str, slot: int, error: type[BaseException] | None) -> None:
        if error is None or issubclass(error, Exception):
            self._clear(text)
        elif issubclass(error, _LETHAL):
            return
        if self._notes is not None:
            self._notes.take_back(slot)

    def _clear(self, text: str) -> None:
        if self._suspects.under_way.pop(text, None) is not None:
            self._look_again()
            self._save()

    def _look_again(self) -> None:
        """Whether there is nobody to be cautious of."""
        self._calm = not self._suspects.under_way and not self._suspects.convicted
        suspected = self._suspected()
        self._most = max((each.deaths for each in suspected.values()), default=ALONE_FROM)
        first = (_quiet_s(each) for each in suspected.values() if each.deaths == self._most)
        self._first_s = max(first, default=APART_S)
        self._owners = {owner(text) for text in suspected} - {""}

    def _suspected(self) -> dict[str, Suspect]:
        """What is done alone."""
        known = self._suspects.under_way.items()
        return {text: each for text, each in known if ALONE_FROM <= each.deaths < DEATHS}

    def _deaths(self, text: str) -> int:
        suspect = self._suspects.under_way.get(text)
        return 0 if suspect is None else suspect.deaths

    def _is_apart(self, text: str) -> bool:
        """Whether it is done alone: itself suspected, or of the same owner as one that is."""
        return self._deaths(text) >= ALONE_FROM or owner(text) in self._owners

    def _tried_at(self, text: str) -> float:
        """The age of the process in seconds. Those with the most deaths come first: each death is to tell of one of them."""
        suspect = self._suspects.under_way.get(text)
        if suspect is not None and suspect.deaths == self._most:
            return _quiet_s(suspect)
        return self._first_s + APART_S

    async def _enter(self, apart: Collection[str]) -> None:
        """Begin a block: with nothing beside it, and not before it is their time, where any are to be done apart."""
        await self._begun.wait()
        if apart and self._clock is not None:
            await self._clock.sleep_until(self._born + max(self._tried_at(text) for text in apart))
        await self._gate.enter(alone=bool(apart))
        if apart:
            self._tell_age(apart)

    def _tell_age(self, texts: Collection[str]) -> None:
        """They begin alone now: should the process die, the next one tries them at another age."""
        suspects = [each for text in texts if (each := self._suspects.under_way.get(text)) is not None]
        if suspects and self._clock is not None:
            for each in suspects:
                each.alone_s = self._clock.monotonic() - self._born
            self._save()

    def _save(self) -> None:
        if self._directory is not None:
            self._suspects.save(self._directory)


class Noted(AbstractContextManager[None]):
    """See :meth:`Caution.noted`. A class, since a generator would take twice the time: it is entered for each evaluation."""

    __slots__ = ("_caution", "_slot", "_text")

    def __init__(self, caution: Caution, text: str) -> None:
        self._caution = caution
        self._text = text
        self._slot = NO_SLOT

    def __enter__(self) -> None:
        self._slot = self._caution._begin(self._text)

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._caution._end(self._text, self._slot, error)


class During(AbstractAsyncContextManager[None]):
    """See :meth:`Caution.during`."""

    __slots__ = ("_caution", "_gated", "_slot", "_text")

    def __init__(self, caution: Caution, text: str) -> None:
        self._caution = caution
        self._text = text
        self._slot = NO_SLOT
        self._gated = False

    async def __aenter__(self) -> None:
        caution = self._caution
        if not caution._calm and caution._deaths(self._text) < DEATHS:
            await caution._enter((self._text,) if caution._is_apart(self._text) else ())
            self._gated = True
        self._slot = caution._begin(self._text)

    async def __aexit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._caution._end(self._text, self._slot, error)
        if self._gated:
            self._caution._gate.leave()


def _quiet_s(suspect: Suspect) -> float:
    """How long a process lives before it is tried."""
    return APART_S if suspect.deaths <= ALONE_FROM else max(APART_S, suspect.alone_s) * FURTHER


def _by(evaluator: str, version: str) -> str:
    return f"{evaluator} {version}"


def _told(text: str) -> str:
    doing = {Kind.EVALUATION: "evaluated", Kind.REQUEST: "read", Kind.TRACE: "put together"}[kind_of(text)]
    return f"the judging process died {DEATHS} times while this was {doing}"
