"""Asterisks that stand for what was there, and those that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.redaction.markers import kinds, spans
from otel_eval.redaction.masks import masks

MASKED = [
    # The Collector's redaction processor: each match, or a value (of old, each of its lines)
    "Your card **** is charged",
    "**** is your card.",
    "Your card is ****",
    "Your card is ****.",
    "Cards: ****, **** and ****; mail ****",
    "****",
    "****\n****\n",
    "Card\n****\nis charged",
    "Here is the card:\n\n****\n\nAnything else?",
    "**** paid ****",
    "- ****\n- bread",
    "| card | **** |",
    'Card: **** (Visa), **** **** and "****"',
    "**Password:** ****",
    "**Your card **** is charged.**",
    "**Your card 4111****1111 is charged**",
    # The transform processor, Dash0, Sentry, Azure, Comprehend and others
    "***",
    "password=*** and more",
    "Bearer ***",
    "Your card *** is charged",
    "https://***:***@proxy.example.com",
    "GET /users/*****/orders and /users/****",
    "user=***** logged in",
    "Password: ********",
    "the password is\n************\nkeep it".replace("is\n", "is:\n"),
    "ada****@example.com, j***@example.com, user@****.com",
    "key sk-****abcd, AKIA****************",
    '{"card": "****", "name": "Ada"}',
    '{"a": "{\\"card\\": \\"***\\"}"}',
    "PIN ••••••",
    # What may be left of a card
    "Your card ************1111 is charged",
    "Your card ****-****-****-1111 is charged",
    "Your card XXXX-XXXX-XXXX-1111",
    "Your card •••• •••• •••• 1111",
]

TYPOGRAPHY = [
    # Emphasis
    "**bold**, ***bold and italic***, ****more****, and *so* on",
    '***"quoted"*** and ***(so)***, it is ***now***.',
    "**Name:****Ada** and **City:****Paris**",
    "It is ***really* good**",
    # Rulers and banners
    "One\n\n***\n\nTwo",
    "One\n\n****\n\nTwo",
    "One\n*****************\nTwo",
    "*****\n* A *\n*****",
    "**** IMPORTANT ****\nRead this.",
    "*** Note ***",
    "***** Section two *****",
    '{"text": "One\\n\\n****\\n\\nTwo", "more": "*****\\nTitle\\n*****"}',
    "* * * * *",
    "*/5 * * * *",
    # Comments, headings, notices, patches
    "/***\n * Adds.\n ***/",
    "/**** main ****/ int main() {}",
    "** Heading\n*** Deeper\n**** Deepest\n",
    "*** Begin Patch\n*** Update File: a.py\n*** End Patch",
    '{"input": "*** Begin Patch\\n*** Add File: b.py\\n*** End Patch"}',
    "make: *** [Makefile:3: all] Error 2",
    "Makefile:3: *** missing separator.  Stop.",
    "*** stack smashing detected ***: terminated",
    "--- a.c\n***************\n*** 1,4 ****\n",
    # Ratings, swearing, and cards as they are shown to their owners
    "Hotel Sacher ***** and the Adler Hotel (****), a **** hotel, a ***-star inn; rating: ****",
    "what the f*** is this s***? F****, b*****d",
    "Your card ending in ****1111, **** 4242 or •••• 1234 is charged.",
    # None of them
    "Enter your password: ",
    "def f(*args, **kwargs): return x ** y",
    "XXXX-XXXX-XXXX-XXXX is what a card's number looks like, XXXX, xxxx1111",
    "mktemp /tmp/a.XXXXXXXXXXXX",
    "a • b • c ••• d",
]


@pytest.mark.parametrize("text", MASKED)
def test_masks_are_known(text: str) -> None:
    """Whatever hides a value in whole or in part, however it is written."""
    assert spans(text)
    assert kinds(text) == frozenset()


@pytest.mark.parametrize("text", TYPOGRAPHY)
def test_typography_is_none(text: str) -> None:
    """What emphasises, rules off, opens, rates or swears hides nothing."""
    assert spans(text) == ()


def test_a_mask_is_where_its_asterisks_are() -> None:
    """What is beside it is known."""
    text = "card **** of ada"
    assert list(masks(text)) == [(5, 9)]
    assert spans(f"[REDACTED] {text} ***REDACTED***") == ((0, 10), (16, 20), (28, 42))


@given(
    st.lists(st.sampled_from(["*", "**", "****", " ", "a", "1", "\n", ":", '"', "•", "X", "-", "/", "\\n"])).map(
        "".join
    )
)
def test_masks_are_in_order_and_within_the_text(text: str) -> None:
    """Whatever the text."""
    past = 0
    for start, end in spans(text):
        assert past <= start < end <= len(text)
        past = end
