"""LlamaIndex's ``ChatMessage`` as JSON: ``{"role", "additional_kwargs", "blocks": [{"block_type": "text", "text"}, …]}``.

Source: llama-index-core 0.12 (``content`` until then) to 0.14. Tool calls are blocks, or OpenAI's in ``additional_kwargs``.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import containers, is_object
from otel_eval.interaction import Message


def read_llama_messages(value: Any, role: str = "user") -> tuple[Message, ...]:
    """The messages in a list of them, or the one that the value is; none where it is neither."""
    value = containers(value)
    items = value if isinstance(value, list) else [value]
    return read_messages([_plain(item) for item in items if is_object(item) and "role" in item], role)


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    extra = item.get("additional_kwargs")
    extra = extra if is_object(extra) else {}
    blocks = containers(item.get("blocks"))
    content = [_block(block) for block in blocks] if isinstance(blocks, list) else item.get("content")
    has_calls = isinstance(blocks, list) and any(is_object(b) and b.get("block_type") == "tool_call" for b in blocks)
    return {
        "role": item.get("role"),
        "content": content if content else item.get("content"),
        "tool_calls": None if has_calls else extra.get("tool_calls"),
        "tool_call_id": extra.get("tool_call_id"),
        "name": extra.get("name"),
    }


def _block(block: Any) -> Any:
    if not is_object(block) or "block_type" not in block:
        return block
    kind = block["block_type"]
    if kind == "tool_call":
        return {
            "type": "tool_call",
            "name": block.get("tool_name"),
            "arguments": block.get("tool_kwargs"),
            "id": block.get("tool_call_id"),
        }
    return {**block, "type": kind}
