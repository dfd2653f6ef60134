"""``otel-eval evaluations``: the records of a ledger."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Annotated, TextIO

import typer

from otel_eval.cli.formats import Format, FormatOption
from otel_eval.cli.shown import printable
from otel_eval.cli.stored import ConfigOption, LedgerOption, configuration, opened, print_json, since_ns
from otel_eval.outcome import Evaluation, why
from otel_eval.record import EvaluationRecord, Origin
from otel_eval.record_json import to_line
from otel_eval.wording import moment

WIDTH = 160
"""Columns of a table that goes to no terminal."""

_COLORS = {"passed": "green", "failed": "red", "inconclusive": "yellow", "error": "magenta"}


def evaluations(
    interaction: Annotated[str | None, typer.Option(help="Only of this Interaction, by its id or an alias.")] = None,
    evaluator: Annotated[str | None, typer.Option(help="Only of this evaluator.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only of this agent.")] = None,
    session: Annotated[str | None, typer.Option(help="Only of this session (conversation id).")] = None,
    since: Annotated[str | None, typer.Option(help="Only those that ended within this time: 30m, 1h, 7d.")] = None,
    origin: Annotated[Origin | None, typer.Option(help="Only of this origin.")] = None,
    current: Annotated[
        bool, typer.Option("--current", help="Only the newest revision and attempt of each evaluation.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many, the newest ones.")] = None,
    format: FormatOption = Format.TABLE,
    ledger: LedgerOption = None,
    config: ConfigOption = None,
) -> None:
    """Print the evaluation records of a ledger, newest first.

    Exit status: 0, also where nothing matches; 2 for a wrong option, configuration or ledger.

    Example: otel-eval evaluations --evaluator toxicity --since 1h --format jsonl
    """
    start_ns = since_ns(since)
    with opened(ledger, configuration(config)) as store:
        select = store.current if current else store.records
        found = select(
            interaction_id=interaction,
            evaluator=evaluator,
            agent=agent,
            session=session,
            origin=origin,
            since_ns=start_ns,
        )
        write(islice(found, limit and min(limit, sys.maxsize)), format, sys.stdout)


def write(records: Iterable[EvaluationRecord], format: Format, out: TextIO) -> None:
    """Print them in that format; JSON as they come, the table at the end."""
    if format is Format.TABLE:
        _table(list(records), out)
    else:
        print_json((to_line(record) for record in records), format, out)


def _table(records: list[EvaluationRecord], out: TextIO) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not records:
        out.write("no evaluations match\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("ended", "evaluator", "agent", "outcome", "score", "why", "interaction"):
        whole = title != "why" and not (title == "interaction" and out.isatty())  # in a file an id stands on one line
        table.add_column(title, overflow="fold", no_wrap=whole)
    for record in records:
        outcome = record.outcome
        table.add_row(
            moment(record.ended_ns),
            escape(printable(record.evaluator)),
            escape(printable(record.agent or "-")),
            f"[{_COLORS[outcome.name]}]{outcome.name}[/]",
            _score(record),
            escape(printable(why(outcome))),
            record.interaction_id,
        )
    console = Console(file=out, width=None if out.isatty() else WIDTH)
    console.print(table)
    console.print(tally(records))


def tally(records: Iterable[EvaluationRecord]) -> str:
    """How many of each outcome, all four of them, so that nobody reads a rate without what it leaves out."""
    counts = Counter(record.outcome.name for record in records)
    parts = [f"{counts[name]} {name}" for name in ("passed", "failed", "inconclusive", "error")]
    return f"{counts.total()} evaluations: {', '.join(parts)}"


def _score(record: EvaluationRecord) -> str:
    score = record.outcome.score if isinstance(record.outcome, Evaluation) else None
    return "-" if score is None else f"{score:.2f}"
