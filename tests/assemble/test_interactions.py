"""What one Interaction is made of: which span is its own, what was asked and replied, which tools, what failed, what is missing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import (
    SECOND_NS,
    START_NS,
    Tool,
    agent_span,
    conversation,
    log_record,
    message,
    model_span,
    span,
    tool_span,
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


def test_the_topmost_agent_is_the_interaction_below_whatever_ordinary_spans() -> None:
    """An HTTP server's span above the agent, and a parent that lives elsewhere, change nothing."""
    server = span("POST /chat", kind=2, parent_id="00000000000000ff")
    spans = conversation(asked="hi", reply="hello", parent=server)
    found = only([server, *spans])
    assert (found.span_id, found.asked, found.reply, found.parent_id) == (spans[0].span_id, "hi", "hello", None)


def test_a_wrapper_with_one_agent_is_one_interaction_under_the_wrappers_id() -> None:
    """The workflow lends its id, the agent its name."""
    frame = workflow()
    found = only([frame, *conversation(asked="hi", reply="hello", agent="order-agent", parent=frame)])
    assert (found.span_id, found.agent, found.reply) == (frame.span_id, "order-agent", "hello")


def test_agents_in_a_row_are_a_handoff() -> None:
    """The frame is the first agent's Interaction, the next agent's is nested, and the reply is the last agent's."""
    frame = workflow()
    first = conversation(asked="refund me", reply="", agent="triage", parent=frame, tools=["transfer_to_refunds"])
    first = tuple(s for s in first if s.attributes["gen_ai.operation.name"] == "chat" or s is first[0])[:2]
    first = (
        replace(first[0], attributes={k: v for k, v in first[0].attributes.items() if "output" not in k}),
        first[1],
    )
    second = conversation(
        asked="refund me",
        reply="done",
        agent="refunds",
        parent=frame,
        tools=["issueRefund"],
        started_ns=later(frame, 9),
    )
    outer, inner = assemble([frame, *first, *second])
    assert (outer.agent, outer.reply, outer.tool_calls) == ("triage", "done", ())
    assert (inner.agent, inner.parent_id, [call.name for call in inner.tool_calls]) == (
        "refunds",
        outer.id,
        ["issueRefund"],
    )
    assert outer.totals.tool_calls == 1


def test_turns_in_one_frame_are_of_its_session() -> None:
    """Some say on the outermost span alone which conversation it is (Logfire, of the OpenAI Agents SDK)."""
    frame = span(
        "chat",
        attributes={"gen_ai.operation.name": "invoke_workflow", "gen_ai.conversation.id": "s-1", "user.id": "u-1"},
    )
    first = agent_span(asked="First", reply="Done.", parent=frame, session=None)
    second = agent_span(asked="Second", reply="Done.", parent=frame, session=None, started_ns=later(frame, 9))
    found = assemble([frame, first, second])
    assert [(each.asked, each.session, each.user_id) for each in found] == [
        ("First", "s-1", "u-1"),
        ("Second", "s-1", "u-1"),
    ]


def test_turns_in_one_frame_are_interactions_of_their_own() -> None:
    """A session's span around two invocations of the same agent, asked different things, is no Interaction."""
    frame = workflow()
    first = conversation(asked="one", reply="1", parent=frame)
    second = conversation(asked="two", reply="2", parent=frame, started_ns=later(frame, 9))
    found = assemble([frame, *first, *second])
    assert [(each.asked, each.parent_id) for each in found] == [("one", None), ("two", None)]


def test_an_agent_called_as_a_tool_is_nested() -> None:
    """Its tools and model calls are its own, and count in the outer one's totals once."""
    outer_spans = conversation(asked="plan", reply="planned", tools=[Tool(name="ask_expert", result="42")])
    tool = next(s for s in outer_spans if s.attributes["gen_ai.operation.name"] == "execute_tool")
    inner_spans = conversation(asked="what", reply="42", agent="expert", parent=tool, tools=["look"])
    outer, inner = assemble([*outer_spans, *inner_spans])
    assert inner.parent_id == outer.id
    assert [call.name for call in outer.tool_calls] == ["ask_expert"]
    assert (len(outer.model_calls), outer.totals.model_calls, outer.totals.tool_calls) == (2, 4, 2)
    assert (outer.usage.input_tokens, outer.totals.usage.input_tokens) == (200, 400)


def test_what_an_agent_inside_another_said_last_is_the_reply() -> None:
    """An agent of agents, or one that transferred within its own span, answers with the inner one's words."""
    outer = agent_span(asked=None, reply=None, agent="triage", seconds=9)
    hands_over = message("assistant", {"type": "tool_call", "id": "c1", "name": "transfer_to_agent", "arguments": {}})
    call = model_span(parent=outer, messages=[message("user", "hi")], output=[hands_over])
    inner = conversation(asked="hi", reply="hello", agent="expert", parent=call)
    found, nested = assemble([outer, call, *inner])
    assert (found.reply, nested.reply, nested.parent_id) == ("hello", "hello", found.id)
    after = model_span(parent=outer, messages=[message("user", "hi")], output=[], started_ns=later(outer, 8))
    assert assemble([outer, call, *inner, after])[0].reply is None


def test_an_error_object_in_the_conversation_is_the_error_of_a_silent_tools_span() -> None:
    """A span that says nothing of the call takes its result from the messages, and what that is."""
    asks = message("assistant", {"type": "tool_call", "id": "c1", "name": "find", "arguments": {}})
    gave = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"error": "down"}}]}
    root = agent_span(asked="hi", reply="Sorry.")
    calls = [
        model_span(parent=root, messages=[message("user", "hi")], output=[asks]),
        model_span(parent=root, messages=[message("user", "hi"), asks, gave], output=[message("assistant", "Sorry.")]),
    ]
    silent = span("execute_tool find", parent=root, attributes={"gen_ai.operation.name": "execute_tool"})
    (tool,) = only([root, *calls, silent]).tool_calls
    assert (tool.error, tool.result, tool.span_id) == ("down", None, silent.span_id)


def test_one_invocation_written_by_two_instrumentations_is_one() -> None:
    """An agent's span within an agent's span of the same name is the same invocation."""
    root = agent_span(asked=None, reply=None, agent="a", seconds=9)
    found = only([root, *conversation(asked="hi", reply="hello", agent="a", parent=root)])
    assert (found.span_id, found.asked, len(found.model_calls)) == (root.span_id, "hi", 1)


def test_one_model_call_written_by_two_instrumentations_is_one() -> None:
    """Nested spans of one call count once, and the one that has the content gives it."""
    root = agent_span(asked=None, reply=None)
    outer = model_span(parent=root, attributes={"gen_ai.response.id": "r1"})
    asked, said = [message("user", "hi")], [message("assistant", "hello")]
    inner = model_span(parent=outer, messages=asked, output=said, attributes={"gen_ai.response.id": "r1"})
    elsewhere = replace(inner, trace_id="e" * 32, span_id="e" * 16, parent_id=None)
    found = only([root, outer, inner, elsewhere])
    assert (found.asked, found.reply, len(found.model_calls), found.usage.input_tokens) == ("hi", "hello", 1, 100)


def test_a_client_that_calls_itself_with_the_tools_results_makes_calls_of_its_own() -> None:
    """A model's span below another is another call where it was given what came of the tools that the other asked for."""
    asked = message("user", "Refund order 81")
    asks = message("assistant", {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {"id": 81}})
    given = message("tool", {"type": "tool_call_response", "id": "c1", "response": "paid"})
    first = model_span(messages=[asked], output=[asks], seconds=5.0)
    second = model_span(messages=[asked, asks, given], output=[message("assistant", "Done.")], parent=first)
    (found,) = assemble([first, second])
    assert (found.reply, len(found.model_calls), len(found.tool_calls)) == ("Done.", 2, 1)


def test_a_skeleton_of_messages_gives_way_to_the_messages() -> None:
    """With content off an outer instrumentation may write messages without anything in them; the inner one has them."""
    root = agent_span(asked=None, reply=None)
    bare = {"gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text"}]}]'}
    wants = '[{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "refund"}]}]'
    outer = model_span(parent=root, attributes={**bare, "gen_ai.output.messages": wants})
    call = {"type": "tool_call", "id": "c1", "name": "refund", "arguments": {"order": "o_9"}}
    inner = model_span(parent=outer, messages=[message("user", "hi")], output=[{"role": "assistant", "parts": [call]}])
    found = only(
        [
            root,
            outer,
            inner,
            tool_span(
                name="refund", parent=root, arguments=None, result=None, attributes={"gen_ai.tool.call.id": "c1"}
            ),
        ]
    )
    assert found.asked == "hi"
    assert [call.arguments for call in found.tool_calls] == [{"order": "o_9"}]


def test_an_agents_own_total_is_not_added_to_its_calls() -> None:
    """Usage on the agent's span is the sum of what is below; alone, it is all there is."""
    root = agent_span(attributes={"gen_ai.usage.input_tokens": 300})
    assert only([root, model_span(parent=root), model_span(parent=root)]).usage.input_tokens == 200
    assert only([root]).usage.input_tokens == 300


def test_only_this_turn_counts_of_a_history() -> None:
    """The last user message, the tool calls after it, and the earlier turns as history."""
    call = {"type": "tool_call", "id": "c0", "name": "old", "arguments": {}}
    history = [message("user", "first"), message("assistant", call), message("tool", {"type": "tool_call_response", "id": "c0", "response": 1}),
               message("assistant", "answered"), message("user", "first")]  # fmt: skip
    now = {"type": "tool_call", "id": "c1", "name": "new", "arguments": '{"a": 1}'}
    done = {"type": "tool_call_response", "id": "c1", "response": '{"b": 2}'}
    root = agent_span(asked=None, reply=None)
    spans = [
        root,
        model_span(parent=root, messages=history, output=[message("assistant", now)]),
        model_span(
            parent=root,
            messages=[*history, message("assistant", now), message("user", done)],
            output=[message("assistant", "again")],
            started_ns=later(root, 2),
        ),
    ]
    found = only(spans)
    assert (found.asked, found.reply, len(found.history)) == ("first", "again", 4)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("new", {"a": 1}, {"b": 2})]


def test_the_history_is_what_the_model_was_shown() -> None:
    """An agent with a memory is given the new message alone; the model's call has the turns before it."""
    root = agent_span(asked="second")
    before = [message("user", "first"), message("assistant", "answered")]
    found = only([root, model_span(parent=root, messages=[*before, message("user", "second")])])
    assert (found.asked, [said.text for said in found.history]) == ("second", ["first", "answered"])
    wrapped = only([root, model_span(parent=root, messages=[*before, message("user", "Answer this: second")])])
    assert (wrapped.asked, wrapped.history) == ("second", ())


@pytest.mark.parametrize(
    ("taken", "asked"), [("req-1", "Where is order 81?"), ("81", "81"), ("Find order 81", "Find order 81")]
)
def test_an_id_that_a_frame_was_given_is_not_the_question(taken: str, asked: str) -> None:
    """A traced function around an agent says what was asked, unless it is a word that the model was not told."""
    frame = span("handle", attributes={"openinference.span.kind": "CHAIN", "input.value": taken})
    found = only([frame, agent_span(parent=frame, asked="Where is order 81?")])
    assert found.asked == asked


def test_content_in_log_records_is_joined_in_any_order() -> None:
    """Messages in G2 log records, given before or after, complete the span that they name."""
    root = agent_span(asked=None, reply=None)
    call = model_span(parent=root)
    logs = [
        log_record("gen_ai.choice", span=call, body={"index": 0, "message": {"content": "hello"}}),
        log_record("gen_ai.user.message", span=call, body={"content": "hi"}),
        log_record("gen_ai.system.message", span=call, body={"content": "be kind"}),
    ]
    found = only([root, call], logs)
    assert (found.asked, found.reply, found.system) == ("hi", "hello", "be kind")


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "down"}]}, "down"),
        ({"status": "error", "content": "down"}, "down"),
        ({"error": "down"}, "down"),
        ("An error occurred while running the tool. Please try again. Error: down", "An error occurred"),
        ({"error": None, "rows": []}, None),
        ({"errors": 3, "log": "Error: disk full"}, None),
        ({"error": "E42", "meaning": "disk full", "rows": 1}, None),
        ("The report lists three errors. Error: disk full.", None),
        ("Error handling is described in chapter 4", None),
    ],
)
def test_a_tools_error_is_seen_in_every_disguise_and_nowhere_else(result: Any, error: str | None) -> None:
    """An error object or a framework's error sentence is a failure; a result that talks of errors is a result."""
    root = agent_span()
    (call,) = only([root, tool_span(result=result, parent=root)]).tool_calls
    if error is None:
        assert (call.error, call.result) == (None, result)
    else:
        assert call.error is not None
        assert error in call.error
        assert call.result is None


def test_what_a_hand_written_loop_tells_the_model_is_an_error() -> None:
    """Known from messages alone, ``ERROR: …`` is what the loop made of an exception."""
    found = only(
        s for s in conversation(tools=[Tool(name="t", error="ERROR: ticket system down")]) if "execute" not in s.name
    )
    assert [(call.error, call.result) for call in found.tool_calls] == [("ERROR: ticket system down", None)]


def test_an_exception_that_ended_the_run_is_the_unanswered_calls() -> None:
    """A loop that lets a tool's exception through: the one call without an answer raised it."""
    spans = conversation(tools=["t"], failure="boom")
    root, asking = replace(spans[0], attributes={**spans[0].attributes, "error.type": "RuntimeError"}), spans[1]
    found = only([root, asking])
    assert found.failed
    assert [call.error for call in found.tool_calls] == ["RuntimeError: boom"]


def test_a_failed_model_call_fails_the_run_unless_it_was_tried_again() -> None:
    """A root that is always OK fails with its last call; a retry that answered is no failure."""
    root = agent_span(asked=None, reply=None)
    asked = [message("user", "hi")]
    failed = model_span(parent=root, messages=asked, failure="500")
    again = model_span(parent=root, messages=asked, output=[message("assistant", "ok")], started_ns=later(root, 2))
    assert only([root, failed]).failure is not None
    found = only([root, failed, again])
    assert (found.failure, found.reply, len(found.model_calls)) == (None, "ok", 2)


def test_a_failure_without_words_has_those_of_the_last_model_call() -> None:
    """A status alone is all that some programs give an agent's span."""
    agent = agent_span(reply=None, status="error")
    (found,) = assemble((agent, model_span(parent=agent, failure="overloaded")))
    assert found.failure is not None
    assert found.failure.message == "overloaded"
    told = agent_span(reply=None, failure="too many rounds")
    (found,) = assemble((told, model_span(parent=told, failure="overloaded")))
    assert found.failure is not None
    assert found.failure.message == "too many rounds"


def test_an_interrupt_is_no_failure() -> None:
    """Frameworks steer with exceptions: a LangGraph interrupt waits for a human."""
    root = agent_span(reply=None, status="error", attributes={"error.type": "langgraph.errors.GraphInterrupt"})
    assert only([root]).failure is None


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


def test_a_users_json_is_a_text() -> None:
    """What a user typed is never decoded, whatever it looks like."""
    for text in ('{"a": 1}', "42", "null", "[1, 2]"):
        assert only([agent_span(asked=text)]).asked == text


def test_our_own_spans_and_evaluators_are_left_out() -> None:
    """What is below a span of ours or of an evaluator is never an Interaction, in any order of arrival."""
    judge = span("evaluation toxicity", scope=Scope("otel_eval"))
    evaluator = span("evaluate", attributes={"openinference.span.kind": "EVALUATOR"})
    below = [*conversation(parent=judge), *conversation(parent=evaluator)]
    assert assemble([*below, judge, evaluator]) == ()


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


def test_parents_that_go_round_in_a_circle_are_survived() -> None:
    """Spans that are one another's parents are still put together, once."""
    root = agent_span(asked="hi", reply="hello")
    child = model_span(parent=root)
    found = assemble([replace(root, parent_id=child.span_id), child])
    assert [each.reply for each in found] == ["hello"]


def test_attachments_are_named_not_inlined() -> None:
    """An image beside the question is listed with its type and size."""
    image = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "A" * 400}
    asked = json.dumps([message("user", "what is this?", image)])
    found = only([agent_span(attributes={"gen_ai.input.messages": asked})])
    assert [(each.modality, each.mime_type, each.size) for each in found.attachments] == [("image", "image/png", 300)]
    assert found.asked == "what is this?"


def test_an_empty_answer_is_empty_not_missing() -> None:
    """A model that answered nothing gave an empty reply; a part whose content is not there was not captured."""
    root = agent_span(asked="hi", reply=None)
    silent = model_span(parent=root, messages=[message("user", "hi")], output=[{"role": "assistant", "parts": []}])
    hidden = model_span(parent=root, output=[{"role": "assistant", "parts": [{"type": "text"}]}])
    found = only([root, silent])
    assert (found.reply, found.gap("reply")) == ("", None)
    assert only([root, hidden]).reply is None


def test_an_error_given_back_as_the_reply_is_a_failure() -> None:
    """Some agents end well, and reply with the text of the error that the model's call failed with."""
    root = agent_span(asked="hi", reply="the model is down")
    failed = model_span(parent=root, failure="Error code: 500 - {'message': 'the model is down'}")
    found = only([root, failed])
    assert (found.reply, found.failure is not None) == (None, True)


def test_an_apology_after_a_failed_call_is_a_reply() -> None:
    """The agent has dealt with the failure."""
    root = agent_span(asked="hi", reply="Sorry, try later.")
    found = only([root, model_span(parent=root, failure="the model is down")])
    assert (found.reply, found.failure) == ("Sorry, try later.", None)


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
