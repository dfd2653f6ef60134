"""Records as JSON: the contract's line, and the whole without loss."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Passed
from otel_eval.record import JudgeCall, Origin
from otel_eval.record_json import LINE_KEYS, from_json, to_json, to_line
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record

ONE = interaction()
TEXT = st.text(max_size=20)
SCORE = st.none() | st.floats(0, 1)
ATTRIBUTES = st.dictionaries(TEXT, TEXT | st.booleans() | st.integers() | st.floats(allow_nan=False), max_size=3)
EVALUATION = {"explanation": TEXT, "score": SCORE, "label": st.none() | TEXT, "attributes": ATTRIBUTES}
OUTCOMES = st.one_of(
    st.builds(Passed, **EVALUATION),
    st.builds(Failed, **EVALUATION),
    st.builds(Inconclusive, reason=TEXT, cause=st.sampled_from(Cause)),
    st.builds(Errored, reason=TEXT, error_type=TEXT.filter(bool), cause=st.sampled_from(Cause)),
)
CALLS = st.builds(
    JudgeCall,
    conversation_id=TEXT,
    requested_model=TEXT,
    answer=st.none() | TEXT,
    cost_usd=st.none() | st.floats(0, 9),
    input_tokens=st.none() | st.integers(0),
)


@given(OUTCOMES, st.lists(CALLS, max_size=2), st.sampled_from(Origin), st.none() | st.floats(0, 1))
def test_nothing_is_lost(outcome, calls, origin, threshold):
    """Through JSON text and back, a record is what it was."""
    record = evaluation_record(ONE, outcome=outcome, judge_calls=tuple(calls), origin=origin, threshold=threshold)
    assert from_json(json.loads(json.dumps(to_json(record)))) == record


SAYS = [
    (Passed(explanation="ok", score=0.9, label="good"), ("passed", 0.9, "good", "ok", None)),
    (Failed(explanation="no"), ("failed", None, None, "no", None)),
    (Inconclusive(reason="nothing"), ("inconclusive", None, None, None, "nothing")),
    (Errored(reason="boom"), ("error", None, None, None, "boom")),
]


@pytest.mark.parametrize(("outcome", "says"), SAYS, ids=[says[0] for _, says in SAYS])
def test_the_line_has_the_contracts_keys(outcome, says):
    """Exactly those keys in that order; a score that was not given is null, never 0."""
    line = to_line(evaluation_record(ONE, outcome=outcome))
    assert tuple(line) == LINE_KEYS
    assert tuple(line[key] for key in ("outcome", "score", "label", "explanation", "reason")) == says


def test_a_cause_of_a_later_version_reads_as_other():
    """An older reader takes what a newer writer stored."""
    value = to_json(evaluation_record(ONE, outcome=Inconclusive(reason="x"))) | {"cause": "moon_phase", "new_key": 1}
    assert from_json(value).outcome == Inconclusive(reason="x", cause=Cause.OTHER)


def test_an_outcome_that_is_none_of_ours_is_an_error():
    """Four outcomes are four types; a fifth is not guessed at."""
    with pytest.raises(ValueError, match="not 'skipped'"):
        from_json(to_json(evaluation_record(ONE)) | {"outcome": "skipped"})
