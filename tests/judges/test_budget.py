"""What judging may cost in a day, and how many calls run at the same time."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from otel_eval.judges import (
    BudgetSpent,
    BudgetStore,
    JudgeModelSettings,
    JudgeUnavailable,
    MemoryBudget,
    ModelAnswer,
    ModelRequest,
    Prices,
    Spent,
    SqliteBudget,
    price_known,
)
from otel_eval.judges.budget import Budget, utc_day
from otel_eval.judges.client import Client
from otel_eval.judges.limits import ModelLimits, estimated_tokens
from otel_eval.judges.prices import known_prices
from otel_eval.testing.clock import ManualClock

REQUEST = ModelRequest(model="m", system="s" * 400, user="u" * 400, conversation_id="c", schema={})
DAY_NS = 86_400_000_000_000
MIDNIGHT_NS = 20_000 * DAY_NS


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BudgetStore:
    return MemoryBudget() if request.param == "memory" else SqliteBudget(tmp_path / "budget.db")


async def test_a_store_adds_up_by_model_and_day(store: BudgetStore) -> None:
    """And knows nothing of what was never added."""
    await store.add("a", "2025-01-01", 0.5, 100)
    await store.add("a", "2025-01-01", 0.25, 50)
    await store.add("a", "2025-01-02", 1, 1)
    assert await store.spent("a", "2025-01-01") == Spent(0.75, 150)
    assert await store.spent("b", "2025-01-01") == Spent()


async def test_calls_at_the_same_time_are_all_counted(store: BudgetStore) -> None:
    """No addition is lost."""
    await asyncio.gather(*(store.add("a", "2025-01-01", 0.125, 1) for _ in range(40)))
    assert await store.spent("a", "2025-01-01") == Spent(5.0, 40)


async def test_the_file_survives_a_restart_and_is_private(tmp_path: Path) -> None:
    """A restart does not make a new day."""
    path = tmp_path / "budget.db"
    await SqliteBudget(path).add("a", "2025-01-01", 2, 7)
    assert await SqliteBudget(path).spent("a", "2025-01-01") == Spent(2, 7)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """At the start, not at the first call."""
    path = tmp_path / "budget.db"
    path.write_text("not a database, and long enough to be read as one" * 10)
    with pytest.raises(sqlite3.DatabaseError):
        SqliteBudget(path)


def client(store: BudgetStore | None = None, **settings: object) -> Client:
    made = JudgeModelSettings(model="m", **settings)  # type: ignore[arg-type]

    async def complete(request: ModelRequest) -> ModelAnswer:
        raise AssertionError("not asked here")

    return Client(
        model="m",
        complete=complete,
        prices=made.prices,
        limits=ModelLimits(made),
        budget=Budget("m", made, store or MemoryBudget()),
    )


async def spend(asked: Client, clock: ManualClock, answer: ModelAnswer) -> None:
    async with asked.turn(REQUEST, clock) as turn:
        await turn.book(answer)


async def test_a_budget_in_dollars_ends_the_day() -> None:
    """The call that crosses it is the last; after midnight UTC there is a new one."""
    clock = ManualClock(epoch_ns=MIDNIGHT_NS)
    asked = client(daily_budget_usd=0.01)
    await spend(asked, clock, ModelAnswer(text="", cost_usd=0.009))
    await spend(asked, clock, ModelAnswer(text="", cost_usd=0.009))
    with pytest.raises(BudgetSpent, match=r"budget spent: m may cost 0.01 USD a day \(UTC\)"):
        await spend(asked, clock, ModelAnswer(text=""))
    tomorrow = ManualClock(epoch_ns=MIDNIGHT_NS + DAY_NS)
    await spend(asked, tomorrow, ModelAnswer(text=""))


async def test_a_budget_in_tokens_ends_the_day() -> None:
    """Where the provider does not tell them, about as many as the call must have used."""
    clock = ManualClock(epoch_ns=MIDNIGHT_NS)
    asked = client(daily_budget_tokens=estimated_tokens(REQUEST.system, REQUEST.user) + 100)
    await spend(asked, clock, ModelAnswer(text="", input_tokens=60, output_tokens=39))
    await spend(asked, clock, ModelAnswer(text=""))
    await spend(asked, clock, ModelAnswer(text="", input_tokens=1))
    with pytest.raises(BudgetSpent, match="tokens a day"):
        await spend(asked, clock, ModelAnswer(text=""))


async def test_a_call_whose_usage_nobody_told_costs_what_was_estimated() -> None:
    """Also in dollars, with its answer: a budget that never fills is none."""
    clock, store = ManualClock(epoch_ns=MIDNIGHT_NS), MemoryBudget()
    priced = Prices(input_per_million=1_000_000, output_per_million=5_000_000)
    asked = client(store, daily_budget_usd=10_000, prices=priced)
    await spend(asked, clock, ModelAnswer(text="x" * 40))
    expected = estimated_tokens(REQUEST.system, REQUEST.user)
    assert await store.spent("m", utc_day(MIDNIGHT_NS)) == Spent(expected + 10 * 5, expected + 10)


async def test_what_was_told_in_part_counts_with_an_estimate_of_the_rest() -> None:
    """An answer whose own tokens are missing is not free."""
    clock, store = ManualClock(epoch_ns=MIDNIGHT_NS), MemoryBudget()
    priced = Prices(input_per_million=1_000_000, output_per_million=5_000_000)
    asked = client(store, daily_budget_usd=10_000, prices=priced)
    await spend(asked, clock, ModelAnswer(text="x" * 40, input_tokens=7))
    assert await store.spent("m", utc_day(MIDNIGHT_NS)) == Spent(7 + 10 * 5, 17)


async def test_a_budget_of_zero_allows_no_call() -> None:
    """Zero is a limit."""
    with pytest.raises(BudgetSpent):
        await spend(client(daily_budget_usd=0), ManualClock(), ModelAnswer(text=""))


ONE = Prices(input_per_million=1_000_000, output_per_million=1_000_000)
LIMITS = [{"daily_budget_usd": 800, "prices": ONE}, {"daily_budget_tokens": 800}]


@pytest.mark.parametrize("limit", LIMITS, ids=["dollars", "tokens"])
@pytest.mark.parametrize(("used", "refused"), [(399, False), (400, True), (None, False)])
async def test_a_call_waits_where_those_under_way_may_use_up_the_budget(
    limit: dict[str, object], used: int | None, refused: bool
) -> None:
    """Two of 400 tokens each. What they really used decides; one that failed (None) used nothing."""
    clock = ManualClock()
    asked = client(**limit)
    leave = asyncio.Event()

    async def call() -> None:
        async with asked.turn(REQUEST, clock) as turn:
            await leave.wait()
            if used is None:
                raise RuntimeError("down")
            await turn.book(ModelAnswer(text="", input_tokens=used, output_tokens=0, cost_usd=used))

    under_way = [asyncio.create_task(call()) for _ in range(2)]
    await asyncio.sleep(0)
    third = asyncio.create_task(spend(asked, clock, ModelAnswer(text="")))
    done, _ = await asyncio.wait([third], timeout=0.02)
    assert not done
    leave.set()
    await asyncio.gather(*under_way, return_exceptions=True)
    ended = await asyncio.wait_for(asyncio.gather(third, return_exceptions=True), 5)
    assert isinstance(ended[0], BudgetSpent) is refused
    assert refused or ended == [None]


async def test_calls_that_waited_do_not_overrun_the_budget_together() -> None:
    """Woken by the same end, each is counted before the next is let through."""
    clock = ManualClock()
    asked = client(daily_budget_tokens=1000, max_concurrency=50)
    running = most = answered = 0

    async def call() -> None:
        nonlocal running, most, answered
        async with asked.turn(REQUEST, clock) as turn:
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1
            answered += 1
            await turn.book(ModelAnswer(text="", input_tokens=100, output_tokens=0))

    ended = await asyncio.wait_for(asyncio.gather(*(call() for _ in range(30)), return_exceptions=True), 5)
    assert (most, answered) == (3, 10)
    assert sum(isinstance(each, BudgetSpent) for each in ended) == 20


async def test_calls_that_are_not_answered_do_not_hold_the_others_for_ever() -> None:
    """Their end is waited for as long as one call may take; then the model is not available."""
    clock = ManualClock()
    asked = replace(client(daily_budget_tokens=estimated_tokens(REQUEST.system, REQUEST.user)), longest=100)
    async with asked.turn(REQUEST, clock):
        waiting = asyncio.create_task(spend(asked, clock, ModelAnswer(text="")))
        for seconds in (99, 1):
            done, _ = await asyncio.wait([waiting], timeout=0.02)
            assert not done
            clock.advance(seconds)
        with pytest.raises(JudgeUnavailable, match="m: the calls under way may use up its budget, and none of them is"):
            await asyncio.wait_for(waiting, 5)


async def test_calls_that_are_answered_are_waited_for_longer() -> None:
    """The budget comes to its end with each of them, and then says so."""
    clock = ManualClock()
    expected = estimated_tokens(REQUEST.system, REQUEST.user)
    asked = replace(client(daily_budget_tokens=2 * expected), longest=100)
    async with asked.turn(REQUEST, clock):
        async with asked.turn(REQUEST, clock) as answered:
            waiting = asyncio.create_task(spend(asked, clock, ModelAnswer(text="")))
            await asyncio.wait([waiting], timeout=0.02)
            clock.advance(99)
            await answered.book(ModelAnswer(text="", input_tokens=expected, output_tokens=0))
        await asyncio.wait([waiting], timeout=0.02)
        clock.advance(99)
        done, _ = await asyncio.wait([waiting], timeout=0.02)
        assert not done
    await asyncio.wait_for(waiting, 5)


async def test_a_call_that_waited_past_midnight_has_the_new_days_budget() -> None:
    """It is not refused for what the day before cost."""
    clock = ManualClock(epoch_ns=MIDNIGHT_NS - 1)
    asked = client(daily_budget_tokens=400)
    async with asked.turn(REQUEST, clock) as turn:
        second = asyncio.create_task(spend(asked, clock, ModelAnswer(text="")))
        await asyncio.sleep(0)
        await turn.book(ModelAnswer(text="", input_tokens=400, output_tokens=0))
        clock.advance(1)
    await asyncio.wait_for(second, 5)


async def test_a_call_that_fails_is_not_booked() -> None:
    """And leaves nothing under way."""
    clock = ManualClock()
    asked = client(daily_budget_tokens=estimated_tokens(REQUEST.system, REQUEST.user))
    with pytest.raises(RuntimeError):
        async with asked.turn(REQUEST, clock):
            raise RuntimeError("down")
    await spend(asked, clock, ModelAnswer(text=""))


class BrokenBudget:
    """A store that is down."""

    async def spent(self, model: str, day: str) -> Spent:
        raise OSError("no store")

    async def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        raise OSError("no store")


class Unwritable(MemoryBudget):
    """A store on a full disk."""

    async def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        raise OSError("no store")


async def test_without_a_budget_the_store_is_left_alone() -> None:
    """Nothing is read or written for each call."""
    await spend(client(BrokenBudget()), ManualClock(), ModelAnswer(text=""))


async def test_a_budget_that_cannot_be_read_is_waited_for() -> None:
    """Neither spent without looking, nor given up."""
    with pytest.raises(JudgeUnavailable, match="m: its budget cannot be read: no store"):
        await spend(client(BrokenBudget(), daily_budget_usd=1), ManualClock(), ModelAnswer(text=""))


async def test_a_call_that_cannot_be_booked_keeps_its_answer(caplog: pytest.LogCaptureFixture) -> None:
    """It was paid for; the log says what is missing from the bill."""
    await spend(client(Unwritable(), daily_budget_usd=1), ManualClock(), ModelAnswer(text=""))
    assert "could not be added to the day's budget: no store" in caplog.text


class Behind(MemoryBudget):
    """A store that is handed bills and stores them when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.handed_in: list[tuple[asyncio.Future[None], tuple[str, str, float, int]]] = []

    def hand_in(self, model: str, day: str, usd: float, tokens: int) -> asyncio.Future[None]:
        bill = asyncio.get_running_loop().create_future()
        self.handed_in.append((bill, (model, day, usd, tokens)))
        return bill

    async def store(self) -> None:
        for bill, booked in self.handed_in:
            await self.add(*booked)
            bill.set_result(None)
        self.handed_in.clear()


async def test_a_bill_that_is_not_stored_yet_counts() -> None:
    """The store alone says that a budget is spent, and is asked once it has what it was handed."""
    clock, store = ManualClock(), Behind()
    asked = client(store, daily_budget_tokens=100)
    await spend(asked, clock, ModelAnswer(text="", input_tokens=100))
    second = asyncio.create_task(spend(asked, clock, ModelAnswer(text="")))
    await asyncio.sleep(0)
    assert not second.done()
    await store.store()
    with pytest.raises(BudgetSpent):
        await second
    await asked.aclose()


async def test_a_bill_that_is_refused_later_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """The call went on without waiting for it."""
    store = Behind()
    await spend(client(store, daily_budget_usd=1), ManualClock(), ModelAnswer(text=""))
    [(bill, _)] = store.handed_in
    bill.set_exception(OSError("no store"))
    await asyncio.sleep(0)
    assert "could not be added to the day's budget: no store" in caplog.text


async def test_no_more_calls_run_at_once_than_allowed() -> None:
    """The next begins when one ends, also one that was cancelled."""
    clock = ManualClock()
    asked = client(max_concurrency=2)
    running = 0
    entered = asyncio.Semaphore(0)
    leave = asyncio.Event()

    async def call() -> None:
        nonlocal running
        async with asked.turn(REQUEST, clock):
            running += 1
            entered.release()
            await leave.wait()

    tasks = [asyncio.create_task(call()) for _ in range(4)]
    for _ in range(2):
        await asyncio.wait_for(entered.acquire(), 5)
    assert running == 2
    tasks[0].cancel()
    await asyncio.wait_for(entered.acquire(), 5)
    assert running == 3
    leave.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert running == 4


async def test_requests_wait_for_their_minute() -> None:
    """Past the burst of a second, one after another."""
    asked = client(requests_per_minute=1200)
    loop = asyncio.get_running_loop()
    began = loop.time()
    for _ in range(24):
        await spend(asked, ManualClock(), ModelAnswer(text=""))
    assert loop.time() - began >= 0.15


async def test_tokens_wait_for_their_minute() -> None:
    """A call larger than the window's share waits for an empty window, not for ever."""
    limits = ModelLimits(JudgeModelSettings(model="m", tokens_per_minute=40_000))
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with limits.turn(50_000):
        pass
    async with limits.turn(100):
        pass
    assert 0.1 <= loop.time() - began < 5


def test_prices_are_read_from_litellms_own_list() -> None:
    """With and without the provider's prefix; an unknown model has none."""
    assert price_known("openai/gpt-4o-mini")
    assert known_prices("gpt-4o-mini") == Prices(input_per_million=0.15, output_per_million=0.6)
    assert not price_known("openai/no-such-model")


def test_what_tokens_cost() -> None:
    """Dollars for a million."""
    assert Prices(input_per_million=3, output_per_million=15).cost(1000, 100) == pytest.approx(0.0045)


def test_days_end_at_midnight_in_utc() -> None:
    """Wherever the machine is."""
    assert utc_day(MIDNIGHT_NS - 1_000_000) == "2024-10-03"
    assert utc_day(MIDNIGHT_NS) == "2024-10-04"
