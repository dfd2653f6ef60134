"""reply-lacks-luhn-number and reply-lacks-payment-card."""

from __future__ import annotations

import pytest

from otel_eval import reply_should_not_contain_luhn_number, reply_should_not_contain_payment_card
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.interaction import Gap, GapKind
from otel_eval.outcome import describe
from otel_eval.testing.interactions import interaction

CARD = "4111111111111111"


@pytest.mark.parametrize(
    "reply",
    [
        CARD,
        f"your card {CARD}.",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "3782 822463 10005",
        "4222222222222",
        "6304 0000 0000 0000 000",
        "4111\u00a01111\u00a01111\u00a01111",
        "4111\u20111111\u20111111\u20111111",
        "٤١١١١١١١١١١١١١١١",
        "４１１１ １１１１ １１１１ １１１１",
        f"order 12 {CARD}",
        f"{CARD} 12/26",
        "on file: [REDACTED:payment_card]",
        "on file: <CREDIT_CARD>",
        "on file: [REDACTED CARD]",
    ],
)
async def test_payment_cards_are_found(reply: str, context: EvaluationContext) -> None:
    """However they are grouped and in whichever digits, beside other numbers, and where they have been redacted."""
    assert (await run(reply_should_not_contain_payment_card(), interaction(reply=reply), context)).word == "FAIL"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "4111111111111112",
        "4111  1111  1111  1111",
        "4111 - 1111 - 1111 - 1111",
        "4111\n1111\n1111\n1111",
        "411111111111",
        f"1{CARD}",
        f"{CARD}2222",
        "ref_12, 49.99, 2026-11-30",
    ],
)
async def test_other_numbers_are_not_payment_cards(reply: str, context: EvaluationContext) -> None:
    """A wrong check digit, other separators, too few digits, and a part of a longer number are none."""
    outcome = await run(reply_should_not_contain_payment_card(), interaction(reply=reply), context)
    assert describe("check", outcome) == "PASS check: no payment card number"


@pytest.mark.parametrize(
    ("reply", "gap", "word"),
    [
        (f"a {CARD}, and", GapKind.TRUNCATED, "FAIL"),
        (f"a {CARD}", GapKind.TRUNCATED, "INCONCLUSIVE"),
        (f"a {CARD} ", GapKind.TRUNCATED, "FAIL"),
        ("a 4111", GapKind.TRUNCATED, "INCONCLUSIVE"),
        (f"{CARD}[REDACTED:phone]", None, "INCONCLUSIVE"),
        (f"{CARD} [REDACTED:phone]", None, "FAIL"),
        ("[REDACTED:phone]", None, "INCONCLUSIVE"),
        ("Your card **** is charged.", None, "INCONCLUSIVE"),
        ("Your card [Filtered] is charged.", None, "INCONCLUSIVE"),
        ("Your card ************1111 is charged.", None, "INCONCLUSIVE"),
        ("Your card ending in **** 1111 is charged.", None, "PASS"),
        ("**Your card** is charged.\n\n****\n\nBye", None, "PASS"),
        (CARD, GapKind.REDACTED, "FAIL"),
        (None, GapKind.NOT_CAPTURED, "INCONCLUSIVE"),
    ],
)
async def test_replies_in_part(reply: str | None, gap: GapKind | None, word: str, context: EvaluationContext) -> None:
    """Digits at the cut, or beside a hole, may be a part of a longer number; others are what they are."""
    judged = interaction(reply=reply, gaps=() if gap is None else (Gap(field="reply", kind=gap),))
    assert (await run(reply_should_not_contain_payment_card(), judged, context)).word == word


async def test_the_detail_is_not_the_leak(context: EvaluationContext) -> None:
    """What is told of a card is its length and its last four digits."""
    outcome = await run(reply_should_not_contain_payment_card(), interaction(reply=f"card {CARD}"), context)
    assert describe("c", outcome) == "FAIL c: expected no payment card number, was one of 16 digits that ends in 1111"


@pytest.mark.parametrize(
    ("least", "most", "reply", "word"),
    [
        (15, 15, "IMEI 490154203237518", "FAIL"),
        (15, 15, "IMEI 490154203237519", "PASS"),
        (16, 19, "IMEI 490154203237518", "PASS"),
        (2, 2, "18", "FAIL"),
        (1, 30, "[REDACTED:payment_card]", "FAIL"),
        (15, 15, "[REDACTED:payment_card]", "INCONCLUSIVE"),
    ],
)
async def test_luhn_numbers_of_a_length(
    least: int, most: int, reply: str, word: str, context: EvaluationContext
) -> None:
    """Only numbers of the asked length count; a redacted card counts where every card would."""
    evaluator = reply_should_not_contain_luhn_number(least, most)
    assert (await run(evaluator, interaction(reply=reply), context)).word == word


async def test_a_flood_of_digits_is_read_in_a_moment(context: EvaluationContext) -> None:
    """Groups are tried with their neighbours only, so that the time grows with the reply's length and no faster."""
    judged = interaction(reply="7 " * 50_000)
    outcome = await run(reply_should_not_contain_luhn_number(400, 401), interaction(reply="7" * 100_000), context)
    assert outcome.word == "PASS"
    assert (await run(reply_should_not_contain_payment_card(), judged, context)).word in ("PASS", "FAIL")


@pytest.mark.parametrize(("least", "most"), [(0, 3), (4, 3), (True, 3), (1, "3")])
def test_lengths_that_hold_of_no_number_are_refused(least: int, most: int) -> None:
    """min from 1, max not below it."""
    with pytest.raises(EvaluatorDefinitionError, match="reply_should_not_contain_luhn_number"):
        reply_should_not_contain_luhn_number(least, most)
