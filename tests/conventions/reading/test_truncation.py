"""Telling a text that a limit cut from one that is whole."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from otel_eval.conventions.reading.truncation import is_cut, tails_of
from otel_eval.conventions.reading.values import Undecodable, beginning_of_string, decode, looks_cut
from otel_eval.testing.spans import span

WORDS = "The order was delivered to the neighbour at number nine because nobody opened the door when the courier rang "


def words(length: int) -> str:
    """Words without an end, exactly so long and of no usual ending."""
    return (WORDS * (length // len(WORDS) + 1))[: length - 1] + "x"


@pytest.mark.parametrize(
    ("case", "attributes", "cut"),
    [
        ("a usual limit, amid a sentence", {"output": words(256)}, True),
        ("a usual length, but whole", {"output": words(255) + "."}, False),
        ("no usual length", {"output": words(251)}, False),
        ("beside JSON of that length that does not end", {"output": words(251), "a": '{"text": "' + "y" * 241}, True),
        ("two texts of that length", {"output": words(251), "a": words(250) + "y"}, True),
        ("the same text twice", {"output": words(251), "a": words(251)}, False),
        ("a longer value beside it", {"output": words(256), "a": words(300) + "."}, False),
        ("whole JSON", {"output": "[" + "1," * 127 + "]"}, False),
        ("one long word", {"output": "x" * 256}, False),
        ("short values", {"a": "ten letter", "output": "other text"}, False),
        ("nothing", {}, False),
    ],
)
def test_evidence_of_a_limit(case: str, attributes: dict[str, Any], cut: bool) -> None:
    """A text is cut if the longest value of its span has that length, and something tells that this is a limit."""
    found = span(attributes=attributes)
    assert is_cut(attributes.get("output", ""), tails_of(found)) is cut, case


@pytest.mark.parametrize(
    ("value", "cut"),
    [
        ("I am so ...[truncated]", True),
        ("I am so… (truncated, 912 more characters)", True),
        ("I am so [TRUNCATED - Content exceeds 60KB limit]", True),
        ("I am so <truncated>", True),
        ("I am so ... [1234 chars truncated]", True),
        ("I am so ... 120 more characters", True),
        ({"items": [{"note": "so ...[truncated]"}]}, True),
        ("I am sorry...", False),
        ("The log was truncated", False),
        ("See the [truncated] list above.", False),
        ("", False),
        (None, False),
        (12, False),
        ({"truncated": True}, False),
    ],
)
def test_what_says_that_it_was_cut(value: Any, cut: bool) -> None:
    """Instrumentations mark their own cuts at the end, in brackets or after an ellipsis."""
    assert is_cut(value) is cut


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
       st.floats(0, 1))  # fmt: skip
def test_a_container_that_is_cut_never_decodes_to_a_text(value: Any, where: float) -> None:
    """Wherever a limit cuts an object, or an array that holds more than numbers, it is told from a text."""
    try:
        whole = orjson.dumps([{"": value}]).decode()
    except orjson.JSONEncodeError:  # lone surrogates, integers past 64 bits
        assume(False)
    assert not looks_cut(whole)
    part = whole[: 4 + int(where * (len(whole) - 5))]
    with pytest.raises(Undecodable):
        decode(part)


@pytest.mark.parametrize(
    "text",
    ["[link](https://x)", '{"a": 1} is what I sent', "['x'] or so", "[1, 2", '"quoted', "{braces}", "[system] hi"],
)
def test_a_text_with_brackets_stays_one(text: str) -> None:
    """What only begins like a container is a text."""
    assert decode(text) == text


@pytest.mark.parametrize(
    ("cut", "text"),
    [
        ('"abc', "abc"),
        (r'"a\n\"b\u00e4', 'a\n"bä'),
        ('"a\\', "a"),
        (r'"a\\', "a\\"),
        (r'"a\u00', "a"),
        (r'"a\ud83d', "a\ufffd"),
        (r'"{\"id\": 1, \"na', '{"id": 1, "na'),
    ],
)  # fmt: skip
def test_a_json_string_is_read_up_to_where_it_was_cut(cut: str, text: str) -> None:
    """In the middle of an escape, too."""
    assert beginning_of_string(cut) == text


@given(text=st.text(min_size=1), kept=st.integers(2))
def test_a_json_string_is_read_wherever_it_was_cut(text: str, kept: int) -> None:
    """Never anything but the beginning of what it says; and none is the beginning of a whole one."""
    whole = json.dumps(text)
    assert beginning_of_string(whole) is None
    begun = beginning_of_string(whole[: min(kept, len(whole) - 1)])
    assert begun is None or text.startswith(begun.removesuffix("\ufffd"))


@pytest.mark.parametrize("text", ["", '"', "abc", '"so" he said', 'he said "so', '"so\nand so', '"so" and "so'])
def test_text_with_quotes_is_no_beginning_of_a_json_string(text: str) -> None:
    """What people write has a second quote, or a second line."""
    assert beginning_of_string(text) is None
