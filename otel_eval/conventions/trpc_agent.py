"""tRPC-Agent-Go, Tencent's framework: messages of its own shape, in attributes of its own first and in GenAI's since.

=======  ===============================================================  ===============================================
version  spans                                                            content
=======  ===============================================================  ===============================================
0.x      ``invocation`` > ``agent_run [x]`` > ``call_llm`` >              ``trpc.go.agent.llm_request``, ``.llm_response``,
         ``execute_tool x``                                               ``.tool_call_args``, ``.runner.input`` and so on
since    ``invoke_agent x`` > ``chat m``, ``execute_tool x``              ``gen_ai.input.messages`` and so on, not in the
                                                                          standard's shape; also in it, as ``….otel``
=======  ===============================================================  ===============================================

A tool's result is the whole response that holds it, arguments in messages are Base64 (bytes, to Go's JSON). Its exporter for
Langfuse renames: ``langfuse.observation.input`` is ``llm_request``, ``langfuse.trace.input`` ``runner.input``.
Content is on by default; payloads past a limit are cut or left out, in an envelope that says so.
Source: trpc-agent-go 0.2.0 and its main branch of 2026 (``internal/telemetry``, ``telemetry/langfuse``).
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.messages import calls_in, read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text
from otel_eval.interaction import Failure, JsonValue, Message, TextPart
from otel_eval.signals import Span

SCOPE = "trpc.agent.go"
SETTING = "telemetry/trace.WithPayloadPolicy without Disabled attributes"
HANDOFF = "transfer_to_agent"

KINDS: dict[str, Kind] = {
    "run_runner": Kind.WORKFLOW,
    "invoke_agent": Kind.AGENT,
    "call_llm": Kind.MODEL,
    "chat": Kind.MODEL,
    "generate_content": Kind.MODEL,
    "execute_tool": Kind.TOOL,
    "workflow": Kind.STEP,  # a node of a graph
}
_AGENT_RUN = "agent_run ["
_MERGED = ("(merged tools)", "execute_tool (merged)")
_REQUEST = ("gen_ai.input.messages", "trpc.go.agent.llm_request", "langfuse.observation.input")
_RESPONSE = ("gen_ai.output.messages", "trpc.go.agent.llm_response", "langfuse.observation.output")
_STANDARD = ".otel"
_QUOTED = re.compile(
    r"For context: \[[^\]]+\] (?:said: |called tool `|`[^`]+` tool returned result: )"
    r"|Tool `[^`]+` called with parameters: |Transferring control to agent: \S+\Z"
)
"""So begins a message in the user's name that tells what another agent said and did."""


def read(span: Span) -> Facts | None:
    """What the framework says beyond the semantic conventions; None for an ordinary span of its tracer."""
    attributes = span.attributes
    if attributes.get("gen_ai.system") != "trpc.go.agent" and span.scope.name != SCOPE:
        return None
    if span.name.startswith(_AGENT_RUN) and span.name.endswith("]"):
        return Facts(kind=Kind.AGENT, agent=text(span.name[len(_AGENT_RUN) : -1]), failure=failure_of(span))
    if attributes.get("gen_ai.tool.name") in _MERGED or span.name in _MERGED:
        return Facts(kind=Kind.OTHER)  # around tools that ran side by side
    kind = KINDS.get(str(attributes.get("gen_ai.operation.name")))
    if kind is None or kind is Kind.STEP:
        return None if kind is None else Facts(kind=kind, failure=failure_of(span))
    if kind is Kind.TOOL:
        return _tool(span)
    return _model(span) if kind is Kind.MODEL else _agent(span, kind)


def _agent(span: Span, kind: Kind) -> Facts:
    """A runner or an agent: the one message that it was given, and its last response."""
    attributes, content = span.attributes, Content.of(span)
    taken = _told(content, "input", "gen_ai.input.messages", "trpc.go.agent.runner.input", "langfuse.trace.input")
    given = _told(content, "output", "gen_ai.output.messages", "trpc.go.agent.runner.output", "langfuse.trace.output")
    output = _answered(given)
    if output and not any(message.text or calls_in(message) for message in output):
        output = None  # the last event of a streamed run says that it is over
    return Facts(
        kind=kind,
        agent=text(attributes.get("gen_ai.agent.name")),
        session=first_text(attributes, ("gen_ai.conversation.id", "trpc.go.agent.runner.session_id")),
        user_id=text(attributes.get("trpc.go.agent.runner.user_id")),
        input=_asked(taken),
        output=output,
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
        pseudo_tools=(HANDOFF,),
    )


def _model(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    taken, given = _told(content, "input", *_REQUEST), _told(content, "output", *_RESPONSE)
    whole = decode_leniently(attributes.get("trpc.go.agent.llm_response", attributes.get(_RESPONSE[-1])))
    response: Mapping[str, Any] = whole if is_object(whole) else {}
    error = response.get("error")
    told = Failure(type=text(error.get("type")), message=text(error.get("message"))) if is_object(error) else None
    return Facts(
        kind=Kind.MODEL,
        session=first_text(attributes, ("gen_ai.conversation.id", "trpc.go.agent.session_id")),
        user_id=text(attributes.get("trpc.go.agent.runner.user_id")),
        input=_asked(taken),
        output=_answered(given),
        model=text(response.get("model")),
        response_id=text(response.get("id")),
        usage=counted(response.get("usage")),
        failure=failure_of(span) or told,
        marks=content.marks,
        setting=SETTING,
        pseudo_tools=(HANDOFF,),
    )


def _tool(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    name = text(attributes.get("gen_ai.tool.name"))
    arguments = _value(
        content, "arguments", "gen_ai.tool.call.arguments", "trpc.go.agent.tool_call_args", "langfuse.observation.input"
    )
    response = _value(
        content, "result", "gen_ai.tool.call.result", "trpc.go.agent.tool_response", "langfuse.observation.output"
    )
    said = next(iter(_choices(response)), None)
    result: JsonValue | Missing = MISSING
    call_id = text(attributes.get("gen_ai.tool.call.id"))
    if said is not None:
        result = result_value(said.get("content"))
        call_id = call_id or text(said.get("tool_id"))
    error = tool_error_of(span) or (None if result is MISSING else error_in_result(result))
    return Facts(
        kind=Kind.HANDOFF if name == HANDOFF else Kind.TOOL,
        session=first_text(attributes, ("gen_ai.conversation.id", "trpc.go.agent.session_id")),
        tool=name,
        arguments=arguments,
        result=result,
        error=error,
        call_id=call_id,
        marks=content.marks,
        setting=SETTING,
        pseudo_tools=(HANDOFF,) if name == HANDOFF else (),
    )


def _told(content: Content, field: str, *keys: str) -> Any:
    """The first of the attributes that says something, in the framework's shape before the standard's."""
    found = _value(content, field, *keys)
    return _value(content, field, keys[0] + _STANDARD) if found is MISSING else found


def _value(content: Content, field: str, *keys: str) -> Any:
    """As :meth:`Content.value`; ``{}`` and ``N/A`` say nothing."""
    for key in keys:
        if content.attributes.get(key) in (None, "{}", "N/A", "<not json serializable>"):
            continue
        found = content.value(field, key)
        if found is not MISSING:
            return found
    return MISSING


def _asked(taken: Any) -> tuple[Message, ...] | None:
    """Messages in a request or a list, without those that quote other agents in the user's name."""
    items = taken.get("messages") if is_object(taken) else taken
    if not isinstance(items, list):
        return None
    return tuple(message for message in _messages(items, "user") if not (message.role == "user" and _quotes(message)))


def _quotes(message: Message) -> bool:
    first = message.parts[0] if message.parts else None
    return isinstance(first, TextPart) and _QUOTED.match(first.text) is not None


def _answered(given: Any) -> tuple[Message, ...] | None:
    """The messages of a response's choices, or of a list in the standard's shape."""
    if isinstance(given, list) and given and all(is_object(item) and "parts" in item for item in given):
        return read_messages(given, "assistant")
    said = list(_choices(given))
    return _messages(said, "assistant") if said else None


def _choices(given: Any) -> Iterable[Mapping[str, Any]]:
    """The messages of the choices in a response; of a streamed one the piece, where there is no whole."""
    choices = given.get("choices") if is_object(given) else given
    for choice in choices if isinstance(choices, list) else ():
        if is_object(choice):
            message, delta = choice.get("message"), choice.get("delta")
            if is_object(message) and any(message.get(key) for key in ("content", "content_parts", "tool_calls")):
                yield message
            elif is_object(delta) and (delta.get("content") or delta.get("tool_calls")):
                yield delta


def _messages(items: Iterable[Any], role: str) -> tuple[Message, ...]:
    return read_messages([_usual(item) for item in items if is_object(item)], role)


def _usual(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in OpenAI's shape, which this one is but for a few names."""
    usual = {key: value for key, value in message.items() if key not in ("tool_id", "tool_name", "content_parts")}
    if message.get("tool_id"):
        usual |= {"tool_call_id": message["tool_id"], "name": message.get("tool_name")}
    parts = message.get("content_parts")
    if isinstance(parts, list) and parts:
        said = message.get("content")
        usual["content"] = [{"type": "text", "text": said}, *parts] if said else parts
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        usual["tool_calls"] = [_call(call) if is_object(call) else call for call in calls]
    return usual


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if not is_object(function):
        return dict(call)
    return {**call, "function": {**function, "arguments": _unpacked(function.get("arguments"))}}


def _unpacked(arguments: Any) -> Any:
    """Arguments out of Base64, which never begins as an object does."""
    if not isinstance(arguments, str) or arguments[:1] in ("", "{", "["):
        return arguments
    try:
        return b64decode(arguments, validate=True).decode()
    except (binascii.Error, ValueError):
        return arguments


CONVENTION = Convention(name="trpc-agent-go", read=read, prefixes=("trpc.go.agent.", "trpc_go_agent."), scopes=(SCOPE,))
