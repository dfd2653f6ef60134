"""Evaluation records as attempts, so that a gate decides over a ledger as it does over an experiment.

An Interaction is a case with one attempt. The newest revision of the newest version of each evaluator counts; results of
other versions are told, never mixed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from otel_eval.experiment.results import Attempt, EvaluatorRef, Result
from otel_eval.record import EvaluationRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Attempts made of records. ``left_out`` counts the results of older versions, by evaluator and version."""

    attempts: tuple[Attempt, ...]
    left_out: tuple[tuple[str, str, int], ...] = ()


def batch_of(records: Iterable[EvaluationRecord]) -> Batch:
    """The batch of these records, in any order; records of one evaluation are one, the newest."""
    current = _current(records)
    newest = _newest_versions(current)
    by_interaction: dict[str, list[EvaluationRecord]] = {}
    left_out: Counter[tuple[str, str]] = Counter()
    for record in current:
        if record.evaluator_version == newest[record.evaluator]:
            by_interaction.setdefault(record.interaction_id, []).append(record)
        else:
            left_out[record.evaluator, record.evaluator_version] += 1
    return Batch(
        attempts=tuple(_attempt(interaction, group) for interaction, group in by_interaction.items()),
        left_out=tuple((evaluator, version, count) for (evaluator, version), count in sorted(left_out.items())),
    )


def _current(records: Iterable[EvaluationRecord]) -> list[EvaluationRecord]:
    """The highest (revision, attempt) of each Interaction, evaluator and version, in order of first appearance."""
    kept: dict[tuple[str, str, str], EvaluationRecord] = {}
    for record in records:
        key = (record.interaction_id, record.evaluator, record.evaluator_version)
        before = kept.get(key)
        if before is None or (record.revision, record.attempt) > (before.revision, before.attempt):
            kept[key] = record
    return list(kept.values())


def _newest_versions(records: Iterable[EvaluationRecord]) -> dict[str, str]:
    """The version that the latest record of each evaluator has; the same for any order of records."""
    latest: dict[str, tuple[int, str]] = {}
    for record in records:
        this = (record.ended_ns, record.evaluator_version)
        latest[record.evaluator] = max(latest.get(record.evaluator, this), this)
    return {evaluator: version for evaluator, (_, version) in latest.items()}


def _attempt(interaction_id: str, records: list[EvaluationRecord]) -> Attempt:
    refs = [EvaluatorRef(id=each.evaluator, check=each.check, version=each.evaluator_version) for each in records]
    return Attempt(
        case_id=interaction_id,
        run=1,
        command="",
        session=records[0].session or "",
        trace_id=records[0].trace_id,
        results=tuple(
            Result(
                evaluator=ref,
                outcome=record.outcome,
                judge_calls=record.judge_calls,
                started_ns=record.started_ns,
                ended_ns=record.ended_ns,
            )
            for ref, record in zip(refs, records, strict=True)
        ),
        planned=tuple(refs),
        started_ns=min(record.started_ns for record in records),
        ended_ns=max(record.ended_ns for record in records),
    )
