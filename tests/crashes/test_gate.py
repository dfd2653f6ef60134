"""Many are inside together, or one alone, in the order in which they came."""

from __future__ import annotations

import asyncio

from otel_eval.crashes.gate import Gate


class Visits:
    """Who is inside, told by those who go in; each leaves when told to."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.inside: set[str] = set()
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._leaving: dict[str, asyncio.Event] = {}

    async def come(self, name: str, *, alone: bool = False) -> None:
        async def visit() -> None:
            await self.gate.enter(alone=alone)
            self.inside.add(name)
            await self._leaving[name].wait()
            self.inside.discard(name)
            self.gate.leave()

        self._leaving[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(visit())
        await settled()

    async def go(self, *names: str) -> None:
        for name in names:
            self._leaving[name].set()
        await settled()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_one_alone_waits_for_the_others_and_they_for_it() -> None:
    """Those that came later wait as well, so that it has its turn."""
    visits = Visits()
    await visits.come("a")
    await visits.come("b")
    await visits.come("alone", alone=True)
    await visits.come("c")
    assert visits.inside == {"a", "b"}
    await visits.go("a")
    assert visits.inside == {"b"}
    await visits.go("b")
    assert visits.inside == {"alone"}
    await visits.go("alone")
    assert visits.inside == {"c"}
    await visits.go("c")
    assert all(task.done() for task in visits.tasks.values())


async def test_two_alone_and_one_between_them() -> None:
    """The one between them is not starved."""
    visits = Visits()
    await visits.come("first", alone=True)
    await visits.come("between")
    await visits.come("second", alone=True)
    await visits.go("first")
    assert visits.inside == {"between"}
    await visits.go("between")
    assert visits.inside == {"second"}
    await visits.go("second")


async def test_whoever_gives_up_waiting_holds_up_nobody() -> None:
    """Cancelled in the queue, or just let in."""
    visits = Visits()
    await visits.come("a")
    await visits.come("alone", alone=True)
    await visits.come("b")
    visits.tasks["alone"].cancel()
    await settled()
    assert visits.inside == {"a", "b"}
    await visits.come("next", alone=True)
    await visits.come("last")
    await visits.go("a")
    visits._leaving["b"].set()
    while visits.inside:  # noqa: ASYNC110 - until b has left, and not a turn longer
        await asyncio.sleep(0)
    visits.tasks["next"].cancel()  # it was let in by b, and does not know yet
    await settled()
    assert visits.inside == {"last"}
    await visits.go("last")
