"""Evaluation records for tests, without any evaluator."""

from __future__ import annotations

from typing import Any

from otel_eval.identity import evaluation_id
from otel_eval.interaction import Interaction
from otel_eval.outcome import Outcome, Passed
from otel_eval.record import EvaluationRecord

_MILLISECOND_NS = 1_000_000


def evaluation_record(
    interaction: Interaction, evaluator: str = "polite", outcome: Outcome | None = None, **fields: Any
) -> EvaluationRecord:
    """A record about that Interaction, passed unless told otherwise, started 1 ms after it ended and 1 ms long.

    Everything else of :class:`EvaluationRecord` is taken by its name; the id is computed from what it names.
    """
    version = fields.pop("evaluator_version", "1")
    revision, attempt = fields.get("revision", 1), fields.get("attempt", 0)
    started_ns = fields.pop("started_ns", (interaction.ended_ns or 0) + _MILLISECOND_NS)
    whole: dict[str, Any] = {
        "id": evaluation_id(
            interaction_id=interaction.id,
            evaluator=evaluator,
            evaluator_version=version,
            revision=revision,
            attempt=attempt,
        ),
        "interaction_id": interaction.id,
        "trace_id": interaction.trace_id,
        "span_id": interaction.span_id,
        "agent": interaction.agent,
        "session": interaction.session,
        "evaluator": evaluator,
        "evaluator_version": version,
        "check": "judge",
        "outcome": Passed(explanation="says thank you") if outcome is None else outcome,
        "service": interaction.service_name,
        "environment": interaction.environment,
        "started_ns": started_ns,
        "ended_ns": started_ns + _MILLISECOND_NS,
    }
    whole.update(fields)
    return EvaluationRecord(**whole)
