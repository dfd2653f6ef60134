"""Secrets that hide behind escapes, over lines, in base64 and in hex; and what only looks as if one did."""

from __future__ import annotations

import base64
import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.redaction import NOTHING, Redaction
from otel_eval.redaction.hidden import folded

REDACTION = Redaction()
# Put together here, so that no scanner takes this file for a leak.
KEY = "sk-" + "proj-" + "Ab3" * 12
CARD = "4111 1111 1111 1111"
AWS = "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY"
MARK = "[REDACTED:api_key]"


def in_base64(text: str, encoding: str = "utf-8") -> str:
    return base64.b64encode(text.encode(encoding)).decode()


def wrapped(text: str, width: int, between: str = "\n") -> str:
    return between.join(text[at : at + width] for at in range(0, len(text), width))


HIDDEN = {
    "base64": (f"token {in_base64(KEY)}.", f"token {MARK}."),
    "base64, not padded": (in_base64(KEY + "x").rstrip("="), MARK),
    "base64 of more than the key": (in_base64(f"the key is {KEY}, keep it"), MARK),
    "base64 for addresses": (base64.urlsafe_b64encode(f"ÿþ?{KEY}".encode()).decode(), MARK),
    "base64 twice": (in_base64(in_base64(KEY)), MARK),
    "base64 over lines": (f"x {wrapped(in_base64(f'{KEY} {KEY}'), 76)} y", f"x {MARK} y"),
    "base64 over escaped lines": (wrapped(in_base64(f"{KEY} {KEY}"), 76, "\\n"), MARK),
    "base64 as PowerShell encodes": (in_base64(KEY, "utf-16-le"), MARK),
    "base64 before words": (f"{in_base64(KEY)}\nthanks", f"{MARK}\nthanks"),
    "base64 of a card": (in_base64(f"pay with {CARD}"), "[REDACTED:payment_card]"),
    "base64 of JSON": (in_base64(json.dumps({"user": "ann@example.com"})), "[REDACTED:email]"),
    "hex": (KEY.encode().hex(), MARK),
    "JSON escape": ("\\u0073k-" + KEY[3:], MARK),
    "JSON escapes in JSON": ("ann\\\\u0040example.com", "[REDACTED:email]"),
    "JSON text of PHP": (rf'aws_secret_access_key = {AWS.replace("/", chr(92) + "/")}', f"aws_secret_access_key = {MARK}"),
    "address in JSON of PHP": (r"https:\/\/ann:hunter22@host\/x", rf"https:\/\/ann:{MARK}@host\/x"),
    "card between escapes": ("4111\\u00201111\\u00201111\\u00201111!", "[REDACTED:payment_card]!"),
    "in an address": ("?key=sk%2Dproj%2D" + KEY[8:], f"?key={MARK}"),
    "HTML": ("ann&#64;example.com, bob&#x40;example.com", "[REDACTED:email], [REDACTED:email]"),
    "nothing between": ("sk-\u200bproj\u2060-" + KEY[8:], MARK),
    "over lines": (wrapped(KEY, 18), MARK),
    "over lines, too short alone": (f"{wrapped(KEY, 15)}\nthanks", f"{MARK}\nthanks"),
    "over lines, indented": (f"key: {KEY[:20]}\n     {KEY[20:]}", f"key: {MARK}"),
    "over lines of code": (f'"{KEY[:20]}" +\n    "{KEY[20:]}";', f'"{MARK}";'),
    "over escaped lines": (json.dumps(wrapped(KEY, 18)), f'"{MARK}"'),
    "keys line by line": (f"{KEY}\n{KEY}\n", f"{MARK}\n{MARK}\n"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "redacted"), HIDDEN.values(), ids=HIDDEN.keys())
def test_what_hides_is_found(text: str, redacted: str) -> None:
    """At its place in the original, whose other characters stay as they are written; once is enough."""
    assert REDACTION.text(text) == redacted
    assert REDACTION.text(redacted) == redacted


ORDINARY = [
    in_base64("an ordinary sentence that somebody encoded"),
    in_base64("\x00\x01\x02 binary \xff" * 9),
    base64.b64encode(bytes(range(256)) * 40).decode(),
    "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331, 550e8400-e29b-41d4-a716-446655440000",
    "aVeryLongCamelCaseNameOfSomeFunctionInJava, some/path/to/a/file/in/a/repository",
    r"C:\\users\\new\\table, \\d+\\n, caf\\u00e9, 100%25, 50% off, &#8211; dash",
    f"your key was {MARK}\nabc12345def",
    "the log says sk-short\norder_9f8e7d6c5b",
    "eyJ: see\nline2withdigits99",
    json.dumps({"path": "a/b", "text": 'line one\nline two\n\ttabbed "quoted"', "url": "https://host/x"}),
    "\\ud83d\\ude00 escaped emoji, \\u0000",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_what_only_looks_encoded_stays(text: str) -> None:
    """Other encodings, ids, paths, binary data, and lines after what was a key."""
    assert REDACTION.text(text) == text


def test_a_key_is_followed_over_lines_that_can_be_its_rest_alone() -> None:
    """Not into words, sentences or dates on the next line."""
    for after in ("Thanks", "see you 2026", "2026-12-01", "it is 4u, ok?"):
        assert REDACTION.text(f"{KEY}\n{after}") == f"{MARK}\n{after}"


def test_what_is_switched_off_is_not_looked_for_in_hiding() -> None:
    """The kinds of the configuration hold here, too; a user's pattern finds what is escaped."""
    assert NOTHING.text(in_base64(KEY)) == in_base64(KEY)
    assert Redaction(kinds=["email"]).text(in_base64(KEY)) == in_base64(KEY)
    assert Redaction(kinds=[], patterns={"customer": r"C-\d{4}"}).text(r"C\u002d1234") == "[REDACTED:customer]"


@given(st.binary(min_size=15, max_size=200))
def test_random_bytes_in_base64_stay(data: bytes) -> None:
    """What decodes to no text holds no secret."""
    text = base64.b64encode(data).decode()
    try:
        holds = REDACTION.text(data.decode()) != data.decode()
    except UnicodeDecodeError:
        holds = False
    assert holds or "[REDACTED" not in REDACTION.text(text) or data[1:8:2] == b"\0" * 4


@given(st.text(alphabet="ab\\u0041/n%2&#;x\n \u200b", max_size=80))
def test_a_span_of_the_folded_text_is_a_span_of_the_original(text: str) -> None:
    """In order, without gaps that belong to nobody, and literal where nothing was folded."""
    view = folded(text, lambda _: True)
    if view is None:
        return
    spans = [view.original(at, at + 1) for at in range(len(view.text))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    literal = [at for at, (start, end) in enumerate(spans) if end - start == 1]
    assert all(view.text[at] == text[spans[at][0]] for at in literal)


HOSTILE = {
    "backslashes": "\\" * 200_000,
    "spaces after a key": KEY + " " * 200_000,
    "escaped addresses": "a\\u0040b.com " * 10_000,
    "wrapped": "sk-" + wrapped("Ab3Ab3Ab3Ab3" * 10_000, 12),
    "base64": in_base64(f"{KEY} " * 10_000),
    "tokens": f"{in_base64('nothing to see here')} " * 5_000,
    "spaces after lines": ("A" * 30 + "\n" + " " * 300) * 300,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_takes_no_long_time(text: str) -> None:
    """Whoever writes to an agent must not be able to stop its evaluation."""
    began = time.process_time()
    REDACTION.text(text)
    assert time.process_time() - began < 5
