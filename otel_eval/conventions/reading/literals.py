"""Python literals: what ``repr`` writes of texts, numbers and plain containers."""

from __future__ import annotations

import ast
from typing import Any

MAX_REPR_CHARS = 100_000
"""Longer Python reprs are left as text: parsing them costs more than they tell."""

_TRIES = 20


def literal(text: str) -> Any:
    """The value that the text is a literal of. Raises ValueError for any other text, or a longer one than MAX_REPR_CHARS."""
    if len(text) > MAX_REPR_CHARS:
        raise ValueError("too long")
    for _ in range(_TRIES):
        try:
            return ast.literal_eval(text.strip())
        except (SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError("not a literal") from error
        except SystemError:  # CPython 3.11 counts the depth of all threads that parse as one
            continue
    raise ValueError("cannot be read beside so many other threads")
