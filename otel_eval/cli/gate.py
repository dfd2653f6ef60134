"""``otel-eval gate``: outcomes turned into an exit status, over a ledger, reports, records or recordings."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from otel_eval.cli.failing import fail
from otel_eval.cli.stored import (
    ConfigOption,
    Format,
    FormatOption,
    LedgerOption,
    configuration,
    opened,
    print_json,
    printable,
    since_ns,
)
from otel_eval.config import Config
from otel_eval.experiment.batch import batch_of
from otel_eval.experiment.errors import InvalidExperiment, UnreadableReport
from otel_eval.experiment.gates import Gate, GateResult, pass_rate_should_be_at_least
from otel_eval.experiment.report import Report
from otel_eval.experiment.report_json import FORMAT
from otel_eval.experiment.results import Attempt
from otel_eval.record import EvaluationRecord, Origin
from otel_eval.record_json import from_json

FAILED, UNDECIDED = 1, 3


def gate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Reports (.json), records (.jsonl, as `evaluate` prints them) or recorded OTLP; none: the ledger.",
            metavar="PATH...",
        ),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(help="The evaluator (or the check) whose pass rate counts; else whole attempts.", metavar="ID"),
    ] = None,
    pass_rate: Annotated[float | None, typer.Option(help="The rate that has to be reached, from 0 to 1.")] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Have the Wilson lower bound at this confidence (0.95) reach the rate.")
    ] = None,
    min_conclusive: Annotated[int, typer.Option(help="At least so many passed or failed results.")] = 1,
    min_coverage: Annotated[float, typer.Option(help="At least this share of all results, from 0 to 1.")] = 0.0,
    since: Annotated[str | None, typer.Option(help="Of the ledger, what ended within this time: 30m, 1h, 7d.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only of this agent.")] = None,
    service: Annotated[str | None, typer.Option(help="Only of this service.")] = None,
    environment: Annotated[str | None, typer.Option(help="Only of this environment.")] = None,
    origin: Annotated[
        Origin, typer.Option(help="Of the ledger, only this origin: re-runs are not mixed with live verdicts.")
    ] = Origin.LIVE,
    format: FormatOption = Format.TABLE,
    ledger: LedgerOption = None,
    config: ConfigOption = None,
) -> None:
    """Decide whether enough evaluations passed.

    Without --pass-rate, reports are decided by the gate that they ran with. The newest revision of the newest version of
    an evaluator counts; results of other versions are shown.

    Exit status: 0 passed; 1 failed; 2 a wrong option, file, configuration or ledger; 3 nothing conclusive, or less than
    --min-conclusive or --min-coverage.

    Example: otel-eval gate --evaluator refund-policy --since 1h --pass-rate 0.9
    """
    if paths:
        of_ledger = {
            "--since": since is not None,
            "--ledger": ledger is not None,
            "--origin": origin is not Origin.LIVE,
        }
        _refuse("of a ledger, not of files", of_ledger)
    if pass_rate is None:
        chosen_by = {"--evaluator": evaluator, "--agent": agent, "--service": service, "--environment": environment}
        given = {name: value is not None for name, value in (chosen_by | {"--confidence": confidence}).items()}
        given |= {"--min-conclusive": min_conclusive != 1, "--min-coverage": min_coverage != 0}
        _refuse("with --pass-rate; --pass-rate is needed", given)
    chosen = _Sources(paths or [], agent, service, environment)
    settings = configuration(config)
    if paths:
        chosen.read(settings, evaluator)
    else:
        with opened(ledger, settings) as store:
            found = store.current(agent=agent, origin=origin, since_ns=since_ns(since))
            chosen.records = [record for record in found if chosen.wants(record)]
    result, left_out = chosen.decide(_gate(evaluator, pass_rate, confidence, min_conclusive, min_coverage), evaluator)
    _print(result, left_out, format)
    if not result.passed:
        raise typer.Exit(FAILED if result.decided else UNDECIDED)


def _refuse(only: str, given: Mapping[str, bool]) -> None:
    """Exit for a condition that nothing would read: it must not look as if it had been kept."""
    unread = [name for name, is_given in given.items() if is_given]
    if unread:
        raise fail(f"{', '.join(unread)}: only {only}")


class _Sources:
    """What the gate is asked about."""

    def __init__(self, paths: Sequence[Path], agent: str | None, service: str | None, environment: str | None) -> None:
        self._paths = paths
        self._wanted = {"agent": agent, "service": service, "environment": environment}
        self.reports: list[Report] = []
        self.records: list[EvaluationRecord] = []

    def wants(self, record: EvaluationRecord) -> bool:
        """Whether the record is of the agent, service and environment that were asked for."""
        return all(wanted is None or getattr(record, name) == wanted for name, wanted in self._wanted.items())

    def _wants_attempt(self, attempt: Attempt) -> bool:
        """The same for an attempt of a report; one without telemetry could be anybody's, and stays."""
        seen = attempt.interaction
        if seen is None:
            return True
        known = {"agent": seen.agent, "service": seen.service_name, "environment": seen.environment}
        return all(wanted is None or known[name] == wanted for name, wanted in self._wanted.items())

    def read(self, settings: Config, evaluator: str | None) -> None:
        """Read the paths: each says itself what it is. Exits for one that cannot be read."""
        recordings: list[Path] = []
        for path in self._paths:
            try:
                if (found := _contents(path)) is None:
                    recordings.append(path)
                elif isinstance(found, Report):
                    self.reports.append(found)
                else:
                    self.records += [record for record in found if self.wants(record)]
            except (OSError, UnreadableReport, KeyError, ValueError) as error:
                raise fail(f"{path}: {error}") from error
        if recordings:
            from otel_eval.cli.evaluate import offline_records

            only = [evaluator] if evaluator in settings.evaluators else None
            made = offline_records(recordings, settings, only=only).records
            self.records += [record for record in made if self.wants(record)]

    def decide(self, gate: Gate | None, evaluator: str | None) -> tuple[GateResult, tuple[tuple[str, str, int], ...]]:
        """The decision over everything, and what other versions were left out."""
        if gate is None:
            return self._own_gates(), ()
        batch = batch_of(self.records)
        attempts = [each for report in self.reports for each in report.attempts if self._wants_attempt(each)]
        left_out = tuple(each for each in batch.left_out if evaluator is None or each[0] == evaluator)
        return gate.decide([*attempts, *batch.attempts]), left_out

    def _own_gates(self) -> GateResult:
        if self.records or not self.reports:
            raise fail("--pass-rate is needed: only reports of experiments bring a gate of their own")
        results = tuple(report.gate for report in self.reports)
        if len(results) == 1:
            return results[0]
        passed = all(result.passed for result in results)
        return GateResult(
            gate=" & ".join(result.gate for result in results),
            passed=passed,
            detail="; ".join(result.detail for result in results if passed or not result.passed),
            decided=passed or any(result.decided and not result.passed for result in results),
            parts=results,
        )


def _contents(path: Path) -> Report | list[EvaluationRecord] | None:
    """A report, or evaluation records; None for what is neither, and so a recording. Raises ValueError, KeyError, OSError."""
    if path.is_dir() or path.suffix not in (".json", ".jsonl"):
        return None
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        first = next((line for line in text.splitlines() if line.strip()), None)
        if first is not None and not _is_record(first):
            return None
        return [from_json(json.loads(line)) for line in text.splitlines() if line.strip()]
    value = json.loads(text)
    if isinstance(value, dict) and value.get("format") == FORMAT:
        return Report.from_json(text)
    if isinstance(value, list) and all(isinstance(each, dict) and "outcome" in each for each in value):
        return [from_json(each) for each in value]
    return None


def _is_record(line: str) -> bool:
    value = json.loads(line)
    return isinstance(value, dict) and "outcome" in value and "evaluator" in value


def _gate(
    evaluator: str | None, pass_rate: float | None, confidence: float | None, min_conclusive: int, min_coverage: float
) -> Gate | None:
    if pass_rate is None:
        return None
    try:
        return pass_rate_should_be_at_least(
            pass_rate,
            of=evaluator,
            confidence=confidence,
            min_conclusive=min_conclusive,
            min_coverage=min_coverage,
        )
    except InvalidExperiment as error:
        raise fail(str(error)) from error


def _print(result: GateResult, left_out: Sequence[tuple[str, str, int]], format: Format) -> None:
    if format is not Format.TABLE:
        print_json([_as_json(result, left_out)], format, sys.stdout)
        return
    typer.echo(f"{'PASS' if result.passed else 'FAIL' if result.decided else 'UNDECIDED'} {printable(result.detail)}")
    for line in _asides(result.warnings, left_out):
        typer.echo(f"     {printable(line)}")


def _asides(warnings: Iterable[str], left_out: Sequence[tuple[str, str, int]]) -> Iterator[str]:
    for warning in warnings:
        yield f"warning: {warning}"
    for evaluator, version, count in left_out:
        results = "1 result" if count == 1 else f"{count} results"
        yield f"not counted: {results} of {evaluator} version {version or '(none)'}, which is not the newest"


def _as_json(result: GateResult, left_out: Sequence[tuple[str, str, int]]) -> dict[str, Any]:
    return {
        "gate": result.gate,
        "passed": result.passed,
        "decided": result.decided,
        "detail": result.detail,
        "warnings": list(result.warnings),
        "other_versions": [
            {"evaluator": evaluator, "version": version, "results": count} for evaluator, version, count in left_out
        ],
    }
