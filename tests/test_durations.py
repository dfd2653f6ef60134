"""Durations as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.durations import TooLong, format_duration, format_duration_ns, parse_duration, parse_duration_ns


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("250ms", 250_000_000),
        ("2s", 2_000_000_000),
        ("10m", 600_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("7d", 604_800_000_000_000),
        ("1.5s", 1_500_000_000),
        ("0.1s", 100_000_000),
        ("0s", 0),
        ("15us", 15_000),
        ("3ns", 3),
        (" 2s ", 2_000_000_000),
    ],
)
def test_numbers_with_units_are_read_exactly(text: str, nanoseconds: int) -> None:
    """Also fractions, which no float may blur."""
    assert parse_duration_ns(text) == nanoseconds
    assert parse_duration(text) == nanoseconds / 1e9


@pytest.mark.parametrize("text", ["", "10", "s", "2 s", "-2s", "2s3", "1e3s", "2 seconds", "2S", "٢s", "1..5s"])
def test_anything_else_is_refused(text: str) -> None:
    """The error shows what was given and how to write one."""
    with pytest.raises(ValueError, match="is not a duration: write it with its unit, as 250ms, 2s"):
        parse_duration(text)


def test_what_is_longer_than_an_integer_of_nanoseconds_is_refused() -> None:
    """292 years; told without repeating a text of any length."""
    assert parse_duration_ns("106751d") == 106751 * 86_400 * 10**9
    with pytest.raises(TooLong, match="the longest is 292 years") as caught:
        parse_duration("9" * 5000 + "d")
    assert len(str(caught.value)) < 150


@given(st.integers(0, 10**18))
def test_what_is_written_is_read_back(nanoseconds: int) -> None:
    """Writing and reading are each other's inverse, to the nanosecond."""
    assert parse_duration_ns(format_duration_ns(nanoseconds)) == nanoseconds


def test_seconds_are_written_to_the_millisecond() -> None:
    """As few units as it takes."""
    assert [format_duration(s) for s in (0, 2, 90, 5400, 0.25, 1.2345)] == [
        "0s",
        "2s",
        "1m30s",
        "1h30m",
        "250ms",
        "1s234ms",
    ]
