"""An Interaction survives the way to JSON and back."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from otel_eval.interaction import (
    Attachment,
    Failure,
    Gap,
    GapKind,
    Interaction,
    Link,
    Message,
    ModelCall,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolCallPart,
    ToolResultPart,
    Totals,
    Usage,
)
from otel_eval.interaction_json import from_json, to_json

FULL = Interaction(
    id="ab-cd",
    trace_id="ab",
    span_id="cd",
    parent_id="ab-ce",
    agent="refund-agent",
    role="customer-facing",
    session="s_1",
    user_id="u_1",
    asked="Order o_9 arrived broken.",
    reply="",
    tool_calls=(
        ToolCall(
            name="getOrder",
            arguments={"orderId": "o_9", "deep": [1, 2.5, None, True]},
            error="down",
            call_id="c1",
            span_id="ee",
            started_ns=1,
            ended_ns=2,
            gaps=(Gap(field="result", kind=GapKind.REDACTED),),
        ),
    ),
    model_calls=(
        ModelCall(
            span_id="ff",
            model="m",
            response_id="r",
            finish_reasons=("stop",),
            usage=Usage(input_tokens=0, output_tokens=1, reasoning_tokens=2),
            failure=Failure(type="Timeout"),
            started_ns=1,
            ended_ns=2,
        ),
    ),
    failure=Failure(type="E", message="m"),
    model="m",
    usage=Usage(input_tokens=0),
    totals=Totals(tool_calls=0, model_calls=3, usage=Usage(cache_read_tokens=1, cache_write_tokens=2)),
    system="be kind",
    history=(
        Message(
            role="user",
            parts=(
                TextPart(text="hi"),
                ReasoningPart(text="hm"),
                ToolCallPart(name="t", arguments="{", call_id="c"),
                ToolResultPart(call_id="c", name="t", result=[1], failed=True),
                Attachment(modality="image", mime_type="image/png", name="a.png", size=0),
            ),
        ),
    ),
    attachments=(Attachment(modality="image"),),
    resource={"service.name": "shop", "n": 1},
    attributes={"tier": "gold"},
    links=(Link(trace_id="1", span_id="2"),),
    started_ns=1_700_000_000_000_000_001,
    ended_ns=1_700_000_000_000_000_002,
    gaps=(Gap(field="reply", kind=GapKind.NOT_CAPTURED, setting="X=true"),),
    conventions=("genai",),
    complete=False,
)


@pytest.mark.parametrize("interaction", [FULL, Interaction(id="a-b", trace_id="a", span_id="b")])
def test_nothing_is_lost(interaction: Interaction) -> None:
    """Writing, serialising, parsing and reading again gives an equal Interaction."""
    assert from_json(json.loads(json.dumps(to_json(interaction)))) == interaction


def test_every_field_is_written() -> None:
    """No field of the domain is forgotten, and the full example leaves none at its default."""
    written = to_json(FULL)
    assert {field.name for field in fields(Interaction)} <= written.keys()
    bare = to_json(Interaction(id="a-b", trace_id="a", span_id="b"))
    assert [key for key in written if written[key] == bare[key]] == []


def test_an_unknown_part_is_refused() -> None:
    """A part of a type that nobody knows raises ValueError instead of becoming an empty text."""
    value = to_json(FULL) | {"history": [{"role": "user", "parts": [{"type": "hologram"}]}]}
    with pytest.raises(ValueError, match="hologram"):
        from_json(value)
