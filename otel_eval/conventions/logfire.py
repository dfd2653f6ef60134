"""Logfire's own integrations: OpenAI Agents, OpenAI, Anthropic and MCP, as they are written without the semantic conventions.

Source: logfire 4.0.0 (``_internal/integrations``). A span's kind stands in its template, ``logfire.msg_template``. Messages
are in ``events`` (semantic conventions 1.28 as one JSON list), or in ``request_data`` and ``response_data``. Logfire 5 writes
``gen_ai.*`` as well, and pydantic-ai has a convention of its own. Content is always on; scrubbing leaves placeholders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.conventions.facts import MISSING, NO_USAGE, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, plain, text
from otel_eval.interaction import Failure, Message
from otel_eval.signals import Span

SCOPE = "logfire."
"""Of the integrations: a program's own spans are in the scope ``logfire``."""
SETTING = "logfire.configure(scrubbing=False)"

_ROLES = ("system", "user", "assistant", "tool")


def read(span: Span) -> Facts | None:
    """What the span is by its template; None for Logfire's ordinary spans and for those of other libraries."""
    attributes = span.attributes
    template = attributes.get("logfire.msg_template")
    if not isinstance(template, str) or not span.scope.name.startswith(SCOPE):
        return None
    if template.startswith("OpenAI Agents trace"):
        return Facts(
            kind=Kind.WORKFLOW,
            weak_agent=text(attributes.get("name")),
            session=text(attributes.get("group_id")),
            failure=failure_of(span),
        )
    content = Content.of(span)
    if template.startswith("Agent run:"):
        return Facts(
            kind=Kind.AGENT, agent=text(attributes.get("name")), failure=_failure(span, content), marks=content.marks
        )
    if template.startswith("Function:"):
        return _function(span, content)
    if template.startswith("Handoff:"):
        return Facts(kind=Kind.HANDOFF)
    if template.startswith("MCP "):
        return _mcp(span, content)
    if template.startswith(("Guardrail ", "MCP: ")):
        return Facts(kind=Kind.OTHER)
    if "request_data" in attributes or "events" in attributes or template.startswith("Responses API"):
        return _model(span, content, template)
    return None


def _failure(span: Span, content: Content) -> Failure | None:
    """OpenAI Agents' own ``{"message": …, "data": …}``; the span's status says nothing of it."""
    error = content.value("output", "error")
    if not is_object(error):
        return failure_of(span)
    data = error.get("data")
    detail = text(data.get("error")) if is_object(data) else None
    return Failure(message=detail or text(error.get("message")) or "failed")


def _function(span: Span, content: Content) -> Facts:
    failure = _failure(span, content)
    result = content.result("result", "output")
    result = MISSING if result is None else result
    arguments = content.json("arguments", "input")
    error = None if failure is None else tool_error_of(span) or str(failure)
    if error is None and result is not MISSING:
        error = error_in_result(result)
    return Facts(
        kind=Kind.TOOL,
        tool=text(span.attributes.get("name")),
        arguments=MISSING if arguments is None else arguments,
        result=result,
        error=error,
        marks=content.marks,
        setting=SETTING,
    )


def _mcp(span: Span, content: Content) -> Facts:
    """``MCP request: tools/call x`` of the client, ``MCP server handle request: tools/call`` of the server."""
    request = content.value("arguments", "request")
    if not is_object(request) or request.get("method") != "tools/call" or not is_object(request.get("params")):
        return Facts(kind=Kind.OTHER)
    params = request["params"]
    response = content.value("result", "response")
    result: Any = MISSING
    error = tool_error_of(span)
    if is_object(response):
        result = result_value(response.get("content"))
        if response.get("isError") is True:
            error = error or str(result)
    return Facts(
        kind=Kind.TOOL,
        tool=text(params.get("name")),
        arguments=plain(params.get("arguments") or {}),
        result=result,
        error=error,
        marks=content.marks,
        setting=SETTING,
    )


def _model(span: Span, content: Content, template: str) -> Facts:
    attributes = span.attributes
    request = content.value("input", "request_data")
    response = content.value("output", "response_data")
    given, answer = _messages(content, request, response)
    usage = usage_of(attributes)
    if usage == NO_USAGE and is_object(response):
        usage = counted(response.get("usage"))
    return Facts(
        kind=Kind.MODEL,  # of a stream, what came out follows in a record of its own, which repeats the request
        input=given,
        output=answer,
        system=_system(request),
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model"))
        or (text(request.get("model")) if is_object(request) else None),
        response_id=first_text(attributes, ("gen_ai.response.id", "response_id")),
        usage=usage,
        failure=_failure(span, content),
        marks=content.marks,
        setting=SETTING,
    )


def _messages(
    content: Content, request: Any, response: Any
) -> tuple[tuple[Message, ...] | None, tuple[Message, ...] | None]:
    """What went in and what came out."""
    events = content.value("input", "events")
    if isinstance(events, list):
        given, answer = _parted(read_messages([_event(item) for item in events if is_object(item)]))
        raw = content.value("input", "raw_input")
        if isinstance(raw, list) and any(
            map(_has_parts, raw)
        ):  # each part is an event of its own, an image its address
            system = [message for message in given or () if message.role == "system"]
            given = (*system, *read_messages(raw))
        return given, answer
    if not is_object(request):
        return None, None
    messages = read_messages(request["messages"]) if isinstance(request.get("messages"), list) else None
    if not is_object(response):  # OpenAI Agents' generations: both in one list
        return (
            _parted(messages)
            if messages and "stream" not in request and "request_data[" not in _template(content)
            else (messages, None)
        )
    said = response.get("message")
    if is_object(said):
        return messages, read_messages([_unwrapped({"role": "assistant", **said})], "assistant")
    chunks = response.get("combined_chunk_content")
    return messages, read_messages(chunks, "assistant") if isinstance(chunks, str) else None


def _has_parts(item: Any) -> bool:
    return is_object(item) and isinstance(item.get("content"), list) and len(item["content"]) > 1


def _unwrapped(said: dict[str, Any]) -> dict[str, Any]:
    """Anthropic's tool calls, whose arguments read ``{"input": {…}}`` until Logfire 4."""
    calls = said.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if is_object(call) else None
        if not is_object(function):
            continue
        arguments = decode_leniently(function.get("arguments"))
        if is_object(arguments) and set(arguments) == {"input"} and is_object(arguments["input"]):
            function["arguments"] = arguments["input"]
    return said


def _template(content: Content) -> str:
    return str(content.attributes.get("logfire.msg_template"))


def _event(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """An event as a message; what Logfire could not name is looked up in what it was made of."""
    name = str(item.get("event.name", ""))
    if name == "gen_ai.choice" and is_object(item.get("message")):
        return {"role": "assistant", **item["message"]}
    if name == "gen_ai.unknown" and is_object(item.get("data")):
        return dict(item["data"])
    role = name.removeprefix("gen_ai.").removesuffix(".message")
    return {"role": role if role in _ROLES else "user", **item}


def _parted(
    messages: Sequence[Message] | None,
) -> tuple[tuple[Message, ...] | None, tuple[Message, ...] | None]:
    """One list of all messages: the assistant's at its end are the answer."""
    if not messages:
        return None, None
    end = len(messages)
    while end and messages[end - 1].role == "assistant":
        end -= 1
    return tuple(messages[:end]), tuple(messages[end:]) or None


def _system(request: Any) -> str | None:
    """Anthropic's instructions, which are no message."""
    found = request.get("system") if is_object(request) else None
    if isinstance(found, str):
        return text(found)
    messages = read_messages(found, "system") if isinstance(found, list) else ()
    return "\n".join(message.text for message in messages if message.text) or None


CONVENTION = Convention(name="logfire", read=read, prefixes=("logfire.",))
