"""What an Interaction says of itself."""

from __future__ import annotations

from otel_eval.interaction import Gap, GapKind
from otel_eval.testing.interactions import interaction, tool_call


def test_a_tool_calls_gap_is_found_by_the_name_it_has_in_the_interaction() -> None:
    """As ``all_gaps`` names it: None would say that the field is whole."""
    cut = tool_call("b", gaps=[Gap(field="result", kind=GapKind.TRUNCATED, setting="X=1")])
    shown = interaction(tool_calls=[tool_call("a"), cut], gaps=(Gap(field="session", kind=GapKind.NOT_CAPTURED),))
    assert shown.gap("tool_calls[1].result") == Gap(field="tool_calls[1].result", kind=GapKind.TRUNCATED, setting="X=1")
    assert shown.gap("tool_calls[0].result") is None
    assert shown.gap("session") == Gap(field="session", kind=GapKind.NOT_CAPTURED)
    assert {gap.field: gap for gap in shown.all_gaps()} == {
        field: shown.gap(field) for field in ("session", "tool_calls[1].result")
    }
