"""Evaluation records as the messages of ``proto/otel_eval/v1``; what is None is not set. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from otel_eval.ledger import WaitingEvaluation
from otel_eval.outcome import AttributeValue, Errored, Evaluation, Inconclusive, Passed
from otel_eval.record import EvaluationRecord, JudgeCall, Origin
from otel_eval.v1 import evaluations_pb2 as pb

M = TypeVar("M", bound=Message)

ORIGINS = {
    pb.ORIGIN_LIVE: Origin.LIVE,
    pb.ORIGIN_RERUN: Origin.RERUN,
    pb.ORIGIN_OFFLINE: Origin.OFFLINE,
}
_ORIGIN_OF = {origin: number for number, origin in ORIGINS.items()}

_SECOND_NS = 1_000_000_000
_LAST_SECOND = 253_402_300_799
"""9999-12-31T23:59:59Z. Source: google/protobuf/timestamp.proto."""
_MOST = 2**63 - 1


def evaluation(record: EvaluationRecord, *, judge_calls: bool) -> pb.Evaluation:
    """The record; with what judges' models were asked, where that is wanted."""
    made = filled(
        pb.Evaluation(),
        id=record.id,
        interaction_id=record.interaction_id,
        trace_id=record.trace_id,
        span_id=record.span_id,
        agent=record.agent,
        session=record.session,
        service=record.service,
        environment=record.environment,
        evaluator=record.evaluator,
        evaluator_version=record.evaluator_version,
        check=record.check,
        revision=record.revision,
        attempt=record.attempt,
        origin=_ORIGIN_OF[record.origin],
        threshold=record.threshold,
        start_time=time_of(record.started_ns),
        end_time=time_of(record.ended_ns),
    )
    _set_outcome(made, record)
    if judge_calls:
        made.judge_calls.extend(_judge_call(call) for call in record.judge_calls)
    return made


def started(waiting: WaitingEvaluation) -> pb.StartedEvaluation:
    """An evaluation that is queued."""
    return filled(
        pb.StartedEvaluation(),
        evaluation_id=waiting.evaluation_id,
        interaction_id=waiting.interaction_id,
        evaluator=waiting.evaluator,
        revision=waiting.revision,
        attempt=waiting.attempt,
    )


def filled(message: M, /, **fields: Any) -> M:
    """The message with those fields that are not None. Text, numbers and messages are made fit for it."""
    for name, value in fields.items():
        if value is None:
            continue
        if isinstance(value, Message):
            getattr(message, name).CopyFrom(value)
        else:
            setattr(message, name, _fit(value))
    return message


def text(value: str) -> str:
    """The same, where Unicode has an encoding for it: a lone surrogate, as a tool's JSON may hold, becomes ``?``."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def json_text(value: Any) -> str | None:
    """JSON that loses nothing; None for None."""
    return None if value is None else json.dumps(value, separators=(",", ":"))


def time_of(nanoseconds: int | None) -> Timestamp | None:
    """A moment, at the latest the last one that a timestamp has."""
    if nanoseconds is None:
        return None
    seconds, nanos = divmod(max(0, nanoseconds), _SECOND_NS)
    return Timestamp(seconds=min(seconds, _LAST_SECOND), nanos=nanos)


def nanoseconds_of(moment: Timestamp) -> int:
    """Since the Unix epoch."""
    return moment.seconds * _SECOND_NS + moment.nanos


def _fit(value: Any) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-_MOST - 1, min(value, _MOST))
    return value


def _set_outcome(made: pb.Evaluation, record: EvaluationRecord) -> None:
    match record.outcome:
        case Evaluation() as verdict:
            passed = isinstance(verdict, Passed)
            (made.passed if passed else made.failed).CopyFrom(_verdict(verdict))
        case Inconclusive(reason=reason, cause=cause):
            made.inconclusive.CopyFrom(filled(pb.Inconclusive(), reason=reason, cause=cause.value))
        case Errored(reason=reason, cause=cause, error_type=type):
            made.error.CopyFrom(filled(pb.EvaluatorError(), reason=reason, cause=cause.value, type=type))


def _verdict(verdict: Evaluation) -> pb.Verdict:
    made = filled(pb.Verdict(), explanation=verdict.explanation, score=verdict.score, label=verdict.label)
    _add(made.attributes, verdict.attributes)
    return made


def _add(attributes: Any, values: Mapping[str, AttributeValue]) -> None:
    for name, value in values.items():
        attributes[text(name)].CopyFrom(_attribute(value))


def _attribute(value: AttributeValue) -> pb.AttributeValue:
    match value:
        case bool():
            return pb.AttributeValue(bool_value=value)
        case int() if abs(value) <= _MOST:
            return pb.AttributeValue(int_value=value)
        case int() | float():
            return pb.AttributeValue(double_value=_float(value))
        case _:
            return pb.AttributeValue(string_value=text(str(value)))


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _judge_call(call: JudgeCall) -> pb.JudgeCall:
    return filled(
        pb.JudgeCall(),
        conversation_id=call.conversation_id,
        requested_model=call.requested_model,
        answered_model=call.answered_model,
        response_id=call.response_id,
        system_message=call.system_message,
        user_message=call.user_message,
        answer=call.answer,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        cost_usd=call.cost_usd,
        error=call.error,
        start_time=time_of(call.started_ns),
        end_time=time_of(call.ended_ns),
    )
