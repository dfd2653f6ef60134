"""Evaluation records as JSON: the line that ``otel-eval evaluations --format jsonl`` prints, and the whole without loss.

A record's *line* has exactly the keys of the contract; what is stored has besides what the line leaves out (service,
environment, the cause, the judge's calls). A later reader ignores keys that it does not know and takes defaults for those
that are missing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from otel_eval.interaction import JsonValue
from otel_eval.outcome import Cause, Errored, Evaluation, Failed, Inconclusive, Outcome, Passed
from otel_eval.record import EvaluationRecord, JudgeCall, Origin

LINE_KEYS = (
    "id", "interaction_id", "trace_id", "span_id", "agent", "session", "evaluator", "evaluator_version", "check",
    "revision", "attempt", "origin", "outcome", "score", "label", "threshold", "explanation", "reason", "attributes",
    "started_ns", "ended_ns",
)  # fmt: skip
_JUDGE_CALL_FIELDS = tuple(field.name for field in dataclasses.fields(JudgeCall))


def to_line(record: EvaluationRecord) -> dict[str, JsonValue]:
    """The record with the keys of ``LINE_KEYS``, in that order.

    ``outcome`` is ``passed``, ``failed``, ``inconclusive`` or ``error``; ``score`` and ``label`` are None where the
    evaluator gave none; ``explanation`` is for the first two, ``reason`` for the other two.
    """
    outcome = record.outcome
    evaluation = outcome if isinstance(outcome, Evaluation) else None
    return {
        "id": record.id,
        "interaction_id": record.interaction_id,
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "agent": record.agent,
        "session": record.session,
        "evaluator": record.evaluator,
        "evaluator_version": record.evaluator_version,
        "check": record.check,
        "revision": record.revision,
        "attempt": record.attempt,
        "origin": record.origin.value,
        "outcome": outcome.name,
        "score": None if evaluation is None else evaluation.score,
        "label": None if evaluation is None else evaluation.label,
        "threshold": record.threshold,
        "explanation": None if evaluation is None else evaluation.explanation,
        "reason": None if isinstance(outcome, Evaluation) else outcome.reason,
        "attributes": {} if evaluation is None else dict(evaluation.attributes),
        "started_ns": record.started_ns,
        "ended_ns": record.ended_ns,
    }


def to_json(record: EvaluationRecord) -> dict[str, JsonValue]:
    """The whole record: ``from_json(to_json(x)) == x``."""
    outcome = record.outcome
    return to_line(record) | {
        "service": record.service,
        "environment": record.environment,
        "cause": outcome.cause.value if isinstance(outcome, Inconclusive | Errored) else None,
        "error_type": outcome.error_type if isinstance(outcome, Errored) else None,
        "judge_calls": [_judge_call_json(call) for call in record.judge_calls],
    }


def from_json(value: Mapping[str, Any]) -> EvaluationRecord:
    """The record that :func:`to_json` (or, with what it leaves out unset, :func:`to_line`) wrote.

    Raises KeyError for a missing id, name or outcome, ValueError for an outcome or origin that is not one of ours.
    """
    return EvaluationRecord(
        id=value["id"],
        interaction_id=value["interaction_id"],
        trace_id=value["trace_id"],
        span_id=value["span_id"],
        agent=value.get("agent"),
        session=value.get("session"),
        evaluator=value["evaluator"],
        evaluator_version=value["evaluator_version"],
        check=value["check"],
        outcome=_outcome(value),
        revision=value.get("revision", 1),
        attempt=value.get("attempt", 0),
        origin=Origin(value.get("origin", Origin.LIVE)),
        threshold=value.get("threshold"),
        service=value.get("service"),
        environment=value.get("environment"),
        judge_calls=tuple(_judge_call(call) for call in value.get("judge_calls") or ()),
        started_ns=value.get("started_ns", 0),
        ended_ns=value.get("ended_ns", 0),
    )


def _outcome(value: Mapping[str, Any]) -> Outcome:
    match value["outcome"]:
        case "passed" | "failed" as name:
            return (Passed if name == "passed" else Failed)(
                explanation=value.get("explanation") or "",
                score=value.get("score"),
                label=value.get("label"),
                attributes=dict(value.get("attributes") or {}),
            )
        case "inconclusive":
            return Inconclusive(reason=value.get("reason") or "", cause=_cause(value, Cause.OTHER))
        case "error":
            return Errored(
                reason=value.get("reason") or "",
                error_type=value.get("error_type") or "error",
                cause=_cause(value, Cause.EVALUATOR_ERROR),
            )
        case other:
            raise ValueError(f"an outcome is passed, failed, inconclusive or error, not {other!r}")


def _cause(value: Mapping[str, Any], default: Cause) -> Cause:
    """A cause that a later version added reads as OTHER: the reason in words is there all the same."""
    name = value.get("cause")
    if name is None:
        return default
    try:
        return Cause(name)
    except ValueError:
        return Cause.OTHER


def _judge_call_json(call: JudgeCall) -> dict[str, JsonValue]:
    return {name: getattr(call, name) for name in _JUDGE_CALL_FIELDS}


def _judge_call(value: Mapping[str, Any]) -> JudgeCall:
    return JudgeCall(**{name: value[name] for name in _JUDGE_CALL_FIELDS if name in value})
