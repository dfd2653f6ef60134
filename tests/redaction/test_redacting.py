"""What must not leave the machine is replaced by typed markers; ordinary numbers and names stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.interaction import Message, TextPart
from otel_eval.redaction import NOTHING, Redaction
from otel_eval.redaction.keys import SHAPES
from otel_eval.redaction.patterns import BUILTIN, Pattern, Traits, traits
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
    "Stripe key": ("sk_" + "live_" + "a1B2" * 6, "[REDACTED:api_key]"),
    "Groq key": ("GROQ_API_KEY=gsk_" + "a1B2" * 13, "GROQ_API_KEY=[REDACTED:api_key]"),
    "SendGrid key": ("SG." + "a1B2c" * 4 + "." + "a1B2c" * 8, "[REDACTED:api_key]"),
    "key of no known form": ('{"api_key": "' + "a1b2" * 8 + '"}', '{"api_key": "[REDACTED:api_key]"}'),
    "basic": ("Authorization: Basic " + "YWxhZGRpbjpvcGVuc2VzYW1l" + "MQ==", "Authorization: Basic [REDACTED:api_key]"),
    "password in an address": ("postgres://bob:hunter2@db/x", "postgres://bob:[REDACTED:api_key]@db/x"),
    "key after a name": ("KEY_" + OPENAI, "KEY_[REDACTED:api_key]"),
    "e-mail, Cyrillic": ("иван@почта.рф", "[REDACTED:email]"),
    "e-mail, punycode": ("ivan@x.xn--p1ai ok", "[REDACTED:email] ok"),
    "e-mail, full-width": ("ann＠example.com", "[REDACTED:email]"),
    "e-mail, in an address": ("?to=ann%40example.com&x", "?to=[REDACTED:email]&x"),
    "e-mail, underlined": ("_ann@example.com_", "[REDACTED:email]_"),
    "card and code": ("4111 1111 1111 1111 123", "[REDACTED:payment_card] 123"),
    "card and expiry": ("4111 1111 1111 1111 12/27", "[REDACTED:payment_card] 12/27"),
    "card after a number": ("12 4111 1111 1111 1111", "12 [REDACTED:payment_card]"),
    "two cards": ("4111 1111 1111 1111 5500 0000 0000 0004", "[REDACTED:payment_card] [REDACTED:payment_card]"),
    "card, no-break spaces": ("4111\u00a01111\u00a01111\u00a01111", "[REDACTED:payment_card]"),
    "card, en dashes": ("4111–1111–1111–1111", "[REDACTED:payment_card]"),
    "card, zero-width": ("4111\u200b1111\u200b1111\u200b1111", "[REDACTED:payment_card]"),
    "card, dots": ("4111.1111.1111.1111", "[REDACTED:payment_card]"),
    "card, over lines": ("4111\n1111\n1111\n1111", "[REDACTED:payment_card]"),
    "card, full-width digits": ("４１１１１１１１１１１１１１１１", "[REDACTED:payment_card]"),
    "card, Arabic digits": ("٤١١١١١١١١١١١١١١١", "[REDACTED:payment_card]"),
    "card after a line's number": ("items: 5\n4111 1111 1111 1111", "items: 5\n[REDACTED:payment_card]"),
    "card after a date": ("2024-12-30 4111 1111 1111 1111", "2024-12-30 [REDACTED:payment_card]"),
    "card, code and expiry": ("4111-1111-1111-1111-12-27-123", "[REDACTED:payment_card]-12-27-123"),
    "card among words without spaces": ("卡号4111111111111111。", "卡号[REDACTED:payment_card]。"),
    "card, spaced, among letters": ("xx4111 1111 1111 1111yy", "xx[REDACTED:payment_card]yy"),
    "Visa of 19 digits": ("4000 0000 0000 0000 006", "[REDACTED:payment_card]"),
    "Mastercard, second range": ("2223 0000 4841 0010", "[REDACTED:payment_card]"),
    "Diners": ("3056 930902 5904", "[REDACTED:payment_card]"),
    "JCB": ("3530 1113 3330 0000", "[REDACTED:payment_card]"),
    "Discover": ("6011111111111117", "[REDACTED:payment_card]"),
    "Mir": ("2200 1234 5678 9019", "[REDACTED:payment_card]"),
    "IBAN of letters and digits": ("MT84MALT011000012345MTLCAST001S", "[REDACTED:iban]"),
    "IBAN before an amount": ("BE68 5390 0754 7034 EUR 50", "[REDACTED:iban] EUR 50"),
    "IBAN before words": ("AT61 1904 3002 3457 3201 PAID IN FULL", "[REDACTED:iban] PAID IN FULL"),
    "IBAN, lower case": ("de89 3704 0044 0532 0130 00", "[REDACTED:iban]"),
    "IBAN, dashed": ("DE89-3704-0044-0532-0130-00", "[REDACTED:iban]"),
    "IBAN, no-break spaces": ("DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "[REDACTED:iban]"),
    "IBAN, glued to its name": ("IBANDE89370400440532013000", "IBAN[REDACTED:iban]"),
    "phone, 00": ("call 0049 30 1234567", "call [REDACTED:phone]"),
    "phone, no-break spaces": ("+49\u00a030\u00a01234567", "[REDACTED:phone]"),
    "phone, slashes": ("+49/30/1234567", "[REDACTED:phone]"),
    "phone, US with 1": ("1-800-555-2671", "[REDACTED:phone]"),
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
    "550e8400-e29b-41d4-a716-446655440000, d41d8cd98f00b204e9800998ecf8427e",
    "2024 2025 2026 2027 2028 2029, 5 6 7 8 9 10 11 12 13 14 15 16 17",
    "3.141592653589793, lat 52.520008 lon 13.404954, 2,000,000,000,000",
    "img@2x.png, left-pad@1.3.0, sk-loading-indicator-bar, bearer responsibilities",
    "tracking 1Z999AA10123456784, ISBN 978-3-16-148410-0, 0012345678901",
    "2024-12-25–2025-08-04, 2026-08-10 48772 units, 2017-12-09 2018-01-01",
    "ORD-2024-05-12-351709, backup-2024-12-30-195089.tar, invoice 20250802-89874",
    "20260707092322, 30012026101522, sales 2017 2002 2010 2001, at 2230 2245 2300 2326",
    "trains at 4111 1111 1111 1111 5500 4000 5300 6100 7010 2040 3050 4060 5070 6080 7090 8010 9020 1030 2040 3050",
    "a4111111111111111, 4111111111111111b, a4111 1111 1111 1111, 4111 1111 1111 1111f0, 4111 1111-1111 1111, 411 11111 1111 1111",
    "9111111111111110, 0000 0000 0000 0000, 4111111111111111000000, 7111 1111 1111 1118",
    "DE86ABCD00440532013000, git@github.com:org/repo.git, ssh://git@github.com/org/repo",
    "The bearer instrument2024certificate",
    "password: must have eight characters; api_key=<your key here>; https://user@host/x:y@z",
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


@pytest.mark.parametrize(
    "name", ["password", "DB_PASSWORD", "apiKey", "x-api-key", "access_token", "aws_secret_access_key"]
)
def test_what_stands_under_a_secrets_name_is_redacted(name: str) -> None:
    """In arguments and results a key says what its text is, whatever that looks like."""
    assert REDACTION.value({name: "hunter2", "order": "hunter2"}) == {name: "[REDACTED:api_key]", "order": "hunter2"}


def test_the_agent_and_the_attributes_are_redacted() -> None:
    """A template shows them, too."""
    redacted = REDACTION.interaction(interaction(agent="bob@example.com", attributes={"user": "ann@example.com"}))
    assert (redacted.agent, redacted.attributes) == ("[REDACTED:email]", {"user": "[REDACTED:email]"})


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


SEARCHED = [each for each in BUILTIN if isinstance(each, Pattern) and each.expression is not SHAPES]  # test_keys.py


@pytest.mark.parametrize("pattern", SEARCHED, ids=lambda each: each.kind)
@given(data=st.data())
def test_whatever_a_pattern_matches_has_what_is_looked_for_first(pattern: Pattern, data: st.DataObject) -> None:
    """Digits, runs and hints save the search in most texts, and cost no find."""
    text = data.draw(st.from_regex(pattern.expression))
    everything = Traits(digits=len(text), runs=text, run=True)
    assert pattern.redact(text, traits(text)) == pattern.expression.sub(pattern._replacement, text)
    assert pattern.redact(text, traits(text)) == pattern.redact(text, everything)


def test_a_pattern_that_takes_too_long_takes_the_whole_text() -> None:
    """What could not be searched does not leave, and nobody waits for it."""
    redaction = Redaction(patterns={"slow": r"(a|aa)+$"})
    started = time.process_time()
    assert redaction.text("a" * 5000 + "b") == "[REDACTED:slow]"
    assert time.process_time() - started < 4
    assert redaction.text("caa") == "c[REDACTED:slow]"
