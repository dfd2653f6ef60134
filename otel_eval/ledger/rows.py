"""What is stored, as rows: made by whoever asks for it, so that the writer thread holds the database for less time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from otel_eval import interaction_json, record_json
from otel_eval.interaction import Interaction
from otel_eval.ledger import body
from otel_eval.ledger.model import Batch, StoredInteraction, WaitingEvaluation
from otel_eval.record import EvaluationRecord

Rows: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch with its JSON made."""

    batch: Batch
    interaction_rows: Rows
    record_rows: Rows
    waiting_rows: Rows


def prepare(batch: Batch) -> Prepared:
    """Make the rows. Pure."""
    return Prepared(
        batch,
        [_interaction_row(stored) for stored in batch.interactions],
        [_record_row(record) for record in batch.records],
        [_waiting_row(evaluation) for evaluation in batch.waiting],
    )


def merged(batches: Sequence[Prepared]) -> Prepared:
    """Batches of records alone as one, in their order: its statements cost the same for one record as for all of them.

    Either all of them are of known Interactions, or none is said to be.
    """
    return Prepared(
        Batch(
            records=tuple(record for each in batches for record in each.batch.records),
            of_known=batches[0].batch.of_known,
        ),
        [],
        [row for each in batches for row in each.record_rows],
        [],
    )


def _interaction_row(stored: StoredInteraction) -> dict[str, Any]:
    interaction = stored.interaction
    return {
        "id": interaction.id,
        "revision": stored.revision,
        "digest": stored.digest,
        "trace_id": interaction.trace_id,
        "parent_id": interaction.parent_id,
        "agent": body.column(interaction.agent),
        "session": interaction.session,
        "user_id": interaction.user_id,
        "service": body.column(interaction.service_name),
        "environment": body.column(interaction.environment),
        "failed": interaction.failed,
        "complete": interaction.complete,
        "response_id": body.column(_response_id(interaction)),
        "started_ns": body.time_column(interaction.started_ns),
        "ended_ns": body.time_column(interaction.ended_ns),
        "body": body.dump(interaction_json.to_json(interaction)),
    }


def _response_id(interaction: Interaction) -> str | None:
    """``gen_ai.response.id`` of the model's last answer, which is where the reply comes from."""
    ids = [call.response_id for call in interaction.model_calls if call.response_id]
    return ids[-1] if ids else None


def _record_row(record: EvaluationRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "canonical_id": record.interaction_id,
        "evaluator": body.column(record.evaluator),
        "evaluator_version": body.column(record.evaluator_version),
        "check": body.column(record.check),
        "agent": body.column(record.agent),
        "session": record.session,
        "service": body.column(record.service),
        "environment": body.column(record.environment),
        "revision": record.revision,
        "attempt": record.attempt,
        "origin": record.origin.value,
        "outcome": record.outcome.name,
        "ended_ns": body.time_column(record.ended_ns),
        "body": body.dump(record_json.to_json(record)),
    }


def _waiting_row(evaluation: WaitingEvaluation) -> dict[str, Any]:
    return {
        "evaluation_id": evaluation.evaluation_id,
        "interaction_id": evaluation.interaction_id,
        "evaluator": evaluation.evaluator,
        "evaluator_version": evaluation.evaluator_version,
        "check": evaluation.check,
        "revision": evaluation.revision,
        "attempt": evaluation.attempt,
        "origin": evaluation.origin.value,
        "enqueued_ns": evaluation.enqueued_ns,
        "not_before_ns": evaluation.not_before_ns,
    }
