"""AG2 until 1.0 under OpenInference: a chat, the replies in it, and the tools that the one who is to run them executes.

A reply in a chat names who it is to, ``ag2.sender.name``; one without was asked for alone. Its messages are as that
agent sees them, the proxy's that began the chat with its own as ``assistant``. A tool's span takes the call and gives
``[succeeded, message]``. Source: openinference-instrumentation-ag2 0.1.12 with ag2 0.14.0.
"""

from __future__ import annotations

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, tool_error_of
from otel_eval.conventions.reading.values import is_object, plain, text
from otel_eval.interaction import JsonValue
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.ag2"
_SENDER, _RECIPIENT = "ag2.sender.name", "ag2.recipient.name"
_PLUMBING = ("chat_manager", "_Group_Tool_Executor", "_User")
"""Agents of the framework's own in a group."""


def read(span: Span) -> Facts | None:
    """A chat, a reply in it, a tool's call; the rest is for OpenInference's convention."""
    if span.scope.name != _SCOPE:
        return None
    attributes = span.attributes
    if attributes.get("openinference.span.kind") == "TOOL":
        return _tool(span)
    if _RECIPIENT in attributes:
        return _chat(span)
    if _SENDER in attributes:
        return Facts(kind=Kind.STEP, agent=_name(attributes.get("agent.name")), input=(), output=())
    return None


def _chat(span: Span) -> Facts:
    content = Content.of(span)
    taken = content.value("input", "input.value")
    message = taken.get("message") if is_object(taken) else None
    return Facts(
        kind=Kind.AGENT,
        agent=_name(span.attributes.get(_RECIPIENT)),
        asked=text(message.get("content")) if is_object(message) else text(message),
        marks=content.marks,
    )


def _name(told: object) -> str:
    name = text(told)
    return name if name is not None and name not in _PLUMBING else ""


def _tool(span: Span) -> Facts:
    content = Content.of(span)
    result: JsonValue | Missing = MISSING
    error = tool_error_of(span)
    given = content.value("result", "output.value")
    if isinstance(given, list) and len(given) == 2 and is_object(given[1]):
        told = plain(given[1].get("content"))
        error = error_in_result(told) if given[0] is True else str(told)
        result = told if error is None else MISSING
    return Facts(
        kind=Kind.TOOL,
        arguments=content.json("arguments", "tool_call.function.arguments"),
        result=result,
        error=error,
        marks=content.marks,
    )


CONVENTION = Convention(name="ag2-openinference", read=read, scopes=(_SCOPE,))
