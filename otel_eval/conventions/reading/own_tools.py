"""Tools that a model's provider runs itself (web search, code interpreters): called and answered within one answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.reading.values import containers, is_object, plain
from otel_eval.interaction import Part, ToolCallPart, ToolResultPart

_NO_DETAILS = frozenset({"type", "id", "name", "status"})


def details_of(held: Any) -> Any:
    """What a provider's own tool was given, or gave, in fields of its own: ``{"type": "code_interpreter", "code": …}``.

    Source: semantic-conventions-genai (``GenericServerToolCall``, ``GenericServerToolCallResponse``).
    """
    told = {key: value for key, value in held.items() if key not in _NO_DETAILS} if is_object(held) else {}
    return told or None


_GIVEN: dict[str, tuple[str, ...]] = {
    "web_search_call": ("action",),
    "file_search_call": ("queries",),
    "code_interpreter_call": ("code", "container_id"),
    "image_generation_call": (),
    "mcp_call": ("arguments",),
}
_GAVE = {"file_search_call": "results", "code_interpreter_call": "outputs", "mcp_call": "output"}


def own_tool_parts(item: Mapping[str, Any]) -> tuple[Part, ...]:
    """The call that an item of OpenAI's responses tells of, and what it gave; nothing for other items.

    Searches are known without their results, which a program has to ask for (``include``). Source: openai 2.8
    (``ResponseFunctionWebSearch``, ``ResponseFileSearchToolCall``, ``ResponseCodeInterpreterToolCall``, ``McpCall``).
    """
    kind, call_id = item.get("type"), item.get("id")
    if not isinstance(kind, str) or kind not in _GIVEN:
        return ()
    given = {key: item[key] for key in _GIVEN[kind] if item.get(key) is not None}
    arguments = containers(given["arguments"]) if "arguments" in given else given.get("action", given) or None
    error = item.get("error")
    gave = error if error is not None else item.get(_GAVE.get(kind, ""))
    name = item.get("name")
    call_id = call_id if isinstance(call_id, str) and call_id else None
    return (
        ToolCallPart(
            name=name if isinstance(name, str) and name else kind.removesuffix("_call"),
            arguments=plain(arguments),
            call_id=call_id,
        ),
        ToolResultPart(call_id=call_id, result=plain(containers(gave)), failed=error is not None),
    )
