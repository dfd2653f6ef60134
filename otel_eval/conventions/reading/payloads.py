"""Inputs and outputs that are whatever a function took and returned: a text, messages, a result object, an envelope."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from otel_eval.conventions.reading.langchain_reprs import message_in
from otel_eval.conventions.reading.messages import ROLES, read_message, read_messages
from otel_eval.conventions.reading.placeholders import is_placeholder, says_nothing
from otel_eval.conventions.reading.structured import structured_in
from otel_eval.conventions.reading.values import containers, decode_leniently, is_object, looks_cut, plain
from otel_eval.interaction import Message
from otel_eval.json_text import dumps

ASK_KEYS = (
    "user_message",
    "user_input",
    "user_query",
    "user_msg",
    "user_prompt",
    "input",
    "query",
    "question",
    "task",
    "prompt",
    "message",
    "user",
    "text",
    "content",
    "input_str",
)
"""Arguments under which programs pass on what a user said."""

REPLY_KEYS = (
    "output",
    "reply",
    "answer",
    "response",
    "result",
    "raw",
    "text",
    "content",
    "final_output",
    "final_answer",
    "output_text",
    "outputs",
)

_MESSAGE_LISTS = ("messages", "contents", "new_messages", "chat_history")
_HISTORIES = ("chat_history", "history")
"""Beside what was said now: LangChain's executors and chains, LlamaIndex's workflows."""


_OBJECT_REPR = re.compile(r"[A-Z]\w*\(\s*(?:\w+=|\)|<)|<[\w.]+ object at 0x[0-9a-f]+>$")
"""The repr of an object, which is no text of anybody's: ``AgentOutput(response=…``, ``<groq.Stream object at 0x7f…>``."""


def is_object_repr(value: object) -> bool:
    """Whether the value is how Python writes an object."""
    return isinstance(value, str) and _OBJECT_REPR.match(value) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a payload holds: messages, or a text; neither where it is an object that nobody knows.

    Both where the text is an answer beside the messages; ``pseudo_tools`` are calls by which it was given.
    """

    messages: tuple[Message, ...] | None = None
    text: str | None = None
    pseudo_tools: tuple[str, ...] = ()


def input_payload(raw: Any) -> Payload:
    """What went into an agent or a chain."""
    value = containers(raw)
    if isinstance(value, str):
        return (
            Payload()
            if is_placeholder(value) or is_object_repr(value) or looks_cut(value) or says_nothing(value)
            else Payload(text=value or None)
        )
    return _input_of(value, 0)


def _input_of(value: Any, depth: int) -> Payload:
    if isinstance(value, list):
        messages = read_messages(value)
        return Payload(messages=messages or None)
    if not is_object(value) or depth > 4:
        return Payload()
    if (said := _after_history(value)) is not None:
        return said
    for key in _MESSAGE_LISTS:
        if isinstance(value.get(key), list) and (messages := read_messages(value[key])):
            return Payload(messages=messages)
    if is_object(value.get("new_message")):  # Google ADK
        message = read_message(value["new_message"])
        return Payload(messages=(message,) if message.parts else None)
    if "role" in value and ("content" in value or "parts" in value):
        return Payload(messages=(read_message(value),))
    if ("args" in value and "kwargs" in value) or set(value) <= {"args", "kwargs"}:
        return _call_of(value, depth)
    for key in ("inputs", "kwargs", "start_event", "input", "state"):
        if is_object(value.get(key)) and (found := _input_of(value[key], depth + 1)) != Payload():
            return found
    for key in ASK_KEYS:
        inner = value.get(key)
        if isinstance(inner, str) and inner and not is_placeholder(inner):
            return Payload(text=inner)
        if isinstance(inner, list) and (messages := read_messages(inner)):
            return Payload(messages=messages)
    if (hidden := _hidden_in(value, ASK_KEYS)) is not None:
        return Payload(text=hidden)
    texts = [item for item in value.values() if isinstance(item, str) and item]
    return Payload(text=texts[0]) if len(texts) == 1 and len(value) == 1 and _is_said(texts[0]) else Payload()


def _after_history(value: Mapping[str, Any]) -> Payload | None:
    """What is said now after the messages before it, where both stand beside one another."""
    history = next((value[key] for key in _HISTORIES if isinstance(value.get(key), list)), None)
    asked = next((value[key] for key in ASK_KEYS if isinstance(value.get(key), str) and value[key]), None)
    if history is None or asked is None or is_placeholder(asked):
        return None
    return Payload(messages=(*read_messages(history), *read_messages([{"role": "user", "content": asked}])))


def _is_said(value: str) -> bool:
    return not is_placeholder(value) and not is_object_repr(value)


def _call_of(value: Mapping[str, Any], depth: int) -> Payload:
    """A decorated function's ``{"args": […], "kwargs": {…}}``."""
    kwargs = value.get("kwargs")
    if is_object(kwargs) and kwargs and (found := _input_of(kwargs, depth + 1)) != Payload():
        return found
    found_args = value.get("args")
    args = found_args if isinstance(found_args, list) else []
    others = [_input_of(item, depth + 1) for item in args if not isinstance(item, str)]
    for found in others:
        if found.messages and found.messages[-1].role == "user":
            return found
    texts = [found for item in args if isinstance(item, str) and (found := _argument(item)) != Payload()]
    if len(texts) > 1:  # an id, a language, …: what was said has words
        texts = [found for found in texts if found.messages or " " in (found.text or "").strip()]
    if len(texts) == 1:
        return texts[0]  # beside it there may be the messages before it
    return next((found for found in others if found != Payload()), Payload())


def _argument(item: str) -> Payload:
    """What an argument says: as JSON in which something is asked, else the text as it stands."""
    if says_nothing(item):
        return Payload(text=item)  # None is no text among arguments
    found = input_payload(item)
    if found == Payload() and is_object(containers(item)) and " " in item.strip():
        return Payload(text=item)
    return found


def output_payload(raw: Any, *, structured: bool = True) -> Payload:
    """What came out. ``structured``: an object that is no envelope is a structured reply, as JSON text."""
    value = containers(raw)
    if says_nothing(value):
        return Payload()
    if isinstance(value, str):
        if value[:1] == '"':  # a JSON string
            decoded = decode_leniently(value)
            value = decoded if isinstance(decoded, str) else value
        if (told := message_in(value)) is not None:
            return Payload(messages=read_messages([told], "assistant") or None)
        return Payload() if is_placeholder(value) or is_object_repr(value) or looks_cut(value) else Payload(text=value)
    return _output_of(value, _once_decoded(raw), structured, 0)


def _once_decoded(raw: Any) -> Any:
    """The text in which a structured reply stood, where that was written as a JSON string."""
    if not isinstance(raw, str) or raw[:1] != '"':
        return raw
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw


def input_of(value: Any) -> Payload:
    """As :func:`input_payload`, of what is decoded already: a text is a text, whatever it looks like."""
    return Payload(text=value or None) if isinstance(value, str) else _input_of(value, 0)


def output_of(value: Any, *, structured: bool = True, raw: str | None = None) -> Payload:
    """As :func:`output_payload`, of what is decoded already; ``raw`` is the text in which a structured reply stood."""
    if isinstance(value, str):
        return Payload(text=value)
    return _output_of(value, _json(value) if raw is None else raw, structured, 0)


def _output_of(value: Any, raw: Any, structured: bool, depth: int) -> Payload:
    if isinstance(value, list):
        if structured and raw is not None and _is_list_of_values(value):
            return Payload(text=raw if isinstance(raw, str) else _json(value))
        messages = read_messages(value, "assistant")
        return Payload(messages=messages or None)
    if not is_object(value) or depth > 4 or _waits(value):
        return Payload()
    for key in _MESSAGE_LISTS:
        if isinstance(value.get(key), list) and (messages := read_messages(value[key], "assistant")):
            answer, given_by = structured_in(value, messages)
            return Payload(messages=messages, text=answer, pseudo_tools=given_by)
    if isinstance(value.get("tool_calls"), list) and len(value) == 1:  # a model's request: LiteLLM's, for Arize
        return Payload(messages=read_messages([{"role": "assistant", **value}], "assistant") or None)
    content = value.get("content")
    if is_object(content) and "parts" in content:  # an ADK event
        return Payload(messages=read_messages(content, "assistant") or None)
    if ("role" in value and ("content" in value or "parts" in value)) or value.get("type") in (
        "constructor",
        "ai",
        "AIMessage",
    ):
        return Payload(messages=read_messages(dict(value), "assistant") or None)
    if is_object(said := value.get("message")) and "content" in said:  # LlamaIndex.TS
        return Payload(messages=read_messages(said, "assistant") or None)
    for key in REPLY_KEYS:
        inner = value.get(key)
        if isinstance(inner, str) and not is_placeholder(inner) and (inner or key == "text"):
            told = message_in(inner)
            return Payload(text=inner) if told is None else Payload(messages=read_messages([told], "assistant") or None)
        if is_object(inner) and (found := _output_of(inner, None, False, depth + 1)) != Payload():
            return found
    if (hidden := _hidden_in(value, REPLY_KEYS)) is not None:
        return Payload(text=hidden)
    if not structured or raw is None or not value:
        return Payload()
    return Payload(text=raw if isinstance(raw, str) else _json(value))


def _waits(value: Mapping[str, Any]) -> bool:
    """Whether a run of Mastra's waits for a user's leave to call a tool; the run that goes on from there is below it."""
    return value.get("status") == "suspended" and "toolCallId" in value


def _is_list_of_values(value: list[Any]) -> bool:
    """Whether it holds several texts or numbers, none of them a message: what an agent gives back that was asked for
    a list."""
    return len(value) > 1 and not any(isinstance(item, (dict, list)) or _is_message(item) for item in value)


def _is_message(item: Any) -> bool:
    return isinstance(item, str) and (message_in(item) is not None or item.lower() in ROLES)


def _hidden_in(value: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    """The placeholder under the first of the keys that has one: what was said stood there."""
    return next((found for key in keys if is_placeholder(found := value.get(key))), None)


def _json(value: Any) -> str:
    return dumps(plain(value)).decode()
