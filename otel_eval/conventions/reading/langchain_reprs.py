"""LangChain's messages as ``str()`` gives them: ``content='Done.' additional_kwargs={} name='x' tool_call_id='c1'``.

Instrumentations that serialise what a chain gave with ``default=str`` write them so (OpenInference until 0.1.29, OpenLIT).
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from otel_eval.conventions.reading.reprs import value_in

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\[({]|[\])}]|\s|['"]""", re.S)
_FIELD = re.compile(r"([a-z_]\w*)=(.+)", re.S)
_STARTS = ("content='", 'content="', "content=[")
_RUN_IDS = ("run-", "lc_run-")


def message_in(said: str) -> dict[str, Any] | None:
    """The message that the text is of, in the shape of :mod:`otel_eval.conventions.reading.messages`; None for any
    other text.

    A model's has an id of its run, or tells of it; a person's and a system's look alike, and are taken for a person's. Where
    there is but the content, the role is left to the reader.
    """
    if not said.startswith(_STARTS):
        return None
    fields: dict[str, Any] = {}
    for part in _parts(said):
        field = _FIELD.fullmatch(part)
        if field is None:
            return None
        fields[field[1]] = value_in(field[2])
    if not isinstance(fields.get("content"), (str, list)):
        return None
    if "tool_call_id" in fields:
        return {**fields, "role": "tool"}
    made = fields.get("tool_calls") or fields.get("usage_metadata") or fields.get("response_metadata")
    if made or str(fields.get("id")).startswith(_RUN_IDS):
        return {**fields, "role": "assistant"}
    return {**fields, "role": "user"} if "id" in fields or "response_metadata" in fields else fields


def _parts(said: str) -> list[str]:
    """What blanks part outside of texts and brackets. Of a text that is cut, what came whole before."""
    found: list[str] = []
    depth, start = 0, 0
    for token in _TOKEN.finditer(said):
        sign = token[0]
        if sign in ("'", '"'):
            return found or [said]
        if sign in ("[", "(", "{"):
            depth += 1
        elif sign in ("]", ")", "}"):
            depth -= 1
        elif sign.isspace() and depth == 0:
            found.append(said[start : token.start()])
            start = token.end()
    return [*found, said[start:]]


_CUT_MESSAGE = re.compile(
    r'(?:\{"output": ?)?\{(?:"type": ?"tool", ?"data"'
    r'|"lc": ?1, ?"type": ?"constructor", ?"id": ?\[[^\]]*"ToolMessage"\], ?"kwargs"): ?\{"content": ?'
    r'"(?P<content>(?:[^"\\]|\\.)*)(?P<end>"?)'
)
"""OpenInference's, and OpenLLMetry's."""
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


def cut_message_in(value: str) -> dict[str, Any] | None:
    """LangChain's tool message whose end a length limit cut: its content comes first, and may be whole."""
    found = _CUT_MESSAGE.match(value)
    if found is None:
        return None
    try:
        content = orjson.loads('"' + _HALF_ESCAPE.sub("", found["content"]) + '"')
    except ValueError:  # half of a pair of escapes
        return None
    status = "error" if '"status": "error"' in value[found.end() :] else None
    return {"content": content, "tool_call_id": None, "status": status}


def is_content_whole(value: str) -> bool:
    """Whether of a LangChain tool message that a length limit cut the content is there to its end."""
    found = _CUT_MESSAGE.match(value)
    return found is not None and bool(found["end"])
