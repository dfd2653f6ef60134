"""``otel-eval evaluate``: recorded telemetry judged offline, with no server."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from otel_eval.assemble.assembler import assemble
from otel_eval.cli.evaluations import write
from otel_eval.cli.stored import ConfigOption, Format, FormatOption, configuration, fail
from otel_eval.config import Config, ConfigError
from otel_eval.dispatch.bindings import Reason
from otel_eval.experiment.offline import judge
from otel_eval.experiment.plan import Configured
from otel_eval.experiment.progress import bar
from otel_eval.interaction import Interaction
from otel_eval.loop_guard import LoopGuard
from otel_eval.receive.files import UnreadableRecording, read_path
from otel_eval.record import EvaluationRecord


def evaluate(
    paths: Annotated[
        list[Path], typer.Argument(help="Files or folders of OTLP requests: .pb, .json, .jsonl.", metavar="PATH...")
    ],
    config: ConfigOption = None,
    evaluator: Annotated[
        list[str] | None, typer.Option("--evaluator", help="Only this evaluator; may be given again.", metavar="ID")
    ] = None,
    unsampled: Annotated[
        bool, typer.Option("--unsampled", help="Judge also what the bindings' sampling ratio leaves out.")
    ] = False,
    concurrency: Annotated[int, typer.Option(min=1, help="How many Interactions are judged at a time.")] = 8,
    format: FormatOption = Format.TABLE,
) -> None:
    """Judge recorded telemetry with the evaluators that the configuration binds to its agents; nothing is stored.

    Prints a record for each evaluation, as `otel-eval evaluations` does. Exit status: 0 also where evaluations failed
    (`otel-eval gate` decides about that); 2 for a wrong option, configuration or file.

    Example: otel-eval evaluate --config otel-eval.yaml --format jsonl recordings/
    """
    settings = configuration(config)
    records, unjudged = offline_records(paths, settings, only=evaluator, unsampled=unsampled, concurrency=concurrency)
    write(records, format, sys.stdout)
    if unjudged:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(unjudged.items()))
        typer.echo(f"otel-eval: evaluations that were not made: {reasons}", err=True)


def offline_records(
    paths: Iterable[Path],
    settings: Config,
    *,
    only: Iterable[str] | None = None,
    unsampled: bool = False,
    concurrency: int = 8,
) -> tuple[list[EvaluationRecord], Counter[str]]:
    """The records of these recordings, and how many evaluations were not made, by reason. Exits for what is wrong."""
    wanted = None if not only else frozenset(only)
    unknown = sorted((wanted or frozenset()) - settings.evaluators.keys())
    if unknown:
        raise fail(f"no evaluator is called {', '.join(unknown)}; there are {', '.join(settings.evaluators) or 'none'}")
    try:
        configured = Configured.of(settings, only=wanted)
        found = list(_interactions(paths, _key_of(settings)))
    except (ConfigError, UnreadableRecording) as error:
        raise fail(str(error)) from error
    return asyncio.run(_records(found, configured, unsampled, concurrency))


def _interactions(paths: Iterable[Path], guard: LoopGuard | None) -> Iterator[Interaction]:
    """Those of the recordings, without what our own judges did: it is known by the storage directory's key."""
    for path in paths:
        recording = read_path(path)
        for interaction in assemble(recording.spans, recording.logs):
            if guard is None or not (
                guard.owns_trace(interaction.trace_id) or guard.owns_text(interaction.system or "")
            ):
                yield interaction


def _key_of(settings: Config) -> LoopGuard | None:
    path = Path(settings.storage.directory).expanduser() / "loop-guard.key"
    return LoopGuard.from_file(path) if path.is_file() else None


async def _records(
    interactions: list[Interaction], configured: Configured, unsampled: bool, concurrency: int
) -> tuple[list[EvaluationRecord], Counter[str]]:
    records: list[EvaluationRecord] = []
    unjudged: Counter[str] = Counter()
    try:
        with bar(len(interactions), "Interactions") as advance:
            judged = judge(interactions, configured, unsampled=unsampled, concurrency=concurrency)
            async for interaction, made, decisions in judged:
                records += made
                unjudged.update(each.reason.value for each in decisions if each.reason not in _QUIET)
                advance(interaction.agent or "Interactions")
    finally:
        await configured.aclose()
    return records, unjudged


_QUIET = (Reason.EVALUATED, Reason.NOT_BOUND, Reason.DISABLED)
"""What nobody needs to be told: it was done, or the configuration says that it is not to be done."""
