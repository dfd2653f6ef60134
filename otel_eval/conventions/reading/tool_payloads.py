"""What a tool was given and gave back, out of the envelopes that frameworks put around it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.conventions.reading.failures import error_in_result
from otel_eval.conventions.reading.langchain_reprs import cut_message_in, message_in
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.reprs import value_in
from otel_eval.conventions.reading.values import containers, is_object, plain
from otel_eval.interaction import JsonValue
from otel_eval.json_text import dumps

_CALLING = re.compile(r"\barguments=(\{.*\})$", re.S)


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
    error = (
        (result if isinstance(result, str) else dumps(plain(result)).decode()) if failed else error_in_result(result)
    )
    return ToolOutcome(result=result, error=error, call_id=_str(value.get("tool_call_id")), name=name)


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
