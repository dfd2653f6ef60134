"""What hangs in an experiment costs its own attempt or result, for as long as the settings say, and nothing else."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator

import pytest

from experiment.agents import Shop
from otel_eval.aside import MAX_HUNG
from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.label_judge import label_judge
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.experiment import Experiment
from otel_eval.experiment.report import Report
from otel_eval.experiment.results import Status
from otel_eval.judges import Judge, ModelJudge, completing
from otel_eval.outcome import Cause, Verdict

CASE = EvalCase("a", "Hello")


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """An event that blocked threads wait for; set at the end, so that none outlives its test."""
    event = threading.Event()
    yield event
    event.set()


def run(*evaluators: Evaluator, **settings: object) -> Report:
    shop = Shop()
    given = {"cases": [CASE], "agent": shop, "telemetry": shop.telemetry, "evaluators": evaluators, **settings}
    return Experiment(**given).run()  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["blocks", "waits"])
def test_a_judge_that_hangs_is_inconclusive_by_its_timeout(kind: str, held: threading.Event) -> None:
    """A plain function in a thread of its own, or a coroutine, which is cancelled; another judge gives its verdict."""
    cancelled: list[str] = []

    def blocks(criterion: str, interaction: object) -> Verdict:
        held.wait(30)
        return Verdict(1.0, "late")

    async def waits(criterion: str, interaction: object) -> Verdict:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(criterion)
            raise
        raise AssertionError("never set")

    hanging = Judge.of(blocks if kind == "blocks" else waits)
    quick = Judge.of(lambda criterion, interaction: Verdict(1.0, "fine"))
    report = run(hanging.should_satisfy("it ends"), quick.should_satisfy("it is fine"), evaluator_timeout=0.2)
    assert [result.describe() for result in report.results] == [
        "INCONCLUSIVE judge: it ends: the judge gave no answer within 0.2 s",
        "PASS judge: it is fine: scored 1.00, needed 0.50 — fine",
    ]
    assert report.results[0].outcome.cause is Cause.JUDGE_TIMEOUT
    assert cancelled == ([] if kind == "blocks" else ["it ends"])


def test_a_judge_whose_calls_never_come_back_is_not_asked_any_more(held: threading.Event) -> None:
    """Threads cannot be ended from outside: a long experiment must not collect them, nor wait for each."""
    asked: list[str] = []

    def blocks(criterion: str, interaction: object) -> Verdict:
        asked.append(criterion)
        held.wait(30)
        return Verdict(1.0, "late")

    judge = Judge.of(blocks)
    cases = [EvalCase(f"case-{number}", "Hello", judge.should_satisfy("it ends")) for number in range(MAX_HUNG + 2)]
    report = run(cases=cases, evaluator_timeout=0.05)
    assert len(asked) == MAX_HUNG
    assert report.results[-1].describe() == (
        f"INCONCLUSIVE judge: it ends: the judge was not asked: {MAX_HUNG} earlier calls have not come back"
    )


@pytest.mark.parametrize("given", ["to the judge", "for the test"])
def test_a_completion_function_that_hangs_is_bounded_too(given: str, held: threading.Event) -> None:
    """For criterion judges and label judges alike; only models have limits of their own."""

    def blocks(system: str, user: str) -> str:
        held.wait(30)
        return ""

    own = blocks if given == "to the judge" else None
    labels = {"pass": "polite", "fail": "rude"}
    evaluators = (
        ModelJudge("a/b", complete=own).should_satisfy("it ends"),
        label_judge("polite", system="s", user="{reply}", labels=labels, model="a/b", complete=own),
    )
    if own is None:
        with completing(blocks):
            report = run(*evaluators, evaluator_timeout=0.2)
    else:
        report = run(*evaluators, evaluator_timeout=0.2)
    said = "the completion function gave no answer within 0.2 s"
    assert [result.describe() for result in report.results] == [
        f"INCONCLUSIVE judge: it ends: {said}",
        f"INCONCLUSIVE label-judge: {said}",
    ]


def test_a_timeout_that_the_judge_raises_is_told_as_its_own() -> None:
    """Not as ours: it may have come at once."""

    def times_out(criterion: str, interaction: object) -> Verdict:
        raise TimeoutError("the lookup")

    report = run(Judge.of(times_out).should_satisfy("it ends"), evaluator_timeout=30)
    assert report.results[0].describe() == "INCONCLUSIVE judge: it ends: the judge timed out"


@pytest.mark.parametrize("kind", ["blocks", "waits"])
def test_prepare_that_hangs_is_one_setup_result_by_the_attempts_timeout(kind: str, held: threading.Event) -> None:
    """And the batch goes on: the next attempt is prepared and judged."""
    first = iter([True])

    def blocks(case: EvalCase) -> None:
        if next(first, False):
            held.wait(30)

    async def waits(case: EvalCase) -> None:
        if next(first, False):
            await asyncio.Event().wait()

    judge = Judge.of(lambda criterion, interaction: Verdict(1.0, "fine"))
    prepare = blocks if kind == "blocks" else waits
    report = run(judge.should_satisfy("it is fine"), prepare=prepare, timeout=0.3, repeat=2)
    assert [attempt.status for attempt in report.attempts] == [Status.ERROR, Status.PASSED]
    assert report.results[0].describe() == "ERROR setup: prepare took longer than 0.3 s"


@pytest.mark.parametrize("raised", [TimeoutError("the lookup"), StopIteration("x"), SystemExit(3)])
def test_what_a_plain_prepare_raises_is_told(raised: BaseException) -> None:
    """Also what no coroutine could raise, and a timeout of its own."""

    def prepare(case: EvalCase) -> None:
        raise raised

    report = run(prepare=prepare, timeout=30)
    assert str(raised) in report.results[0].describe()
    assert report.results[0].check == "setup"


def test_what_a_plain_prepare_sets_in_the_context_is_there_for_the_agent() -> None:
    """It runs in a thread, and its context variables are the attempt's all the same, and no other's."""
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")
    seen: list[str] = []
    shop = Shop()

    def prepare(case: EvalCase) -> None:
        tenant.set(case.id)

    def agent(command: str) -> str:
        seen.append(tenant.get())
        return shop(command)

    run(cases=[EvalCase("a", "Hello"), EvalCase("b", "Hello")], agent=agent, telemetry=shop.telemetry, prepare=prepare)
    assert seen == ["a", "b"]
    assert tenant.get() == "nobody"
