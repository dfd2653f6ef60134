"""The evaluation record: one evaluator's outcome on one revision of one Interaction, as the ledger keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from otel_eval.interaction import Interaction
from otel_eval.outcome import Outcome, describe


class Origin(StrEnum):
    """Where an evaluation came from. Only ``live`` counts towards a live pass rate."""

    LIVE = "live"
    RERUN = "rerun"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCall:
    """One call of a judge's model, kept because people ask why.

    ``requested_model`` is the litellm model that was asked (of a fallback, its own), not the entry's name.
    ``conversation_id`` is ``<evaluation id>-judge`` or ``-label-judge``. ``system_message``, ``user_message`` and
    ``answer`` are None where content is not kept by setting. ``cost_usd`` is None where no price is known.
    """

    conversation_id: str
    requested_model: str
    answered_model: str | None = None
    response_id: str | None = None
    system_message: str | None = None
    user_message: str | None = None
    answer: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    error: str | None = None
    started_ns: int = 0
    ended_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRecord:
    """An ended evaluation. ``id`` is deterministic (:func:`otel_eval.identity.evaluation_id`), so storing is an upsert.

    ``revision`` counts the distinct evidence of the Interaction from 1, ``attempt`` is 0 unless run again. The record
    with the highest (revision, attempt) of one evaluator and version is the current one.
    """

    id: str
    interaction_id: str
    trace_id: str
    span_id: str
    agent: str | None
    session: str | None
    evaluator: str
    evaluator_version: str
    check: str
    outcome: Outcome
    revision: int = 1
    attempt: int = 0
    origin: Origin = Origin.LIVE
    threshold: float | None = None
    service: str | None = None
    environment: str | None = None
    judge_calls: tuple[JudgeCall, ...] = ()
    started_ns: int = 0
    ended_ns: int = 0

    @classmethod
    def about(
        cls,
        interaction: Interaction,
        *,
        id: str,
        evaluator: str,
        evaluator_version: str,
        check: str,
        outcome: Outcome,
        revision: int = 1,
        attempt: int = 0,
        origin: Origin = Origin.LIVE,
        threshold: float | None = None,
        judge_calls: tuple[JudgeCall, ...] = (),
        started_ns: int = 0,
        ended_ns: int = 0,
    ) -> EvaluationRecord:
        """A record with what it says of the Interaction taken from there."""
        return cls(
            id=id,
            interaction_id=interaction.id,
            trace_id=interaction.trace_id,
            span_id=interaction.span_id,
            agent=interaction.agent,
            session=interaction.session,
            evaluator=evaluator,
            evaluator_version=evaluator_version,
            check=check,
            outcome=outcome,
            revision=revision,
            attempt=attempt,
            origin=origin,
            threshold=threshold,
            service=interaction.service_name,
            environment=interaction.environment,
            judge_calls=judge_calls,
            started_ns=started_ns,
            ended_ns=ended_ns,
        )

    def describe(self) -> str:
        """The record on one line, as :func:`otel_eval.outcome.describe` writes it."""
        return describe(self.check, self.outcome)
