"""Messages of any shape into the domain's: one message, or a list of them.

Frameworks mix shapes freely, so one reader takes them all: it looks at a message's keys, not at who wrote it. Parts are
read by :mod:`otel_eval.conventions.reading.parts`. What is in nobody's shape is left out rather than guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from otel_eval.conventions.reading.langchain_reprs import message_in
from otel_eval.conventions.reading.own_tools import own_tool_parts
from otel_eval.conventions.reading.parts import read_parts, tool_call_of, tool_result_of
from otel_eval.conventions.reading.values import containers, is_object
from otel_eval.interaction import Attachment, Message, Part, TextPart, ToolCallPart, ToolResultPart

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "bot": "assistant",
    "tool": "tool",
    "function": "tool",
}

_LIST_KEYS = ("messages", "contents", "history", "input", "items")


def role_of(value: object, default: str = "user") -> str:
    """One of ``system``, ``user``, ``assistant``, ``tool``; the default for a role that nobody knows."""
    if not isinstance(value, str):
        return default
    known = ROLES.get(value)
    if known is not None:
        return known
    name = value.lower().removeprefix("authorrole.").removesuffix("message")
    return ROLES.get(name, default)


def read_messages(value: Any, default_role: str = "user") -> tuple[Message, ...]:
    """All messages in a value: a list of them, an object that holds such a list, one message, or a bare text."""
    value = containers(value)
    if isinstance(value, list):
        return _read_list(value, default_role)
    if isinstance(value, str):
        return (Message(role=default_role, parts=read_parts(value)),) if value else ()
    if is_object(value):
        inner = _list_in(value)
        return (
            read_messages(inner, default_role)
            if inner is not None
            else _drop_empty([read_message(value, default_role)])
        )
    return ()


def _read_list(value: list[Any], default_role: str) -> tuple[Message, ...]:
    if _is_pair(value):
        return (read_message({"role": value[0], "content": value[1]}, default_role),)
    first = value[0] if value else None
    if isinstance(first, list) and all(isinstance(item, list) and not _is_pair(item) for item in value):
        return tuple(message for item in value for message in read_messages(item, default_role))  # a batch of one
    if _is_bare_part(first) and all(map(_is_bare_part, value)):
        return _drop_empty([Message(role=default_role, parts=read_parts(value))])
    return _drop_empty(_each(value, default_role))


def _each(items: Iterable[Any], default_role: str) -> list[Message]:
    found = []
    for item in items:
        if isinstance(item, str):
            item = message_in(item) or containers(item)
        if is_object(item):
            if item.get("object") == "response" and isinstance(item.get("output"), list):
                found.extend(_each(item["output"], "assistant"))  # a whole response of OpenAI's among messages
            else:
                found.append(read_message(item, default_role))
        elif isinstance(item, str):
            found.append(Message(role=default_role, parts=read_parts(item)))
        elif isinstance(item, list) and _is_pair(item):
            found.append(read_message({"role": item[0], "content": item[1]}, default_role))
    return found


def read_message(value: Mapping[str, Any], default_role: str = "user") -> Message:
    """One message, in the shape of OpenAI (chat or responses), Anthropic, Gemini, Bedrock, LangChain, Vercel or OTel.

    Each model call of a loop repeats the messages of the one before, its answer among them, and the agent's span all of
    them: two of three are read already. To find one takes 1 us, to read it 10.
    """
    try:
        encoded = orjson.dumps(value)
    except (TypeError, RecursionError):  # a Python repr may hold what JSON does not
        return _read(value, default_role)
    if len(encoded) > _REMEMBERED_BYTES:
        return _read(value, default_role)
    role = value.get("role")
    own = "parts" in value and isinstance(role, str) and role in ROLES
    key = "" if own else default_role, encoded
    known = _known.get(key)
    if known is None:
        if len(_known) >= _REMEMBERED:
            _known.clear()
        known = _known[key] = _read(value, default_role)
    return known


_known: dict[tuple[str, bytes], Message] = {}
_REMEMBERED = 4096
_REMEMBERED_BYTES = 8192


def _read(value: Mapping[str, Any], default_role: str) -> Message:
    if "role" not in value or "parts" not in value:  # those two make it OpenTelemetry's shape, which nobody wraps
        value = _unwrapped(value)
    kind = value.get("type")
    if kind is not None and "role" not in value and (item := _item(value, kind)) is not None:
        return item
    role = role_of(value.get("role", value.get("author", kind)), default_role)
    parts = _content_parts(value)
    answers = role == "tool" or (role != "assistant" and parts and value.get("tool_call_id"))
    if answers and not any(isinstance(part, ToolResultPart) for part in parts) and not _is_approval(value):
        role, parts = "tool", (_result_message(value, parts),)
    if calls := _tool_calls(value):
        known = {part.call_id for part in parts if isinstance(part, ToolCallPart) and part.call_id}
        parts += tuple(call for call in calls if call.call_id is None or call.call_id not in known)
    return Message(role=role, parts=parts)


def _item(value: Mapping[str, Any], kind: object) -> Message | None:
    """What stands among messages without being one, in OpenAI's responses and OTel's parts."""
    if kind in ("function_call", "custom_tool_call", "tool_call"):
        return Message(role="assistant", parts=tuple(filter(None, [tool_call_of(value)])))
    if kind in ("function_call_output", "custom_tool_call_output"):
        return Message(role="tool", parts=(tool_result_of(value),))
    if kind == "reasoning":
        return Message(role="assistant", parts=read_parts([value]))
    parts = own_tool_parts(value)
    return Message(role="assistant", parts=parts) if parts else None


def _unwrapped(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message inside LangChain's serialisations and OpenInference's and choices' envelopes."""
    for _ in range(4):
        if value.get("type") == "constructor" and is_object(value.get("kwargs")):
            path = value.get("id")
            name = path[-1] if isinstance(path, list) and path else ""
            value = {"type": str(name), **value["kwargs"]} | {"type": str(name)}
        elif is_object(value.get("data")) and "content" in value["data"]:
            value = {**value["data"], "type": value.get("type")}
        elif is_object(value.get("message")) and "parts" not in value and "content" not in value:
            value = value["message"]
        elif is_object(value.get("kwargs")) and "content" in value["kwargs"] and "content" not in value:
            value = {**value["kwargs"], "type": value["kwargs"].get("type", value.get("type"))}
        elif value.get("role") is None and is_object(value.get("content")) and "parts" in value["content"]:
            value = value["content"]
        elif _is_langfuses_result(value):
            value = {"role": "tool", "name": value.get("role"), "content": value.get("content")}
        else:
            break
    return value


def _is_approval(value: Mapping[str, Any]) -> bool:
    """Whether it is a user's leave to run a tool, or the refusal: in the Vercel AI SDK a tool's message."""
    content = value.get("parts", value.get("content"))
    return isinstance(content, list) and all(
        is_object(item) and item.get("type") == "tool-approval-response" for item in content
    )


_OF_A_RESULT = frozenset({"content", "additional_kwargs", "role"})


def _is_langfuses_result(value: Mapping[str, Any]) -> bool:
    """Whether a tool gave it: Langfuse's callback for LangChain.js writes the tool's name as the role.

    Source: @langfuse/langchain 5.11 (``extractChatMessageContent``). It keeps ``additional_kwargs`` of such messages alone.
    """
    return "additional_kwargs" in value and _OF_A_RESULT.issuperset(value) and role_of(value.get("role"), "") == ""


def _content_parts(value: Mapping[str, Any]) -> tuple[Part, ...]:
    for key in ("parts", "contents", "items", "content", "blocks", "text"):
        content = value.get(key)
        if content is not None and content != "" and content != []:
            parts = read_parts(containers(content) if key == "parts" else content)
            refusal = value.get("refusal")
            return parts + read_parts(refusal) if isinstance(refusal, str) and not parts else parts
    refusal = value.get("refusal")
    if isinstance(refusal, str) and refusal:
        return read_parts(refusal)
    if is_object(spoken := value.get("audio")) and "transcript" in spoken:  # OpenAI's answers that are spoken
        return read_parts({"type": "audio", **spoken})
    empty = value.get("content", value.get("text"))
    return (TextPart(text=""),) if empty == "" and not value.get("tool_calls") else ()


_CALLS = frozenset({"tool_calls", "toolCalls", "toolInvocations", "function_call"})


def _tool_calls(value: Mapping[str, Any]) -> list[ToolCallPart]:
    if _CALLS.isdisjoint(value):
        return []
    calls = containers(value.get("tool_calls") or value.get("toolCalls") or value.get("toolInvocations") or ())
    found = (
        [call for item in calls if is_object(item) and (call := tool_call_of(item)) is not None]
        if isinstance(calls, (list, tuple))
        else []
    )
    legacy = containers(value.get("function_call"))
    if not found and is_object(legacy) and (call := tool_call_of(legacy)) is not None:
        found.append(call)
    return found


def _result_message(value: Mapping[str, Any], parts: tuple[Part, ...]) -> ToolResultPart:
    content: Any = value.get("content", value.get("parts", value.get("text")))
    if parts and all(isinstance(part, TextPart) for part in parts):
        content = "\n".join(part.text for part in parts if isinstance(part, TextPart))
    return tool_result_of({**value, "content": content, "id": value.get("tool_call_id") or value.get("id")})


def _list_in(value: Mapping[str, Any]) -> Any:
    if "role" in value or value.get("type") in ("constructor", "message"):
        return None
    for key in _LIST_KEYS:
        inner = value.get(key)
        if isinstance(inner, list) and inner:
            return inner
    return None


def _is_pair(value: list[Any]) -> bool:
    return (
        len(value) == 2
        and isinstance(value[0], str)
        and value[0].lower() in ROLES
        and isinstance(value[1], (str, list))
    )


def _is_bare_part(item: Any) -> bool:
    """A part outside of a message, as system instructions and Bedrock contents are written."""
    if not is_object(item) or "role" in item or "message" in item:
        return False
    return item.get("type") in ("text", "input_text", "output_text", "toolUse", "toolResult") or (
        "type" not in item
        and any(key in item for key in ("text", "toolUse", "toolResult", "functionCall", "function_call"))
        and "content" not in item
    )


def _drop_empty(messages: Iterable[Message]) -> tuple[Message, ...]:
    return tuple([message for message in messages if message.parts])


def asks(message: Message) -> bool:
    """Whether a user speaks in it, rather than a tool in the user's name."""
    if message.role != "user":
        return False
    speaks = False
    for part in message.parts:
        if isinstance(part, ToolResultPart):
            return False
        speaks = speaks or isinstance(part, (TextPart, Attachment))
    return speaks


def calls_in(message: Message) -> list[ToolCallPart]:
    """The tool calls that the message asks for."""
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


def asked_for(messages: Iterable[Message]) -> Iterator[ToolCallPart]:
    """The tool calls that the messages ask for, in their order."""
    return (part for message in messages for part in calls_in(message))


def unanswered(messages: Iterable[Message]) -> list[ToolCallPart]:
    """The calls that the messages ask for and do not answer: a provider's own tools have run within its model's answer."""
    waiting: list[ToolCallPart] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                waiting.append(part)
            elif isinstance(part, ToolResultPart):
                same = [call for call in waiting if part.call_id in (None, call.call_id)]
                waiting = [call for call in waiting if call is not same[0]] if same else waiting
    return waiting


def results_in(message: Message) -> list[ToolResultPart]:
    """The tool results that it carries."""
    return [part for part in message.parts if isinstance(part, ToolResultPart)]


def call_ids_in(message: Message) -> set[str]:
    """The ids of the tool calls that it asks for or answers."""
    return {
        part.call_id
        for part in message.parts
        if isinstance(part, (ToolCallPart, ToolResultPart)) and part.call_id is not None
    }
