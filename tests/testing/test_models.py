import json

import pytest

from otel_eval.testing.models import Call, fixed, label, scripted


def test_a_fixed_score_is_a_verdict():
    """A number becomes the JSON that a criterion judge's model answers, every time."""
    complete = fixed(0.9, "it apologizes")
    assert json.loads(complete("system", "user")) == {"reason": "it apologizes", "score": 0.9}
    assert complete("again", "user") == complete("system", "user")
    assert complete.calls[0] == Call("system", "user")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("as it stands", "as it stands"),
        ({"label": "good"}, '{"label": "good"}'),
        (label("bad", "x"), '{"explanation": "x", "label": "bad"}'),
    ],
)
def test_a_fixed_answer_is_given_as_text(answer, text):
    """Text passes as it stands, a mapping as JSON."""
    assert fixed(answer)("s", "u") == text


def test_a_script_is_followed_and_ends():
    """One answer after another, exceptions raised, and a call too many is a mistake of the test."""
    complete = scripted([0.2, TimeoutError("slow"), "text"])
    assert json.loads(complete("s", "u"))["score"] == 0.2
    with pytest.raises(TimeoutError, match="slow"):
        complete("s", "u")
    assert complete("s", "u") == "text"
    with pytest.raises(IndexError, match="3 answers, this is call 4"):
        complete("s", "u")
