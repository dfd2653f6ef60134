"""Google ADK's own tracer, ``gcp.vertex.agent``, in all its forms.

=============  =======================================  =====================================================================
ADK            spans                                    content
=============  =======================================  =====================================================================
1.0 to 1.1x    ``invocation`` > ``agent_run [x]``       ``gcp.vertex.agent.llm_request``, ``.llm_response`` on ``call_llm``,
               > ``call_llm``, ``execute_tool x``       ``.tool_call_args``, ``.tool_response`` on tools; on by default
1.20 to 2.x    ``invocation`` > ``invoke_agent x`` >    the same, and log records ``gen_ai.*.message`` below
(schema 1)     ``call_llm`` > ``generate_content``      ``generate_content``
2.x            ``invoke_workflow`` > ``invoke_agent``   ``gen_ai.input.messages`` and so on: see ``genai.py``; off by default
(schema 2)     > ``generate_content``, ``execute_tool``
Java 0.x       as 1.0, each in a trace of its own      as 1.0; ``tool_call [x]``, ``tool_response [x]`` repeat what
                                                        ``call_llm`` says
Java 1.x       as 1.20 without ``generate_content``     as 1.0
Go 0.x         ``call_llm``, ``execute_tool x``, each    as 1.0, but that the request has ``content`` for ``contents`` and the
               below whatever span the program has      response Go's names (``Content``, ``FinishReason``); no agent
Go 1.0 to 2.1  ``invoke_agent`` > ``generate_content``  log records below ``generate_content``, of all roles in
(schema 1)     > ``execute_tool``                       ``gen_ai.user.message``; tools as 1.0, whatever the switch says
Go since       as schema 2 of Python's                  as there; one longer than 60 KiB is left out
=============  =======================================  =====================================================================

Source: google-adk 1.2.0, 1.20.0, 2.13.0 (``telemetry/tracing.py``), JavaScript's 2.0.0, which writes as 1.20, Java's
0.3.0, 1.0.0, 1.8.0 (``Tracing``), adk-go 0.2.0, 1.4.0, 2.1.0 and its main branch (``internal/telemetry``). Where
capture is off, ``{}`` stands in the older attributes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.conventions import events
from otel_eval.conventions.facts import MISSING, NO_USAGE, Convention, Facts, Kind, Missing
from otel_eval.conventions.genai import finish_reasons_of
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_bare, tool_error_of
from otel_eval.conventions.reading.languages import is_go
from otel_eval.conventions.reading.messages import asked_for, read_messages
from otel_eval.conventions.reading.streaming import whole
from otel_eval.conventions.reading.values import Undecodable, decode, first_number, first_text, is_object, plain, text
from otel_eval.frozen import changed
from otel_eval.interaction import Failure, GapKind, JsonValue, Message, TextPart, Usage
from otel_eval.signals import LogRecord, Span

SCOPE = "gcp.vertex.agent"
SETTING = "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"
GO_SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true and a LoggerProvider"
"""Python's takes the names of places; Go's first schema no value but this one, and writes content to log records alone."""
HANDOFFS = ("transfer_to_agent", "transferToAgent")
"""Java's until 1.0 had a name in its own spelling."""
ANSWER = "set_model_response"
"""The tool with which a model hands over structured output where it has other tools as well."""

_UNWRITTEN = "the tool failed, its error's text was not written"
"""Of an error that Go 0.x wrote as JSON, which leaves out all that it is."""
_NOTHING = ("<not specified>", "<not serializable>", "N/A")
_QUOTED = "For context:"
"""So begins a message in the user's name that tells what another agent said and did."""


def read(span: Span) -> Facts | None:
    """What ADK says beyond the semantic conventions."""
    attributes = span.attributes
    if span.scope.name != SCOPE and not any(key.startswith("gcp.vertex.agent.") for key in attributes):
        return None
    name = span.name
    if name == "invocation":
        return Facts(kind=Kind.WORKFLOW, failure=failure_of(span))
    if name.startswith("agent_run [") and name.endswith("]"):
        return Facts(kind=Kind.AGENT, agent=text(name[len("agent_run [") : -1]), failure=failure_of(span))
    if name == "execute_tool (merged)" or attributes.get("gen_ai.tool.name") == "(merged tools)":
        return Facts(kind=Kind.OTHER)  # around tools that ran side by side
    if name.startswith("execute_tool ") or attributes.get("gen_ai.operation.name") == "execute_tool":
        return _tool(span)
    if name == "call_llm":
        return _call(span)
    if name == "send_data":
        return Facts(kind=Kind.STEP, input=_sent(Content.of(span)))
    if attributes.get("gen_ai.operation.name") == "generate_content" and "gen_ai.input.messages" in attributes:
        content = Content.of(span)
        return Facts(
            kind=Kind.MODEL,
            input=own(content.messages("input", "gen_ai.input.messages")),
            output=whole(content.messages("output", "gen_ai.output.messages", role="assistant")),
            marks=content.marks,
            pseudo_tools=(*HANDOFFS, ANSWER),
        )
    if (
        attributes.get("gen_ai.operation.name") == "generate_content"
        and is_go(span)
        and not _is_second_schema(attributes)
    ):
        return Facts(kind=Kind.MODEL, setting=GO_SETTING, pseudo_tools=(*HANDOFFS, ANSWER))
    return None


def _is_second_schema(attributes: Mapping[str, Any]) -> bool:
    """Whether Go wrote finish reasons in the standard's words: Gemini's, which the first schema has, are in capitals."""
    return any(reason.islower() for reason in finish_reasons_of(attributes))


def read_log(record: LogRecord) -> Facts | None:
    """A message in a log record, unless it quotes another agent."""
    facts = events.read_log(record) if record.scope.name == SCOPE else None
    if facts is None or not facts.input:
        return facts
    return changed(facts, input=own(facts.input))


def own(messages: Sequence[Message] | None) -> tuple[Message, ...] | None:
    """Without the messages in which ADK quotes other agents to this one in the user's name."""
    if messages is None:
        return None
    return tuple(message for message in messages if not (message.role == "user" and _quotes(message)))


def _quotes(message: Message) -> bool:
    first = message.parts[0] if len(message.parts) > 1 else None
    return isinstance(first, TextPart) and first.text.startswith(_QUOTED)


def _sent(content: Content) -> tuple[Message, ...] | None:
    value = content.value("input", "gcp.vertex.agent.data")
    return read_messages(value) or None if isinstance(value, list) else None


def _call(span: Span) -> Facts:
    """``call_llm``: the request and the response as JSON of google-genai's types (JavaScript's in camel case)."""
    content = Content.of(span)
    request = _object(content, "input", "gcp.vertex.agent.llm_request")
    response = _object(content, "output", "gcp.vertex.agent.llm_response")
    told = request.get("contents", request.get("content"))
    said = response.get("content", response.get("Content"))
    output = _answered(read_messages([said], "assistant")) if is_object(said) else None
    if response.get("Partial") is True:  # Go 0.x ends the span with the first piece of a stream
        output = None
        content.mark("output", GapKind.TRUNCATED)
    usage = usage_of(span.attributes)
    return Facts(
        kind=Kind.MODEL,
        session=text(span.attributes.get("gcp.vertex.agent.session_id")),
        input=own(read_messages(told)) if isinstance(told, list) else None,
        output=output,
        system=_instructions(request.get("config")),
        model=first_text(response, ("model_version", "modelVersion"))
        or first_text(span.attributes, ("gen_ai.request.model",)),
        finish_reasons=tuple(filter(None, [first_text(response, ("finish_reason", "finishReason", "FinishReason"))])),
        usage=_usage(response.get("usage_metadata", response.get("UsageMetadata"))) if usage == NO_USAGE else usage,
        failure=failure_of(span) or _refused(response, output),
        marks=content.marks,
        setting=SETTING,
        pseudo_tools=(*HANDOFFS, ANSWER),
    )


def _answered(output: tuple[Message, ...]) -> tuple[Message, ...]:
    """With a structured answer as the text that it is: JavaScript's runs no tool for it, and writes no span."""
    calls = list(asked_for(output))
    if not calls or calls[-1].name != ANSWER or not is_object(calls[-1].arguments):
        return output
    return (Message(role="assistant", parts=(TextPart(text=json.dumps(calls[-1].arguments, ensure_ascii=False)),)),)


def _object(content: Content, field: str, key: str) -> Mapping[str, Any]:
    """The decoded attribute; nothing for ``{}``, which stands where capture is off."""
    raw = content.attributes.get(key)
    if raw is None or raw in ("{}", *_NOTHING):
        return {}
    value = content.value(field, key)
    return value if is_object(value) else {}


def _instructions(config: Any) -> str | None:
    found = config.get("system_instruction", config.get("systemInstruction")) if is_object(config) else None
    if isinstance(found, str):
        return text(found)
    messages = read_messages(found, "system") if found else ()
    return "\n".join(message.text for message in messages if message.text) or None


def _usage(told: Any) -> Usage:
    if not is_object(told):
        return NO_USAGE
    answer, thoughts = (
        first_number(told, ("candidates_token_count", "candidatesTokenCount")),
        first_number(told, ("thoughts_token_count", "thoughtsTokenCount")),
    )
    return Usage(
        input_tokens=first_number(told, ("prompt_token_count", "promptTokenCount")),
        output_tokens=answer if thoughts is None else (answer or 0) + thoughts,
        cache_read_tokens=first_number(told, ("cached_content_token_count", "cachedContentTokenCount")),
        reasoning_tokens=thoughts,
    )


def _refused(response: Mapping[str, Any], output: Sequence[Message] | None) -> Failure | None:
    """A response without content whose ``error_code`` says why there is none."""
    code = first_text(response, ("error_code", "errorCode", "ErrorCode"))
    message = first_text(response, ("error_message", "errorMessage", "ErrorMessage"))
    return Failure(type=code, message=message) if code and not output else None


def _tool(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    name = text(attributes.get("gen_ai.tool.name")) or span.name.removeprefix("execute_tool ") or None
    arguments, result = _given(content)
    error = tool_error_of(span)
    if error is None and result == {"error": {}}:
        error = _UNWRITTEN
    elif result is not MISSING and (error is None or is_bare(error)):
        error = error_in_result(result) or error
    elif error is not None and is_bare(error) and "gen_ai.tool.call.result" in span.attributes:
        error = None  # GenAI's convention reads both
    if name == ANSWER and error is None:
        reply = attributes.get("gcp.vertex.agent.tool_call_args", attributes.get("gen_ai.tool.call.arguments"))
        return Facts(
            kind=Kind.STEP, reply=text(reply) if reply not in ("{}", *_NOTHING) else None, pseudo_tools=(ANSWER,)
        )
    call_id = first_text(attributes, ("gen_ai.tool.call.id", "gen_ai.tool_call.id"))  # the latter Java's
    return Facts(
        kind=Kind.HANDOFF if name in HANDOFFS else Kind.TOOL,
        tool=name,
        arguments=arguments,
        result=result,
        error=error,
        call_id=None if call_id in _NOTHING else call_id,
        failure=None,
        marks=content.marks,
        setting=SETTING if "gcp.vertex.agent.llm_request" in attributes else None,
        pseudo_tools=HANDOFFS if name in HANDOFFS else (),
    )


def _given(content: Content) -> tuple[JsonValue | Missing, JsonValue | Missing]:
    """Arguments and result. ``{}`` for both is what stands where capture is off; a real result is never ``{}`` alone."""
    raw = content.attributes.get("gcp.vertex.agent.tool_response")
    if raw in ("{}", None) and content.attributes.get("gcp.vertex.agent.tool_call_args") == "{}":
        return MISSING, MISSING
    arguments = content.json("arguments", "gcp.vertex.agent.tool_call_args")
    result: JsonValue | Missing = MISSING
    if isinstance(raw, str) and raw not in _NOTHING:
        try:
            result = plain(decode(raw))
        except Undecodable:
            content.mark("result", GapKind.TRUNCATED)
            result = raw
    if isinstance(result, dict) and result.get("result") in _NOTHING and len(result) == 1:
        result = MISSING
    return (MISSING if isinstance(arguments, str) and arguments in _NOTHING else arguments), result


CONVENTION = Convention(
    name="google-adk", read=read, prefixes=("gcp.vertex.agent.",), scopes=(SCOPE,), read_log=read_log
)
