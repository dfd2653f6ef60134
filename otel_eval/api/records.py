"""Records as the domain has them, out of the messages of ``proto/otel_eval/v1``: for whoever calls. Pure."""

from __future__ import annotations

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from otel_eval.api.messages import ORIGINS, nanoseconds_of
from otel_eval.outcome import AttributeValue, Cause, Errored, Failed, Inconclusive, Outcome, Passed
from otel_eval.record import EvaluationRecord, JudgeCall, Origin
from otel_eval.v1 import evaluations_pb2 as pb


def record(message: pb.Evaluation) -> EvaluationRecord:
    """The record; what a later version added to the protocol is passed over. Raises ValueError without an outcome."""
    return EvaluationRecord(
        id=message.id,
        interaction_id=message.interaction_id,
        trace_id=message.trace_id,
        span_id=message.span_id,
        agent=_text(message, "agent"),
        session=_text(message, "session"),
        evaluator=message.evaluator,
        evaluator_version=message.evaluator_version,
        check=message.check,
        outcome=_outcome(message),
        revision=message.revision,
        attempt=message.attempt,
        origin=ORIGINS.get(message.origin, Origin.LIVE),
        threshold=_number(message, "threshold"),
        service=_text(message, "service"),
        environment=_text(message, "environment"),
        judge_calls=tuple(_judge_call(call) for call in message.judge_calls),
        started_ns=_time(message.start_time),
        ended_ns=_time(message.end_time),
    )


def _outcome(message: pb.Evaluation) -> Outcome:
    match message.WhichOneof("outcome"):
        case "passed":
            return _verdict(message.passed, Passed)
        case "failed":
            return _verdict(message.failed, Failed)
        case "inconclusive":
            return Inconclusive(reason=message.inconclusive.reason, cause=_cause(message.inconclusive.cause))
        case "error":
            error = message.error
            return Errored(reason=error.reason, error_type=error.type, cause=_cause(error.cause))
    raise ValueError(f"evaluation {message.id} has an outcome that this version does not know")


def _verdict(verdict: pb.Verdict, kind: type[Passed] | type[Failed]) -> Passed | Failed:
    return kind(
        explanation=verdict.explanation,
        score=_number(verdict, "score"),
        label=_text(verdict, "label"),
        attributes={name: _attribute(value) for name, value in verdict.attributes.items()},
    )


def _attribute(value: pb.AttributeValue) -> AttributeValue:
    name = value.WhichOneof("value")
    found: AttributeValue = "" if name is None else getattr(value, name)
    return found


def _cause(name: str) -> Cause:
    try:
        return Cause(name)
    except ValueError:
        return Cause.OTHER


def _judge_call(call: pb.JudgeCall) -> JudgeCall:
    return JudgeCall(
        conversation_id=call.conversation_id,
        requested_model=call.requested_model,
        answered_model=_text(call, "answered_model"),
        response_id=_text(call, "response_id"),
        system_message=_text(call, "system_message"),
        user_message=_text(call, "user_message"),
        answer=_text(call, "answer"),
        input_tokens=_whole(call, "input_tokens"),
        output_tokens=_whole(call, "output_tokens"),
        cost_usd=_number(call, "cost_usd"),
        error=_text(call, "error"),
        started_ns=_time(call.start_time),
        ended_ns=_time(call.end_time),
    )


def _text(message: Message, name: str) -> str | None:
    return str(getattr(message, name)) if message.HasField(name) else None


def _number(message: Message, name: str) -> float | None:
    return float(getattr(message, name)) if message.HasField(name) else None


def _whole(message: Message, name: str) -> int | None:
    return int(getattr(message, name)) if message.HasField(name) else None


def _time(moment: Timestamp) -> int:
    return nanoseconds_of(moment)
