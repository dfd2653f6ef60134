"""Inputs and outputs that are whatever a function took and returned: a text, messages, a result object, an envelope."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from otel_eval.conventions.reading.langchain_reprs import cut_message_in, message_in
from otel_eval.conventions.reading.messages import ROLES, read_message, read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.reprs import value_in
from otel_eval.conventions.reading.structured import structured_in
from otel_eval.conventions.reading.trouble import error_in_result
from otel_eval.conventions.reading.values import (
    containers,
    decode_leniently,
    is_object,
    is_placeholder,
    looks_cut,
    plain,
    says_nothing,
)
from otel_eval.interaction import JsonValue, Message
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


_CALLING = re.compile(r"\barguments=(\{.*\})$", re.S)


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


def tool_arguments(raw: Any) -> JsonValue:
    """The arguments of a tool out of what its span holds: an object, the envelope of a call, or a bare value."""
    value = containers(raw)
    if is_object(value):
        if set(value) <= {"args", "kwargs"}:
            return _called_with(value)
        if isinstance(value.get("calling"), str) and "tool_string" in value:
            called = _CALLING.search(value["calling"])  # CrewAI, under OpenInference until 0.1.11
            return plain(None if called is None else value_in(called[1]))
        if "input_str" in value and set(value) <= {"input_str", "tags", "metadata", "inputs", "kwargs"}:
            inner = value.get("inputs")
            return plain(inner) if is_object(inner) and inner else plain(containers(value["input_str"]))
    return plain(value)


def _called_with(value: Mapping[str, Any]) -> JsonValue:
    kwargs, args = value.get("kwargs") or {}, value.get("args") or []
    if kwargs:
        return plain(kwargs)
    if isinstance(args, list) and len(args) == 1:
        return plain(containers(args[0]))
    return plain(args) if args else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What a tool gave back, out of its envelope. ``error`` where the envelope says that the call failed."""

    result: JsonValue = None
    error: str | None = None
    call_id: str | None = None
    name: str | None = None


def tool_outcome(raw: Any) -> ToolOutcome:
    """A tool's result out of LangChain's tool messages, ADK's and LlamaIndex's result objects, or as it stands."""
    value = containers(raw)
    if isinstance(value, str):
        value = message_in(value) or cut_message_in(value) or value
    for _ in range(4):
        if not is_object(value):
            break
        if is_object(value.get("output")) and set(value) <= {"output", "kwargs"}:
            value = value["output"]
        elif isinstance(value.get("output"), str) and set(value) <= {"output", "kwargs"}:
            value = message_in(value["output"]) or containers(value["output"])
        elif value.get("type") == "constructor" or (value.get("lc") is not None and is_object(value.get("kwargs"))):
            value = value.get("kwargs") or {}
        elif value.get("type") == "tool" and is_object(value.get("data")):
            value = value["data"]
        elif (told := _in_command(value)) is not None:
            value = told
        elif "response" in value and set(value) <= {"id", "name", "response", "will_continue", "scheduling", "parts"}:
            return ToolOutcome(
                result=plain(value["response"]), call_id=_str(value.get("id")), name=_str(value.get("name"))
            )
        elif "raw_output" in value and "is_error" in value:  # LlamaIndex's ToolOutput
            return _outcome(value, value.get("raw_output") if not value["is_error"] else _blocks(value))
        elif "tool_call_id" in value and "content" in value:  # LangChain's ToolMessage
            return _outcome(value, value["content"], failed=value.get("status") == "error")
        else:
            break
    result = result_value(value)
    return ToolOutcome(result=result, error=error_in_result(result))


def is_tool_message(value: Any) -> bool:
    """Whether it is the message that a tool's result became, in the words of LangChain's ``str()``."""
    return isinstance(value, str) and value.startswith("content=") and " tool_call_id=" in value


def is_command(value: Any) -> bool:
    """Whether it is LangGraph's ``Command``, by which a tool changes the graph's state beside giving a result."""
    return is_object(value) and "update" in value and set(value) <= {"lg_name", "graph", "update", "resume", "goto"}


def _in_command(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The tool's message among those that a command adds to the state."""
    update = value.get("update") if is_command(value) else None
    messages = update.get("messages") if is_object(update) else None
    found = [
        item for item in (messages if isinstance(messages, list) else ()) if is_object(item) and _tells_a_result(item)
    ]
    return found[-1] if found else None


def _tells_a_result(message: Mapping[str, Any]) -> bool:
    path = message.get("id")
    serialised = isinstance(path, list) and path[-1:] == ["ToolMessage"]
    return serialised or message.get("type") == "tool" or "tool_call_id" in message


def _blocks(value: Mapping[str, Any]) -> Any:
    return value.get("blocks") or value.get("content") or value.get("raw_output")


def _outcome(value: Mapping[str, Any], content: Any, failed: bool = False) -> ToolOutcome:
    result = result_value(content)
    failed = failed or value.get("is_error") is True
    name = _str(value.get("name")) or _str(value.get("tool_name"))
    error = (result if isinstance(result, str) else _json(result)) if failed else error_in_result(result)
    return ToolOutcome(result=result, error=error, call_id=_str(value.get("tool_call_id")), name=name)


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
