"""Reading the Python reprs of objects, ``TaskOutput(description='…', messages=[{…}])``, that some instrumentations write.

Only what stands at the top level of an object is told apart; a text inside it that looks like a field is a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from otel_eval.conventions.reading.literals import MAX_REPR_CHARS, literal

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\[({]|[\])}]|,|['"]""", re.S)
_FIELD = re.compile(r"\s*([A-Za-z_]\w*)=")


class CutRepr(ValueError):
    """The repr ends before its brackets do: cut off by a length limit."""


def objects_in(text: str, class_name: str) -> list[dict[str, str]]:
    """The fields of each ``class_name(…)`` in a repr that is one such object or a list of them, as reprs themselves.

    Empty for a text that is neither, or is longer than MAX_REPR_CHARS. Raises CutRepr.
    """
    start = re.match(rf"\s*\[?\s*{re.escape(class_name)}\(", text)
    if start is None or len(text) > MAX_REPR_CHARS:
        return []
    found = []
    whole = text.lstrip()
    items = _items(whole[1:]) if whole[:1] == "[" else iter([whole])
    for item in items:
        inner = item.strip()
        if inner.startswith(class_name + "("):
            fields = (_FIELD.match(field) for field in _items(inner[len(class_name) + 1 :]))
            parts = [(match[1], match.string[match.end() :].strip()) for match in fields if match is not None]
            found.append(dict(parts))
    return found


def value_in(text: str) -> Any:
    """The value that a repr is of, if it is made of texts, numbers and containers; else None."""
    try:
        return literal(text)
    except ValueError:
        return None


def items_in(text: str) -> list[str]:
    """The reprs of a list's items. Empty for a text that is no list, or is longer than MAX_REPR_CHARS. Raises CutRepr."""
    whole = text.strip()
    if whole[:1] != "[" or len(whole) > MAX_REPR_CHARS:
        return []
    return [item.strip() for item in _items(whole[1:]) if item.strip()]


def _items(text: str) -> Iterator[str]:
    """What commas part at the top level, up to the bracket that closes it."""
    depth, start = 0, 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in ("'", '"'):
            break  # a text that does not end
        if sign in ("[", "(", "{"):
            depth += 1
        elif sign in ("]", ")", "}"):
            depth -= 1
            if depth < 0:
                yield text[start : token.start()]
                return
        elif sign == "," and depth == 0:
            yield text[start : token.start()]
            start = token.end()
    raise CutRepr(text[:80])
