"""Bodies of rows: JSON text without loss, also for what SQLite and orjson would refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from otel_eval.identity import digest

LONGEST_KEY = 500
"""Characters, of up to four bytes each."""
_MAX_INT64 = 2**63 - 1


def dump(value: Mapping[str, Any]) -> str:
    """Compact JSON. orjson refuses lone surrogates and integers beyond 64 bits, which a tool's JSON may hold; json
    does not."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"))


def load(text: str) -> Any:
    """Back again. The standard reader, because orjson would turn an integer beyond 64 bits into a float."""
    return json.loads(text)


def column(text: str | None) -> str | None:
    """Text fit for a column: a lone surrogate, which no database takes, and a NUL, which PostgreSQL does not, become ``?``
    there (the body keeps them)."""
    if text is None or (text.isascii() and "\0" not in text):
        return text
    return text.replace("\0", "?").encode("utf-8", "replace").decode()


def key(text: str | None) -> str | None:
    """The same for a column with an index, which PostgreSQL makes of 2,704 bytes at most: of a longer text the beginning
    and a digest, so that it is still found."""
    fit = column(text)
    if text is None or fit is None or len(fit) <= LONGEST_KEY:
        return fit
    return f"{fit[:LONGEST_KEY]}…{digest(text)}"


def time_column(time_ns: int | None) -> int | None:
    """OTLP times have 64 bits without a sign; a column has one bit less, and no real time needs it."""
    return None if time_ns is None else min(time_ns, _MAX_INT64)
