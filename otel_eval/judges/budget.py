"""What judging may cost in a day (UTC), and how much of it is spent.

A budget is checked before each call against what is spent and what the calls under way are expected to use, so that the
calls of one moment do not overrun it together. What a call really used is booked when its answer is there. Only what is
booked refuses a call: where those under way may use up the rest, it waits for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import functools
import logging
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from otel_eval.judges.errors import BudgetSpent
from otel_eval.judges.settings import JudgeModelSettings

log = logging.getLogger(__name__)

UNBOOKED = "a judge call could not be added to the day's budget: %s"

_DAY_NS = 24 * 60 * 60 * 1_000_000_000
_EPOCH = datetime.date(1970, 1, 1)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS judge_budget (
    model TEXT NOT NULL, day TEXT NOT NULL, usd REAL NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (model, day)
)"""


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars and tokens of one model on one day."""

    usd: float = 0.0
    tokens: int = 0


NOTHING = Spent()


class Amounts(Protocol):
    """What a store says was spent; :class:`Spent`, or a type of the store's own."""

    @property
    def usd(self) -> float: ...

    @property
    def tokens(self) -> int: ...


class BudgetStore(Protocol):
    """Remembers what was spent. ``day`` is ``YYYY-MM-DD`` in UTC, ``model`` the name in ``judge_models``."""

    async def spent(self, model: str, day: str) -> Amounts:
        """What was added for that model and day; nothing where nothing was."""
        ...

    async def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        """Book a call. Durable when it returns, where the store is."""
        ...


@runtime_checkable
class OrderedBudgetStore(BudgetStore, Protocol):
    """A store that holds the records of evaluations as well, and stores what it is handed in that order."""

    def hand_in(self, model: str, day: str, usd: float, tokens: int) -> asyncio.Future[None]:
        """Book a call before it returns, durable no later than anything that is handed in afterwards."""
        ...


class MemoryBudget:
    """Forgets at the end of the process: for tests and offline runs."""

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str], Spent] = {}

    async def spent(self, model: str, day: str) -> Spent:
        return self._spent.get((model, day), Spent())

    async def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        before = await self.spent(model, day)
        self._spent[model, day] = Spent(before.usd + usd, before.tokens + tokens)


class SqliteBudget:
    """Survives a restart, in a SQLite file of its own. Raises sqlite3.Error where the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        with self._connection() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(_SCHEMA)
        path.chmod(0o600)

    async def spent(self, model: str, day: str) -> Spent:
        return await asyncio.to_thread(self._read, model, day)

    async def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        # Shielded: a call that was answered is paid for, also where nobody waits for its verdict any more.
        await asyncio.shield(asyncio.to_thread(self._write, model, day, usd, tokens))

    def _read(self, model: str, day: str) -> Spent:
        with self._connection() as connection:
            query = "SELECT usd, tokens FROM judge_budget WHERE model = ? AND day = ?"
            row = connection.execute(query, (model, day)).fetchone()
        return Spent() if row is None else Spent(*row)

    def _write(self, model: str, day: str, usd: float, tokens: int) -> None:
        with self._connection() as connection:
            connection.execute(
                "INSERT INTO judge_budget VALUES (?, ?, ?, ?) ON CONFLICT (model, day)"
                " DO UPDATE SET usd = usd + excluded.usd, tokens = tokens + excluded.tokens",
                (model, day, usd, tokens),
            )

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock, contextlib.closing(sqlite3.connect(self._path, timeout=10)) as connection, connection:
            yield connection


REREAD_AFTER_NS = 1_000_000_000
"""How long what the store said is believed: what other replicas spend is seen that late, what this one spends at once."""


class Budget:
    """One model's daily limits over a store."""

    def __init__(self, name: str, settings: JudgeModelSettings, store: BudgetStore) -> None:
        self._name = name
        self._settings = settings
        self._store = store
        self._under_way = NOTHING
        self._calls = 0
        self._one_ended = asyncio.Event()
        self._booked = Spent()
        self._known: dict[str, tuple[int, Spent]] = {}
        self._unstored: set[asyncio.Future[None]] = set()

    @property
    def limited(self) -> bool:
        """Whether there is anything to keep; where not, the store is left alone."""
        return self._settings.daily_budget_usd is not None or self._settings.daily_budget_tokens is not None

    @property
    def booked(self) -> Spent:
        """What was booked here since the start, on any day: it grows with every call that is answered."""
        return self._booked

    @contextlib.contextmanager
    def expecting(self, expected: Spent) -> Iterator[None]:
        """Count a call as under way until the block ends."""
        self._under_way = Spent(self._under_way.usd + expected.usd, self._under_way.tokens + expected.tokens)
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            left = Spent(self._under_way.usd - expected.usd, self._under_way.tokens - expected.tokens)
            self._under_way = left if self._calls else NOTHING  # sums of floats need not end at 0
            self._one_ended.set()
            self._one_ended = asyncio.Event()

    async def is_spent(self, now_ns: int) -> bool:
        """Whether the day's budget is used up, calls under way not included, as the store said within the last second."""
        if not self.limited:
            return False
        return self._used_up(await self._spent(utc_day(now_ns), now_ns))

    async def check(self, now_ns: int) -> asyncio.Event | None:
        """None where a call may be made; where the calls under way may use up the rest, what is set once one of them ends.

        Then it is to be checked again. Raises BudgetSpent where nothing is left of the day's budget.
        """
        if not self.limited:
            return None
        day = utc_day(now_ns)
        known = await self._spent(day, now_ns)
        while self._used_up(known, self._under_way):
            # Only the store itself says no: what is remembered here may count a booking twice for a second. Where calls
            # were booked while it was asked, it is asked once more.
            spent, known = await self._read(day, now_ns)
            if self._used_up(spent):
                raise BudgetSpent(self._refusal(spent))
            if not self._used_up(known) and self._used_up(known, self._under_way):
                return self._one_ended
        return None

    async def book(self, now_ns: int, used: Spent) -> None:
        """Add what a call used, where there is a budget.

        It is stored when this returns, or no later than the record of the evaluation that made the call.
        """
        if not self.limited:
            return
        day = utc_day(now_ns)
        self._booked = Spent(self._booked.usd + used.usd, self._booked.tokens + used.tokens)
        if day in self._known:
            read_ns, known = self._known[day]
            self._known[day] = read_ns, Spent(known.usd + used.usd, known.tokens + used.tokens)
        if isinstance(self._store, OrderedBudgetStore):
            bill = self._store.hand_in(self._name, day, used.usd, used.tokens)
            self._unstored.add(bill)
            bill.add_done_callback(self._stored)
        else:
            await self._store.add(self._name, day, used.usd, used.tokens)

    async def settled(self) -> None:
        """Return once all that was booked before is stored, or could not be."""
        if self._unstored:
            await asyncio.wait(tuple(self._unstored))

    def _stored(self, bill: asyncio.Future[None]) -> None:
        self._unstored.discard(bill)
        if not bill.cancelled() and (error := bill.exception()) is not None:
            log.warning(UNBOOKED, error)

    def _used_up(self, spent: Amounts, under_way: Spent = NOTHING) -> bool:
        usd, tokens = self._settings.daily_budget_usd, self._settings.daily_budget_tokens
        of_usd = usd is not None and spent.usd + under_way.usd >= usd
        return of_usd or (tokens is not None and spent.tokens + under_way.tokens >= tokens)

    def _refusal(self, spent: Spent) -> str:
        usd = self._settings.daily_budget_usd
        if usd is not None and spent.usd >= usd:
            return f"budget spent: {self._name} may cost {usd:.2f} USD a day (UTC)"
        return f"budget spent: {self._name} may use {self._settings.daily_budget_tokens} tokens a day (UTC)"

    async def _spent(self, day: str, now_ns: int) -> Amounts:
        """As the store said within the last second, and what was booked here since: not every call costs a read."""
        if day in self._known:
            read_ns, known = self._known[day]
            if 0 <= now_ns - read_ns < REREAD_AFTER_NS:
                return known
        return (await self._read(day, now_ns))[1]

    async def _read(self, day: str, now_ns: int) -> tuple[Spent, Spent]:
        """What the store says; and the same with what was booked while it was asked, lest that be missed."""
        before = self._booked
        await self.settled()
        spent = await self._store.spent(self._name, day)
        meanwhile = Spent(self._booked.usd - before.usd, self._booked.tokens - before.tokens)
        remembered = Spent(spent.usd + meanwhile.usd, spent.tokens + meanwhile.tokens)
        self._known = {day: (now_ns, remembered)}
        return Spent(spent.usd, spent.tokens), remembered


def utc_day(now_ns: int) -> str:
    """The day of that moment, ``YYYY-MM-DD``, in UTC."""
    return _written(now_ns // _DAY_NS)


@functools.lru_cache(maxsize=4)  # asked three times a call, and the same until midnight
def _written(days: int) -> str:
    return (_EPOCH + datetime.timedelta(days=days)).isoformat()
