"""JSON values as the telemetry carries them: when two are equal, and how they are shown in a detail."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_LONGEST_VALUE = 200
_LONGEST_LIST = 20
_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal: 12 equals 12.0, "4999" is not 4999, True is not 1, None only None.

    Lists item by item, in order; objects key by key, in any order. NaN equals nothing.
    """
    if left is None or right is None:
        return left is right
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool) and left == right
    if isinstance(left, int | float):
        return isinstance(right, int | float) and left == right
    if isinstance(left, str):
        return isinstance(right, str) and left == right
    if isinstance(left, Mapping):
        return isinstance(right, Mapping) and left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if _is_list(left) and _is_list(right):
        return len(left) == len(right) and all(map(same, left, right))
    return False


def plain(value: Any) -> Any:
    """The value as JSON has it: tuples become lists, keys are text. Raises ValueError for what is no JSON value."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value!r} is no JSON value")
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ValueError(
                f"the keys of a JSON object are text, not {next(k for k in value if not isinstance(k, str))!r}"
            )
        return {key: plain(item) for key, item in value.items()}
    if _is_list(value):
        return [plain(item) for item in value]
    raise ValueError(f"{value!r} ({type(value).__name__}) is no JSON value")


def members_of_cut(text: str) -> dict[str, Any]:
    """The members of a JSON object whose text was cut off, as far as they are sure to be whole; none of what is no object.

    A member that the text ends with may go on behind the cut.
    """
    found: dict[str, Any] = {}
    at = _after_blank(text, 0)
    try:
        while text[at : at + 1] in (("{",) if not found else (",",)):
            key, at = _DECODER.raw_decode(text, _after_blank(text, at + 1))
            at = _after_blank(text, at)
            if not isinstance(key, str) or text[at : at + 1] != ":":
                break
            value, at = _DECODER.raw_decode(text, _after_blank(text, at + 1))
            at = _after_blank(text, at)
            if at < len(text):
                found[key] = value
    except (ValueError, RecursionError):
        pass
    return found


def _after_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return at if blank is None else blank.end()


def compact(value: Any) -> str:
    """The value as JSON on one line without spaces, ``{"id":"o_9","totalCents":4999}``."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def bare(value: Any) -> str:
    """Text as it stands, anything else as JSON; text in quotes where it would read as something else (``"4999"``, ``""``)."""
    if not isinstance(value, str):
        return compact(value)
    return compact(value) if _reads_otherwise(value) else value


def show(value: Any) -> str:
    """:func:`bare`, cut to what fits a line of detail."""
    return clip(bare(value))


def clip(text: str, longest: int = _LONGEST_VALUE) -> str:
    """The text on one line, cut with ``…`` where it is longer."""
    line = " ".join(text[: longest * 4].split())
    return line if len(line) <= longest and len(text) <= longest * 4 else f"{line[: longest - 1]}…"


def listing(items: Iterable[str]) -> str:
    """``[a, b]``; past twenty, how many more there are."""
    every = list(items)
    rest = len(every) - _LONGEST_LIST
    return f"[{', '.join(every[:_LONGEST_LIST])}{f', and {rest} more' if rest > 0 else ''}]"


def texts_in(value: Any) -> Iterator[str]:
    """Every text under which the value may be sought: as JSON with and without spaces, and each text in it, without
    the escapes of JSON."""
    if isinstance(value, str):
        yield value
        return
    yield compact(value)
    if isinstance(value, Mapping) or _is_list(value):
        yield json.dumps(value, ensure_ascii=False, default=str)
        yield from _leaves(value)


def _leaves(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting.extend(item.values())
        elif _is_list(item):
            waiting.extend(item)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _reads_otherwise(text: str) -> bool:
    if not text or text != text.strip() or ", " in text or "\n" in text:
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True
