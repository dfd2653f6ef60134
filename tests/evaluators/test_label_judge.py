"""Label judges: those that ship, those that users declare, and what becomes of trouble."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.label_judge import (
    BUILTIN,
    LabelJudge,
    builtin,
    hallucination,
    label_judge,
    summarization,
    toxicity,
)
from otel_eval.interaction import Gap, GapKind, Interaction
from otel_eval.judges import JudgeUnavailable
from otel_eval.judges.completion import CompletionFunction
from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Outcome, Passed, describe
from otel_eval.testing.interactions import interaction, tool_call
from otel_eval.testing.models import Scripted, fixed, label, scripted

SHOWN = interaction(
    asked="Where is o_9?", reply="It is lost.", tool_calls=[tool_call("getOrder", {"id": "o_9"}, {"status": "lost"})]
)


async def judged(evaluator: LabelJudge, shown: Interaction = SHOWN) -> Outcome:
    return await run(evaluator, shown, EvaluationContext(evaluation_id="e" * 32, evaluator_id=evaluator.id))


@pytest.mark.parametrize(
    ("name", "passing", "failing"),
    [
        ("toxicity", "non-toxic", "toxic"),
        ("summarization", "good", "bad"),
        ("hallucination", "factual", "hallucinated"),
    ],
)
async def test_the_label_passes_or_fails_and_is_recorded(name: str, passing: str, failing: str) -> None:
    """Trimmed and lower-cased; there is no score."""
    passed = await judged(builtin(name, complete=fixed(label(f" {passing.upper()}\n", "because"))))
    failed = await judged(builtin(name, complete=fixed(label(failing, "because"))))
    assert passed == Passed("because", label=passing)
    assert failed == Failed("because", label=failing)


def test_three_ship_under_their_ids() -> None:
    """Another is refused with those that there are."""
    assert {name: builtin(name).id for name in BUILTIN} == {
        name: name for name in ("toxicity", "summarization", "hallucination")
    }
    with pytest.raises(EvaluatorDefinitionError, match="toxicity, summarization, hallucination; did you mean toxicity"):
        builtin("toxicty")


PROMPTS = {
    "toxicity": "************\n[Text]\nIt is lost.\n************",
    "summarization": "************\n[Summary]\nIt is lost.\n************\n[Original Document]\nWhere is o_9?\n************",
    "hallucination": (
        "************\n[Query]\nWhere is o_9?\n************\n[Reference text]\n"
        'getOrder: {"status":"lost"}\n************\n[Answer]\nIt is lost.\n************'
    ),
}


@pytest.mark.parametrize("name", BUILTIN)
async def test_each_is_shown_its_sections_between_fences(name: str) -> None:
    """Exactly these."""
    complete = fixed(label("x"))
    await judged(builtin(name, complete=complete))
    assert complete.calls[0].user == PROMPTS[name]


@pytest.mark.parametrize("name", BUILTIN)
async def test_the_explanation_is_asked_for_before_the_label(name: str) -> None:
    """Step by step, in one JSON object, with the labels that there are."""
    judge = builtin(name)
    system = judge.system_message()
    assert system.index('"explanation"') < system.index('"label"')
    assert "step by step" in system
    assert f"one of: {judge.passing[0]}, {judge.failing[0]}" in system


@pytest.mark.parametrize(
    ("judge", "shown", "reason", "cause"),
    [
        (toxicity(), interaction(reply=" "), "no reply to evaluate", Cause.NOTHING_TO_JUDGE),
        (toxicity(), interaction(failure="boom"), "no reply to evaluate", Cause.INTERACTION_FAILED),
        (toxicity(), interaction(missing=["reply"]), "no reply to evaluate", Cause.NOT_CAPTURED),
        (summarization(), interaction(reply=""), "no document or no summary to evaluate", Cause.NOTHING_TO_JUDGE),
        (summarization(), interaction(asked=" "), "no document or no summary to evaluate", Cause.NOTHING_TO_JUDGE),
        (summarization(), interaction(asked=None), "no document or no summary to evaluate", Cause.NOTHING_TO_JUDGE),
        (summarization(), interaction(failure="x"), "no document or no summary to evaluate", Cause.INTERACTION_FAILED),
        (hallucination(), interaction(reply=None), "no answer to evaluate", Cause.NOTHING_TO_JUDGE),
        (hallucination(), interaction(failure="boom"), "no answer to evaluate", Cause.INTERACTION_FAILED),
        (hallucination(), interaction(), "no tool results to check the answer against", Cause.NOTHING_TO_JUDGE),
        (
            hallucination(),
            interaction(tool_calls=[tool_call("a"), tool_call("b", {}, "  "), tool_call("c", error="boom")]),
            "no tool results to check the answer against",
            Cause.NOTHING_TO_JUDGE,
        ),
        (
            hallucination(),
            interaction(tool_calls=[tool_call("a", gaps=[Gap(field="result", kind=GapKind.NOT_CAPTURED, setting="X=1")])]),
            "no tool results to check the answer against; to capture it: X=1",
            Cause.NOT_CAPTURED,
        ),
    ],
)  # fmt: skip
async def test_without_evidence_it_is_inconclusive(
    judge: LabelJudge, shown: Interaction, reason: str, cause: Cause
) -> None:
    """And nobody is asked: no completion function is given, and none is missed."""
    assert await judged(judge, shown) == Inconclusive(reason, cause)


async def test_only_results_that_say_something_are_references() -> None:
    """A line for each, blank results, failures and calls without a result left out."""
    complete = fixed(label("factual"))
    calls = [
        tool_call("a", {}, "one\ntwo"),
        tool_call("b", {}, " "),
        tool_call("c", error="x"),
        tool_call("d", {}, [1]),
    ]
    await judged(hallucination(complete=complete), interaction(tool_calls=calls))
    assert "[Reference text]\na: one\\ntwo\nd: [1]\n***" in complete.calls[0].user


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (label("slightly toxic"), Errored("the judge's label 'slightly toxic' is none of non-toxic, toxic", "unknown_label", Cause.UNKNOWN_LABEL)),
        ("toxic", Inconclusive("the answer is not one JSON object", Cause.JUDGE_ANSWER_UNUSABLE)),
        ('{"explanation": "x"}', Inconclusive("the answer has no label", Cause.JUDGE_ANSWER_UNUSABLE)),
        (RuntimeError("boom"), Inconclusive("the judge raised RuntimeError: boom", Cause.JUDGE_ERROR)),
        (JudgeUnavailable("down", model="m"), Inconclusive("down", Cause.JUDGE_UNAVAILABLE)),
    ],
)  # fmt: skip
async def test_trouble(answer: Scripted, expected: Outcome) -> None:
    """An unknown label is an error; anything else is inconclusive."""
    assert await judged(toxicity(complete=fixed(answer))) == expected


@pytest.mark.parametrize(
    ("labels", "outcome", "found"),
    [
        (["toxic", "toxic", "non-toxic"], "failed", "toxic"),
        (["non-toxic", "huh", "non-toxic"], "passed", "non-toxic"),
        (["non-toxic", "huh", "toxic"], "inconclusive", None),
        (["huh", "huh", "toxic"], "inconclusive", None),
        (["huh", "hm", "eh"], "error", None),
    ],
)
async def test_the_majority_label_counts(labels: list[str], outcome: str, found: str | None) -> None:
    """Of the usable votes; no majority, no verdict."""
    result = await judged(toxicity(complete=scripted([label(name) for name in labels]), votes=3))
    assert result.name == outcome
    assert getattr(result, "label", None) == found


def polite(complete: CompletionFunction | None = None, **changes: object) -> LabelJudge:
    arguments: dict[str, object] = {
        "system": "You say whether a text is polite.",
        "user": "[Text]\n{reply}",
        "labels": {"pass": ["polite", "neutral"], "fail": "Rude"},
    }
    return label_judge("polite", complete=complete, **{**arguments, **changes})  # type: ignore[arg-type]


async def test_users_declare_label_judges_of_their_own() -> None:
    """System message, user template, labels; several may pass or fail."""
    complete = fixed(label("RUDE", "curt"))
    outcome = await judged(polite(complete))
    assert describe(polite().check, outcome) == "FAIL label-judge: rude — curt"
    assert complete.calls[0].user == "[Text]\nIt is lost."
    assert complete.calls[0].system.startswith("You say whether a text is polite.\n\nAnswer with one JSON object")
    assert await judged(polite(fixed(label("neutral", "x")))) == Passed("x", label="neutral")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": {"pass": "a", "fail": "A "}}, "'a' both passes and fails"),
        ({"labels": {"pass": "a"}}, "pass and fail"),
        ({"labels": {"pass": [], "fail": "b"}}, "at least one label"),
        ({"system": " "}, "system message"),
        ({"user": "{answer}"}, "a template has no {answer}; it may name asked, reply"),
        ({"user": "hello"}, "shows the judge nothing"),
        ({"votes": 2}, "odd number"),
        ({"requires": ["x"]}, "requires takes"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(changes: dict[str, object], message: str) -> None:
    """Naming the mistake and what is allowed."""
    with pytest.raises(EvaluatorDefinitionError, match=message):
        polite(**changes)  # type: ignore[arg-type]


async def test_a_required_field_that_is_a_gap_is_inconclusive() -> None:
    """As for a criterion."""
    outcome = await judged(polite(requires=["asked"]), interaction(missing=["asked"]))
    assert outcome == Inconclusive("asked not captured", Cause.NOT_CAPTURED)


async def test_each_call_runs_in_a_conversation_of_its_own() -> None:
    """Named after the evaluation."""
    context = EvaluationContext(evaluation_id="e" * 32, evaluator_id="toxicity")
    await run(toxicity(complete=fixed(label("toxic"))), SHOWN, context)
    assert [call.conversation_id for call in context.judge_calls] == [f"{'e' * 32}-label-judge"]


async def test_only_what_the_judge_is_shown_can_be_cut() -> None:
    """Whoever judges the reply alone misses nothing of a long question."""
    shown = interaction(asked="y" * 50, reply="x" * 50)
    outcome = await judged(replace(toxicity(complete=fixed(label("toxic"))), max_input_chars=10), shown)
    assert isinstance(outcome, Failed)
    assert outcome.attributes == {"otel_eval.judge.cut": "reply"}


def test_the_version_changes_with_what_the_label_depends_on() -> None:
    """Prompts, labels, requested model and votes."""
    changed = [
        polite(system="Other."),
        polite(user="{reply}"),
        polite(labels={"pass": "polite", "fail": "rude"}),
        polite(model="m"),
        polite(votes=3),
        polite().with_model("m", stands_for="openai/gpt-5"),
    ]
    versions = {judge.version for judge in changed}
    assert len(versions) == len(changed)
    assert polite().version not in versions
    assert polite().version == polite(fixed("x")).version == polite().with_id("other").version


@pytest.mark.parametrize("labels", [{"pass": True, "fail": False}, {"pass": ["a", 1], "fail": "b"}])
def test_a_label_that_is_no_text_is_refused(labels: dict[str, object]) -> None:
    """YAML makes a truth value of an unquoted yes."""
    with pytest.raises(EvaluatorDefinitionError, match="a label is a text"):
        label_judge("p", system="s", user="{reply}", labels=labels)  # type: ignore[arg-type]


@pytest.mark.parametrize("reply", ["\u200b", "\u2800\u3164", "\ufeff \u2060"])
async def test_a_reply_that_shows_nothing_is_blank(reply: str) -> None:
    """Characters that cannot be seen are nothing to judge."""
    outcome = await judged(toxicity(complete=fixed(label("non-toxic"))), interaction(reply=reply))
    assert outcome == Inconclusive("no reply to evaluate", Cause.NOTHING_TO_JUDGE)
