"""JSON text of whatever a tool's JSON held."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

_OPTIONS = orjson.OPT_NON_STR_KEYS


def dumps(value: Any, *, default: Callable[[Any], Any] = str, sort_keys: bool = False) -> bytes:
    """Compact JSON; ``default`` stands for what JSON has no word for. Never raises TypeError.

    orjson refuses integers beyond 64 bits and lone surrogates, which Python's own writer takes.
    """
    try:
        return orjson.dumps(value, default=default, option=_OPTIONS | (orjson.OPT_SORT_KEYS if sort_keys else 0))
    except TypeError:
        return json.dumps(_keyed(value), sort_keys=sort_keys, default=default, separators=(",", ":")).encode()


def _keyed(value: Any) -> Any:
    """The value with texts for keys: keys of several types cannot be sorted."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(key): _keyed(item) for key, item in value.items()}
    return [_keyed(item) for item in value] if isinstance(value, (list, tuple)) else value
