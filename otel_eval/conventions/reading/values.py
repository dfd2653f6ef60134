"""Reading attribute values: JSON in strings, double encodings, Python reprs, flattened lists.

Only containers that are known to hold JSON are decoded; a user may type ``{"a": 1}`` or ``42``, and that is a text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

import orjson

from otel_eval.conventions.reading.literals import literal
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.interaction import JsonValue

MAX_DEPTH = 100
"""JSON that is nested deeper than orjson writes (254 levels; it reads 1,024), or deeper than this where orjson does not
write it at all, is left as text: whoever walks it, or writes it within something else, would run out of stack."""

_JSON_START = re.compile(r"\s*(?:[\[{\"]|-?\d|true\b|false\b|null\b|NaN\b)")

_CONTAINER_START = re.compile(r"""\s*(?:\{|\[\s*[\[{]?)\s*(["'\[{])""")
_JSON_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_STRING = re.compile(r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*\"""", re.S)


def text(value: object) -> str | None:
    """The value if it is a text that says something: neither empty nor a placeholder."""
    return value if isinstance(value, str) and value and not is_placeholder(value) else None


def first_text(attributes: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """The first of the attributes that is a text and says something."""
    for key in keys:
        raw = attributes.get(key)  # most are not there
        if raw is not None and (found := text(raw)) is not None:
            return found
    return None


def first_of(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """What stands under the first of the keys that is there and not null."""
    for key in keys:
        found = item.get(key)
        if found is not None:
            return found
    return None


def number(value: object) -> int | None:
    """A count; numbers in texts are read, NaN and negative ones are None."""
    if type(value) is int:
        return value if value >= 0 else None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        as_float = float(value)
    except ValueError:
        return None
    return int(as_float) if math.isfinite(as_float) and as_float >= 0 else None


def first_number(attributes: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    """The first of the attributes that is a count."""
    for key in keys:
        raw = attributes.get(key)
        if raw is not None and (found := number(raw)) is not None:
            return found
    return None


class Undecodable(ValueError):
    """A text that looks like the beginning of JSON but is none: cut off by a length limit, most often."""


def decode(value: Any, *, twice: bool = True) -> Any:
    """What a container that holds JSON says. Structured values are taken as they are; a text that is no JSON is a text.

    A JSON string that holds a JSON object or array again is decoded once more. Bytes that are no text say nothing: None.
    Raises Undecodable for JSON that is cut.
    """
    if isinstance(value, (bytes, memoryview)):
        value = _text_in(bytes(value))
    if not isinstance(value, str):
        return value
    if _JSON_START.match(value) is None:
        return value
    try:
        decoded = orjson.loads(value)
        if len(value) >= _BIG and _TWO_DIGITS.search(value[::9]) and _BEYOND_64_BITS.search(value):
            decoded = _exactly(value, decoded)
    except orjson.JSONDecodeError:
        decoded = _repr(value)
        if decoded is None:
            if value.lstrip()[:1] in "[{" and looks_cut(value):
                raise Undecodable(value[:200]) from None
            return value
    if _too_deep(decoded, value):
        return value
    if twice and isinstance(decoded, str) and decoded.lstrip()[:1] in ("{", "["):
        return decode(decoded, twice=False)
    return decoded


_BIG = 20
_TWO_DIGITS = re.compile(r"[-0-9][0-9]")
"""In every ninth character of a run of twenty digits, or a minus sign and nineteen: looked for first, it costs a sixth."""
_BEYOND_64_BITS = re.compile(r"-[0-9]{19}|[0-9]{20}")


def _exactly(value: str, decoded: Any) -> Any:
    """The JSON with its integers as they stand: orjson makes floats of those that do not fit 64 bits."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # thousands of digits, or too deep for Python's own reader
        return decoded


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _text_in(value: bytes) -> str | None:
    """The text; None where the bytes are not UTF-8, or hold control characters that no text has."""
    try:
        found = value.decode()
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(found) else found


def decode_leniently(value: Any) -> Any:
    """As :func:`decode`, the text as it stands where it cannot be decoded."""
    try:
        return decode(value)
    except Undecodable:
        return value


def containers(value: Any) -> Any:
    """As :func:`decode_leniently`, but only objects and arrays; ``42`` or ``"x"`` stay the text that they are."""
    if not isinstance(value, _ENCODED):
        return value
    decoded = decode_leniently(value)
    return decoded if isinstance(decoded, (dict, list)) else value


_ENCODED = (str, bytes, memoryview)


def _repr(value: str) -> Any:
    """A Python repr of plain containers, or JSON with NaN or bare control characters; None where it is neither."""
    if value.lstrip()[:1] not in ("{", "[", "("):
        return None
    try:
        return _unicode(json.loads(value, strict=False), value)
    except (ValueError, RecursionError):
        pass
    try:
        parsed = literal(value)
    except ValueError:
        return None
    parsed = list(parsed) if isinstance(parsed, tuple) else parsed
    return _unicode(parsed, value) if isinstance(parsed, (dict, list)) else None


def _too_deep(decoded: Any, encoded: str) -> bool:
    """Whether it nests deeper than MAX_DEPTH. Few texts have so many brackets that it has to be looked at.

    orjson walks it ten times faster than we do, and raises past a depth of its own.
    """
    if len(encoded) <= MAX_DEPTH or encoded.count("[") + encoded.count("{") + encoded.count("(") <= MAX_DEPTH:
        return False
    try:
        orjson.dumps(decoded)
    except TypeError:  # too deep, or it holds what orjson does not write
        return _depth(decoded) > MAX_DEPTH
    return False


def _depth(value: Any) -> int:
    """How many containers stand in one another."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, (dict, list, tuple))]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _unicode(decoded: Any, encoded: str) -> Any:
    """The value with its lone surrogates replaced, as every Unicode decoder does.

    An escape may write half a pair, most often where a text was cut in the middle of an emoji. No database, no protobuf
    and no HTTP request takes such a text.
    """
    return _without_surrogates(decoded) if _SURROGATE_ESCAPE.search(encoded) else decoded


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(item) for item in value]
    return value


_OPEN_STRING = re.compile(r'"((?:[^"\\\r\n]|\\(?:[^u\r\n]|u[0-9a-fA-F]{4}))++)(?:\\(?:u[0-9a-fA-F]{0,3})?)?')


def beginning_of_string(value: str) -> str | None:
    """What a JSON string says whose end was cut off; None for one that ends, and for text that merely begins with a quote.

    Text closes its quotes, or has more than one line.
    """
    found = _OPEN_STRING.fullmatch(value) if value[:1] == '"' else None
    try:
        return None if found is None else str(_without_surrogates(json.loads(f'"{found[1]}"', strict=False)))
    except ValueError:
        return None


def looks_cut(value: str) -> bool:
    """Whether it begins as an object or array, in JSON or as a Python repr, and ends before the brackets do."""
    start = _CONTAINER_START.match(value)
    if start is None:
        return False
    # quotes of the other kind inside a string are text
    rest = (_STRING if start[1] == "'" else _JSON_STRING).sub("", value)
    opened = rest.count("{") + rest.count("[") - rest.count("}") - rest.count("]")
    return opened > 0 or '"' in rest


_PLAIN = frozenset({str, int, bool, type(None)})
"""Asked for before ``isinstance``: of nearly every value this is the exact type."""


def plain(value: Any, depth: int = 0) -> JsonValue:
    """The value with nothing but JSON's types in it."""
    if type(value) in _PLAIN or isinstance(value, (bool, int, str)):
        return value  # type: ignore[no-any-return]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth > 60:
        return None
    if isinstance(value, (dict, Mapping)):  # asking whether it is a dict takes a fifth
        return {str(key): item if type(item) in _PLAIN else plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [item if type(item) in _PLAIN else plain(item, depth + 1) for item in value]
    if isinstance(value, bytes):
        return _text_in(value)
    return str(value)


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether the value is a JSON object."""
    return isinstance(value, dict)


def unflatten(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """``prefix.0.role``, ``prefix.0.tool_calls.1.name``, … as nested lists and objects, sorted by number, holes closed.

    ``prefix`` ends with a dot. A segment of digits only makes a list. An empty list where no key starts with the prefix.
    """
    keys = [key for key in attributes if key.startswith(prefix)]
    if not keys:
        return []
    tree: dict[str, Any] = {}
    start = len(prefix)
    for key in keys:
        value = attributes[key]
        node = tree
        *path, leaf = key[start:].split(".")
        for segment in path:
            below = node.get(segment)
            if not isinstance(below, dict):
                below = {} if below is None else {"": below}
                node[segment] = below
            node = below
        existing = node.get(leaf)
        if isinstance(existing, dict):
            existing[""] = value
        else:
            node[leaf] = value
    listed = _listed(tree)
    return listed if isinstance(listed, list) else []


def unflatten_object(attributes: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """As :func:`unflatten` where the first segment is a name."""
    listed = unflatten(
        {f"_.0.{key[len(prefix) :]}": v for key, v in attributes.items() if key.startswith(prefix)}, "_."
    )
    return listed[0] if listed and isinstance(listed[0], dict) else {}


def _listed(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdigit() for key in node):
        return [_listed(node[key]) for key in sorted(node, key=int)]
    return {key: _listed(item) for key, item in node.items()}
