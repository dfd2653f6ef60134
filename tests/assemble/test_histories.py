"""Model calls without an agent's span, tied together by the history that they show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Span
from otel_eval.testing.spans import (
    SECOND_NS,
    START_NS,
    conversation,
    message,
    model_span,
    span,
)
from tests.assemble.kit import later, only


def test_a_client_that_calls_itself_with_the_tools_results_makes_calls_of_its_own() -> None:
    """A model's span below another is another call where it was given what came of the tools that the other asked for."""
    asked = message("user", "Refund order 81")
    asks = message("assistant", {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {"id": 81}})
    given = message("tool", {"type": "tool_call_response", "id": "c1", "response": "paid"})
    first = model_span(messages=[asked], output=[asks], seconds=5.0)
    second = model_span(messages=[asked, asks, given], output=[message("assistant", "Done.")], parent=first)
    (found,) = assemble([first, second])
    assert (found.reply, len(found.model_calls), len(found.tool_calls)) == ("Done.", 2, 1)


def test_a_model_call_without_any_agent_hangs_on_its_common_parent() -> None:
    """A bare loop below one span has that span's id, also while it has not arrived, and is then incomplete."""
    server = span("POST /chat", kind=2)
    spans = conversation(asked="hi", reply="hello", tools=["t"], parent=server)[1:]
    spans = [replace(s, parent_id=server.span_id) for s in spans]
    whole, part = only([server, *spans]), only(spans)
    assert whole.id == part.id == f"{server.trace_id}-{server.span_id}"
    assert (whole.complete, part.complete) == (True, False)
    assert [call.name for call in whole.tool_calls] == ["t"]


def bare(asked: str, reply: str, start: int, *, ids: str = "c") -> list[Span]:
    """A loop of two model calls, each a trace of its own."""
    request = {"type": "tool_call", "id": f"{ids}1", "name": "look", "arguments": {"q": asked}}
    answer = {"type": "tool_call_response", "id": f"{ids}1", "response": "found"}
    history = [message("user", asked), message("assistant", request), message("tool", answer)]
    return [
        model_span(messages=history[:1], output=history[1:2], started_ns=START_NS + start),
        model_span(messages=history, output=[message("assistant", reply)], started_ns=START_NS + start + 2 * SECOND_NS),
    ]


def test_loops_without_a_common_trace_are_tied_by_their_history() -> None:
    """Interleaved conversations whose calls are traces of their own, with the same call ids even, come apart."""
    one, two = bare("one", "1", 0), bare("two", "2", 5)
    found = assemble([one[1], two[0], one[0], two[1]])
    assert [(each.asked, each.reply, len(each.model_calls)) for each in found] == [("one", "1", 2), ("two", "2", 2)]
    assert [each.id for each in found] == [f"{s.trace_id}-{s.span_id}" for s in (one[0], two[0])]


@pytest.mark.parametrize("left", [[], [message("assistant", "")]])
def test_a_history_that_lost_what_the_model_asked_for_goes_on_with_the_results(left: list[Any]) -> None:
    """Of the request nothing is left, or an empty text; what the tools gave says whose it was."""
    request = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {}}
    asked, gave = message("user", "hi"), message("tool", {"type": "tool_call_response", "response": "found"})
    first = model_span(messages=[asked], output=[message("assistant", request)])
    second = model_span(
        messages=[asked, *left, gave], output=[message("assistant", "Found.")], started_ns=START_NS + 5 * SECOND_NS
    )
    found = only([first, second])
    assert (found.asked, found.reply, [(c.name, c.result) for c in found.tool_calls]) == (
        "hi", "Found.", [("look", "found")],
    )  # fmt: skip


def test_two_people_who_ask_the_same_have_two_interactions() -> None:
    """Equal texts at the same time are told apart by the ids of their tool calls."""
    one, two = bare("same", "1", 0, ids="a"), bare("same", "2", 5, ids="b")
    found = assemble([*one, *two])
    assert [(each.reply, len(each.model_calls)) for each in found] == [("1", 2), ("2", 2)]


def test_the_next_turn_of_a_bare_loop_is_the_next_interaction() -> None:
    """Where a user speaks again the history goes on, and a new Interaction begins."""
    said = [message("user", "one"), message("assistant", "1"), message("user", "two")]
    first = model_span(messages=said[:1], output=said[1:2])
    second = model_span(messages=said, output=[message("assistant", "2")], started_ns=START_NS + 5 * SECOND_NS)
    found = assemble([first, second])
    assert [(each.asked, each.reply, len(each.history)) for each in found] == [("one", "1", 0), ("two", "2", 2)]


def test_calls_that_show_only_what_they_asked_for_are_one_loop() -> None:
    """With content off some write the tools' names: below one span that is all that joins the calls."""
    work = span("work", seconds=9)
    wants = [{"role": "assistant", "parts": [{"type": "tool_call", "id": f"c{n}", "name": name}]}
             for n, name in enumerate(("find", "refund"))]  # fmt: skip
    calls = [
        model_span(parent=work, output=[output] if output else None, started_ns=later(work, second))
        for second, output in ((0, wants[0]), (2, wants[1]), (4, None))
    ]
    found = only([work, *calls])
    assert [call.name for call in found.tool_calls] == ["find", "refund"]


def test_calls_of_a_history_without_questions_are_no_calls_of_this_turn() -> None:
    """Where nothing tells what was asked, what the first call was shown already is of a turn before."""
    work = span("work")
    shown = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "find"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1"}]},
    ]
    found = only([work, model_span(parent=work, messages=shown)])
    assert found.tool_calls == ()


def test_a_list_that_was_written_down_after_the_run_went_on_tells_each_call_once() -> None:
    """The wrapper holds the program's own list of messages, which grows while a stream is read."""
    call = {"type": "tool_call", "id": "call_3", "name": "roll", "arguments": {"sides": 6}}
    given = {"type": "tool_call_response", "id": "call_3", "response": "4"}
    grown = [message("user", "Roll."), message("assistant", call), message("tool", given)]
    (found,) = assemble([model_span(messages=grown, output=[message("assistant", call)])])
    assert [(made.name, made.result) for made in found.tool_calls] == [("roll", "4")]


def test_the_same_call_again_is_another_one() -> None:
    call = {"type": "tool_call", "id": "call_3", "name": "roll", "arguments": {"sides": 6}}
    given = {"type": "tool_call_response", "id": "call_3", "response": "4"}
    asked = [message("user", "Roll."), message("assistant", call), message("tool", given)]
    (found,) = assemble([model_span(messages=asked, output=[message("assistant", {**call, "id": "call_4"})])])
    assert [made.call_id for made in found.tool_calls] == ["call_3", "call_4"]
