"""pydantic-ai's own instrumentation, formats 1 to 6 (Logfire shows the same).

Source: pydantic-ai 0.2.4, 1.0.5 and 2.68.0, ``InstrumentationSettings(version=…)``. The agent's span holds the whole
conversation in ``pydantic_ai.all_messages`` (format 1: ``all_messages_events``), and ``pydantic_ai.new_message_index``
which of its requests and responses this run starts with. Tools: ``gen_ai.tool.call.*`` since format 3,
``tool_arguments`` and ``tool_response`` before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import USAGE_KEYS, Content, usage_of
from otel_eval.conventions.reading.failures import failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.messages import asked_for, asks, calls_in, read_message, results_in
from otel_eval.conventions.reading.values import Undecodable, decode, decode_leniently, is_object, number, text
from otel_eval.interaction import GapKind, Message
from otel_eval.signals import Span

SETTING = "InstrumentationSettings(include_content=True)"
AGGREGATED_KEYS = {
    field: tuple(key.replace("gen_ai.usage.", "gen_ai.aggregated_usage.") for key in keys) + keys
    for field, keys in USAGE_KEYS.items()
}
_RUN = ("pydantic_ai.all_messages", "all_messages_events", "final_result")
_ROLES = {"gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.tool.message": "tool"}


def read(span: Span) -> Facts | None:
    """What pydantic-ai says beyond the semantic conventions, and what its spans are where those do not tell."""
    attributes = span.attributes
    if attributes.get("logfire.span_type") == "pending_span":
        return Facts(kind=Kind.OTHER)  # announces a span that will come with the same content
    if not span.scope.name.startswith("pydantic-ai") and not any(key.startswith("pydantic_ai.") for key in attributes):
        return None
    content = Content.of(span)
    operation = attributes.get("gen_ai.operation.name")
    if operation == "invoke_agent" or any(key in attributes for key in _RUN):
        return _agent(span, content)
    if span.name.startswith("running output function"):
        return Facts(kind=Kind.STEP)
    if operation == "execute_tool" or text(attributes.get("gen_ai.tool.name")):
        return _tool(span, content)
    if span.name.startswith("running ") and "tools" in attributes:
        return Facts(kind=Kind.STEP)  # "running 2 tools"
    return _model(span) if operation == "chat" else None


def _agent(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    messages = _conversation(content)
    index = number(attributes.get("pydantic_ai.new_message_index"))
    if index is None:  # left out for 0; format 1 does not have it
        asked = (
            [i for i, message in enumerate(messages) if asks(message)] if "all_messages_events" in attributes else []
        )
        index = asked[-1] if asked else 0
    else:
        index = _place(messages, index)
    before, turn = (messages[:index], messages[index:]) if messages else ((), ())
    opening = next((i for i, message in enumerate(turn) if message.role == "assistant"), len(turn))
    return Facts(
        kind=Kind.AGENT,
        agent=text(attributes.get("gen_ai.agent.name")) or text(attributes.get("agent_name")),
        input=before + turn[:opening] if messages else None,
        output=turn[opening:] or None,
        new_from=len(before) if messages else None,
        reply=_final(attributes.get("final_result"), turn[-1:]),
        system=content.instructions("gen_ai.system_instructions"),
        model=text(attributes.get("model_name")),
        usage=usage_of(attributes, AGGREGATED_KEYS),
        aggregated=True,
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        pseudo_tools=_handing_over(turn),
        marks=content.marks,
        setting=SETTING,
    )


def _handing_over(turn: Sequence[Message]) -> tuple[str, ...]:
    """The tools that gave the final answer, as pydantic-ai answers them; where it is unknown which these are."""
    results = {part.call_id for message in turn for part in results_in(message) if part.result == _PROCESSED}
    return tuple(dict.fromkeys(call.name for call in asked_for(turn) if call.call_id in results - {None}))


def _conversation(content: Content) -> tuple[Message, ...]:
    """All messages, one for one: empty ones stay, because the index of the new ones counts them."""
    for key in ("pydantic_ai.all_messages", "all_messages_events"):
        raw = content.attributes.get(key)
        if raw is None:
            continue
        try:
            items = decode(raw)
        except Undecodable:
            content.mark("input", GapKind.TRUNCATED)
            continue
        if not isinstance(items, list):
            continue
        if key == "pydantic_ai.all_messages":
            return tuple(read_message(item) for item in items if is_object(item))
        return tuple(_event(item) for item in items if is_object(item))
    return ()


def _place(messages: Sequence[Message], index: int) -> int:
    """Where the model message of that index begins.

    It counts requests and responses, but a request is written as several messages: of the system, of tools, of the user.
    Requests that follow one another cannot be told apart; a run begins with a request, so that one of them is taken.
    """
    starts = [
        at for at, message in enumerate(messages) if at == 0 or "assistant" in (message.role, messages[at - 1].role)
    ]
    for at in reversed(starts[: index + 1]):
        if messages[at].role != "assistant":
            return at
    return 0


def _event(item: Mapping[str, Any]) -> Message:
    """Format 1: an event of semantic conventions 1.28 as an object; ``gen_ai.choice`` has the message inside."""
    name = str(item.get("event.name", ""))
    if name == "gen_ai.choice" and is_object(item.get("message")):
        return read_message(item["message"], "assistant")
    return read_message({"role": _ROLES.get(name, "assistant"), **item}, "assistant")


def _final(raw: Any, last: Sequence[Message]) -> str | None:
    return raw if isinstance(raw, str) and not _defers(raw, last) else None


def _defers(raw: str, last: Sequence[Message]) -> bool:
    """Whether the run ended with ``DeferredToolRequests``: calls for the program to make, or a user to approve."""
    if '"approvals"' not in raw:
        return False
    given = decode_leniently(raw)
    listed = [given.get(key) for key in ("calls", "approvals")] if is_object(given) else []
    asked = {call.call_id for message in last for call in calls_in(message)}
    calls = [call for calls in listed if isinstance(calls, list) for call in calls if is_object(call)]
    return bool(calls) and all(call.get("tool_call_id") in asked for call in calls)


def _model(span: Span) -> Facts:
    parameters = span.attributes.get("model_request_parameters")
    found = decode_leniently(span.attributes.get("events"))  # format 1
    events = [item for item in found if is_object(item)] if isinstance(found, list) else []
    return Facts(
        kind=Kind.MODEL,
        input=tuple([_event(item) for item in events if item.get("event.name") != "gen_ai.choice"]) or None,
        output=tuple([_event(item) for item in events if item.get("event.name") == "gen_ai.choice"]) or None,
        pseudo_tools=_output_tools(parameters) if isinstance(parameters, str) else (),
        setting=SETTING,
    )


@lru_cache(maxsize=512)
def _output_tools(raw: str) -> tuple[str, ...]:
    """The tools with which the model hands over its final answer: pydantic-ai calls them, nobody executes them."""
    parameters = decode_leniently(raw)
    if not is_object(parameters):
        return ("final_result",)  # cut: what it is called unless told otherwise
    tools = parameters.get("output_tools")
    names = [tool.get("name") for tool in tools if is_object(tool)] if isinstance(tools, list) else []
    return tuple(name for name in names if isinstance(name, str))


_PROCESSED = "Final result processed."
_RETRY = "ToolRetryError: "
_ADVICE = "\n\nFix the errors and try again."


def _tool(span: Span, content: Content) -> Facts:
    """What formats 1 and 2 wrote in names of their own; the rest are the standard's."""
    steers = is_control_flow(span)
    error, result = tool_error_of(span), content.result("result", "tool_response")
    if error is not None and error.endswith(_RETRY) and isinstance(result, str):
        error = result.removesuffix(_ADVICE)  # the exception has no text of its own
    return Facts(
        kind=Kind.TOOL,
        arguments=content.json("arguments", "tool_arguments"),
        result=result,
        error=None if steers else error,
        control_flow=steers,
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(
    name="pydantic-ai", read=read, prefixes=("pydantic_ai.", "logfire."), scopes=("pydantic-ai", "logfire")
)
