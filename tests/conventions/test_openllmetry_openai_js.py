"""The Responses API under OpenLLMetry for JavaScript: messages in the text of a message."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import START_NS, span

SCOPE = Scope("@traceloop/instrumentation-openai")
ASKED = {"role": "user", "content": "Where is it?"}
CALLED = [
    {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"id": 81}'},
    {"type": "function_call_output", "call_id": "c1", "output": "in Rome"},
]


def call(taken: Any, said: str, *, started_ns: int = START_NS) -> Span:
    """A model's call that is a trace of its own."""
    text = taken if isinstance(taken, str) else json.dumps(taken)
    return span(
        "chat m",
        scope=SCOPE,
        started_ns=started_ns,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}]),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "finish_reason": "stop", "parts": [{"type": "text", "content": said}]}]
            ),
        },
    )


def test_items_in_a_text_are_messages() -> None:
    """What was asked, the calls and their results come out of the list; the empty answer before them is none."""
    (found,) = assemble([call([ASKED], ""), call([ASKED, *CALLED], "In Rome.", started_ns=START_NS + 1)])
    assert (found.asked, found.reply) == ("Where is it?", "In Rome.")
    assert [(tool.name, tool.arguments, tool.result) for tool in found.tool_calls] == [("find", {"id": 81}, "in Rome")]


@pytest.mark.parametrize("typed", ["Where is it?", "[1, 2]", '[{"id": 81}]'])
def test_a_text_that_was_typed_stays_a_text(typed: str) -> None:
    """Only a list of the API's items is read as one."""
    (found,) = assemble([call(typed, "In Rome.")])
    assert found.asked == typed


def test_a_response_that_may_have_asked_for_tools_has_no_reply() -> None:
    """The empty text with which the Responses API's requests for tools are written is not what the model said."""
    asking = call("Where is it?", "")
    (found,) = assemble([replace(asking, attributes={**asking.attributes, "gen_ai.response.id": "resp_1"})])
    assert found.reply is None
    assert [(gap.kind, gap.setting) for name in ("reply", "tool_calls") if (gap := found.gap(name))] == [
        (GapKind.INCOMPLETE, None)
    ] * 2


def test_a_call_that_goes_on_from_a_previous_response() -> None:
    """Only the results went in: they answer the one call below the same span that may have asked for tools."""
    root = span("handle request")
    first, second = call("Where is it?", ""), call(CALLED[1:], "In Rome.", started_ns=START_NS + 2 * 10**9)
    calls = [
        replace(
            each,
            trace_id=root.trace_id,
            parent_id=root.span_id,
            attributes={**each.attributes, "gen_ai.response.id": f"resp_{each.span_id}"},
        )
        for each in (first, second)
    ]
    (found,) = assemble([root, *calls])
    assert (found.asked, found.reply, found.tool_calls) == ("Where is it?", "In Rome.", ())
    assert found.gap("tool_calls") is not None
