"""What tests of the assembler share."""

from __future__ import annotations

from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import Interaction
from otel_eval.signals import Span
from otel_eval.testing.spans import (
    SECOND_NS,
    span,
)


def only(spans: Any, logs: Any = ()) -> Interaction:
    """The one Interaction that the spans tell of."""
    (found,) = assemble(spans, logs)
    return found


def later(parent: Span, seconds: float) -> int:
    """So many seconds after the parent began."""
    return parent.started_ns + round(seconds * SECOND_NS)


def workflow(parent: Span | None = None) -> Span:
    """A frame around agents."""
    return span(
        "invoke_workflow shop",
        parent=parent,
        seconds=60,
        attributes={"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "shop"},
    )
