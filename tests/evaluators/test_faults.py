"""What a user's code raised, in words, with the line to look at."""

import asyncio
import inspect
import json
from collections.abc import Callable

import pytest

from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.custom import evaluator
from otel_eval.faults import told
from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored
from otel_eval.testing.interactions import interaction


def line_of(function: Callable[..., object], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if text in line)


def reads(text: str) -> object:
    return json.loads(text)


def caught(text: str) -> BaseException:
    with pytest.raises(ValueError, match="Expecting") as raised:
        reads(text)
    return raised.value


def test_the_place_is_the_users_own_line() -> None:
    """Not the library's that it called, and of the user's lines the last one."""
    place = f"test_faults.py:{line_of(reads, 'loads')}"
    assert told(caught("{")) == f"JSONDecodeError: {caught('{')} ({place})"


def test_what_was_never_raised_has_no_place() -> None:
    """Nor has what ours or Python's own code raised without a user's file in between."""
    assert told(ValueError("bad")) == "ValueError: bad"
    assert told(KeyError()) == "KeyError"
    error = caught("{")
    assert error.__traceback__ is not None
    assert error.__traceback__.tb_next is not None
    error.__traceback__ = error.__traceback__.tb_next.tb_next  # what json's own lines make of it
    assert told(error) == f"JSONDecodeError: {error}"


@pytest.mark.parametrize("kind", ["async", "in a thread"])
async def test_of_an_evaluator_it_is_the_evaluators_line(kind: str, context: EvaluationContext) -> None:
    """Whichever way it runs: neither the loop nor the thread is a place that says anything."""

    def looks(found: Interaction) -> bool:
        raise LookupError("no policy")

    async def waits(found: Interaction) -> bool:
        return looks(found)

    async def elsewhere(found: Interaction) -> bool:
        return await asyncio.to_thread(looks, found)

    outcome = await run(evaluator(check="mine")(waits if kind == "async" else elsewhere), interaction(), context)
    assert isinstance(outcome, Errored)
    assert outcome.reason == f"LookupError: no policy (test_faults.py:{line_of(looks, 'raise')})"


class Exits(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


def test_what_it_says_is_bounded_and_ends_nothing() -> None:
    """The place is told after a long text, too; a text that exits is none."""
    long = caught("{" + "x" * 100_000)
    raised = ValueError("x" * 100_000)
    assert told(raised) == f"ValueError: {'x' * 2000}… (100000 characters)"
    assert told(long).endswith(f"(test_faults.py:{line_of(reads, 'loads')})")
    assert told(Exits()) == "Exits: (its message could not be read)"
