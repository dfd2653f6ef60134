"""Numbers and durations of the configuration: each with its bounds, and the words for them.

A value that came from an environment variable is text, so numbers are also read from text. Every number has an upper
bound, far above what anybody means: past it stands a slip (a unit, a zero too many), and what a library underneath may
not take.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from otel_eval.config.values import refuse
from otel_eval.durations import TooLong, parse_duration

DURATION_PATTERN = r"^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d))+$"
"""What a JSON schema says of a duration; also the mark by which its default is written as one."""
DurationText = Annotated[str, Field(pattern=DURATION_PATTERN, examples=["250ms", "2s", "10m"])]


def within(least: str, most: str) -> BeforeValidator:
    """A duration within these bounds, written with a unit; it is kept in seconds."""
    shortest, longest = parse_duration(least), parse_duration(most)

    def check(value: Any) -> float:
        try:
            seconds = parse_duration(value) if isinstance(value, str) else None
        except TooLong:
            seconds = math.inf
        except ValueError:
            seconds = None
        if seconds is None:
            raise refuse("a duration with its unit, as 250ms, 2s or 10m")
        if not shortest <= seconds <= longest:
            raise refuse(f"a duration from {least} to {most}")
        return seconds

    return BeforeValidator(check, json_schema_input_type=DurationText)


def whole(least: int, most: int, *, odd: bool = False) -> BeforeValidator:
    """A whole number within these bounds."""

    def check(value: Any) -> int:
        number = _number(value)
        if number is None or not least <= number <= most or number != int(number) or (odd and not int(number) % 2):
            raise refuse(f"{'an odd' if odd else 'a whole'} number from {least} to {most}")
        return int(number)

    return BeforeValidator(check, json_schema_input_type=Annotated[int, Field(ge=least, le=most)])


def amount(most: int) -> BeforeValidator:
    """A number from 0 to that."""

    def check(value: Any) -> float:
        number = _number(value)
        if number is None or not 0 <= number <= most:
            raise refuse(f"a number from 0 to {most}")
        return float(number)

    return BeforeValidator(check, json_schema_input_type=Annotated[float, Field(ge=0, le=most)])


def _ratio(value: Any) -> float:
    if isinstance(value, str) and value.strip().endswith("%"):
        percent = _number(value.strip().removesuffix("%"))
        hint = "" if percent is None or not 0 <= percent <= 100 else f" (write {percent / 100:g})"
        raise refuse(f"a ratio from 0 to 1{hint}")
    number = _number(value)
    if number is None:
        raise refuse("a ratio from 0 to 1")
    if 1 < number <= 100:
        raise refuse(f"a ratio from 0 to 1 ({number:g} is not {number:g} %: write {number / 100:g})")
    if not 0 <= number <= 1:
        raise refuse("a ratio from 0 to 1")
    return float(number)


def _number(value: Any) -> int | float | None:
    """The number that it is, or that its text says; None where it is none (a boolean, NaN, infinity, other text)."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


Duration = Annotated[float, within("0s", "365d")]
"""Seconds; written with a unit. 0 is one: it waits for nothing, or keeps nothing."""
Period = Annotated[float, within("1ms", "365d")]
"""Seconds, and some of them."""
Timeout = Annotated[float, within("1ms", "1d")]
"""Seconds that something may take. None of it is none: in 0 s nothing is ever done."""
Ratio = Annotated[float, BeforeValidator(_ratio, json_schema_input_type=Annotated[float, Field(ge=0, le=1)])]
Votes = Annotated[int, whole(1, 99, odd=True)]
"""How often a judge is asked; odd, so that there is a middle one."""
