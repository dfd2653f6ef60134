"""The check ``judge``: scores against thresholds, votes, and what becomes of trouble."""

from __future__ import annotations

import asyncio
import math
import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.criterion import JudgeEvaluator, score_texts, should_satisfy, should_score_at_least
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.interaction import Failure, Gap, GapKind, Interaction
from otel_eval.judges import (
    BudgetSpent,
    Judge,
    Judges,
    JudgeTimeout,
    JudgeUnavailable,
    ModelAnswer,
    ModelJudge,
    ModelRequest,
    completing,
)
from otel_eval.outcome import Cause, Failed, Inconclusive, Outcome, Passed, Verdict, describe
from otel_eval.testing.interactions import interaction, tool_call
from otel_eval.testing.models import fixed, scripted, verdict

ASKED = interaction(asked="Where is it?", reply="Sorry, it is lost.")


def context(judges: Judges | None = None) -> EvaluationContext:
    return EvaluationContext(evaluation_id="e" * 32, evaluator_id="polite", judges=judges)


async def judged(evaluator: JudgeEvaluator, shown: Interaction = ASKED, judges: Judges | None = None) -> Outcome:
    return await run(evaluator, shown, context(judges))


def scoring(score: float, reason: str = "it does") -> Judge:
    return Judge.of(lambda criterion, shown: Verdict(score, reason))


@pytest.mark.parametrize(
    ("evaluator", "line"),
    [
        (scoring(0.9).should_satisfy("it apologizes"), "PASS judge: it apologizes: scored 0.90, needed 0.50 — it does"),
        (scoring(0.5).should_satisfy("it apologizes"), "PASS judge: it apologizes: scored 0.50, needed 0.50 — it does"),
        (scoring(0.49).should_satisfy("it apologizes"), "FAIL judge: it apologizes: scored 0.49, needed 0.50 — it does"),
        (scoring(0.499).should_satisfy("x"), "FAIL judge: x: scored 0.499, needed 0.500 — it does"),
        (scoring(0).should_score_at_least("x", 0), "PASS judge: x: scored 0.00, needed 0.00 — it does"),
        (scoring(0.99).should_score_at_least("x", 1), "FAIL judge: x: scored 0.99, needed 1.00 — it does"),
        (should_satisfy("x", judge=scoring(1)), "PASS judge: x: scored 1.00, needed 0.50 — it does"),
        (should_score_at_least("x", 0.7, judge=scoring(0.7)), "PASS judge: x: scored 0.70, needed 0.70 — it does"),
    ],
)  # fmt: skip
async def test_the_result_describes_itself_on_one_line(evaluator: JudgeEvaluator, line: str) -> None:
    """Criterion, score, threshold and the judge's reason."""
    assert describe(evaluator.check, await judged(evaluator)) == line


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), True])
def test_a_threshold_is_from_zero_to_one(threshold: float) -> None:
    """Anything else is refused at once."""
    with pytest.raises(EvaluatorDefinitionError, match="a threshold is from 0 to 1"):
        scoring(1).should_score_at_least("x", threshold)


@pytest.mark.parametrize("judge", ["openai/gpt-4o-mini", ModelJudge, len, 0])
def test_what_is_no_judge_is_refused(judge: Any) -> None:
    """At once and in so many words, not when it is asked; and nobody else is asked in its place."""
    for make in (should_satisfy, partial(should_score_at_least, threshold=0.5)):
        with pytest.raises(EvaluatorDefinitionError, match=r"judge is ModelJudge\(model=…\), Judge.of\(function\) or"):
            make("x", judge=judge)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"criterion": " "}, "a criterion is one sentence"),
        ({"criterion": "x", "votes": 2}, "odd number"),
        ({"criterion": "x", "votes": 0}, "odd number"),
        ({"criterion": "x", "requires": ["tool_reslts"]}, "requires takes asked, reply"),
    ],
)
def test_a_criterion_that_cannot_be_judged_is_refused(arguments: dict[str, object], message: str) -> None:
    """Blank criteria, even votes, unknown fields."""
    with pytest.raises(EvaluatorDefinitionError, match=message):
        scoring(1).should_satisfy(**arguments)  # type: ignore[arg-type]


def test_one_judge_serves_any_number_of_criteria() -> None:
    """A judge holds no criterion."""
    judge = ModelJudge(complete=fixed(1))
    assert judge.should_satisfy("a").version != judge.should_satisfy("b").version
    assert judge.should_satisfy("a").judge is judge.should_satisfy("b").judge


@pytest.mark.parametrize(
    ("shown", "reason", "cause"),
    [
        (interaction(reply=""), "c: no reply to judge", Cause.NOTHING_TO_JUDGE),
        (interaction(reply=" \n"), "c: no reply to judge", Cause.NOTHING_TO_JUDGE),
        (interaction(reply=None, failure=Failure(message="boom")), "c: no reply to judge: the agent failed: boom", Cause.INTERACTION_FAILED),
        (
            interaction(reply=None, gaps=(Gap(field="reply", kind=GapKind.NOT_CAPTURED, setting="CAPTURE=true"),)),
            "c: reply not captured; to capture it: CAPTURE=true",
            Cause.NOT_CAPTURED,
        ),
        (interaction(missing={"reply": GapKind.REDACTED}), "c: reply redacted", Cause.REDACTED),
    ],
)  # fmt: skip
async def test_without_a_reply_there_is_nothing_to_judge(shown: Interaction, reason: str, cause: Cause) -> None:
    """Inconclusive, and nobody is asked."""
    complete = fixed(1)
    assert await judged(ModelJudge(complete=complete).should_satisfy("c"), shown) == Inconclusive(reason, cause)
    assert complete.calls == []


async def test_a_failed_interaction_with_a_reply_is_judged() -> None:
    """The binding decides whether it comes here at all."""
    assert isinstance(await judged(scoring(1).should_satisfy("c"), interaction(failure="boom")), Passed)


@pytest.mark.parametrize(
    ("requires", "shown", "reason"),
    [
        (["asked"], interaction(missing=["asked"]), "c: asked not captured"),
        (["tool_results"], interaction(missing=["tool_calls"]), "c: tool calls not captured"),
        (
            ["tool_results"],
            interaction(tool_calls=[tool_call("a"), tool_call("b", gaps=[Gap(field="result", kind=GapKind.TRUNCATED)])]),
            "c: result of b truncated",
        ),
        (
            ["tool_arguments"],
            interaction(tool_calls=[tool_call("a", gaps=[Gap(field="arguments", kind=GapKind.DROPPED)])]),
            "c: arguments of a dropped by the SDK",
        ),
    ],
)  # fmt: skip
async def test_a_required_field_that_is_a_gap_is_inconclusive(
    requires: list[str], shown: Interaction, reason: str
) -> None:
    """What was not captured cannot be judged."""
    outcome = await judged(scoring(1).should_satisfy("c", requires=requires), shown)
    assert isinstance(outcome, Inconclusive)
    assert outcome.reason == reason


async def test_a_gap_that_is_not_required_is_no_obstacle() -> None:
    """Results missing for a criterion about politeness."""
    calls = [tool_call("a", gaps=[Gap(field="result", kind=GapKind.NOT_CAPTURED)])]
    evaluator = scoring(1).should_satisfy("c", requires=["tool_arguments"])
    assert isinstance(await judged(evaluator, interaction(tool_calls=calls)), Passed)


TROUBLE = [
    (RuntimeError("boom"), "c: the judge raised RuntimeError: boom", Cause.JUDGE_ERROR),
    (TimeoutError(), "c: the judge timed out", Cause.JUDGE_TIMEOUT),
    (JudgeTimeout("no answer within 30 s"), "c: no answer within 30 s", Cause.JUDGE_TIMEOUT),
    (BudgetSpent("budget spent: default"), "c: budget spent: default", Cause.BUDGET_SPENT),
    (JudgeUnavailable("default: HTTP 429", model="default"), "c: default: HTTP 429", Cause.JUDGE_UNAVAILABLE),
    (JudgeUnavailable("slow", model="m", cause=Cause.JUDGE_TIMEOUT), "c: slow", Cause.JUDGE_TIMEOUT),
    ("no JSON at all", "c: the answer is not one JSON object", Cause.JUDGE_ANSWER_UNUSABLE),
    ('{"reason": "x"}', "c: the answer has no score", Cause.JUDGE_ANSWER_UNUSABLE),
    ('{"reason": "x", "score": NaN}', "c: the answer is not one JSON object", Cause.JUDGE_ANSWER_UNUSABLE),
    ('{"reason": "x", "score": 7}', "c: the score is not from 0 to 1", Cause.JUDGE_ANSWER_UNUSABLE),
]


@pytest.mark.parametrize(("answer", "reason", "cause"), TROUBLE, ids=lambda value: str(value)[:30])
async def test_trouble_with_the_judge_is_inconclusive(answer: str | Exception, reason: str, cause: Cause) -> None:
    """Never a failure, never a score, never an error of the evaluator."""
    outcome = await judged(ModelJudge(complete=fixed(answer)).should_satisfy("c"))
    assert outcome == Inconclusive(reason, cause)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


async def test_a_judge_whose_exception_cannot_say_what_it_is_is_inconclusive() -> None:
    """It gave no verdict all the same; the class is told."""
    outcome = await judged(ModelJudge(complete=fixed(Unprintable())).should_satisfy("c"))
    assert outcome == Inconclusive(
        "c: the judge raised Unprintable: (its message could not be read)", Cause.JUDGE_ERROR
    )


ODD_ANSWERS = [
    ({"text": 12}, "returned int, not text"),
    ({"input_tokens": "12"}, "told input_tokens '12', which cannot be"),
    ({"output_tokens": -1}, "told output_tokens -1, which cannot be"),
    ({"cost_usd": "0.1"}, "told cost_usd '0.1', which cannot be"),
    ({"cost_usd": math.nan}, "told cost_usd nan, which cannot be"),
    ({"model": 3}, "told model 3, which cannot be"),
]


@pytest.mark.parametrize(("odd", "told"), ODD_ANSWERS, ids=[told for _, told in ODD_ANSWERS])
async def test_an_answer_that_no_record_can_hold_is_none(odd: dict[str, Any], told: str) -> None:
    """Nothing of it is kept: counters, records and what is exported have to take it."""

    async def complete(request: ModelRequest) -> ModelAnswer:
        return ModelAnswer(**{"text": verdict(1.0), **odd})

    asked = context()
    outcome = await run(ModelJudge(complete=complete).should_satisfy("c"), ASKED, asked)
    assert outcome == Inconclusive(f"c: the completion function {told}", outcome.cause)  # type: ignore[union-attr]
    (call,) = asked.judge_calls
    assert (call.answer, call.answered_model, call.input_tokens, call.cost_usd) == (None, None, None, None)


async def test_a_judge_that_returns_no_verdict_is_inconclusive() -> None:
    """Also a number or a dictionary."""
    outcome = await judged(Judge.of(lambda criterion, shown: 0.9).should_satisfy("c"))  # type: ignore[arg-type, return-value]
    assert outcome == Inconclusive(
        "c: the judge raised TypeError: _FunctionJudge returned float, not a Verdict", Cause.JUDGE_ERROR
    )


async def test_a_verdict_out_of_range_is_inconclusive() -> None:
    """The judge raised: it tried to make one."""
    outcome = await judged(Judge.of(lambda criterion, shown: Verdict(1.5, "great")).should_satisfy("c"))
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause is Cause.JUDGE_ERROR


async def test_an_unavailable_judge_is_told_to_whoever_keeps_a_backlog() -> None:
    """The evaluator raises; only run() makes it inconclusive."""
    down = JudgeUnavailable("down", model="default", retry_after=7)
    evaluator = ModelJudge(complete=fixed(down)).should_satisfy("c")
    with pytest.raises(JudgeUnavailable) as raised:
        await evaluator.evaluate(ASKED, context())
    assert (raised.value.retry_after, raised.value.reason) == (7, "c: down")


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([0.2, 0.9, 0.6], 0.6), ([0.1, 0.9, 0.9], 0.9), ([0.4, "no verdict", 0.6], 0.4), ([0.3, 0.8, 0.8, 0.1, 0.2], 0.3)],
)
async def test_the_low_median_of_the_usable_votes_counts(scores: list[float | str], expected: float) -> None:
    """Always a score that was given."""
    evaluator = ModelJudge(complete=scripted(scores)).should_satisfy("c", votes=len(scores))
    here = context()
    outcome = await run(evaluator, ASKED, here)
    assert isinstance(outcome, Passed | Failed)
    assert outcome.score == expected
    assert len(str(outcome.attributes["otel_eval.judge.votes"]).split(",")) == sum(
        not isinstance(s, str) for s in scores
    )
    assert len(here.judge_calls) == len(scores)


async def test_fewer_usable_votes_than_a_majority_are_inconclusive() -> None:
    """One of three does not decide."""
    outcome = await judged(ModelJudge(complete=scripted([0.9, "x", "y"])).should_satisfy("c", votes=3))
    assert outcome == Inconclusive(
        "c: 1 of 3 votes usable: the answer is not one JSON object", Cause.JUDGE_VOTES_UNUSABLE
    )


async def test_votes_are_asked_for_at_the_same_time_in_conversations_of_their_own() -> None:
    """No vote knows of another."""
    together = asyncio.Barrier(3)

    async def complete(system: str, user: str) -> str:
        await asyncio.wait_for(together.wait(), 5)
        return verdict(1)

    here = context()
    await run(ModelJudge(complete=complete).should_satisfy("c", votes=3), ASKED, here)
    names = [call.conversation_id for call in here.judge_calls]
    assert names == [f"{'e' * 32}-judge", f"{'e' * 32}-judge-2", f"{'e' * 32}-judge-3"]


async def test_what_was_asked_and_answered_is_on_the_record() -> None:
    """People ask why."""
    here = context()
    await run(ModelJudge("strict", complete=fixed(0.9, "it does")).should_satisfy("c"), ASKED, here)
    [call] = here.judge_calls
    assert call.requested_model == "strict"
    assert call.system_message is not None
    assert call.system_message.startswith("You judge")
    assert call.user_message is not None
    assert call.user_message.startswith("Criterion:\nc\n")
    assert call.answer == verdict(0.9, "it does")
    assert 0 < call.started_ns <= call.ended_ns


async def test_a_cut_input_is_recorded_on_the_evaluation() -> None:
    """Which fields the judge saw only a part of."""
    outcome = await judged(
        ModelJudge(complete=fixed(1), max_input_chars=10).should_satisfy("c"),
        interaction(reply="x" * 50, asked="y" * 50),
    )
    assert isinstance(outcome, Passed)
    assert outcome.attributes == {"otel_eval.judge.cut": "asked,reply"}


@pytest.mark.parametrize(
    ("options", "cut"),
    [
        ({}, "reply"),
        ({"include": ["system"]}, "reply,system"),
        ({"user_message": "{criterion}\n{tools}"}, "tool_calls"),
        ({"user_message": lambda criterion, shown: "all of it"}, "reply,system,tool_calls"),
    ],
)  # fmt: skip
async def test_only_what_the_judge_is_shown_can_be_cut(options: dict[str, Any], cut: str) -> None:
    """Long instructions that it never sees are not missing from what it judged."""
    shown = interaction(reply="x" * 50, asked="y", system="z" * 50, tool_calls=[tool_call("t", None, "r" * 500)])
    if "user_message" not in options:
        shown = replace(shown, tool_calls=())
    outcome = await judged(ModelJudge(complete=fixed(1), max_input_chars=10, **options).should_satisfy("c"), shown)
    assert isinstance(outcome, Passed)
    assert outcome.attributes == {"otel_eval.judge.cut": cut}


async def test_a_plain_judge_does_not_hold_the_event_loop() -> None:
    """A sync one runs in a thread and may block."""
    threads = []

    def decide(criterion: str, shown: Interaction) -> Verdict:
        threads.append(threading.current_thread())
        return Verdict(1, "")

    await judged(Judge.of(decide).should_satisfy("c"))
    assert threads != [threading.current_thread()]


async def test_a_judge_may_be_async() -> None:
    """Of a function, or a class."""

    async def decide(criterion: str, shown: Interaction) -> Verdict:
        await asyncio.sleep(0)
        return Verdict(0.7, criterion)

    outcome = await judged(Judge.of(decide).should_satisfy("c"))
    assert isinstance(outcome, Passed)
    assert outcome.score == 0.7


async def test_a_judge_made_of_judges_asks_in_the_same_conversation() -> None:
    """A judge of the user's that asks a model judge leaves its calls on the record."""

    class Harsher(Judge):
        async def decide(self, criterion: str, shown: Interaction) -> Verdict:
            first = await ModelJudge(complete=fixed(0.9)).decide(criterion, shown)
            return Verdict(first.score / 2, "halved")

    here = context()
    outcome = await run(Harsher().should_satisfy("c"), ASKED, here)
    assert isinstance(outcome, Failed)
    assert [call.conversation_id for call in here.judge_calls] == [f"{'e' * 32}-judge"]


async def test_cancelling_reaches_the_completion_and_is_no_outcome() -> None:
    """The call that was under way is still on the record."""
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def complete(system: str, user: str) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return ""

    here = context()
    task = asyncio.create_task(run(ModelJudge(complete=complete).should_satisfy("c"), ASKED, here))
    await asyncio.wait_for(started.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()
    assert [call.error for call in here.judge_calls] == ["CancelledError"]


async def test_which_completion_function_is_asked() -> None:
    """The judge's own, then the test's, then the run's; each before any model."""
    judges = Judges(complete=fixed(0.3))
    own, bare = ModelJudge("m", complete=fixed(0.1)), ModelJudge("m")
    scores = []
    for judge in (own, bare):
        with completing(fixed(0.2)):
            scores.append(await judged(judge.should_satisfy("c"), judges=judges))
        scores.append(await judged(judge.should_satisfy("c"), judges=judges))
    assert [getattr(outcome, "score", None) for outcome in scores] == [0.1, 0.1, 0.2, 0.3]


async def test_without_any_model_it_says_so() -> None:
    """Inconclusive, and what to configure."""
    outcome = await judged(should_satisfy("c"))
    assert outcome == Inconclusive(
        "c: no judge model is named, and none is configured as judge_models.default: "
        "name one, as openai/gpt-4o-mini, or give the configuration that has it",
        Cause.JUDGE_ERROR,
    )


def test_the_version_changes_with_what_the_verdict_depends_on() -> None:
    """Criterion, threshold, prompts, requested model and votes; not the id, not the completion function."""
    judge = ModelJudge("m")
    base = judge.should_satisfy("c")
    changed = [
        judge.should_satisfy("d"),
        judge.should_score_at_least("c", 0.6),
        judge.should_satisfy("c", votes=3),
        judge.should_satisfy("c", requires=["asked"]),
        judge.with_model("n").should_satisfy("c"),
        judge.with_model("m", stands_for="openai/gpt-5").should_satisfy("c"),
        judge.with_system_message("x").should_satisfy("c"),
        judge.with_user_message("{reply}").should_satisfy("c"),
        judge.with_user_message(lambda criterion, shown: "x").should_satisfy("c"),
        ModelJudge("m", include=["system"]).should_satisfy("c"),
        scoring(1).should_satisfy("c"),
    ]
    versions = {evaluator.version for evaluator in changed}
    assert len(versions) == len(changed)
    assert base.version not in versions
    assert base.with_id("other").version == base.version == judge.with_complete(fixed(1)).should_satisfy("c").version


def test_ids_are_readable() -> None:
    """As the sentence reads; a binding gives another."""
    assert should_satisfy("it apologizes").id == "should_satisfy(it apologizes)"
    assert should_score_at_least("x", 0.7).id == "should_score_at_least(x, 0.7)"
    assert should_satisfy("x").with_id("polite").id == "polite"


@pytest.mark.parametrize(
    ("score", "threshold", "texts"),
    [(0.5, 0.5, ("0.50", "0.50")), (0.4999, 0.5, ("0.4999", "0.5000")), (0.9, 0.5, ("0.90", "0.50"))],
)
def test_scores_are_shown_so_that_they_differ_where_they_do(
    score: float, threshold: float, texts: tuple[str, str]
) -> None:
    """Two decimals, or as many as it takes."""
    assert score_texts(score, threshold) == texts


@pytest.mark.parametrize(
    ("field", "shown", "cause"),
    [
        ("asked", interaction(asked=None), Cause.NOT_CAPTURED),
        ("session", interaction(session=None), Cause.NOT_CAPTURED),
        ("tool_results", interaction(complete=False), Cause.INCOMPLETE),
    ],
)
async def test_a_required_field_that_is_absent_is_as_good_as_a_gap(
    field: str, shown: Interaction, cause: Cause
) -> None:
    """None says that the telemetry does not tell, also where no gap says why."""
    outcome = await judged(scoring(1).should_satisfy("kind", requires=(field,)), shown)
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause is cause


async def test_a_reply_that_shows_nothing_is_not_judged() -> None:
    """Zero-width characters are no reply."""
    outcome = await judged(scoring(1).should_satisfy("kind"), interaction(reply="\u200b\ufeff"))
    assert outcome == Inconclusive("kind: no reply to judge", Cause.NOTHING_TO_JUDGE)
