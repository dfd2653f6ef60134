"""Parts of messages, in the shapes of OTel GenAI, OpenAI, Anthropic, Gemini, Bedrock, Vercel, Genkit and LangChain."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from otel_eval.conventions.reading.media import attachment_of, with_transcript
from otel_eval.conventions.reading.own_tools import details_of
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.conventions.reading.values import containers, decode_leniently, first_of, is_object, looks_cut, plain
from otel_eval.interaction import (
    JsonValue,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from otel_eval.json_text import dumps

_BLOCKS_START = re.compile(r'\[\s*\{\s*"(?:type|text|content|toolUse|toolResult|reasoningContent)"')


def read_parts(content: Any) -> tuple[Part, ...]:
    """The parts of a message's content: a text, one part, or a list of them. Unknown ones are left out.

    A placeholder stays where it is all that there is: somebody spoke there, whatever was said.
    """
    if isinstance(content, str):
        if _BLOCKS_START.match(content) is not None and looks_cut(content):
            return ()
        blocks = containers(content) if content[:2] in ("[{", '{"') and _is_blocks(content) else content
        return (TextPart(text=content),) if isinstance(blocks, str) else read_parts(blocks)
    if is_object(content):
        content = [content]
    if not isinstance(content, list):
        return () if content is None else (TextPart(text=str(content)),)
    parts = [part for item in content for part in with_transcript(read_part(item), item)]
    if len(parts) > 1 and any(map(is_hidden, parts)):
        parts = [part for part in parts if not is_hidden(part)] or parts[:1]
    return tuple(parts)


def is_hidden(part: Part) -> bool:
    """Whether it is a text of which only a placeholder is left."""
    return isinstance(part, TextPart) and is_placeholder(part.text)


def _is_blocks(content: str) -> bool:
    """Whether a text is a serialised list of content blocks (multimodal content in a string), and not just any JSON."""
    blocks = containers(content)
    return (
        isinstance(blocks, list)
        and bool(blocks)
        and all(
            is_object(item)
            and (
                str(item.get("type")) in _BY_TYPE
                or (len(item) == 1 and next(iter(item)) in ("text", "toolUse", "toolResult"))
            )
            for item in blocks
        )
    )


def read_part(item: Any) -> Part | None:
    """One part, or None for one that nobody knows."""
    if isinstance(item, str):
        return TextPart(text=item)
    if not is_object(item):
        return None
    if is_object(inner := item.get("message_content")):  # OpenInference
        item = inner
    kind = item.get("type")
    if kind is None:
        kind = item.get("content_type", item.get("kind"))
    if kind is not None:
        name = str(kind)
        reader = _BY_TYPE.get(name) or _reader_of(name)
        if reader is not None:
            return reader(item)
    for key, by_key in _BY_KEY.items():
        if item.get(key) is not None:
            return by_key(item)
    return None


@lru_cache(maxsize=256)
def _reader_of(kind: str) -> Callable[[Mapping[str, Any]], Part | None] | None:
    """The reader of a kind that is spelled in another way: ``tool-call``, ``toolCallResponse``; of a provider's own tools."""
    name = _HUMP.sub("_", kind).replace("-", "_").lower()
    return _BY_TYPE.get(name) or (tool_result_of if name.endswith("_tool_result") else None)


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_CALL_WRAPPINGS = frozenset({"toolUse", "functionCall", "function_call", "toolRequest", "function", "server_tool_call"})
_CALL_NAMES = ("name", "toolName", "tool_name", "tool", "function_name")
_CALL_ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_arguments")
_CALL_IDS = ("call_id", "id", "toolCallId", "toolUseId", "tool_call_id", "ref", "callId")
_RESULT_WRAPPINGS = frozenset(
    {"toolResult", "functionResponse", "function_response", "toolResponse", "server_tool_call_response"}
)
_RESULTS = ("response", "result", "output", "content", "value", "text")
_RESULT_IDS = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id", "ref", "callId")
_RESULT_NAMES = ("name", "toolName", "tool_name", "function_name")
_FAILS = frozenset({"is_error", "isError", "status", "outcome"})


def _inside(item: Mapping[str, Any], wrappings: frozenset[str]) -> Mapping[str, Any]:
    """The item with what stands in a wrapping beside what stands around it. The sets are there because most have none."""
    if wrappings.isdisjoint(item):
        return item
    nested = next((item[key] for key in item if key in wrappings and is_object(item[key])), None)
    return item if nested is None else {**item, **nested}


def tool_call_of(item: Mapping[str, Any]) -> ToolCallPart | None:
    """A request to call a tool in any of the shapes; None without a name."""
    if is_object(inner := item.get("tool_call")):  # OpenInference
        item = inner
    item = _inside(item, _CALL_WRAPPINGS)
    name = first_of(item, _CALL_NAMES)
    if not isinstance(name, str) or not name:
        return None
    arguments = first_of(item, _CALL_ARGUMENTS)
    if arguments is None:
        arguments = details_of(item.get("server_tool_call"))
    call_id = first_of(item, _CALL_IDS)
    return ToolCallPart(name=name.strip("'\""), arguments=_arguments(arguments), call_id=_id(call_id))


_DENIED = "execution-denied"
"""Vercel's, of a call that a user did not approve; the model is shown the reason, or that sentence."""


def tool_result_of(item: Mapping[str, Any]) -> ToolResultPart:
    """What a tool gave back, in any of the shapes."""
    item = _inside(item, _RESULT_WRAPPINGS)
    content = first_of(item, _RESULTS)
    if content is None:
        content = details_of(item.get("server_tool_call_response"))
    failed = not _FAILS.isdisjoint(item) and (
        item.get("is_error") is True
        or item.get("isError") is True
        or item.get("status") == "error"
        or item.get("outcome") == "failed"
    )
    failed = failed or item.get("type") in ("tool-error", "tool_error")
    if is_object(content) and content.get("type") in ("error-text", "error-json", _DENIED):  # Vercel
        failed = True
    if content is None and item.get("error") is not None:
        content, failed = item["error"], True
    call_id = first_of(item, _RESULT_IDS)
    name = first_of(item, _RESULT_NAMES)
    return ToolResultPart(
        call_id=_id(call_id),
        name=name if isinstance(name, str) and name else None,
        result=result_value(content),
        failed=failed,
    )


def result_value(content: Any) -> JsonValue:
    """A tool's result: text blocks joined, JSON decoded, a placeholder left as it is for the caller to see."""
    content = _unquoted(containers(content))
    if (
        is_object(content)
        and content.get("type") in ("text", "json", "error-text", "error-json")
        and "value" in content
    ):
        content = containers(content["value"])  # Vercel
    elif is_object(content) and content.get("type") == _DENIED:
        content = content.get("reason") or "Tool execution denied."
    if is_object(content) and isinstance(content.get("content"), list) and _MCP.issuperset(content):
        content = content if content.get("isError") is True else content["content"]
    if isinstance(content, list) and content and all(_text_of_block(item) is not None for item in content):
        content = containers("\n".join(str(_text_of_block(item)) for item in content))
    elif isinstance(content, list) and len(content) == 1 and is_object(content[0]) and set(content[0]) == {"json"}:
        content = content[0]["json"]  # Bedrock
    return plain(content)


def _unquoted(content: Any) -> Any:
    """A text that a program wrote as JSON, as it writes whatever its tools give."""
    if not isinstance(content, str) or content[:1] != '"' or content[-1:] != '"':
        return content
    decoded = decode_leniently(content)
    return decoded if isinstance(decoded, str) else content


_MCP = frozenset({"content", "isError", "structuredContent", "_meta"})
"""The result of a call as the Model Context Protocol has it (``CallToolResult``): a model is shown its content."""


def _text_of_block(item: Any) -> str | None:
    if not is_object(item):
        return None
    kind = item.get("type", item.get("block_type"))  # LlamaIndex
    if kind not in (None, "text", "output_text", "input_text"):
        return None
    if kind is None and set(item) - {"text"}:
        return None
    found = item.get("text", item.get("content"))
    return found if isinstance(found, str) else None


def _arguments(value: Any) -> JsonValue:
    return None if is_placeholder(value) else plain(containers(value))


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _text(item: Mapping[str, Any]) -> Part | None:
    found = first_of(item, ("text", "content", "value"))
    if is_object(found):
        found = first_of(found, ("value", "text"))
    if not isinstance(found, str):
        return None
    return ReasoningPart(text=found) if item.get("thought") is True else TextPart(text=found)


def _data(item: Mapping[str, Any]) -> Part | None:
    """Genkit's structured answer; all else that is called data is some medium's."""
    found = item["data"]
    if not isinstance(found, dict | list) or set(item) - {"data", "metadata"}:
        return None
    return TextPart(text=dumps(plain(found)).decode())


def _reasoning(item: Mapping[str, Any]) -> Part | None:
    found = first_of(item, ("thinking", "reasoning", "content", "text", "summary", "reasoningContent"))
    if is_object(found):
        found = first_of(found, ("text", "reasoningText"))
        found = found.get("text") if is_object(found) else found
    if isinstance(found, list):
        found = "\n".join(text.get("text", "") for text in found if is_object(text))
    return ReasoningPart(text=found) if isinstance(found, str) and found else None


_BY_TYPE: dict[str, Callable[[Mapping[str, Any]], Part | None]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "refusal", "plain_text"), _text),
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "thought", "compaction"), _reasoning),
    **dict.fromkeys(
        (
            "tool_call",
            "tool_use",
            "function_call",
            "server_tool_call",
            "server_tool_use",
            "mcp_tool_use",
            "tool_invocation",
            "function",  # OpenAI's calls for content (Langtrace)
            "toolUse",  # Strands for TypeScript
        ),
        tool_call_of,
    ),
    **dict.fromkeys(
        (
            "tool_call_response",
            "tool_result",
            "tool_error",
            "function_call_output",
            "tool_output",  # Mirascope
            "toolResult",  # Strands for TypeScript
            "function_result",
            "function_response",
            "server_tool_call_response",
            "tool_response",
        ),
        tool_result_of,
    ),
    **dict.fromkeys(
        (
            "blob",
            "uri",
            "file",
            "image",
            "image_url",
            "input_image",
            "input_file",
            "input_audio",
            "output_audio",
            "audio",
            "video",
            "document",
            "media",
        ),
        attachment_of,
    ),
}
_BY_TYPE["refusal"] = lambda item: _text({"text": item.get("refusal", item.get("text"))})

_BY_KEY: dict[str, Callable[[Mapping[str, Any]], Part | None]] = {
    **dict.fromkeys(("toolUse", "functionCall", "function_call", "toolRequest"), tool_call_of),
    **dict.fromkeys(("toolResult", "functionResponse", "function_response", "toolResponse"), tool_result_of),
    **dict.fromkeys(
        ("inline_data", "inlineData", "file_data", "fileData", "media", "image", "document"), attachment_of
    ),
    "reasoningContent": _reasoning,
    "reasoning": _reasoning,
    "text": _text,
    "content": _text,
    "data": _data,
}
