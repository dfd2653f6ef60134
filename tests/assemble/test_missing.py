"""What the telemetry leaves out is a gap, with the setting that closes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_eval.interaction import GapKind
from otel_eval.signals import Scope
from otel_eval.testing.spans import (
    agent_span,
    model_span,
)
from tests.assemble.kit import only


def test_what_is_not_captured_is_a_gap_with_the_setting_that_closes_it() -> None:
    """No content anywhere: every field says so, and nothing is invented."""
    root = replace(agent_span(asked=None, reply=None), scope=Scope("opentelemetry.instrumentation.genai.openai_agents"))
    found = only([root, replace(model_span(parent=root), scope=root.scope)])
    kinds = {gap.field: gap.kind for gap in found.gaps}
    assert {"asked", "reply", "tool_calls", "system", "history"} <= kinds.keys()
    assert set(kinds.values()) == {GapKind.NOT_CAPTURED}
    gap = found.gap("reply")
    assert gap is not None
    assert gap.setting == "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("__REDACTED__", GapKind.REDACTED),
        ('[{"role": "user", "parts": [{"type": "text", "content": "My order o_9 arr', GapKind.TRUNCATED),
    ],
)
def test_hidden_and_cut_content_is_told_apart(written: str, kind: GapKind) -> None:
    """A placeholder is redacted, half a JSON is truncated; neither is passed on as what was asked."""
    found = only([agent_span(attributes={"gen_ai.input.messages": written})])
    gap = found.gap("asked")
    assert gap is not None
    assert (found.asked, gap.kind) == (None, kind)


def test_dropped_attributes_are_a_gap() -> None:
    """What the SDK threw away past its limit may be what is missing."""
    found = only([replace(agent_span(asked=None), dropped_attributes=3)])
    gap = found.gap("asked")
    assert gap is not None
    assert gap.kind is GapKind.DROPPED
