"""Showing how far an experiment has come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from otel_eval.experiment.results import Attempt

Progress: TypeAlias = Callable[[Attempt, int, int], None]
"""Called after each attempt with the attempt, how many are done, and how many there will be."""


@contextmanager
def reporting(progress: Progress | None, total: int) -> Iterator[Progress]:
    """The function to call after each attempt: the one given, else a bar on stderr where that is a terminal, else nothing."""
    if progress is not None:
        yield progress
    elif total > 1 and sys.stderr.isatty():
        with _bar(total) as report:
            yield report
    else:
        yield _silent


def _silent(attempt: Attempt, done: int, total: int) -> None:
    """Say nothing."""


@contextmanager
def _bar(total: int) -> Iterator[Progress]:
    with bar(total, "attempts") as advance:

        def report(attempt: Attempt, done: int, total: int) -> None:
            advance(f"{attempt.case_id} run {attempt.run} {attempt.status}")

        yield report


@contextmanager
def bar(total: int, what: str) -> Iterator[Callable[[str], None]]:
    """A bar on stderr where that is a terminal. Call what it gives after each step, with what the step was."""
    if not sys.stderr.isatty():
        yield _nowhere
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.markup import escape

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total)
        yield lambda step: shown.update(task, advance=1, description=escape(step))


def _nowhere(step: str) -> None:
    """Show nothing."""
