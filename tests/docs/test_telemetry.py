"""docs/telemetry.md says what is emitted, and all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from docs.generate_telemetry import ALWAYS, EVALUATION, JUDGE, PAGE, SPAN, Attribute, page
from otel_eval.emit.attributes import Wording, evaluation_attributes, judge_attributes, span_attributes
from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Outcome, Passed
from otel_eval.record import EvaluationRecord, JudgeCall
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record

TYPES = {"string": str, "double": float, "int": int}
OUTCOMES: tuple[Outcome, ...] = (
    Passed(explanation="well", score=0.9, label="good", attributes={"words": 4}),
    Failed(explanation="badly", score=0.1),
    Inconclusive(reason="nothing there", cause=Cause.NOT_CAPTURED),
    Errored(reason="broke", error_type="KeyError"),
)
WHOLE = interaction(agent="support-agent", session="s1")
BARE = EvaluationRecord(
    id="e",
    interaction_id="i",
    trace_id="a" * 32,
    span_id="b" * 16,
    agent=None,
    session=None,
    evaluator="polite",
    evaluator_version="1",
    check="judge",
    outcome=Passed(explanation="well"),
)
CALLS = (
    JudgeCall(
        conversation_id="e-judge",
        requested_model="openai/gpt-4o-mini",
        answered_model="gpt-4o-mini",
        response_id="r1",
        system_message="You judge.",
        user_message="The reply: hi",
        answer='{"score": 1}',
        input_tokens=9,
        output_tokens=2,
        cost_usd=0.001,
    ),
    JudgeCall(conversation_id="e-judge", requested_model="local", error="Timeout: no answer"),
)


def record(outcome: Outcome) -> EvaluationRecord:
    """A record with everything that a record may have."""
    return evaluation_record(
        WHOLE, "polite", outcome, threshold=0.5, service="shop", environment="production", judge_calls=CALLS
    )


def emitted(attributes: Iterable[dict[str, Any]]) -> dict[str, set[type]]:
    """Every name with the types of its values; what an evaluator adds under one name."""
    found: dict[str, set[type]] = {}
    for each in attributes:
        for name, value in each.items():
            name = "otel_eval.attribute.*" if name.startswith("otel_eval.attribute.") else name
            found.setdefault(name, set()).add(type(value))
    return found


def hold(table: Iterable[Attribute], written: dict[str, set[type]]) -> None:
    """The table and what was written name the same attributes, of the same types."""
    assert {each.name for each in table} == set(written)
    for each in table:
        if each.type in TYPES:
            assert written[each.name] == {TYPES[each.type]}, each.name


def test_the_page_is_what_the_table_gives() -> None:
    """Run ``python -m docs.generate_telemetry`` after a change of what is emitted."""
    assert page(PAGE.read_text()) == PAGE.read_text()


def test_what_events_and_spans_say_is_in_the_tables() -> None:
    """Every attribute of every outcome, and no other."""
    events = [evaluation_attributes(record(outcome), "r9", Wording()) for outcome in OUTCOMES]
    hold(EVALUATION, emitted(events))
    hold((*EVALUATION, *SPAN), emitted(span_attributes(record(outcome), "r9", Wording()) for outcome in OUTCOMES))
    hold(JUDGE, emitted(judge_attributes(call, Wording()) for call in CALLS))


def test_what_is_always_there_is_there_in_the_barest_record() -> None:
    """And what is not said to be always there is not."""
    bare = evaluation_attributes(BARE, None, Wording(content=False))
    assert set(bare) == {*(each.name for each in EVALUATION if each.when == ALWAYS), "gen_ai.evaluation.score.label"}
    silent = judge_attributes(JudgeCall(conversation_id="c", requested_model="local"), Wording(content=False))
    assert set(silent) == {each.name for each in JUDGE if each.when == ALWAYS}


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.name)
def test_bounded_values_are_of_the_documented_ones(outcome: Outcome) -> None:
    """Outcomes, origins and reasons."""
    written = span_attributes(record(outcome), "r9", Wording())
    for each in EVALUATION:
        if each.values and each.name in written:
            assert written[each.name] in each.values


def test_every_cause_is_explained() -> None:
    """One line for each value that ``otel_eval.reason`` can have."""
    rows = [
        line.split("`")[1]
        for line in PAGE.read_text().partition("## Reasons")[2].splitlines()
        if line.startswith("| `")
    ]
    assert rows == [cause.value for cause in Cause]
