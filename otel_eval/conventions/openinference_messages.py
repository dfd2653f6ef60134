"""Messages as OpenInference has them: flattened into attributes, or left as the list that its specification shows.

Source: OpenInference's specification (``semantic_conventions.md``, ``llm_spans.md``, ``tool_calling.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions import openinference_langchain4j
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import decode_leniently, is_object, text, unflatten
from otel_eval.interaction import Message


def messages_in(content: Content, direction: str) -> tuple[Message, ...] | None:
    """The messages that went in, or came out (``input``, ``output``); None where there are none."""
    prefix = f"llm.{direction}_messages"
    items = unflatten(content.attributes, f"{prefix}.") or _unflattened(content.attributes.get(prefix))
    flat = [_flat_message(item) for item in items if is_object(item)]
    for item in flat:
        content.hidden(direction, item.get("content"))
    if flat:
        content.flattened(direction)
        found = read_messages(flat, "user" if direction == "input" else "assistant")
        return (
            openinference_langchain4j.messages(found)
            if content.attributes.get("llm.system") == "langchain4j"
            else found
        )
    prompts = unflatten(content.attributes, "llm.prompts." if direction == "input" else "llm.choices.")
    texts = [_completion_text(item) for item in prompts if is_object(item)]
    role = "user" if direction == "input" else "assistant"
    return read_messages([{"role": role, "content": said} for said in texts if said], role) if texts else None


_DOTTED = ("message.", "message_content.", "tool_call.")


def _unflattened(raw: object) -> list[Any]:
    """The messages where somebody left the list as it is shown in the specification: objects with dotted names."""
    listed = decode_leniently(raw)
    return [_nested(item) for item in listed] if isinstance(listed, list) else []


def _nested(value: Any) -> Any:
    if isinstance(value, list):
        return [_nested(item) for item in value]
    if not is_object(value):
        return value
    whole: dict[str, Any] = {}
    for key, item in value.items():
        node, (*path, leaf) = whole, key.split(".") if key.startswith(_DOTTED) else [key]
        for segment in path:
            below = node.get(segment)
            node[segment] = node = below if isinstance(below, dict) else {}
        node[leaf] = _nested(item)
    return whole


def _flat_message(item: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = item.get("message", item)
    return inner if is_object(inner) else {}


def _completion_text(item: Mapping[str, Any]) -> str | None:
    for key in ("prompt", "completion"):
        inner = item.get(key)
        if is_object(inner):
            return text(inner.get("text"))
    return None
