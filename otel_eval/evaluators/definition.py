"""What an evaluator's definition is, as text: its version is a digest of it, and its default id is made of it."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import math
import types
from collections.abc import Mapping
from typing import Any

from otel_eval.evaluators.values import bare
from otel_eval.identity import digest

VERSION_LENGTH = 12
_LONGEST_ID = 100
_NOT_DEFINITION = frozenset({"_given_id", "_computed_version", "_judges", "id"})


def version_of(evaluator: Any) -> str:
    """A digest of the evaluator's check and configuration, and of its code where it is not one of ours."""
    cls = type(evaluator)
    parts = [
        str(getattr(evaluator, "check", "")),
        cls.__qualname__,
        json.dumps(configuration_of(evaluator), sort_keys=True),
    ]
    parts += [source_of(base) for base in cls.__mro__ if _is_custom(base)]
    parts.append(str(getattr(cls, "semantics", 1)))
    return digest(*parts)[:VERSION_LENGTH]


def misdeclared(evaluator: Any) -> str | None:
    """What all its records would say of it and cannot, in words; None where id, check, version and threshold are in order."""
    kind = type(evaluator).__name__
    for name in ("id", "check", "version"):
        try:
            value = getattr(evaluator, name)
        except Exception as error:  # noqa: BLE001 - a property of the user's class
            return f"{kind} has no {name} ({type(error).__name__}: {error})"
        if not isinstance(value, str) or not value.strip():
            return f"the {name} of {kind} is a text, not {value!r}"
    threshold = evaluator.threshold
    if threshold is None or (type(threshold) in (int, float) and math.isfinite(threshold)):
        return None
    return f"the threshold of {kind} is a number, not {threshold!r}"


def _is_custom(cls: type) -> bool:
    """Whether the class is a user's evaluator, or one that a user's is derived from."""
    return not cls.__module__.startswith("otel_eval.") and hasattr(cls, "evaluate")


def configuration_of(evaluator: Any) -> dict[str, Any]:
    """Its fields (of a dataclass) or instance attributes, each in a form that JSON carries and every process gives alike."""
    if dataclasses.is_dataclass(evaluator):
        pairs = {field.name: getattr(evaluator, field.name) for field in dataclasses.fields(evaluator)}
    else:
        pairs = vars(evaluator)
    return {name: stable(value) for name, value in pairs.items() if name not in _NOT_DEFINITION}


def stable(value: Any) -> Any:
    """A JSON value for whatever configures an evaluator; never an address in memory, which changes with each process."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): stable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [stable(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((stable(item) for item in value), key=json.dumps)
    if isinstance(value, types.FunctionType | type):
        return source_of(value)
    if dataclasses.is_dataclass(value):
        return [type(value).__qualname__, configuration_of(value)]
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text else text


def source_of(thing: Any) -> str:
    """The source text; where there is none (typed at a prompt), a digest of the bytecode and its constants."""
    try:
        text = inspect.getsource(thing)
    except (OSError, TypeError):
        text = _bytecode(thing)
    if isinstance(thing, types.FunctionType):
        text += json.dumps(_captured(thing), sort_keys=True)
    return text


def call_text(factory: str, *arguments: Any) -> str:
    """``factory(argument, …)`` on one line; where that is too long, its beginning and a digest of the whole."""
    text = " ".join(f"{factory}({', '.join(bare(argument) for argument in arguments)})".split())
    if len(text) <= _LONGEST_ID:
        return text
    return f"{text[: _LONGEST_ID - 11]}…{digest(text)[:8]})"


def _captured(function: types.FunctionType) -> list[Any]:
    """Defaults and closure values: two functions of one source differ in them."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    return [
        stable(value)
        for value in (*(function.__defaults__ or ()), *cells)
        if not isinstance(value, types.FunctionType | type)
    ]


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - reading an empty cell raises
    except ValueError:
        return False
    return True


def _bytecode(thing: Any) -> str:
    """Code and constants, the same in every process of one Python version."""
    if isinstance(thing, types.FunctionType):
        return _bytecode(thing.__code__)
    if isinstance(thing, types.CodeType):
        return (
            hashlib.sha256(thing.co_code).hexdigest() + repr(thing.co_names) + "".join(map(_bytecode, thing.co_consts))
        )
    if isinstance(thing, type):
        return "".join(_bytecode(item) for item in vars(thing).values() if isinstance(item, types.FunctionType))
    if isinstance(thing, tuple | frozenset):
        items = map(_bytecode, thing)
        return f"({','.join(sorted(items) if isinstance(thing, frozenset) else items)})"
    return repr(thing)
