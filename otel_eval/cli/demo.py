"""`otel-eval demo`: from agents' exports to verdicts within a minute, on real parts."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from otel_eval.cli.live import COLOURS, gaps, short
from otel_eval.demo.run import Outcome, Shown, run

WIDTH = 150
"""Of what goes into a file or a log, in characters."""
WORDS = {"passed": "pass", "failed": "FAIL", "inconclusive": "?", "error": "error"}


def demo(
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", help="A litellm model to judge with, its key in the environment; else a script."),
    ] = None,
) -> None:
    """Start a real server on free ports, send it recorded exports of real agents, show the verdicts.

    Example: otel-eval demo --judge-model openai/gpt-4o-mini
    """
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    judge = f"the model {judge_model}" if judge_model else "a script on loopback: no model is asked, it looks for words"
    console.print("[bold]otel-eval demo[/]: a real server, and recorded exports of real agent frameworks.")
    console.print(f"Judge: {judge}.\n")
    with console.status("sending and judging (loading litellm takes a few seconds)…"):
        outcome = asyncio.run(run(judge_model))
    _print(console, outcome)


def _print(console: Console, outcome: Outcome) -> None:
    console.print(table_of(outcome, console.width))
    console.print(
        "? no verdict, for a reason that is below; – not judged: bound to other agents, or to runs that did not fail\n"
    )
    for each in outcome.shown:
        for line in explanations(each):
            console.print(line, soft_wrap=True)
    console.print(
        f"\n{outcome.requests} OTLP requests came in on grpc {outcome.grpc}; to the collector went back "
        f"{outcome.evaluation_spans} evaluation spans in the agents' own traces, {outcome.result_events} "
        f"gen_ai.evaluation.result events, and {len(outcome.metric_names)} metrics, among them "
        f"{', '.join(name for name in outcome.metric_names if name.startswith('otel_eval.evaluation'))}.",
        soft_wrap=True,
    )
    console.print(
        "\nNext: [bold]otel-eval init[/] writes a configuration, [bold]otel-eval serve[/] runs it; then point an agent at it:\n"
        "  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317 OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
        soft_wrap=True,
    )


def table_of(outcome: Outcome, width: int) -> Table:
    """A row for each Interaction, a column for each evaluator as wide as its longest word; the texts share what is left."""
    evaluators = sorted({record.evaluator for each in outcome.shown for record in each.records})
    table = Table(show_lines=True)
    headings = [evaluator.replace("-", " ") for evaluator in evaluators]
    widths = [max(map(len, heading.split()), default=1) for heading in headings]
    left = width - 1 - sum(each + 3 for each in widths) - 2 * 3
    texts = {"agent, recorded from": min(34, left // 3), "asked, replied": left - min(34, left // 3)}
    for heading, most in texts.items():
        table.add_column(heading, no_wrap=True, overflow="ellipsis", max_width=max(most, 8))
    for heading, each_width in zip(headings, widths, strict=True):
        table.add_column(heading, justify="center", width=each_width)
    for each in outcome.shown:
        interaction = each.interaction
        nested = " (sub-agent)" if interaction.parent_id else ""
        reply = f"[red]{short(str(interaction.failure), 90)}[/]" if interaction.failed else short(interaction.reply, 90)
        outcomes = {record.evaluator: record.outcome.name for record in each.records}
        table.add_row(
            f"{short((interaction.agent or '') + nested)}\n[dim]{escape(each.source)}[/]",
            f"{short(interaction.asked, 90)}\n{reply}",
            *(
                f"[{COLOURS[name]}]{WORDS[name]}[/]" if (name := outcomes.get(one)) else "[dim]–[/]"
                for one in evaluators
            ),
        )
    return table


def explanations(shown: Shown) -> list[str]:
    """What did not pass, and why; and what the telemetry left out."""
    lines = []
    for record in shown.records:
        if record.outcome.name != "passed":
            colour = COLOURS[record.outcome.name]
            lines.append(f"[{colour}]{record.outcome.word}[/] {escape(record.evaluator)}: {_detail(record.describe())}")
    if lines:
        lines.insert(0, f"[bold]{escape(shown.source)}[/], {short(shown.interaction.agent or 'no agent')}:")
        lines += [f"  [yellow]gap[/] {escape(gap)}" for gap in gaps(shown.interaction)]
    return [lines[0], *(f"  {line}" for line in lines[1:])] if lines else []


def _detail(description: str) -> str:
    """``describe()`` without its first word."""
    return short(description.partition(" ")[2], 220)
