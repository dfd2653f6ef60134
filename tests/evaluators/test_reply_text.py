"""reply-contains, reply-lacks, reply-matches and reply-does-not-match, and what their details say."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval import (
    Evaluator,
    reply_should_contain,
    reply_should_match,
    reply_should_not_contain,
    reply_should_not_match,
)
from otel_eval.evaluators import patterns
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.interaction import Gap, GapKind, Interaction
from otel_eval.outcome import Cause, Errored, Inconclusive, describe
from otel_eval.testing.interactions import interaction


def replied(text: str | None, gap: GapKind | None = None, **fields: Any) -> Interaction:
    gaps = () if gap is None else (Gap(field="reply", kind=gap),)
    return interaction(reply=text, gaps=gaps, **fields)


@pytest.mark.parametrize(
    ("evaluator", "reply", "said"),
    [
        (reply_should_contain("REFUNDED"), "I refunded it.", 'PASS reply-contains: contains "REFUNDED"'),
        (reply_should_contain("a", "b", "c"), "A", 'FAIL reply-contains: expected "b", "c", was "A"'),
        (reply_should_contain("strasse"), "Die Straße", 'PASS reply-contains: contains "strasse"'),
        (reply_should_contain("ΣΊΣΥΦΟΣ"), "σίσυφος", 'PASS reply-contains: contains "ΣΊΣΥΦΟΣ"'),
        (reply_should_contain("a"), "", 'FAIL reply-contains: expected "a", was ""'),
        (reply_should_not_contain("as an AI"), "As an ai, I", 'FAIL reply-lacks: expected no "as an AI", was "As an ai, I"'),
        (reply_should_not_contain("x", "y"), "a", 'PASS reply-lacks: no "x", "y"'),
        (reply_should_not_contain("x"), "", 'PASS reply-lacks: no "x"'),
        (reply_should_match(r"ref_\d+"), "is ref_12.", r'PASS reply-matches: /ref_\d+/ matches "ref_12"'),
        (reply_should_match("a.b"), "a\nb", 'PASS reply-matches: /a.b/ matches "a b"'),
        (reply_should_match("REF"), "ref", 'FAIL reply-matches: expected a match of /REF/, was "ref"'),
        (reply_should_match("(?i)REF$"), "a ref", 'PASS reply-matches: /(?i)REF$/ matches "ref"'),
        (reply_should_not_match("b+"), "abbc", 'FAIL reply-does-not-match: expected no match of /b+/, was "bb"'),
        (reply_should_not_match("b+"), "ac", "PASS reply-does-not-match: no match of /b+/"),
    ],
)  # fmt: skip
async def test_whole_replies(evaluator: Evaluator, reply: str, said: str, context: EvaluationContext) -> None:
    """Texts ignoring case as Unicode folds it, patterns anywhere with a dot for line breaks; the detail quotes the reply."""
    assert describe(evaluator.check, await run(evaluator, replied(reply), context)) == said


@pytest.mark.parametrize(
    ("evaluator", "judged", "word"),
    [
        (reply_should_contain("cat"), replied("a cat", GapKind.TRUNCATED), "PASS"),
        (reply_should_contain("cat"), replied("a ca", GapKind.TRUNCATED), "INCONCLUSIVE"),
        (reply_should_not_contain("cat"), replied("a cat", GapKind.TRUNCATED), "FAIL"),
        (reply_should_not_contain("cat"), replied("a dog", GapKind.TRUNCATED), "INCONCLUSIVE"),
        (reply_should_not_contain("cat"), replied("a [REDACTED]"), "INCONCLUSIVE"),
        (reply_should_not_contain("cat"), replied("[REDACTED:email] has a cat"), "FAIL"),
        (reply_should_not_contain("redacted"), replied("a [REDACTED]"), "INCONCLUSIVE"),
        (reply_should_contain("[REDACTED:email]"), replied("to [REDACTED:email]"), "PASS"),
        (reply_should_not_contain("cat"), replied("a cat", GapKind.DROPPED), "FAIL"),
        (reply_should_not_contain("cat"), replied("a cat", GapKind.INCOMPLETE), "INCONCLUSIVE"),
        (reply_should_not_contain("cat"), replied("a dog", complete=False), "INCONCLUSIVE"),
        (reply_should_match("cat"), replied("a cat", GapKind.TRUNCATED), "PASS"),
        (reply_should_match("cat$"), replied("a cat", GapKind.TRUNCATED), "INCONCLUSIVE"),
        (reply_should_match(r"cat\b"), replied("a cat", GapKind.TRUNCATED), "INCONCLUSIVE"),
        (reply_should_match(r"cat\b"), replied("a cat, and", GapKind.TRUNCATED), "PASS"),
        (reply_should_match("cat(?!s)"), replied("a cat", GapKind.TRUNCATED), "INCONCLUSIVE"),
        (reply_should_match("(?>.*)(?<=cat)"), replied("a cat", GapKind.TRUNCATED), "INCONCLUSIVE"),
        (reply_should_match("^a"), replied("a cat", GapKind.TRUNCATED), "PASS"),
        (reply_should_match("(?<!my )cat"), replied("[REDACTED]cat"), "INCONCLUSIVE"),
        (reply_should_match("RED"), replied("a [REDACTED] cat"), "INCONCLUSIVE"),
        (reply_should_match("cat"), replied("a [REDACTED] cat"), "PASS"),
        (reply_should_not_match("cat"), replied("a dog", GapKind.TRUNCATED), "INCONCLUSIVE"),
        (reply_should_not_match(r"\bcat"), replied("a cat", GapKind.DROPPED), "FAIL"),
        (reply_should_not_match("cat$"), replied("a cat", GapKind.DROPPED), "INCONCLUSIVE"),
    ],
)
async def test_replies_in_part(
    evaluator: Evaluator, judged: Interaction, word: str, context: EvaluationContext
) -> None:
    """A find counts where nothing that is missing could undo it."""
    assert (await run(evaluator, judged, context)).word == word


@pytest.mark.parametrize(
    ("judged", "outcome"),
    [
        (replied(None), Inconclusive("reply not captured", Cause.NOT_CAPTURED)),
        (replied(None, GapKind.REDACTED), Inconclusive("reply redacted", Cause.REDACTED)),
        (replied(None, GapKind.DROPPED), Inconclusive("reply dropped by the SDK", Cause.DROPPED)),
        (
            replied(None, failure="boom"),
            Inconclusive("no reply: the Interaction failed: boom", Cause.INTERACTION_FAILED),
        ),
        (replied(None, complete=False), Inconclusive("the agent span never came, or has not ended", Cause.INCOMPLETE)),
    ],
)
async def test_without_a_reply_there_is_nothing_to_check(
    judged: Interaction, outcome: Inconclusive, context: EvaluationContext
) -> None:
    """The reason says why there is none."""
    for evaluator in (reply_should_contain("a"), reply_should_not_match("a")):
        assert await run(evaluator, judged, context) == outcome


async def test_a_catastrophic_pattern_is_given_up(monkeypatch: pytest.MonkeyPatch, context: EvaluationContext) -> None:
    """A search past its time limit ends that evaluation as an error, and holds nobody else."""
    monkeypatch.setattr(patterns, "TIME_LIMIT_SECONDS", 0.05)
    outcome = await run(reply_should_not_match("(a|a)+$"), replied("a" * 60 + "b"), context)
    assert isinstance(outcome, Errored)
    assert outcome.error_type == "PatternTooSlow"
    assert outcome.reason.endswith("took more than 0.05 s over 61 characters: it backtracks too much")


@pytest.mark.parametrize("source", ["(", "[a", "*", "a{2,1}", "(?P<n>a)(?P=m)", r"\p{Nope}"])
def test_what_is_no_regular_expression_is_refused_when_it_is_given(source: str) -> None:
    """The error quotes the pattern and says where it goes wrong."""
    with pytest.raises(
        EvaluatorDefinitionError, match=r"reply_should_match: .* is not a regular expression: .*position"
    ):
        reply_should_match(source)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: reply_should_contain(), "reply_should_contain: expected at least one text, was none"),
        (lambda: reply_should_contain("a", " "), "reply_should_contain: text is blank"),
        (lambda: reply_should_contain(49.99), "expected text for text, was 49.99 .float.: put it in quotes"),  # type: ignore[arg-type]
        (lambda: reply_should_match(""), "reply_should_match: regex is blank"),
    ],
)
def test_what_would_hold_of_every_reply_is_refused(make: Any, message: str) -> None:
    """No text and a blank text are in every reply: somebody forgot something."""
    with pytest.raises(EvaluatorDefinitionError, match=message):
        make()


async def test_a_long_reply_is_cut_in_the_detail(context: EvaluationContext) -> None:
    """A detail is one line that a table can hold, however long the reply."""
    outcome = await run(reply_should_contain("b"), replied("a " * 100_000), context)
    assert len(describe("reply-contains", outcome)) < 260
