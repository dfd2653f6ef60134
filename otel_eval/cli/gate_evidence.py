"""What ``otel-eval gate`` is asked about: a ledger, or files, each of which says itself what it is."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otel_eval.cli.exits import fail
from otel_eval.config import Config, ConfigError
from otel_eval.config.build import build_evaluators
from otel_eval.experiment.batch import Unjudged, batch_of
from otel_eval.experiment.eligible import WHY, Scope, unjudged, waiting
from otel_eval.experiment.errors import UnreadableReport
from otel_eval.experiment.gates import Gate, GateResult
from otel_eval.experiment.report import Report
from otel_eval.experiment.report_json import FORMAT
from otel_eval.experiment.results import Attempt, EvaluatorRef, Tally, meant, tally, tally_attempts
from otel_eval.interaction import Interaction
from otel_eval.ledger import Ledger
from otel_eval.outcome import Errored, Failed, Inconclusive, why
from otel_eval.record import EvaluationRecord
from otel_eval.record_json import from_json

_WORST_FIRST = (Failed.name, Errored.name, Inconclusive.name)

NEEDS_PASS_RATE = "--pass-rate is needed: only reports of experiments bring a gate of their own"

EXAMPLES = 5
"""So many results that did not pass are named."""

OtherVersions = tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A result that did not pass. ``case`` is its Interaction's id where it is of no experiment."""

    case: str
    run: int
    evaluator: str
    outcome: str
    why: str


@dataclass(slots=True, kw_only=True)
class GateEvidence:
    """Reports, records, and what has no record; ``warnings`` say what could not be found out."""

    reports: list[Report] = field(default_factory=list)
    records: list[EvaluationRecord] = field(default_factory=list)
    unjudged: list[Unjudged] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    other_versions: OtherVersions = ()
    examples: tuple[Example, ...] = ()
    wants_attempt: Callable[[Attempt], bool] = lambda _: True

    def decided_by(self, gate: Gate | None, evaluator: str | None) -> tuple[GateResult, Tally | None]:
        """The decision over everything, and what it counted; the reports' own one where there is no gate."""
        if gate is None:
            attempts = [each for report in self.reports for each in report.attempts]
            self.examples = _examples(attempts, None)
            return _own_gates([report.gate for report in self.reports]), None
        batch = batch_of(self.records, self.unjudged)
        attempts = [each for report in self.reports for each in report.attempts if self.wants_attempt(each)]
        attempts += batch.attempts
        is_meant = None if evaluator is None else meant(attempts, evaluator)
        ids = {ref.id for each in attempts for ref in each.planned if is_meant is None or is_meant(ref)}
        self.other_versions = tuple(each for each in batch.left_out if is_meant is None or each[0] in ids)
        self.examples = _examples(attempts, evaluator)
        counted = tally_attempts(attempts) if evaluator is None else tally(attempts, evaluator)
        return gate.decide(attempts), counted


def _examples(attempts: Sequence[Attempt], evaluator: str | None) -> tuple[Example, ...]:
    """What failed, then what is an error, then what is inconclusive; of each the newest first."""
    is_meant = None if evaluator is None else meant(attempts, evaluator)
    found = [
        (attempt, result)
        for attempt in attempts
        for result in attempt.results
        if result.outcome.name in _WORST_FIRST and (is_meant is None or is_meant(result.evaluator))
    ]
    worst = heapq.nsmallest(
        EXAMPLES, found, key=lambda each: (_WORST_FIRST.index(each[1].outcome.name), -each[0].ended_ns)
    )
    return tuple(
        Example(
            case=attempt.case_id,
            run=attempt.run,
            evaluator=result.evaluator.id,
            outcome=result.outcome.name,
            why=why(result.outcome),
        )
        for attempt, result in worst
    )


def of_ledger(ledger: Ledger, config: Config, scope: Scope) -> GateEvidence:
    """The current records that are meant, what waits, and what was bound and never judged."""
    in_queue = waiting(ledger, scope)
    found = ledger.current(agent=scope.agent, origin=scope.origin, since_ns=scope.since_ns)
    records = [each for each in found if scope.has(each.agent, each.service, each.environment)]
    missing = unjudged(ledger, scope, config, records, in_queue)
    warnings = tuple(
        f"no configuration here binds {name}, so what was sampled out is not told from what was not run (--config)"
        for name in missing.unbound
    )
    return GateEvidence(records=records, unjudged=missing.unjudged, warnings=warnings)


def of_files(paths: Sequence[Path], config: Config, scope: Scope, *, own_gates: bool) -> GateEvidence:
    """What the files hold; recordings are judged, once it is known that nothing else stands in the way. Exits for
    what is wrong."""
    evidence = GateEvidence(wants_attempt=lambda attempt: _is_meant(attempt.interaction, scope))
    recordings: list[Path] = []
    for path in paths:
        try:
            found = _contents(path)
            if found is None:
                recordings.append(path)
            elif isinstance(found, Report):
                evidence.reports.append(found)
            else:
                evidence.records += _records(path, found, scope)
        except (OSError, UnreadableReport, KeyError, ValueError) as error:
            raise fail(f"{path}: {error}") from error
    if own_gates and (recordings or evidence.records or not evidence.reports):
        raise fail(NEEDS_PASS_RATE)
    if recordings:
        _judge(recordings, config, scope, evidence)
    return evidence


def _judge(recordings: Iterable[Path], config: Config, scope: Scope, evidence: GateEvidence) -> None:
    """By the evaluators that are asked for, of the Interactions that are asked about: judging costs."""
    from otel_eval.cli.evaluate import offline_records

    checks = _checks(config, scope)
    if scope.evaluator is not None and not checks:
        if scope.evaluator in config.evaluators:
            raise fail(f"{scope.evaluator} is switched off (enabled: false)")
        known = ", ".join(config.evaluators) or "none"
        raise fail(f"no evaluator is called {scope.evaluator}, and none has that check; there are {known}")
    judged = offline_records(
        recordings, config, only=checks or None, wants=lambda interaction: _is_meant(interaction, scope)
    )
    evidence.records += judged.records
    evidence.unjudged += [
        Unjudged(interaction_id=id, evaluator=EvaluatorRef(id=each.evaluator, check=checks[each.evaluator]), why=why)
        for id, each in judged.left_out
        if (why := WHY.get(each.reason)) is not None
    ]


def _checks(config: Config, scope: Scope) -> dict[str, str]:
    """The evaluators of the configuration that are asked for, with their checks. Exits for one that cannot be made."""
    try:
        built = build_evaluators(config)
    except ConfigError as error:
        raise fail(str(error)) from error
    return {name: each.check for name, each in built.items() if scope.asks(name, each.check, among=config.evaluators)}


def _is_meant(interaction: Interaction | None, scope: Scope) -> bool:
    """An attempt without telemetry could be anybody's, and stays."""
    return interaction is None or scope.has(interaction.agent, interaction.service_name, interaction.environment)


def _records(path: Path, values: Sequence[dict[str, Any]], scope: Scope) -> list[EvaluationRecord]:
    """Those that are meant. Exits for a condition on what the file does not say: it must not look as if it had been kept."""
    for name, wanted in (("service", scope.service), ("environment", scope.environment)):
        if wanted is not None and any(name not in value for value in values):
            raise fail(f"--{name}: {path} does not say it (`evaluate` and `evaluations` do not print it)")
    records = [from_json(value) for value in values]
    return [each for each in records if scope.has(each.agent, each.service, each.environment)]


def _contents(path: Path) -> Report | list[dict[str, Any]] | None:
    """A report, or records as JSON, an array or line by line; None for what is neither, and so a recording.

    Raises ValueError, OSError.
    """
    if path.is_dir() or path.suffix not in (".json", ".jsonl"):
        return None
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return []
    try:
        value = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in lines] if _is_record(json.loads(lines[0])) else None
    if isinstance(value, dict) and value.get("format") == FORMAT:
        return Report.from_json(text)
    values = value if isinstance(value, list) else [value]
    return values if all(map(_is_record, values)) else None


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and "outcome" in value and "evaluator" in value


def _own_gates(results: Sequence[GateResult]) -> GateResult:
    if len(results) == 1:
        return results[0]
    passed = all(result.passed for result in results)
    return GateResult(
        gate=" & ".join(result.gate for result in results),
        passed=passed,
        detail="; ".join(result.detail for result in results if passed or not result.passed),
        decided=passed or any(result.decided and not result.passed for result in results),
        parts=tuple(results),
    )
