"""What stands where something was redacted."""

from __future__ import annotations

import pytest

from otel_eval.redaction.markers import EMAIL, PAYMENT_CARD, PHONE, kinds, marker, spans


@pytest.mark.parametrize("kind", [PAYMENT_CARD, EMAIL, PHONE, "api_key", "iban", "order"])
def test_what_is_written_is_read_back(kind: str) -> None:
    """Our own marker is found where it stands, and its kind is known."""
    text = f"to {marker(kind)}."
    assert spans(text) == ((3, len(text) - 1),)
    assert kinds(text) == {kind}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[REDACTED:credit_card]", {PAYMENT_CARD}),
        ("[redacted: Credit Card]", {PAYMENT_CARD}),
        ("<REDACTED_PHONE_NUMBER>", {PHONE}),
        ("<EMAIL_ADDRESS> and [CREDIT_CARD_NUMBER]", {EMAIL, PAYMENT_CARD}),
        ("{CREDIT_DEBIT_CARD_NUMBER}", {PAYMENT_CARD}),
        ("[REDACTED]", set()),
        ("__REDACTED__", set()),
        ("<redacted>", set()),
        ("<elided>", set()),
        ("[Scrubbed due to 'password']", set()),
        # Sentry and Rails; Relay; bindplane's mask processor; Comprehend, Transcribe; LangChain; Langfuse
        ("Your card [Filtered] ok", set()),
        ("[FILTERED]", set()),
        ("[creditcard]", {PAYMENT_CARD}),
        ("[masked_email]", {EMAIL}),
        ("[MASKED]", set()),
        ("[CREDIT_DEBIT_NUMBER], valid thru [CREDIT_DEBIT_EXPIRY]", {PAYMENT_CARD, "credit_debit_expiry"}),
        ("My name is [PII]", {"pii"}),
        ("[REDACTED_EMAIL] <credit_card_hash:1a2b3c4d> [MASKED_URL]", {EMAIL, PAYMENT_CARD, "url"}),
        ("<fully masked due to failed mask function>", set()),
        # By hand, in rules of the Collector
        ("token=REDACTED", set()),
        ("REDACTED", set()),
        ("[CREDIT CARD REDACTED]", {PAYMENT_CARD}),
        ("Your card ***REDACTED*** ok", set()),
        ("***REMOVED***", set()),
    ],
)
def test_markers_of_other_tools_are_read(text: str, found: set[str]) -> None:
    """Typed ones in our words for the kinds, others without a kind."""
    assert spans(text)
    assert kinds(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "redacted",
        "<b>email</b>",
        "[email]",
        "[1]",
        "{card}",
        "__init__",
        "<card>",
        "REDACTED:card",
        "the [filtered](https://x) list, [Filtered](https://y)",
        "a redacted copy; **Redacted** versions; Redacted.",
        "**Filtered** rows, ***filtered*** rows",
        "Dear [NAME], call [PHONE]",
        "the [MASK] token, <mask>",
    ],
)
def test_ordinary_text_is_no_marker(text: str) -> None:
    """Words, tags, links and templates are what they are."""
    assert spans(text) == ()
    assert kinds(text) == frozenset()
