"""What holds for every evaluator, tried on each exact one, and the boundary at which one may break."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import math
from collections.abc import Iterable
from fractions import Fraction

import pytest

from otel_eval.evaluators.checks import CHECKS, Check
from otel_eval.evaluators.contract import EvaluationContext, Evaluator, run
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.interaction import Gap, GapKind, Interaction, ToolCall, Totals
from otel_eval.outcome import Cause, Errored, Evaluation, Failed, Inconclusive, Outcome, Passed
from otel_eval.testing.interactions import interaction, tool_call

every_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)

FIELDS = ("asked", "reply", "tool_calls", "model_calls", "usage", "system", "history", "session", "agent", "failure",
          "started_ns", "ended_ns")  # fmt: skip
CALL_FIELDS = ("arguments", "result", "error")


def busy() -> Interaction:
    """An Interaction with something in every field that an evaluator reads."""
    return interaction(
        reply="I have refunded 49.99 to 4111 1111 1111 1111, ref_1.",
        tool_calls=[
            tool_call("getOrder", {"orderId": "o_42", "deep": {"list": [1, 2.0, None]}}, {"status": "delivered"}),
            tool_call("issueRefund", {"orderId": "o_42"}, error="TimeoutError: too slow"),
        ],
    )


def with_gap(whole: Interaction, field: str, kind: GapKind, *, keep: bool) -> Interaction:
    """The Interaction with that gap, the field's content kept (a part of more) or gone."""
    gap = Gap(field=field, kind=kind, setting="OTEL_CAPTURE=true")
    emptied = {"tool_calls": (), "model_calls": (), "history": (), "usage": type(whole.usage)(), "agent": None}
    content = {} if keep or field == "session" else {field: emptied.get(field)}
    return dataclasses.replace(whole, gaps=(gap,), totals=whole.totals if keep else Totals(), **content)


def degraded(whole: Interaction) -> Iterable[Interaction]:
    """Every gap of every kind on every field, with and without content left; the same for the fields of tool calls."""
    for kind in GapKind:
        for field in FIELDS:
            yield with_gap(whole, field, kind, keep=True)
            yield with_gap(whole, field, kind, keep=False)
        for field in CALL_FIELDS:
            gap = Gap(field=field, kind=kind)
            for content in ({}, {field: None}):
                calls = tuple(dataclasses.replace(call, gaps=(gap,), **content) for call in whole.tool_calls)
                yield dataclasses.replace(whole, tool_calls=calls)
            by_place = Gap(field=f"tool_calls[0].{field}", kind=kind)
            yield dataclasses.replace(whole, gaps=(by_place,))
    yield dataclasses.replace(whole, complete=False)
    yield Interaction(id="a-b", trace_id="a", span_id="b")
    yield Interaction(id="a-b", trace_id="a", span_id="b", tool_calls=(ToolCall(name="getOrder"),), complete=False)


def example(check: Check) -> Evaluator:
    return check.factory(*check.example)


@every_check
async def test_the_same_interaction_gives_the_same_outcome(check: Check, context: EvaluationContext) -> None:
    """Twice, and by two evaluators of one definition, the outcome is equal."""
    outcomes = [await run(example(check), busy(), context) for _ in range(2)]
    assert outcomes[0] == outcomes[1]
    assert not isinstance(outcomes[0], Errored)


@every_check
async def test_the_interaction_is_not_changed(check: Check, context: EvaluationContext) -> None:
    """What the Interaction holds, mutable JSON included, is after the evaluation as it was before."""
    judged = busy()
    before = copy.deepcopy(judged)
    await run(example(check), judged, context)
    assert judged == before
    assert context.judge_calls == []


@every_check
async def test_every_gap_on_every_field_is_survived(check: Check, context: EvaluationContext) -> None:
    """No gap makes an evaluator break, and what it says then is never blank."""
    for lacking in degraded(busy()):
        outcome = await run(example(check), lacking, context)
        assert isinstance(outcome, Evaluation | Inconclusive), (lacking.gaps, outcome)
        assert (outcome.explanation if isinstance(outcome, Evaluation) else outcome.reason).strip()


@every_check
async def test_without_any_evidence_nothing_is_decided(check: Check, context: EvaluationContext) -> None:
    """An Interaction whose telemetry carries no content gives inconclusive, with the gap's cause and setting."""
    gaps = tuple(Gap(field=field, kind=GapKind.NOT_CAPTURED, setting="OTEL_CAPTURE=true") for field in FIELDS)
    empty = Interaction(id="a-b", trace_id="a", span_id="b", gaps=gaps)
    outcome = await run(example(check), empty, context)
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause is Cause.NOT_CAPTURED
    assert "OTEL_CAPTURE=true" in outcome.reason


@every_check
async def test_without_the_agent_span_nothing_passes_that_could_still_go_wrong(
    check: Check, context: EvaluationContext
) -> None:
    """An incomplete Interaction with nothing in it gives inconclusive: incomplete."""
    bare = Interaction(id="a-b", trace_id="a", span_id="b", complete=False)
    outcome = await run(example(check), bare, context)
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause is Cause.INCOMPLETE
    assert outcome.reason.startswith("the agent span never came")


@every_check
def test_ids_are_readable_and_stable_and_no_part_of_the_version(check: Check) -> None:
    """The default id is the call that makes the evaluator; a renamed copy keeps class, check and version."""
    evaluator = example(check)
    assert evaluator.id.startswith(f"{check.name}(")
    assert evaluator.id == example(check).id
    renamed = evaluator.with_id("mine")
    assert (renamed.id, evaluator.id) == ("mine", example(check).id)
    assert type(renamed) is type(evaluator)
    assert (renamed.version, renamed.check) == (evaluator.version, check.kind)
    assert evaluator == example(check)
    assert renamed != evaluator


def test_failures_and_budgets_run_on_failed_interactions_unless_told_otherwise() -> None:
    """trigger_on_failure is true for no-failure, no-tool-errors and the budgets, and for nothing else."""
    triggered = {check.kind for check in CHECKS if example(check).trigger_on_failure}
    budgets = {"tool-call-budget", "model-call-budget", "token-budget", "latency-budget"}
    assert triggered == {"no-failure", "no-tool-errors", *budgets}


class Custom(Evaluator):
    """An evaluator that does what its test tells it to."""

    check = "custom"

    def __init__(self, does: object = None) -> None:
        self.does = does

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        if isinstance(self.does, BaseException):
            raise self.does
        return self.does  # type: ignore[return-value]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("does", "reason", "error_type"),
    [
        (ValueError("bad"), "ValueError: bad", "ValueError"),
        (KeyError(), "KeyError", "KeyError"),
        (SystemExit(3), "SystemExit: 3", "SystemExit"),
        (asyncio.CancelledError("a cancelled part"), "CancelledError: a cancelled part", "CancelledError"),
        (Unprintable(), "Unprintable: (its message could not be read)", "Unprintable"),
        (
            None,
            "custom returned NoneType, not an outcome: Passed(…), Failed(…), Inconclusive(…), True or False",
            "invalid_outcome",
        ),
        (
            0.5,
            "custom returned float, not an outcome: Passed(…), Failed(…), Inconclusive(…), True or False",
            "invalid_outcome",
        ),
        (Passed(12), "custom returned explanation 12, which is not a text", "invalid_outcome"),  # type: ignore[arg-type]
        (Passed("", label=3), "custom returned label 3, which is not a text", "invalid_outcome"),  # type: ignore[arg-type]
        (Passed("", score=math.nan), "custom returned score nan, which is not a finite number", "invalid_outcome"),
        (Failed("", score=True), "custom returned score True, which is not a finite number", "invalid_outcome"),
        (
            Passed("", attributes={"a": [1]}),  # type: ignore[dict-item]
            "custom returned attribute a [1], which is neither text nor a number nor a truth value",
            "invalid_outcome",
        ),
        (
            Inconclusive("", "mine"),  # type: ignore[arg-type]
            "custom returned a cause that is none of Cause's: 'mine'",
            "invalid_outcome",
        ),
        (
            Errored("", error_type=None),  # type: ignore[arg-type]
            "custom returned error_type None, which is not a text",
            "invalid_outcome",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_one_that_breaks_ends_as_error(
    does: object, reason: str, error_type: str, context: EvaluationContext
) -> None:
    """Whatever an evaluator raises, and whatever it returns that is no outcome, is an error outcome that says so."""
    outcome = await run(Custom(does), interaction(), context)
    assert isinstance(outcome, Errored)
    where = "(test_contract.py:" if isinstance(does, BaseException) else ""
    assert outcome.reason.startswith(f"{reason} {where}") if where else outcome.reason == reason
    assert (outcome.error_type, outcome.cause) == (error_type, Cause.EVALUATOR_ERROR)


async def test_numbers_of_another_kind_become_pythons(context: EvaluationContext) -> None:
    """As libraries give them; what is no finite number, or not there, is no reason to lose the verdict."""
    given = {"count": Fraction(4, 2), "rate": Fraction(1, 4), "spread": math.nan, "nothing": None, "flag": True}
    outcome = await run(Custom(Passed("", score=Fraction(3, 4), attributes=given)), interaction(), context)  # type: ignore[arg-type]
    assert outcome == Passed("", score=0.75, attributes={"count": 2.0, "rate": 0.25, "spread": "nan", "flag": True})
    assert type(outcome.score) is float


async def test_cancellation_passes_through(context: EvaluationContext) -> None:
    """A cancelled evaluation is cancelled, not an error outcome."""
    started = asyncio.Event()

    class Waits(Custom):
        async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:  # type: ignore[override]
            started.set()
            await asyncio.Event().wait()
            raise AssertionError("never woken")

    task = asyncio.create_task(run(Waits(), interaction(), context))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_async_evaluator_is_awaited(context: EvaluationContext) -> None:
    """evaluate may be a coroutine."""

    class Later(Custom):
        async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:  # type: ignore[override]
            await asyncio.sleep(0)
            return Passed("later")

    assert await run(Later(), interaction(), context) == Passed("later")


class ByProperty(Custom):
    @property
    def id(self) -> str:
        return "by-property"


class ByAttribute(Custom):
    id = "by-attribute"


@dataclasses.dataclass(frozen=True, slots=True)
class ByField(Evaluator):
    id: str = "by-field"
    version: str = "7"
    check = "custom"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        return Failed("no")


@pytest.mark.parametrize(
    ("made", "default"),
    [(Custom(), "custom"), (ByProperty(), "by-property"), (ByAttribute(), "by-attribute"), (ByField(), "by-field")],
    ids=lambda value: type(value).__name__,
)
def test_with_id_renames_however_a_class_names_itself(made: Evaluator, default: str) -> None:
    """A property, an attribute or a field named id gives the default, and the binding's id wins over it."""
    assert made.id == default
    renamed = made.with_id("bound")
    assert (renamed.id, made.id, type(renamed)) == ("bound", default, type(made))
    assert renamed.with_id("again").id == "again"
    assert renamed.version == made.version


@pytest.mark.parametrize("blank", ["", "  ", None])
def test_a_blank_id_is_refused(blank: str) -> None:
    """An id that nobody could read is a definition error."""
    with pytest.raises(EvaluatorDefinitionError, match="not blank"):
        Custom().with_id(blank)


def test_a_declared_version_is_the_version() -> None:
    """A class attribute or a field named version is what records carry."""

    class Declared(Custom):
        version = "2025-01"

    assert (Declared().version, ByField().version) == ("2025-01", "7")
