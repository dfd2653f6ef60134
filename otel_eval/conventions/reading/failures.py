"""How a span, or a tool's result, says that something failed; and what only looks like it.

A tool's error may hide in a text with the status OK. Only structure and the exact sentences that frameworks write in
place of a result are taken for failures: a result that merely talks of errors is a result.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.reading.values import decode_leniently, is_object, text
from otel_eval.interaction import Failure
from otel_eval.signals import Span, SpanEvent

CONTROL_FLOW = frozenset(
    {
        "GraphInterrupt",  # LangGraph: waits for a human
        "NodeInterrupt",
        "GraphBubbleUp",
        "ParentCommand",  # LangGraph: goes on in the parent graph
        "CallDeferred",  # pydantic-ai
        "ApprovalRequired",
        "ToolInterruptError",  # Genkit: waits for a human
        "GeneratorExit",
        "StopIteration",
        "StopAsyncIteration",
    }
)
"""Exceptions with which frameworks steer; nothing failed."""

_CONTROL_MESSAGE = re.compile(r"(?:ParentCommand\()?Command\(graph=|GraphInterrupt\(|^\(?Interrupt\(value=")

SENTENCES = (
    re.compile(r"An error occurred while running the tool\. Please try again\.(?: Error: .*)?", re.S),  # OpenAI Agents
    re.compile(r"Error: .*\n ?Please fix your mistakes\.", re.S),  # LangGraph ToolNode
    re.compile(
        r"Error (?:executing|invoking) tool \S+?(?: with kwargs .* with error)?:\s.*", re.S
    ),  # MCP SDK, LangGraph, Vercel
    re.compile(r"Error executing tool: .*", re.S),  # CrewAI
    re.compile(r"Error executing tool \S+"),  # MCP SDK 2, which tells a client nothing of what was raised
    re.compile(r"I encountered an error while trying to use the tool\. This was the error: .*", re.S),  # CrewAI 0.x
    re.compile(r"Error: [A-Z]\w*(?:Error|Exception) - .*", re.S),  # Strands
    re.compile(r"Failed to invoke Tool `[^`\n]+` with parameters .*\. Error: .*", re.S),  # Haystack
    re.compile(r"Error running tool \(non-fatal\).*", re.S),  # OpenAI Agents
    re.compile(r"Error: Tool execution failed: .*", re.S),  # AgentScope for Java
    re.compile(
        r"Unknown tool name: '[^'\n]*'\. (?:Available tools: |No tools )[^\n]*(?:\n\nFix the errors.*)?"
    ),  # pydantic-ai
    re.compile(
        r"Error: (?:tool not found|(?:callable|streamable) tool execution failed|failed to marshal result)(?:: .*)?",
        re.S,
    ),  # tRPC-Agent-Go
)
"""What frameworks write in place of the result of a tool that raised: whole texts, not beginnings of one."""

LOOP_SENTENCES = (
    re.compile(r"(?:ERROR|Error|error): [^\n]{1,500}"),
    re.compile(r"(?:(?:ERROR|Error): )?(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:: |\().*", re.S),
    re.compile(r"Tool (?:execution )?(?:failed|error): [^\n]{1,500}"),
)
"""What hand-written loops pass to the model in place of a result: believed only where no tool has a span, or none
that fails."""


def is_programs_own(kind: str | None) -> bool:
    """Whether that exception is a language's own rather than a framework's: what a tool raises when it breaks."""
    if kind is None:
        return False
    found = getattr(builtins, kind, None)
    return kind == "Error" or (isinstance(found, type) and issubclass(found, Exception))


def exception_of(span: Span) -> Failure | None:
    """The last exception event of the span."""
    return next(map(_exception, filter(_is_exception, reversed(span.events))), None)


def first_exception_of(span: Span) -> Failure | None:
    """The first exception event: the cause, where a wrapper's follows it."""
    return next(map(_exception, filter(_is_exception, span.events)), None)


def _is_exception(event: SpanEvent) -> bool:
    return event.name in ("exception", "gen_ai.client.operation.exception")


def _exception(event: SpanEvent) -> Failure:
    kind = text(event.attributes.get("exception.type"))
    message = text(event.attributes.get("exception.message"))
    return Failure(type=_short_type(kind), message=_first_paragraph(message))


def _own_exception(span: Span) -> Failure | None:
    """As :func:`exception_of`, but none where a reader only stopped reading a stream that had told of the error itself.

    That closes the generator, whose exception the span gets beside its ``error.type``.
    Source: logfire 5.4.0 (``integrations/claude_agent_sdk``).
    """
    exception = exception_of(span)
    if exception is not None and exception.type == "GeneratorExit":
        return exception if span.attributes.get("error.type") in (None, "_OTHER", "GeneratorExit") else None
    return exception


def failure_of(span: Span, *, exceptions_count: bool = False) -> Failure | None:
    """Whether the span says that it failed: status ERROR or ``error.type``, in the words of its exception or status.

    ``exceptions_count``: an exception event alone is enough (for conventions whose status is always OK). What frameworks
    use exceptions for besides failing (:func:`is_control_flow`) is none.
    """
    error_type = text(span.attributes.get("error.type"))
    exception = _own_exception(span)
    told = span.status == "error" or (error_type is not None and span.status != "ok")
    if not told and not (exceptions_count and exception is not None):
        return None
    bare = exception is None and error_type is None
    if (
        is_control_flow(span)
        or _is_openlits(span)
        or _is_below(span)
        or (bare and (_is_of_the_trace(span) or _went_on(span)))
    ):
        return None
    message = text(span.attributes.get("error.message")) or (exception.message if exception else None)
    message = message or _first_paragraph(text(span.status_message)) or (_logged(span) if bare else None)
    kind = exception.type if exception and exception.type else error_type if error_type != "_OTHER" else None
    return Failure(type=_short_type(kind), message=message)


_OPENLITS = re.compile(r'.*\n *File "[^"\n]*\bopenlit[/\\]instrumentation[/\\][^"\n]*\butils\.py", line ', re.S)


def _is_openlits(span: Span) -> bool:
    """Whether what raised was OpenLIT, over what the call had given already (1.45 with Haystack's pipelines).

    Its ``utils.py`` write a span's attributes; what was called is called from elsewhere.
    """
    stack = text(span.events[-1].attributes.get("exception.stacktrace")) if span.events else None
    found = _OPENLITS.match(stack) if stack is not None else None
    return found is not None and "\n  File " not in found.string[found.end() :]


def _is_of_the_trace(span: Span) -> bool:
    """Whether the status is another span's.

    OpenInference's processor for the Vercel AI SDK writes the first error of a trace as status of the spans that end later
    without one: of the root, and beside OTel 2 of all. The SDK itself records an exception whenever it sets the status.
    Source: @arizeai/openinference-vercel 2 (TraceAggregateManager).
    """
    return is_vercels(span)


def _is_below(span: Span) -> bool:
    """Whether the status is that of a span below, which says so itself.

    AWS's instrumentation of the OpenAI Agents SDK writes the first error of a trace over its workflow's span, also that of a
    tool that the agent got over. Source: aws-opentelemetry-distro 0.21 (``openai_agents/_processor.py``).
    """
    return span.scope.name == _AWS_OPENAI_AGENTS and span.attributes.get("gen_ai.operation.name") == "invoke_workflow"


_AWS_OPENAI_AGENTS = "amazon.opentelemetry.distro.instrumentation.openai_agents"


def is_vercels(span: Span) -> bool:
    """Whether OpenInference's processor for the Vercel AI SDK wrote its attributes over the SDK's."""
    return span.scope.name in ("ai", "gen_ai") and "openinference.span.kind" in span.attributes


_OUTCOMES = ("gen_ai.output.messages", "gen_ai.completion", "gen_ai.tool.call.result")


def _went_on(span: Span) -> bool:
    """Whether the status is that of a log line, and the span has an outcome for all that."""
    return any(key in span.attributes for key in _OUTCOMES) and _logged(span) is not None


def _logged(span: Span) -> str | None:
    """The last log line of the level ERROR, where it may have given the span its status.

    Any such line within a span makes its status ERROR, without words, in tracing-opentelemetry (Rust); with an error and no
    message it is an exception as well. Source: tracing-opentelemetry 0.34.0 (``on_event``).
    """
    if span.status_message:
        return None
    lines = [
        event for event in span.events if event.attributes.get("level") == "ERROR" and "target" in event.attributes
    ]
    return text(lines[-1].name) if lines else None


def is_control_flow(span: Span) -> bool:
    """Whether the exception on the span is a framework's way of steering (an interrupt, a deferral, a handoff)."""
    exception = _own_exception(span)
    if exception is not None and exception.type is not None and exception.type.split(".")[-1] in CONTROL_FLOW:
        return True
    error_type = text(span.attributes.get("error.type"))
    if error_type is not None and error_type.split(".")[-1] in CONTROL_FLOW:
        return True
    return span.status_message != "" and _CONTROL_MESSAGE.search(span.status_message[:200]) is not None


def tool_error_of(span: Span) -> str | None:
    """The error of a tool's span, as a text, or None where the span does not say that it failed."""
    failure = failure_of(span)
    if failure is None:
        return None
    first = first_exception_of(span)
    if first is not None and first.message:
        failure = first
    if span.status_message and failure.message is None:
        return span.status_message
    return str(failure)


def is_bare(error: str) -> bool:
    """Whether it is a type alone, once or twice, so that the result may have the words (Google ADK's ``TOOL_ERROR``)."""
    kind, _, message = error.partition(": ")
    return message in ("", kind) and " " not in kind


def error_in_result(result: Any, *, loop: bool = False) -> str | None:
    """The error that a tool's result is, where it is one: an error object or exactly a framework's error sentence.

    ``loop``: the result is known from messages alone, so the sentences of hand-written loops count too.
    """
    value = decode_leniently(result)
    if is_object(value):
        if value.get("type") == "text" and _is_block(value):  # OpenAI Agents, of a server of MCP
            return error_in_result(value["text"], loop=loop)
        return _error_in_object(value) or (_denial(value) if loop else None)
    if isinstance(value, list) and len(value) == 1 and is_object(value[0]):
        block = value[0]
        if _is_block(block):
            return error_in_result(block["text"], loop=loop)  # what the tool gave, as a model is shown it
        return _error_in_object(block)
    if isinstance(value, str):
        return value if is_error_sentence(value, loop=loop) else None
    return None


_BLOCK = frozenset({"type", "text", "annotations"})


def _is_block(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("text"), str) and value.keys() <= _BLOCK and value.get("type") in (None, "text")


def is_error_sentence(value: str, *, loop: bool = False) -> bool:
    """Whether the whole text is what a framework (or, for ``loop``, a hand-written loop) writes in place of a result."""
    stripped = value.strip()
    if len(stripped) > 4000:
        return False
    return any(sentence.fullmatch(stripped) for sentence in (SENTENCES + LOOP_SENTENCES if loop else SENTENCES))


_WAITING = "This tool call requires confirmation, please approve or reject."
"""What Google ADK gives a model before a user has said whether the tool may run."""


def _error_in_object(value: Mapping[str, Any]) -> str | None:
    if value.get("isError") is True or value.get("is_error") is True or value.get("status") == "error":
        for key in ("error", "error_message", "message", "content", "text", "output", "raw_output", "blocks"):
            found = value.get(key)
            if found not in (None, "", [], {}):
                return _words(found)
        return "the result says that it is an error"
    if set(value) == {"message", "details", "code"} and is_object(value["details"]) and "domain" in value["details"]:
        return _words(value)  # Mastra 0.x, of a tool that raised
    error = value.get("error")
    if error == _WAITING:
        return None
    if error is True and isinstance(value.get("message"), str):  # Mastra, of arguments that do not fit
        return str(value["message"])
    if error not in (None, "", False, [], {}) and set(value) <= {
        "error",
        "ok",
        "success",
        "status",
        "code",
        "type",
        "message",
    }:
        return _words(error)
    return None


def _denial(value: Mapping[str, Any]) -> str | None:
    """What @ai-sdk/otel writes of a call that nobody approved: ``{"denied": true, "reason"}``, in messages alone."""
    if value.get("denied") is not True or not set(value) <= {"denied", "reason"}:
        return None
    return text(value.get("reason")) or "Tool execution denied."


def _words(value: Any) -> str:
    if (
        isinstance(value, list)
        and value
        and all(is_object(item) and isinstance(item.get("text"), str) for item in value)
    ):
        return "\n".join(item["text"] for item in value)
    if is_object(value) and isinstance(value.get("message"), str):
        return str(value["message"])
    return value if isinstance(value, str) else str(value)


_NAMELESS = frozenset(
    {
        "*errors.errorString",
        "*errors.joinError",
        "*fmt.wrapError",
        "*fmt.wrapErrors",
        "*errors.fundamental",
        "*errors.withStack",
        "*errors.withMessage",
    }
)
"""What Go's SDK writes as the type of an error that has none of its own: ``errors.New``, ``fmt.Errorf``, ``pkg/errors``."""


def _short_type(kind: str | None) -> str | None:
    return kind.removeprefix("builtins.") if kind and kind not in _NAMELESS else None


def _first_paragraph(message: str | None) -> str | None:
    """Without the stack trace that JavaScript's instrumentations append after a blank line."""
    if message is None:
        return None
    head, blank, rest = message.partition("\n\n")
    if blank and (re.match(r"\s*(?:at |Error\b|\w*Error: |Traceback )", rest)):
        return head
    cut = message.find("Traceback (most recent call last):")
    return message[:cut].rstrip() or message if cut > 0 else message
