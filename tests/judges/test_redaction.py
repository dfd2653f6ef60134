"""What must not leave the machine is replaced by typed markers; ordinary numbers and names stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.interaction import Message, TextPart
from otel_eval.redaction import NOTHING, Redaction
from otel_eval.testing.interactions import interaction, tool_call

REDACTION = Redaction()

# Put together here, so that no scanner takes this file for a leak.
OPENAI = "sk-" + "proj-" + "Ab3" * 12
SECRETS = {
    "OpenAI key": (f"key {OPENAI}.", "key [REDACTED:api_key]."),
    "Anthropic key": ("sk-" + "ant-api03-" + "x1Y" * 10, "[REDACTED:api_key]"),
    "AWS key id": ("use AKIA" + "IOSFODNN7EXAMPLE now", "use [REDACTED:api_key] now"),
    "AWS secret": ("aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [REDACTED:api_key]"),
    "GitHub token": ("ghp_" + "a1B2" * 9, "[REDACTED:api_key]"),
    "GitHub fine-grained": ("github_pat_" + "a1B2_" * 9, "[REDACTED:api_key]"),
    "Slack token": ("xoxb-" + "123456789012-abcdef", "[REDACTED:api_key]"),
    "Google key": ("AIza" + "B" * 35, "[REDACTED:api_key]"),
    "JWT": ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.abc-_1", "[REDACTED:api_key]"),
    "bearer": ("Authorization: Bearer " + "abcdef0123456789abcd", "Authorization: Bearer [REDACTED:api_key]"),
    "private key": (
        "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nrest",
        "[REDACTED:api_key]\nrest",
    ),
    "private key, cut": ("-----BEGIN PRIVATE" + " KEY-----\nMIIE", "[REDACTED:api_key]"),
    "e-mail": ("write to ann.o'neil+x@mail.example.co.uk!", "write to [REDACTED:email]!"),
    "e-mail, quoted": ("from 'ann@example.com'", "from '[REDACTED:email]'"),
    "e-mail, plain": ("ann@example.com, bob@example.org", "[REDACTED:email], [REDACTED:email]"),
    "card": ("card 4111111111111111.", "card [REDACTED:payment_card]."),
    "card, spaced": ("4111 1111 1111 1111", "[REDACTED:payment_card]"),
    "card, dashed": ("5500-0055-5555-5559", "[REDACTED:payment_card]"),
    "Amex": ("3782 822463 10005", "[REDACTED:payment_card]"),
    "IBAN": ("DE89 3704 0044 0532 0130 00 please", "[REDACTED:iban] please"),
    "IBAN, compact": ("GB29NWBK60161331926819", "[REDACTED:iban]"),
    "phone": ("call +49 170 1234567 or", "call [REDACTED:phone] or"),
    "phone, US": ("call (415) 555-2671 or 415-555-2671", "call [REDACTED:phone] or [REDACTED:phone]"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "redacted"), SECRETS.values(), ids=SECRETS.keys())
def test_secrets_become_typed_markers(text: str, redacted: str) -> None:
    """The text around them stays."""
    assert REDACTION.text(text) == redacted


ORDINARY = [
    "order o_9, 4999 cents, reference ref_1",
    "4111 1111 1111 1112 fails the Luhn check",
    "12345678901234567890123",
    "1750000000000000000 ns since the epoch, 1718000000000 ms",
    "2024-06-01T12:00:00.000Z, 192.168.100.200, version 1.2.3-4",
    "DE00 3704 0044 0532 0130 00 has wrong check digits",
    "a@b, @ann, user@localhost",
    "bearer of good news; the bearer token expired",
    "sk-short, ghp_no, eyJ.eyJ",
    "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
    "call 555-2671 or 110; size 10-20-3000",
    "+1 is an upvote, +5 percent",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_numbers_and_names_stay(text: str) -> None:
    """Ids, times, sums and addresses are not secrets."""
    assert REDACTION.text(text) == text


def test_everything_that_a_judge_could_see_is_redacted_in_the_interaction() -> None:
    """Asked, reply, instructions, history, arguments, results and errors; the original is not changed."""
    secret = "ann@example.com"
    original = interaction(
        asked=secret,
        reply=secret,
        system=secret,
        history=(Message(role="user", parts=(TextPart(text=secret),)),),
        tool_calls=[tool_call("get", {secret: [secret]}, {"to": {"mail": secret}}), tool_call("get", error=secret)],
        failure=f"no mail to {secret}",
        user_id=secret,
    )
    assert secret not in repr(REDACTION.interaction(original))
    assert original.reply == secret


def test_a_card_that_is_a_number_is_redacted_too() -> None:
    """JSON numbers are no hiding place; other numbers stay numbers."""
    assert REDACTION.value({"pan": 4111111111111111, "cents": 4999, "ok": True, "rate": 0.5}) == {
        "pan": "[REDACTED:payment_card]", "cents": 4999, "ok": True, "rate": 0.5,
    }  # fmt: skip


def test_users_add_patterns_and_choose_among_the_built_in_ones() -> None:
    """By the type that the marker will show."""
    redaction = Redaction(kinds=["email"], patterns={"customer": r"\bC-\d{4}\b"})
    assert (
        redaction.text("C-1234 ann@example.com 4111111111111111")
        == "[REDACTED:customer] [REDACTED:email] 4111111111111111"
    )
    assert NOTHING.text("ann@example.com") == "ann@example.com"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kinds": ["emial"]}, "redaction knows api_key, email"),
        ({"patterns": {"Customer No": "x"}}, "lower-case letters"),
        ({"patterns": {"customer": "("}}, "redaction pattern customer"),
    ],
)
def test_a_redaction_that_cannot_work_is_refused(arguments: dict[str, object], message: str) -> None:
    """At construction, naming the mistake."""
    with pytest.raises(ValueError, match=message):
        Redaction(**arguments)  # type: ignore[arg-type]


@given(st.text() | st.sampled_from([text for text, _ in SECRETS.values()]))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    """Markers are not secrets."""
    once = REDACTION.text(text)
    assert REDACTION.text(once) == once
