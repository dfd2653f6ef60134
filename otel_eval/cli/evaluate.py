"""``otel-eval evaluate``: recorded telemetry judged offline, with no server."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from otel_eval.assemble.assembler import assemble
from otel_eval.cli.evaluations import write
from otel_eval.cli.exits import fail
from otel_eval.cli.formats import Format, FormatOption
from otel_eval.cli.interactions import recorded
from otel_eval.cli.stored import configuration
from otel_eval.config import Config, ConfigError
from otel_eval.config.build import known_loop_guard
from otel_eval.dispatch.bindings import Decision, Reason
from otel_eval.experiment.offline import judge
from otel_eval.experiment.plan import Configured
from otel_eval.experiment.progress import bar
from otel_eval.interaction import Interaction
from otel_eval.loop_guard import LoopGuard
from otel_eval.receive.files import UnreadableRecording
from otel_eval.record import EvaluationRecord
from otel_eval.wording import number_of


def evaluate(
    paths: Annotated[
        list[Path], typer.Argument(help="Files or folders of OTLP requests: .pb, .json, .jsonl.", metavar="PATH...")
    ],
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", help="The configuration that binds evaluators to agents.  [default: ./otel-eval.yaml]"
        ),
    ] = None,
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
    judged = offline_records(paths, settings, only=evaluator, unsampled=unsampled, concurrency=concurrency)
    if judged.records or format is not Format.TABLE:
        write(judged.records, format, sys.stdout)
    if not judged.records:
        typer.echo(f"otel-eval: nothing was judged: {_why_nothing(judged, settings)}", err=True)
    if judged.unjudged:
        reasons = ", ".join(
            f"{count} {_REASONS.get(reason, reason)}" for reason, count in sorted(judged.unjudged.items())
        )
        typer.echo(f"otel-eval: evaluations that were not made: {reasons}", err=True)


@dataclass(slots=True, kw_only=True)
class Judged:
    """What came of recordings: the records, the evaluations that were not made, how many Interactions there were.

    ``left_out`` says why, of each Interaction by its id; ``unjudged`` counts the reasons.
    """

    records: list[EvaluationRecord] = field(default_factory=list)
    left_out: list[tuple[str, Decision]] = field(default_factory=list)
    interactions: int = 0

    @property
    def unjudged(self) -> Counter[str]:
        return Counter(decision.reason.value for _, decision in self.left_out)


_REASONS = {
    Reason.FAILED.value: "of Interactions that failed (trigger_on_failure judges them)",
    Reason.NESTED.value: "of sub-agents' Interactions (nested judges them)",
    Reason.INCOMPLETE.value: "of incomplete Interactions (trigger_on_incomplete judges them)",
    Reason.SAMPLED_OUT.value: "sampled out (--unsampled judges them)",
}


def _why_nothing(judged: Judged, settings: Config) -> str:
    if not judged.interactions:
        return "the recordings hold no Interaction of an agent"
    if not settings.evaluators:
        return "the configuration has no evaluators (--config names another)"
    found = number_of(judged.interactions, "Interaction")
    return f"no evaluator that was asked for is bound to the agents of the {found}, or all were left out"


def offline_records(
    paths: Iterable[Path],
    settings: Config,
    *,
    only: Iterable[str] | None = None,
    unsampled: bool = False,
    concurrency: int = 8,
    wants: Callable[[Interaction], bool] = lambda _: True,
) -> Judged:
    """What comes of these recordings, of those Interactions that ``wants`` says yes to. Exits for what is wrong."""
    wanted = None if not only else frozenset(only)
    unknown = sorted((wanted or frozenset()) - settings.evaluators.keys())
    if unknown:
        raise fail(f"no evaluator is called {', '.join(unknown)}; there are {', '.join(settings.evaluators) or 'none'}")
    try:
        configured = Configured.of(settings, only=wanted)
        found = list(_interactions(paths, known_loop_guard(settings), settings.role_attributes))
    except (ConfigError, UnreadableRecording) as error:
        raise fail(str(error)) from error
    return asyncio.run(_records(found, configured, unsampled, concurrency, wants))


def _interactions(paths: Iterable[Path], guard: LoopGuard | None, keep: Collection[str]) -> Iterator[Interaction]:
    """Those of the recordings, without what our own judges did: it is known by the storage directory's key."""
    for path in paths:
        recording = recorded(path)
        if not recording.spans and not recording.logs and _is_foreign(path):
            raise UnreadableRecording(f"{path}: no OTLP request of traces, logs or metrics")
        for interaction in assemble(recording.spans, recording.logs, keep):
            if guard is None or not guard.owns(interaction.trace_id, interaction.system):
                yield interaction


def _is_foreign(path: Path) -> bool:
    """Whether a file that was named holds something, and nothing of OTLP. In a folder, other files may lie beside."""
    if path.is_dir() or path.suffix == ".pb":
        return False
    content = path.read_bytes()
    return bool(content.strip()) and not any(name in content for name in _OTLP)


_OTLP = tuple(f"resource{kind}".encode() for kind in ("Spans", "Logs", "Metrics", "_spans", "_logs", "_metrics"))


async def _records(
    interactions: list[Interaction],
    configured: Configured,
    unsampled: bool,
    concurrency: int,
    wants: Callable[[Interaction], bool],
) -> Judged:
    all_judged = Judged(interactions=sum(map(wants, interactions)))
    try:
        with bar(all_judged.interactions, "Interactions") as advance:
            judged = judge(interactions, configured, unsampled=unsampled, concurrency=concurrency, wants=wants)
            async for interaction, made, decisions in judged:
                all_judged.records += made
                all_judged.left_out += [(interaction.id, each) for each in decisions if each.reason not in _QUIET]
                advance(interaction.agent or "Interactions")
    finally:
        await configured.aclose()
    return all_judged


_QUIET = (Reason.EVALUATED, Reason.NOT_BOUND, Reason.DISABLED)
"""What nobody needs to be told: it was done, or the configuration says that it is not to be done."""
