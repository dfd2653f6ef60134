"""From pydantic's errors to what a person can act on: the key, its line, what was found, what is allowed."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import SecretStr, ValidationError

from otel_eval.config.bindings import Binding, EvaluatorEntry
from otel_eval.config.document import Document
from otel_eval.config.errors import Mistake, Path
from otel_eval.config.values import Section

_MAPPING = "a mapping of keys to values"
_ALLOWED = {
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dict_type": _MAPPING,
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "text",
}
_LONGEST = 60


def translate(error: ValidationError, document: Document, root: type[Section]) -> list[Mistake]:
    """One mistake for each of pydantic's errors. ``document`` holds the values as they were written."""
    found = error.errors(include_url=False, include_input=False)
    return [_mistake(item, document, root) for item in found]


def _mistake(item: Any, document: Document, root: type[Section]) -> Mistake:
    path: Path = item["loc"]
    if path[-1:] == ("[key]",) and not has(document.value, path):  # pydantic's way to say that the key itself is wrong
        return document.mistake(
            path[:-1], f"found that key; allowed: {item.get('ctx', {}).get('allowed', item['msg'])}"
        )
    return document.mistake(path, _message(item, document, root))


def close(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` where one of the known names is close, else nothing."""
    matches = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def listed(names: Iterable[str]) -> str:
    """The names, for a message: ``a, b, c``, or ``none``."""
    return ", ".join(names) or "none"


def _message(item: Any, document: Document, root: type[Section]) -> str:
    path, kind = item["loc"], item["type"]
    if kind == "extra_forbidden":
        return _unknown_key(path, root)
    if kind == "missing":
        return "is required"
    if kind == "literal_error":
        expected = item["ctx"]["expected"].replace(" or ", ", ").replace("'", "")
        value = look_up(document.value, path)
        hint = close(value, expected.split(", ")) if isinstance(value, str) else ""
        return f"{_found(path, document, root)}allowed: {expected}{hint}"
    if kind == "allowed":
        return f"{_found(path, document, root)}allowed: {item['ctx']['allowed']}"
    return f"{_found(path, document, root)}allowed: {_ALLOWED.get(kind, item['msg'])}"


def _unknown_key(path: Path, root: type[Section]) -> str:
    key, section = str(path[-1]), _section(path[:-1], root)
    if section is None:
        return "unknown key"
    if section is EvaluatorEntry and key in Binding.model_fields:
        return "unknown key here: it belongs to an entry of agents or agent_roles"
    known = [field.alias or name for name, field in section.model_fields.items()]
    return f"unknown key{close(key, known) or ';'} allowed: {listed(known)}"


def _found(path: Path, document: Document, root: type[Section]) -> str:
    """``found <value as written>; ``. What an environment variable held is never shown, nor what a secret key holds."""
    if not has(document.value, path):
        return ""
    value = look_up(document.value, path)
    if SecretStr in _leaves(_annotation(path, root)):
        return f"found {_kind(value)}; "
    return f"found {shown(value)}; "


def shown(value: Any) -> str:
    """A value for a message, cut to a readable length."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…")
    return _kind(value) if isinstance(value, dict | list) else str(value)


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "nothing")


def has(tree: Any, path: Path) -> bool:
    """Whether the tree has that path."""
    for part in path:
        in_list = isinstance(tree, list) and isinstance(part, int) and part < len(tree)
        if not in_list and not (isinstance(tree, dict) and part in tree):
            return False
        tree = tree[part]
    return True


def look_up(tree: Any, path: Path) -> Any:
    """The value at that path, or None where the tree does not reach so far."""
    if not has(tree, path):
        return None
    for part in path:
        tree = tree[part]
    return tree


def _section(path: Path, root: type[Section]) -> type[Section] | None:
    return next((leaf for leaf in _leaves(_annotation(path, root)) if _is_section(leaf)), None)


def _annotation(path: Path, root: Any) -> Any:
    """The annotation of the field at that path, through sections, mappings and lists."""
    current: Any = root
    for part in path:
        current = _step(current, part)
    return current


def _step(annotation: Any, part: str | int) -> Any:
    if _is_section(annotation):
        for name, field in annotation.model_fields.items():
            if part in (name, field.alias):
                return field.annotation
        return None
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _step(arguments[0], part)
    if origin in (Union, types.UnionType):
        return next((found for each in arguments if (found := _step(each, part)) is not None), None)
    if origin is dict:
        return arguments[1]
    return arguments[0] if origin in (tuple, list) else None


def _leaves(annotation: Any) -> list[Any]:
    """The plain types that an annotation allows."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _leaves(arguments[0])
    if origin in (Union, types.UnionType):
        return [leaf for each in arguments for leaf in _leaves(each)]
    return [annotation]


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)
