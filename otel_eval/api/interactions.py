"""Interactions as the messages of ``proto/otel_eval/v1``; what is None is not set. Pure."""

from __future__ import annotations

from otel_eval import interaction as domain
from otel_eval.api.messages import filled, json_text, text, time_of
from otel_eval.v1 import evaluations_pb2 as pb


def interaction(one: domain.Interaction) -> pb.Interaction:
    """All of it."""
    made = filled(
        pb.Interaction(),
        id=one.id,
        trace_id=one.trace_id,
        span_id=one.span_id,
        parent_id=one.parent_id,
        agent=one.agent,
        role=one.role,
        session=one.session,
        user_id=one.user_id,
        asked=one.asked,
        reply=one.reply,
        failure=_failure(one.failure),
        model=one.model,
        usage=_usage(one.usage),
        totals=_totals(one.totals),
        system=one.system,
        resource_json=json_text(dict(one.resource)),
        attributes_json=json_text(dict(one.attributes)),
        start_time=time_of(one.started_ns),
        end_time=time_of(one.ended_ns),
        complete=one.complete,
    )
    made.tool_calls.extend(_tool_call(call) for call in one.tool_calls)
    made.model_calls.extend(_model_call(call) for call in one.model_calls)
    made.history.extend(_message(message) for message in one.history)
    made.attachments.extend(_attachment(attachment) for attachment in one.attachments)
    made.links.extend(pb.SpanLink(trace_id=link.trace_id, span_id=link.span_id) for link in one.links)
    made.gaps.extend(_gap(gap) for gap in one.gaps)
    made.conventions.extend(text(name) for name in one.conventions)
    return made


def _tool_call(call: domain.ToolCall) -> pb.ToolCall:
    made = filled(
        pb.ToolCall(),
        name=call.name,
        arguments_json=json_text(call.arguments),
        result_json=json_text(call.result),
        error=call.error,
        call_id=call.call_id,
        span_id=call.span_id,
        start_time=time_of(call.started_ns),
        end_time=time_of(call.ended_ns),
    )
    made.gaps.extend(_gap(gap) for gap in call.gaps)
    return made


def _model_call(call: domain.ModelCall) -> pb.ModelCall:
    made = filled(
        pb.ModelCall(),
        span_id=call.span_id,
        model=call.model,
        response_id=call.response_id,
        usage=_usage(call.usage),
        failure=_failure(call.failure),
        start_time=time_of(call.started_ns),
        end_time=time_of(call.ended_ns),
    )
    made.finish_reasons.extend(text(reason) for reason in call.finish_reasons)
    return made


def _message(message: domain.Message) -> pb.Message:
    made = filled(pb.Message(), role=message.role)
    made.parts.extend(_part(part) for part in message.parts)
    return made


def _part(part: domain.Part) -> pb.Part:
    match part:
        case domain.TextPart():
            return filled(pb.Part(), text=part.text)
        case domain.ReasoningPart():
            return filled(pb.Part(), reasoning=part.text)
        case domain.ToolCallPart():
            asked = filled(
                pb.ToolCallPart(), name=part.name, arguments_json=json_text(part.arguments), call_id=part.call_id
            )
            return pb.Part(tool_call=asked)
        case domain.ToolResultPart():
            given = filled(
                pb.ToolResultPart(),
                call_id=part.call_id,
                name=part.name,
                result_json=json_text(part.result),
                failed=part.failed,
            )
            return pb.Part(tool_result=given)
        case domain.Attachment():
            return pb.Part(attachment=_attachment(part))


def _attachment(attachment: domain.Attachment) -> pb.Attachment:
    return filled(
        pb.Attachment(),
        modality=attachment.modality,
        mime_type=attachment.mime_type,
        name=attachment.name,
        size=attachment.size,
    )


def _failure(failure: domain.Failure | None) -> pb.Failure | None:
    return None if failure is None else filled(pb.Failure(), type=failure.type, message=failure.message)


def _usage(usage: domain.Usage) -> pb.Usage:
    return filled(
        pb.Usage(),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def _totals(totals: domain.Totals) -> pb.Totals:
    return filled(pb.Totals(), tool_calls=totals.tool_calls, model_calls=totals.model_calls, usage=_usage(totals.usage))


def _gap(gap: domain.Gap) -> pb.Gap:
    return filled(pb.Gap(), field=gap.field, kind=gap.kind.value, setting=gap.setting)
