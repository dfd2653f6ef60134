"""pydantic-ai's own spans."""

from __future__ import annotations

import pytest

from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, SpanEvent
from otel_eval.testing.spans import span


@pytest.mark.parametrize(
    ("message", "error"),
    [("", "no such order"), ("told", "pydantic_ai.exceptions.ToolRetryError: told")],
)
def test_a_tool_that_is_to_be_tried_again(message: str, error: str) -> None:
    """Until 1.30 the exception has no text: what the model is told has it."""
    attributes = {
        "gen_ai.tool.name": "find",
        "tool_response": "no such order\n\nFix the errors and try again.",
    }
    raised = SpanEvent(
        "exception",
        attributes={"exception.type": "pydantic_ai.exceptions.ToolRetryError", "exception.message": message},
    )
    found = facts_of(
        span(
            "running tool",
            attributes=attributes,
            events=(raised,),
            status="error",
            status_message=f"ToolRetryError: {message}",
            scope=Scope("pydantic-ai"),
        )
    )
    assert found is not None
    assert found.error == error
