"""Model calls without an agent's span, of several users who say the same."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.nodes import observe
from otel_eval.assemble.trace_ties import ties
from otel_eval.signals import Span
from otel_eval.testing.spans import SECOND_NS, START_NS, message, model_span, span, tool_span

HI = message("user", "Hi")
WANTS = message("assistant", {"type": "tool_call", "name": "look", "arguments": {"id": 1}})
SEEN = message("tool", {"type": "tool_call_response", "response": "seen"})


def call(at: float, *, failure: str | None = None, parent: Span | None = None, **attributes: Any) -> Span:
    """A call of one second, a trace of its own unless it has a parent."""
    return model_span(
        parent=parent,
        messages=[HI],
        output=None if failure else [message("assistant", "Hello")],
        failure=failure,
        started_ns=START_NS + round(at * SECOND_NS),
        attributes=attributes,
    )


@pytest.mark.parametrize(("wait", "expected"), [(2, 1), (9, 1), (60, 2)])
def test_a_failed_call_is_tried_again_soon(wait: float, expected: int) -> None:
    """The same input a minute later, in another trace, is somebody else's."""
    found = assemble([call(0, failure="overloaded"), call(1 + wait)])
    assert len(found) == expected
    assert found[-1].reply == "Hello"


def test_in_one_trace_a_call_is_tried_again_whenever() -> None:
    """What is below one span is one request's."""
    server = span("POST /chat", seconds=125)
    (found,) = assemble([server, call(0, failure="overloaded", parent=server), call(120, parent=server)])
    assert (found.reply, found.failed, len(found.model_calls)) == ("Hello", False, 2)


@pytest.mark.parametrize("name", ["session.id", "user.id"])
def test_what_another_conversation_says_goes_on_with_none(name: str) -> None:
    """Two users ask the same at once, and their models want the same: who was given the result first did not ask last."""
    first, second = (
        model_span(messages=[HI], output=[WANTS], started_ns=START_NS + place, attributes={name: who})
        for place, who in enumerate(("a", "b"))
    )
    given = [HI, WANTS, SEEN]
    answers = [
        model_span(
            messages=given,
            output=[message("assistant", who)],
            started_ns=START_NS + (2 + place) * SECOND_NS,
            attributes={name: who},
        )
        for place, who in enumerate(("a", "b"))
    ]
    found = assemble([first, second, *answers])
    assert [(each.session or each.user_id, each.reply, len(each.model_calls)) for each in found] == [
        ("a", "a", 2),
        ("b", "b", 2),
    ]
    alone = assemble([call(0, failure="down", **{name: "a"}), call(2, **{name: "b"})])
    assert [each.failed for each in alone] == [True, False]


def test_tools_in_traces_of_their_own_go_to_the_loops_that_asked() -> None:
    """Without an active span every call of a model or a tool is a trace; also live, where they are looked at together."""

    def asks(who: str) -> dict[str, Any]:
        return message("assistant", {"type": "tool_call", "id": f"c-{who}", "name": "look", "arguments": {"id": who}})

    loops = [model_span(messages=[message("user", f"I am {who}")], output=[asks(who)]) for who in "abc"]
    tools = [
        tool_span("look", {"id": who}, f"seen {who}", call_id=f"c-{who}", started_ns=START_NS + SECOND_NS)
        for who in "abc"
    ]
    found = assemble([*tools, *loops])
    assert sorted((each.asked, [tool.result for tool in each.tool_calls]) for each in found) == [
        (f"I am {who}", [f"seen {who}"]) for who in "abc"
    ]
    for tool, loop in zip(tools, loops, strict=True):
        assert ties(observe(tool)) <= ties(observe(loop))
        assert ties(observe(tool))


def test_words_beside_a_request_that_was_lost() -> None:
    """OpenLLMetry for JavaScript keeps a model's words, and not what it asked for beside them; the next call shows both."""
    said = message("assistant", {"type": "text", "content": "Let me look."})
    first = model_span(messages=[HI], output=[said])
    last = model_span(
        messages=[HI, said, WANTS, SEEN], output=[message("assistant", "Seen.")], started_ns=START_NS + 2 * SECOND_NS
    )
    (found,) = assemble([first, last])
    assert (found.asked, found.reply, [call.result for call in found.tool_calls]) == ("Hi", "Seen.", ["seen"])


def test_other_words_are_another_loops() -> None:
    """What a history repeats with a request is not what this model said."""
    first = model_span(messages=[HI], output=[message("assistant", "Hello.")])
    said = message("assistant", {"type": "text", "content": "Let me look."})
    last = model_span(
        messages=[HI, said, WANTS, SEEN], output=[message("assistant", "Seen.")], started_ns=START_NS + 2 * SECOND_NS
    )
    assert [found.reply for found in assemble([first, last])] == ["Hello.", "Seen."]


@pytest.mark.parametrize(("said", "after", "expected"), [("", 2, 1), ("Hello.", 2, 2), ("", 0.5, 2)])
def test_an_empty_answer_and_the_same_input_again(said: str, after: float, expected: int) -> None:
    """What OpenLIT for JavaScript leaves of a request for tools, below one span; what runs side by side is no such thing."""
    server = span("POST /chat", seconds=9)
    calls = [
        model_span(parent=server, messages=[HI], output=[message("assistant", text)], started_ns=started_ns)
        for text, started_ns in ((said, START_NS), ("Hello", START_NS + round(after * SECOND_NS)))
    ]
    found = assemble([server, *calls])
    assert len(found) == expected
    assert found[-1].reply == "Hello"


def test_an_empty_answer_in_a_trace_of_its_own() -> None:
    """There the same input is another's."""
    calls = [
        model_span(messages=[HI], output=[message("assistant", text)], started_ns=START_NS + place * SECOND_NS)
        for place, text in ((0, ""), (2, "Hello"))
    ]
    assert [found.reply for found in assemble(calls)] == ["", "Hello"]


def test_a_streams_empty_arguments_are_in_the_history() -> None:
    """OpenInference for Bedrock in JavaScript keeps the object that a streamed request begins with."""

    def wants(arguments: dict[str, Any]) -> dict[str, Any]:
        return message("assistant", {"type": "tool_call", "id": "c1", "name": "look", "arguments": arguments})

    seen = message("tool", {"type": "tool_call_response", "id": "c1", "response": "seen"})
    first = model_span(messages=[HI], output=[wants({})])
    last = model_span(
        messages=[HI, wants({"id": 1}), seen],
        output=[message("assistant", "Seen.")],
        started_ns=START_NS + 2 * SECOND_NS,
    )
    (found,) = assemble([first, last])
    assert [(call.arguments, call.result) for call in found.tool_calls] == [({"id": 1}, "seen")]
