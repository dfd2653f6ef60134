"""A process that accepts Interactions and is killed while it judges them. Started by test_killed.py."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from otel_eval.interaction import Interaction
from otel_eval.outcome import Outcome, Passed
from tests.dispatch.kit import EXACT, JUDGED, Asking, Exact, Pipeline, arrived, until
from tests.dispatch.test_killed import traffic


async def main(url: str) -> None:
    """Accept, judge ten, and die without a word."""
    pipeline = Pipeline(url)
    answers = iter(range(10))

    async def some(interaction: Interaction) -> Outcome:
        if next(answers, None) is None:
            await asyncio.Event().wait()
        return Passed("yes", score=1.0)

    evaluators = {"e": (EXACT, Exact()), "j": (JUDGED, Asking(pipeline.clock, some))}
    async with pipeline.running(evaluators) as dispatcher:
        await dispatcher.accept([arrived(each) for each in traffic()])
        print("accepted", flush=True)
        await until(lambda: sum(record.evaluator == "j" for record in pipeline.records) == 10)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
