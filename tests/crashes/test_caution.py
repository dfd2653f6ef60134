"""What is suspected is done with nothing beside it, what is convicted not at all, and all else as if nothing were."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from otel_eval.crashes import DEATHS, Caution, DiedBefore, Kind, owner_of
from otel_eval.crashes.caution import APART_S, FURTHER, MOST_CONVICTED, REST_S
from otel_eval.crashes.notes import left
from otel_eval.crashes.suspects import ALONE_FROM, FILE, Suspect, Suspects
from otel_eval.testing.clock import ManualClock


def begin(directory: Path, clock: ManualClock, **deaths: int) -> Caution:
    """After so many deaths at which these evaluations were under way."""
    suspects = Suspects(
        under_way={f"evaluation:{name}": Suspect(count, clock.now_ns()) for name, count in deaths.items()}
    )
    suspects.save(directory)
    return started(Caution.begin(directory, at_once=4, clock=clock))


def started(caution: Caution) -> Caution:
    caution.start()
    return caution


def suspected(directory: Path) -> set[str]:
    return {text.partition(":")[2] for text in Suspects.load(directory).under_way}


async def test_what_comes_to_its_end_is_cleared(tmp_path: Path) -> None:
    """In memory and on disk; a process that was killed once from outside leaves no trace."""
    caution = begin(tmp_path, ManualClock(), a=1, b=1)
    async with caution.during(Kind.EVALUATION, "a"):
        assert left(tmp_path) == ("evaluation:a",)
    assert left(tmp_path) == ()
    assert suspected(tmp_path) == {"b"}
    with pytest.raises(RuntimeError):
        async with caution.during(Kind.EVALUATION, "b"):
            raise RuntimeError("it broke, and lived")
    assert not (tmp_path / FILE).exists()


async def test_what_is_cancelled_is_neither_cleared_nor_left(tmp_path: Path) -> None:
    """A stop in good order says nothing of what it cut off."""
    caution = begin(tmp_path, ManualClock(), a=1)
    with contextlib.suppress(asyncio.CancelledError):
        async with caution.during(Kind.EVALUATION, "a"):
            raise asyncio.CancelledError
    assert suspected(tmp_path) == {"a"}
    assert left(tmp_path) == ()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
async def test_what_ends_the_process_by_an_exception_stays_noted(tmp_path: Path, error: type[BaseException]) -> None:
    """The process closes everything in good order then, as if it were nobody's fault."""
    caution = begin(tmp_path, ManualClock())
    with pytest.raises(error), caution.noted(Kind.TRACE, "ab"):
        raise error
    assert left(tmp_path) == ("trace:ab",)


async def test_after_one_death_nothing_is_slower(tmp_path: Path) -> None:
    """What was under way is done at once, and beside others."""
    caution = begin(tmp_path, ManualClock(), a=1, b=1)
    async with caution.during(Kind.EVALUATION, "a"), caution.during(Kind.EVALUATION, "b"):
        assert set(left(tmp_path)) == {"evaluation:a", "evaluation:b"}


async def test_after_two_it_is_done_alone_by_a_process_that_lives(tmp_path: Path) -> None:
    """First the process shows that it lives without it; then it is alone, and others wait for their turn."""
    clock = ManualClock()
    caution = begin(tmp_path, clock, suspect=ALONE_FROM)
    seen: dict[str, tuple[str, ...]] = {}
    goes_on = asyncio.Event()

    async def do(name: str) -> None:
        async with caution.during(Kind.EVALUATION, name):
            await goes_on.wait()
            seen[name] = left(tmp_path)

    tasks = [asyncio.create_task(do("suspect"))]
    await clock.run_for(APART_S - 1)
    tasks.append(asyncio.create_task(do("before")))
    await clock.run_for(1)
    tasks.append(asyncio.create_task(do("after")))
    await clock.run_for(0)
    assert left(tmp_path) == ("evaluation:before",)
    goes_on.set()
    await asyncio.gather(*tasks)
    assert seen["suspect"] == ("evaluation:suspect",)
    assert suspected(tmp_path) == set()


async def test_what_has_the_same_owner_as_a_suspect_is_done_alone_too(tmp_path: Path) -> None:
    """An evaluator may kill each time: its others are not to die before the suspect had its turn; the rest goes on."""
    clock = ManualClock()
    suspect = f"evaluation:a-{owner_of('mine', '1')}"
    Suspects(under_way={suspect: Suspect(ALONE_FROM, clock.now_ns())}).save(tmp_path)
    caution = started(Caution.begin(tmp_path, at_once=4, clock=clock))
    done: list[str] = []

    async def do(name: str, evaluator: str) -> None:
        async with caution.during(Kind.EVALUATION, name, owner_of(evaluator, "1")):
            done.append(name)

    tasks = [asyncio.create_task(do(*each)) for each in (("a", "mine"), ("b", "mine"), ("c", "yours"))]
    await clock.run_for(APART_S - 1)
    assert done == ["c"]
    await clock.run_for(1)
    assert done == ["c", "a"]
    await clock.run_for(APART_S)
    assert done == ["c", "a", "b"]
    tasks.append(asyncio.create_task(do("d", "mine")))
    await clock.run_for(0)
    assert done[3:] == ["d"], "it was cleared"
    await asyncio.gather(*tasks)


async def test_after_a_death_alone_it_is_tried_later_and_the_others_after_it(tmp_path: Path) -> None:
    """What killed at intervals from outside comes before; and what may be the cause is first, so that its death tells."""
    clock = ManualClock()
    caution = begin(tmp_path, clock, other=ALONE_FROM, once_alone=ALONE_FROM + 1)
    done: list[str] = []

    async def do(name: str) -> None:
        async with caution.during(Kind.EVALUATION, name):
            done.append(name)

    tasks = [asyncio.create_task(do(name)) for name in ("other", "once_alone", "unsuspected")]
    await clock.run_for(APART_S * FURTHER - 1)
    assert done == ["unsuspected"]
    await clock.run_for(1)
    assert done[1:] == ["once_alone"]
    await clock.run_for(APART_S)
    assert done[2:] == ["other"]
    await asyncio.gather(*tasks)


async def test_the_later_it_began_alone_the_later_it_is_tried_again(tmp_path: Path) -> None:
    """It may have waited for others: a kill that met it then comes before it at the next interval."""
    clock = ManualClock()
    began_s = 3 * APART_S
    Suspects(under_way={"evaluation:a": Suspect(ALONE_FROM + 1, clock.now_ns(), began_s)}).save(tmp_path)
    caution = started(Caution.begin(tmp_path, at_once=4, clock=clock))

    async def do() -> None:
        async with caution.during(Kind.EVALUATION, "a"):
            assert Suspects.load(tmp_path).under_way["evaluation:a"].alone_s == began_s * FURTHER

    task = asyncio.create_task(do())
    await clock.run_for(began_s * FURTHER - 1)
    assert not task.done()
    await clock.run_for(1)
    await task


async def test_after_four_it_is_not_done(tmp_path: Path) -> None:
    """With a reason for people."""
    caution = begin(tmp_path, ManualClock(), a=DEATHS)
    with pytest.raises(DiedBefore, match="the judging process died 4 times while this was evaluated"):
        async with caution.during(Kind.EVALUATION, "a"):
            raise AssertionError
    traces = Caution(suspects=Suspects(under_way={"trace:ab": Suspect(DEATHS, 1)}))
    with pytest.raises(DiedBefore, match="put together"), traces.noted(Kind.TRACE, "ab"):
        raise AssertionError
    assert suspected(tmp_path) == {"a"}
    assert left(tmp_path) == ()


@pytest.mark.parametrize(("deaths", "is_due", "waits"), [(2, True, True), (2, False, False), (1, True, False)])
async def test_several_at_once_are_done_alone_where_a_suspect_is_among_them(
    tmp_path: Path, deaths: int, is_due: bool, waits: bool
) -> None:
    """Traces are put together many at a time, and no more slowly for one that is not there."""
    clock = ManualClock()
    suspects = Suspects(under_way={"trace:ab": Suspect(deaths, clock.now_ns())})
    suspects.save(tmp_path)
    caution = started(Caution.begin(tmp_path, at_once=1, clock=clock))

    async def put_together() -> None:
        async with caution.apart(Kind.TRACE, lambda trace_id: is_due and trace_id == "ab"):
            pass

    task = asyncio.create_task(put_together())
    await clock.run_for(APART_S / 2)
    assert task.done() is not waits
    await clock.run_for(APART_S / 2)
    assert task.done()


async def test_an_evaluator_that_kills_again_and_again_is_left_alone_for_an_hour(tmp_path: Path) -> None:
    """In that version; what it did is kept, so that the next process knows as well."""
    clock = ManualClock()
    caution = begin(tmp_path, clock, a=DEATHS)
    for number in range(MOST_CONVICTED):
        assert caution.at_rest("mine", "1") is None
        assert caution.convict("mine", "1", f"{number}")
        assert not caution.convict("mine", "1", f"{number}"), "told once"
    again = Caution.begin(tmp_path, at_once=1, clock=clock)
    reason = "not called: the judging process died of 3 other evaluations of it within the last hour"
    assert again.at_rest("mine", "1") == reason
    assert again.at_rest("mine", "2") is None
    assert again.at_rest("yours", "1") is None
    clock.advance(REST_S + 1)
    assert again.at_rest("mine", "1") is None


async def test_nothing_goes_on_before_all_is_up(tmp_path: Path) -> None:
    """A process that dies of it before it is ready would keep the server from starting; be it noted or not."""
    caution = Caution.begin(tmp_path, at_once=1, clock=ManualClock())

    async def do() -> None:
        async with caution.during(Kind.REQUEST, "1"):
            pass

    tasks = [asyncio.create_task(do()), asyncio.create_task(caution.started())]
    for _ in range(5):
        await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)
    caution.start()
    await asyncio.gather(*tasks)


async def test_without_a_directory_everything_is_done(tmp_path: Path) -> None:
    """As in a dispatcher that nobody gave one."""
    caution = Caution()
    async with caution.during(Kind.EVALUATION, "a"), caution.apart(Kind.TRACE, lambda _: True):
        assert caution.at_rest("mine", "1") is None
    caution.close()
