"""When two values say the same, whatever they are wrapped and encoded in."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import Any

_WRAPPERS = {"result", "output", "content", "text", "value", "data", "response", "return_value", "message", "json"}
_BESIDE = {
    *("type", "annotations", "status", "_meta", "name", "id", "tool_call_id", "toolUseId", "role"),
    *("is_error", "isError"),
}
"""Keys that stand beside the one that holds the value."""
_WORDS = ("true", "false", "null", "True", "False", "None")
_LAYERS = 6


def same(expected: Any, got: Any) -> bool:
    """Whether both are the same value once encodings and the usual one-key envelopes are taken off."""
    mine, theirs = canonical(expected), canonical(got)
    if mine == theirs:
        return True
    simple = (str, int, float)
    return isinstance(mine, simple) and isinstance(theirs, simple) and str(mine).strip() == str(theirs).strip()


def canonical(value: Any) -> Any:
    """The value with its encodings and envelopes taken off, inside and outside."""
    for _ in range(_LAYERS):
        if isinstance(value, str):
            value = value.strip()
        inner = _decoded(value) if isinstance(value, str) else _unwrapped(value)
        if inner is value:
            break
        value = inner
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    return value


def _decoded(text: str) -> Any:
    if text[:1] in ("{", "[", '"', "'", "(") or text in _WORDS:
        for parsed in _parses(text):
            if parsed != text:
                return parsed
    return text


def _parses(text: str) -> Iterator[Any]:
    for parse in (json.loads, ast.literal_eval):
        try:
            yield parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue


def _unwrapped(value: Any) -> Any:
    if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], dict | str):
        return value[0]
    if isinstance(value, dict):
        keys = set(value) - _BESIDE
        if len(keys) == 1 and keys <= _WRAPPERS:
            return value[keys.pop()]
    return value
