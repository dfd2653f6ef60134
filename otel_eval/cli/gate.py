"""``otel-eval gate``: outcomes turned into an exit status, over a ledger, reports, records or recordings."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from otel_eval.cli.exits import FAILED, UNDECIDED, fail
from otel_eval.cli.formats import Format, FormatOption
from otel_eval.cli.gate_evidence import NEEDS_PASS_RATE, GateEvidence, of_files, of_ledger
from otel_eval.cli.shown import printable
from otel_eval.cli.stored import ConfigOption, LedgerOption, configuration, opened, print_json, since_ns
from otel_eval.experiment.eligible import Scope
from otel_eval.experiment.errors import InvalidExperiment
from otel_eval.experiment.gates import Gate, GateResult, pass_rate_should_be_at_least
from otel_eval.experiment.results import Tally
from otel_eval.record import Origin
from otel_eval.wording import number_of


def gate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Reports (.json), records (.jsonl, as `evaluate` prints them) or recorded OTLP; none: the ledger.",
            metavar="PATH...",
        ),
    ] = None,
    evaluators: Annotated[
        list[str] | None,
        typer.Option(
            "--evaluator",
            help="The evaluator (or, where none is called so, the check) whose pass rate counts; else whole attempts.",
            metavar="ID",
        ),
    ] = None,
    pass_rate: Annotated[float | None, typer.Option(help="The rate that has to be reached, from 0 to 1.")] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Have the Wilson lower bound at this confidence (0.95) reach the rate.")
    ] = None,
    min_conclusive: Annotated[int, typer.Option(help="At least so many passed or failed results.")] = 1,
    min_coverage: Annotated[
        float,
        typer.Option(
            help="At least this share of what was to be judged, from 0 to 1: what waits, was sampled out or not run included."
        ),
    ] = 0.0,
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
    an evaluator counts; results of other versions are shown, and what was to be judged and has no result. What was
    sampled out of a ledger is known by the configuration's bindings. Recordings are judged by the evaluators that are
    asked for. Of what did not pass, the newest five are named; `otel-eval show` shows such an Interaction of a ledger.

    Exit status: 0 passed; 1 failed; 2 a wrong option, file, configuration or ledger; 3 nothing conclusive, or less than
    --min-conclusive or --min-coverage; or, of whole attempts, what waits could bring the rate below.

    Example: otel-eval gate --evaluator refund-policy --since 1h --pass-rate 0.9
    """
    if len(evaluators or ()) > 1:
        raise fail(f"--evaluator is given {len(evaluators or ())} times: a gate is over one; run one for each")
    evaluator = evaluators[0] if evaluators else None
    if paths:
        not_of_files = {
            "--since": since is not None,
            "--ledger": ledger is not None,
            "--origin": origin is not Origin.LIVE,
        }
        _refuse("of a ledger, not of files", not_of_files)
    if pass_rate is None:
        chosen_by = {"--evaluator": evaluator, "--agent": agent, "--service": service, "--environment": environment}
        given = {name: value is not None for name, value in (chosen_by | {"--confidence": confidence}).items()}
        given |= {"--min-conclusive": min_conclusive != 1, "--min-coverage": min_coverage != 0}
        _refuse("with --pass-rate; --pass-rate is needed", given)
    condition = _gate(evaluator, pass_rate, confidence, min_conclusive, min_coverage)
    scope = Scope(
        evaluator=evaluator,
        agent=agent,
        service=service,
        environment=environment,
        since_ns=since_ns(since),
        origin=origin,
    )
    settings = configuration(config)
    if paths:
        evidence = of_files(paths, settings, scope, own_gates=condition is None)
    elif condition is None:
        raise fail(NEEDS_PASS_RATE)
    else:
        with opened(ledger, settings) as store:
            evidence = of_ledger(store, settings, scope)
    result, counted = evidence.decided_by(condition, evaluator)
    _print(result, counted, evidence, format)
    if not result.passed:
        raise typer.Exit(FAILED if result.decided else UNDECIDED)


def _refuse(only: str, given: Mapping[str, bool]) -> None:
    """Exit for a condition that nothing would read: it must not look as if it had been kept."""
    unread = [name for name, is_given in given.items() if is_given]
    if unread:
        raise fail(f"{', '.join(unread)}: only {only}")


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


def _print(result: GateResult, counted: Tally | None, evidence: GateEvidence, format: Format) -> None:
    if format is not Format.TABLE:
        print_json([_as_json(result, counted, evidence)], format, sys.stdout)
        return
    typer.echo(f"{'PASS' if result.passed else 'FAIL' if result.decided else 'UNDECIDED'} {printable(result.detail)}")
    for line in (*_asides(result.warnings, evidence), *(() if result.passed else _examples(evidence))):
        typer.echo(f"     {printable(line)}")


def _asides(warnings: Iterable[str], evidence: GateEvidence) -> Iterator[str]:
    for warning in (*warnings, *evidence.warnings):
        yield f"warning: {warning}"
    for evaluator, version, count in evidence.other_versions:
        yield f"not counted: {number_of(count, 'result')} of {evaluator} version {version or '(none)'}, which is not the newest"


def _examples(evidence: GateEvidence) -> Iterator[str]:
    """Where to look: some of what did not pass, with what each says for itself."""
    for each in evidence.examples:
        run = f", run {each.run}" if each.run > 1 else ""
        yield f"{each.outcome}: {each.evaluator} of {each.case}{run}: {each.why}"


def _as_json(result: GateResult, counted: Tally | None, evidence: GateEvidence) -> dict[str, Any]:
    return {
        "gate": result.gate,
        "passed": result.passed,
        "decided": result.decided,
        "detail": result.detail,
        "warnings": [*result.warnings, *evidence.warnings],
        "counts": None if counted is None else {"eligible": counted.eligible, **dataclasses.asdict(counted)},
        "coverage": None if counted is None else counted.coverage,
        "examples": [dataclasses.asdict(each) for each in evidence.examples],
        "other_versions": [
            {"evaluator": evaluator, "version": version, "results": count}
            for evaluator, version, count in evidence.other_versions
        ],
    }
