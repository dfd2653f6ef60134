"""Evaluation records as attempts, so that a gate decides over a ledger as it does over an experiment.

An Interaction is a case with one attempt. The newest revision of the newest version of each evaluator counts; results of
other versions are told, never mixed in. What was to be judged and has no record is an evaluator of its attempt all the same:
a rate is read beside its coverage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from otel_eval.experiment.results import Attempt, EvaluatorRef, Result
from otel_eval.record import EvaluationRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Attempts made of records. ``left_out`` counts the results of older versions, by evaluator and version."""

    attempts: tuple[Attempt, ...]
    left_out: tuple[tuple[str, str, int], ...] = ()


class Why(StrEnum):
    """Why there is no record."""

    WAITING = "waiting"
    SAMPLED_OUT = "sampled out"
    NOT_RUN = "not run"
    """The Interaction failed or is incomplete, and the binding leaves such ones alone; or nothing says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """An evaluation that was to be made of an Interaction, and was not, or not yet."""

    interaction_id: str
    evaluator: EvaluatorRef
    why: Why


def batch_of(records: Iterable[EvaluationRecord], unjudged: Iterable[Unjudged] = ()) -> Batch:
    """The batch of these records, in any order; records of one evaluation are one, the newest.

    Of ``unjudged``, those count that have no record in the batch.
    """
    current = _current(records)
    newest = _newest_versions(current)
    by_interaction: dict[str, list[EvaluationRecord]] = {}
    left_out: Counter[tuple[str, str]] = Counter()
    for record in current:
        if record.evaluator_version == newest[record.evaluator]:
            by_interaction.setdefault(record.interaction_id, []).append(record)
        else:
            left_out[record.evaluator, record.evaluator_version] += 1
    absent: dict[str, list[Unjudged]] = {}
    for each in unjudged:
        absent.setdefault(each.interaction_id, []).append(each)
    return Batch(
        attempts=tuple(
            _attempt(interaction, by_interaction.get(interaction, []), absent.get(interaction, []))
            for interaction in dict.fromkeys((*by_interaction, *absent))
        ),
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


def _attempt(interaction_id: str, records: list[EvaluationRecord], unjudged: list[Unjudged]) -> Attempt:
    refs = [EvaluatorRef(id=each.evaluator, check=each.check, version=each.evaluator_version) for each in records]
    judged = {ref.id for ref in refs}
    absent = {each.evaluator.id: each for each in unjudged if each.evaluator.id not in judged}.values()
    return Attempt(
        case_id=interaction_id,
        run=1,
        command="",
        session=next((record.session for record in records if record.session is not None), ""),
        trace_id=interaction_id.partition("-")[0],
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
        planned=(*refs, *(each.evaluator for each in absent)),
        waiting=tuple(each.evaluator for each in absent if each.why is Why.WAITING),
        sampled_out=tuple(each.evaluator for each in absent if each.why is Why.SAMPLED_OUT),
        left_alone=tuple(each.evaluator for each in absent if each.why is Why.NOT_RUN),
        started_ns=min((record.started_ns for record in records), default=0),
        ended_ns=max((record.ended_ns for record in records), default=0),
    )
