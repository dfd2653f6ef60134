from otel_eval.interaction import Gap, GapKind
from otel_eval.testing.interactions import interaction, tool_call


def test_defaults_are_a_whole_interaction_that_went_well():
    """Without arguments nothing is missing and nothing failed."""
    plain = interaction()
    assert plain.asked
    assert plain.reply
    assert not plain.failed
    assert list(plain.all_gaps()) == []
    assert plain.id == f"{plain.trace_id}-{plain.span_id}"
    assert plain.duration_ns == 1_000_000_000


def test_totals_follow_the_calls():
    """Counts in the totals are those of the calls that the test gives."""
    made = interaction(
        tool_calls=["getOrder", tool_call("issueRefund", {"amount": 1}, error="declined")], model_calls=3
    )
    assert [call.name for call in made.tool_calls] == ["getOrder", "issueRefund"]
    assert (made.totals.tool_calls, made.totals.model_calls) == (2, 3)
    assert made.tool_calls[1].error == "declined"


def test_a_missing_field_is_none_with_a_gap():
    """What is named missing is taken out, and the gap says why."""
    made = interaction(
        reply="x", tool_calls=["a"], missing={"reply": GapKind.REDACTED, "tool_calls": GapKind.NOT_CAPTURED}
    )
    assert made.reply is None
    assert made.tool_calls == ()
    assert made.totals.tool_calls is None
    assert made.gap("reply") == Gap(field="reply", kind=GapKind.REDACTED)
    assert interaction(missing=["asked"]).gap("asked").kind is GapKind.NOT_CAPTURED
