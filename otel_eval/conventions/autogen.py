"""AutoGen: agents and tools as the standard's spans without any content, and the runtime's message bus with all that a
team says.

An agent of a program's own on the runtime (``RoutedAgent``) has the span of each delivery to it for a frame.
An agent in a team (AgentChat) gets its messages from the runtime and answers to it. ``autogen process <address>`` is the span
of each delivery, with the ``message`` as JSON, and links to the ``autogen create`` span in which it was sent: below the span
of the agent that sent it. Deliveries are mostly traces of their own. An agent that runs without a team writes no content.

Until 0.6.1 the delivery that asks an agent for its answer is all that there is of the invocation.

Source: autogen-core 0.5.7 and 0.7.5 (``_telemetry``, ``_single_threaded_agent_runtime.py``), autogen-agentchat of the
same (``teams/_group_chat/_events.py``, ``messages.py``); ``agent_response`` for ``response`` until 0.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from otel_eval.conventions.facts import NO_USAGE, Convention, Delivery, Facts, Kind, Mark
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.messages import read_message, results_in
from otel_eval.conventions.reading.values import decode_leniently, is_object, plain, text
from otel_eval.frozen import changed
from otel_eval.interaction import Attachment, GapKind, Message, Part, ReasoningPart, TextPart, Usage
from otel_eval.json_text import dumps
from otel_eval.signals import Span

SETTING = "AUTOGEN_DISABLE_RUNTIME_TRACING=false"
_BUS = "autogen "
_ADDRESS = re.compile(r"(.+)\.\((.*)\)-A", re.DOTALL)
"""An agent's id as destinations have it; ``<type>/<key>`` in all other places."""
_CHAT = ("TextMessage", "MultiModalMessage", "StopMessage", "ToolCallSummaryMessage", "StructuredMessage")
_HANDOFF = "HandoffMessage"
_CONTAINER = "ChatAgentContainer"
"""What stands for a team's agent on the bus; all else there is a manager, which may ask a model who is to speak."""
_GROUP_CHAT = ("messages", "result", "response", "agent_response", "message", "error")
"""What the messages of AgentChat's teams hold. Others are a program's own, of agents that nothing else is written of."""


def read(span: Span) -> Facts | None:
    """The address of a team's agent, or what a delivery hands over; None for all else, which the standard's
    attributes say."""
    if span.scope.name.startswith(_BUS):
        return _delivery(span)
    address = text(span.attributes.get("gen_ai.agent.id"))
    if address is None or "/" not in address or span.attributes.get("gen_ai.operation.name") != "invoke_agent":
        return None
    return Facts(kind=Kind.AGENT, delivery=Delivery(recipient=address), setting=SETTING)


def _delivery(span: Span) -> Facts | None:
    attributes = span.attributes
    if attributes.get("messaging.operation") != "process" or not isinstance(attributes.get("message"), str):
        return None
    address = _ADDRESS.fullmatch(text(attributes.get("messaging.destination")) or "")
    context = decode_leniently(attributes.get("message_context"))
    delivery = Delivery(
        recipient=None if address is None else f"{address[1]}/{address[2]}",
        sender=text(context.get("sender")) if is_object(context) else None,
    )
    content = Content.of(span)
    message = content.value("input", "message", twice=False)
    if message == {}:
        return _asks_for_an_answer(span, delivery, context, None if address is None else (address[1], address[2]))
    if is_object(message) and any(key in message for key in _GROUP_CHAT):
        facts = _handed_over(message, delivery)
        is_agents = attributes.get("recipient_agent_class") == _CONTAINER
        return (
            facts
            if facts is None or is_agents or address is None
            else changed(facts, weak_agent=_name(address[1], address[2]))
        )
    if not content.marks:
        if address is None or attributes.get("recipient_agent_class") == "ToolAgent":  # runs others' tools
            return None
        return Facts(kind=Kind.WORKFLOW, weak_agent=_name(address[1], address[2]))
    cut = tuple(Mark(field=field, kind=GapKind.TRUNCATED) for field in ("input", "output"))
    return Facts(kind=Kind.DELIVERY, delivery=delivery, marks=cut)


def _asks_for_an_answer(span: Span, delivery: Delivery, context: Any, address: Sequence[str] | None) -> Facts:
    """A message with nothing in it: sent to an agent, and no call of the runtime's own, it asks for the agent's answer."""
    name = None
    if span.attributes.get("recipient_agent_class") == _CONTAINER and address is not None:
        name = None if not is_object(context) or context.get("is_rpc") is not False else _name(*address)
    return Facts(kind=Kind.DELIVERY, agent=name, delivery=delivery, failure=failure_of(span), setting=SETTING)


def _name(kind: str, key: str) -> str:
    """A team's agents are of types that are their names with the team's id."""
    return kind.removesuffix(f"_{key}")


def _handed_over(message: Mapping[str, Any], delivery: Delivery) -> Facts | None:
    """What a message of a group chat hands over."""
    if isinstance(task := message.get("messages"), list):
        return Facts(kind=Kind.DELIVERY, delivery=delivery, input=_heard(task, "user"), new_from=0)
    if is_object(result := message.get("result")) and isinstance(result.get("messages"), list):
        return Facts(kind=Kind.DELIVERY, delivery=delivery, input=_heard(result["messages"]))
    response = message.get("response", message.get("agent_response"))
    if is_object(response) and is_object(answer := response.get("chat_message")):
        inner = response.get("inner_messages")
        said = [*(inner if isinstance(inner, list) else ()), answer]
        return Facts(
            kind=Kind.DELIVERY,
            delivery=delivery,
            input=_heard([answer]),
            output=_said(said),
            reply=_text_of(answer),
            usage=_usage(said),
            aggregated=True,
            pseudo_tools=_handoffs(answer, said),
        )
    if is_object(event := message.get("message")) and (told := _said([event])):
        return Facts(kind=Kind.DELIVERY, delivery=delivery, output=told)
    return None


def _handoffs(answer: Mapping[str, Any], said: Iterable[Any]) -> tuple[str, ...]:
    """The tools that handed over: those that gave what the handoff's message says."""
    if _type_of(answer) != _HANDOFF:
        return ()
    results = (part for message in _said(said) for part in results_in(message))
    return tuple({part.name: None for part in results if part.name and part.result == answer.get("content")})


def _heard(messages: Iterable[Any], handing_over: str = "assistant") -> tuple[Message, ...]:
    """Messages as another agent gets them: AutoGen has it take them for a user's, and a handoff asks nothing.

    ``handing_over``: the role of a handoff's message; a person, too, hands over to the agent that is to go on.
    """
    found = []
    for message in messages:
        parts = _parts(message) if is_object(message) else ()
        if parts:
            found.append(Message(role=handing_over if _type_of(message) == _HANDOFF else "user", parts=parts))
    return tuple(found)


def _said(messages: Iterable[Any]) -> tuple[Message, ...]:
    """Messages as the agent's own that wrote them: its calls of tools, what they gave, its thoughts and its words."""
    return tuple(said for message in messages if is_object(message) for said in _own(message) if said.parts)


def _own(message: Mapping[str, Any]) -> Sequence[Message]:
    kind, content = _type_of(message), message.get("content")
    if kind == "ToolCallRequestEvent" and isinstance(content, list):
        return [read_message({"role": "assistant", "tool_calls": content})]
    if kind == "ToolCallExecutionEvent" and isinstance(content, list):
        return [_result(item) for item in content if is_object(item)]
    if kind == "ThoughtEvent" and isinstance(content, str):
        return [Message(role="assistant", parts=(ReasoningPart(text=content),))]
    return [Message(role="assistant", parts=_parts(message))] if kind != _HANDOFF else ()


def _result(item: Mapping[str, Any]) -> Message:
    return read_message(
        {
            "role": "tool",
            "tool_call_id": item.get("call_id"),
            "name": item.get("name"),
            "content": item.get("content"),
            "is_error": item.get("is_error"),
        }
    )


def _parts(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """What a chat message says: a text, texts and images, or the object of a structured one; nothing of an event."""
    content = message.get("content")
    if _type_of(message) not in (*_CHAT, _HANDOFF):
        return ()
    if isinstance(content, str):
        return (TextPart(text=content),)
    if isinstance(content, list):
        return tuple(
            TextPart(text=item) if isinstance(item, str) else Attachment(modality="image") for item in content if item
        )
    return (TextPart(text=dumps(plain(content)).decode()),) if is_object(content) else ()


def _text_of(message: Mapping[str, Any]) -> str | None:
    """A chat message's text; None of a handoff, which answers nobody."""
    return None if _type_of(message) == _HANDOFF else Message(role="assistant", parts=_parts(message)).text


def _type_of(message: Mapping[str, Any]) -> str:
    """``StructuredMessage[Verdict]`` without the model's name."""
    return (text(message.get("type")) or "").partition("[")[0]


def _usage(messages: Iterable[Any]) -> Usage:
    total = NO_USAGE
    for message in messages:
        used = message.get("models_usage") if is_object(message) else None
        if is_object(used):
            total += Usage(input_tokens=_count(used, "prompt_tokens"), output_tokens=_count(used, "completion_tokens"))
    return total


def _count(used: Mapping[str, Any], key: str) -> int | None:
    value = used.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


CONVENTION = Convention(name="autogen", read=read, scopes=("autogen",))
