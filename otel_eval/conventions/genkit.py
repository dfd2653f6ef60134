"""Firebase Genkit (JavaScript, Go, Python): every action is a span with its input and output in JSON.

``genkit:type`` is the kind of span, ``genkit:metadata:subtype`` that of the action. A flow is a function of the program:
the topmost one around a model is the invocation, as is a ``generate`` of its own. Each round of tools nests a further
``generate`` in the one before, all with the same final output. There is no switch for content; the Google Cloud plugin
writes ``<redacted>``. Tokens and the model's id stand in the model's output alone. The text parts of an answer are the
pieces of a stream: Genkit's own ``text`` joins them without a break. Go writes the input of a ``generate`` when it ends,
with all that came of it.
Source: @genkit-ai/core and @genkit-ai/ai 1.42.0; genkit/go 1.4.0.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.answers import answer_id, answer_messages, counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.languages import is_go
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.payloads import Payload, input_of, output_of
from otel_eval.conventions.reading.streaming import joined
from otel_eval.conventions.reading.values import first_text, is_object, plain, text
from otel_eval.interaction import Failure, JsonValue, Message
from otel_eval.signals import Span

SETTING = "enableGoogleCloudTelemetry({disableLoggingInputAndOutput: false})"
GO_SETTING = "GoogleCloudTelemetryOptions{DisableLoggingInputAndOutput: false}"

KINDS: dict[str, Kind] = {
    "flow": Kind.WORKFLOW,
    "agent": Kind.AGENT,  # since 1.40
    "dotprompt": Kind.WORKFLOW,  # a prompt that was called: agents are defined as such
    "model": Kind.MODEL,
    "background-model": Kind.MODEL,
    "tool": Kind.TOOL,
    "tool.v2": Kind.TOOL,
    "evaluator": Kind.EVALUATOR,
}
"""By the subtype, else by the type. All else (a prompt's rendering, retrievers, steps of a flow) has no meaning of
its own."""

_GENERATE = ("generate", "generateStream")


def read(span: Span) -> Facts | None:
    """What the span says in ``genkit:*``; None without a type."""
    attributes = span.attributes
    kind_name = first_text(attributes, ("genkit:metadata:subtype", "genkit:type"))
    if kind_name is None:
        return None
    if kind_name == "util" and attributes.get("genkit:name", span.name) in _GENERATE:
        kind = Kind.WORKFLOW
    else:
        kind = KINDS.get(kind_name, Kind.OTHER)
    if kind in (Kind.OTHER, Kind.EVALUATOR):
        return Facts(kind=kind)
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    if kind is Kind.MODEL:
        return _model(span, content)
    return _agent(span, kind, kind_name, content)


def _name(span: Span) -> str | None:
    return text(span.attributes.get("genkit:name")) or span.name or None


def _agent(span: Span, kind: Kind, kind_name: str, content: Content) -> Facts:
    attributes = span.attributes
    taken = Payload() if kind_name == "dotprompt" else _input(content)  # a prompt's are the variables of its template
    given = _output(content)
    output = content.value("output", "genkit:output", twice=False)
    return Facts(
        kind=kind,
        agent=_name(span) if kind is Kind.AGENT else None,
        weak_agent=_name(span) if kind_name in ("flow", "dotprompt") else None,
        session=first_text(attributes, ("genkit:metadata:agent:sessionId", "genkit:sessionId")),
        input=taken.messages,
        asked=taken.text,
        output=given.messages,
        reply=given.text,
        failure=failure_of(span) or _failed(output),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=_setting(span),
    )


def _input(content: Content) -> Payload:
    value = content.value("input", "genkit:input", twice=False)
    if is_object(value) and is_object(value.get("message")):  # an agent's turn
        return Payload(messages=read_messages([value["message"]]) or None)
    return Payload() if value is MISSING or value is None else input_of(value)


def _output(content: Content) -> Payload:
    value = content.value("output", "genkit:output", twice=False)
    if value is MISSING or value is None:
        return Payload()
    if is_object(value) and ("message" in value or "candidates" in value) and "finishReason" in value:
        return Payload(messages=_answer(value))
    return output_of(value)


def _answer(answer: Any) -> tuple[Message, ...] | None:
    """The messages of a response, each with its text in one piece."""
    return tuple(joined(message) for message in answer_messages(answer)) or None


def _setting(span: Span) -> str:
    return GO_SETTING if is_go(span) else SETTING


def _failed(output: Any) -> Failure | None:
    """An agent's run that failed returns, and says so in its output."""
    if not is_object(output) or output.get("finishReason") != "failed":
        return None
    error = output.get("error")
    told = error if is_object(error) else {}
    return Failure(type=text(told.get("status")), message=text(told.get("message")) or "the finish reason is failed")


def _model(span: Span, content: Content) -> Facts:
    request = content.value("input", "genkit:input", twice=False)
    answer = content.value("output", "genkit:output", twice=False)
    told: dict[str, Any] = answer if is_object(answer) else {}
    reason = told.get("finishReason")
    return Facts(
        kind=Kind.MODEL,
        input=(read_messages(request) or None) if is_object(request) else None,
        output=_answer(answer) if told else None,
        model=_name(span),
        response_id=answer_id(told.get("raw")),
        finish_reasons=(reason,) if isinstance(reason, str) and reason else (),
        usage=counted(told.get("usage")),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=_setting(span),
    )


def _tool(span: Span, content: Content) -> Facts:
    arguments = content.value("arguments", "genkit:input", twice=False)
    given = content.value("result", "genkit:output", twice=False)
    result: JsonValue | Missing = MISSING if given is MISSING else _result(given)
    return Facts(
        kind=Kind.TOOL,
        tool=_name(span),
        arguments=MISSING if arguments is MISSING else plain(arguments),
        result=result,
        error=tool_error_of(span) or (None if result is MISSING else error_in_result(result)),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=_setting(span),
    )


def _result(value: Any) -> JsonValue:
    """A tool of the second kind gives back ``{"output", "content"}``, where content are further parts."""
    if is_object(value) and "output" in value and set(value) <= {"output", "content", "metadata"}:
        value = value["output"]
    return result_value(value)


CONVENTION = Convention(name="genkit", read=read, prefixes=("genkit:",))
