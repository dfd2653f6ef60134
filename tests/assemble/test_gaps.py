"""No field is told whole that is not: what a limit cut, hid or dropped is a gap, in every way of writing it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import Tool, agent_span, conversation, message, model_span, span, tool_span

ASKED = "My order o_9 arrived broken and I would like to have my money back on the card that I paid with, please"
RESULT = "The order was delivered on Monday at nine in the morning and left with the neighbour, who signed for it"
REPLY = "I am sorry that the order arrived broken. I have refunded the whole amount to the card that you paid with"
ARGUMENTS = {"orderId": "o_9", "reason": "the customer says that it arrived broken and asks for the money back"}
CALL = {"type": "tool_call", "id": "c1", "name": "getOrder", "arguments": ARGUMENTS}


def genai(named: bool = True) -> list[Span]:
    """Messages as JSON on the model's spans, the tool's values on its own."""
    root = agent_span(asked=ASKED if named else None, reply=REPLY if named else None)
    answer = message("tool", {"type": "tool_call_response", "id": "c1", "response": RESULT})
    first = [message("user", ASKED)]
    return [
        root,
        model_span(parent=root, messages=first, output=[message("assistant", CALL)]),
        tool_span("getOrder", ARGUMENTS, RESULT, parent=root, call_id="c1"),
        model_span(
            parent=root,
            messages=[*first, message("assistant", CALL), answer],
            output=[message("assistant", REPLY)],
            started_ns=root.started_ns + 1,
        ),
    ]


def genai_on_model() -> list[Span]:
    """The same, the agent's span without content."""
    return genai(named=False)


def flattened() -> list[Span]:
    """OpenLLMetry's old attributes: each text an attribute of its own."""
    root = agent_span(asked=None, reply=None)
    asked = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASKED}
    call = "gen_ai.completion.0.tool_calls.0."
    made = {f"{call}id": "c1", f"{call}name": "getOrder", f"{call}arguments": json.dumps(ARGUMENTS)}
    told = {"gen_ai.prompt.1.role": "assistant", "gen_ai.prompt.2.role": "tool", "gen_ai.prompt.2.content": RESULT,
            "gen_ai.prompt.2.tool_call_id": "c1"}  # fmt: skip
    said = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": REPLY}
    return [
        root,
        model_span(parent=root, attributes={**asked, **made}),
        tool_span("getOrder", ARGUMENTS, RESULT, parent=root, call_id="c1"),
        model_span(parent=root, started_ns=root.started_ns + 1, attributes={**asked, **told, **said}),
    ]


def openinference() -> list[Span]:
    """Texts in ``input.value`` and ``output.value``."""
    scope = Scope("openinference.instrumentation.agno")
    root = span("shop.run", scope=scope, attributes={
        "openinference.span.kind": "AGENT", "agent.name": "shop", "input.value": ASKED, "output.value": REPLY})  # fmt: skip
    return [
        root,
        span("getOrder", parent=root, attributes={"openinference.span.kind": "TOOL", "tool.name": "getOrder",
             "input.value": json.dumps(ARGUMENTS), "output.value": RESULT}),
    ]  # fmt: skip


def chain() -> list[Span]:
    """LangChain's state, as JSON."""
    messages = [{"type": "human", "content": ASKED}]
    return [
        span("LangGraph", scope=Scope("openinference.instrumentation.langchain"), attributes={
            "openinference.span.kind": "AGENT", "agent.name": "shop",
            "input.value": json.dumps({"messages": messages}),
            "output.value": json.dumps({"messages": [*messages, {"type": "ai", "content": REPLY}]})}),
    ]  # fmt: skip


def strands() -> list[Span]:
    """Span events, whose attributes the same limit cuts."""
    events = (
        SpanEvent("gen_ai.user.message", 0, {"content": json.dumps([{"text": ASKED}])}),
        SpanEvent("gen_ai.choice", 1, {"message": REPLY, "finish_reason": "end_turn"}),
    )
    return [replace(agent_span(asked=None, reply=None), events=events)]


def pydantic_ai() -> list[Span]:
    """The whole conversation in one attribute, the result in another."""
    said = [message("user", ASKED), message("assistant", REPLY)]
    return [
        span("agent run", scope=Scope("pydantic-ai"), attributes={
            "gen_ai.operation.name": "invoke_agent", "agent_name": "shop", "final_result": REPLY,
            "pydantic_ai.all_messages": json.dumps(said)}),
    ]  # fmt: skip


def google_adk() -> list[Span]:
    """A request and a response as JSON."""
    scope = Scope("gcp.vertex.agent")
    root = span("agent_run [shop]", scope=scope)
    request = {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}
    response = {"content": {"role": "model", "parts": [{"text": REPLY}]}}
    return [
        root,
        span("call_llm", parent=root, attributes={"gcp.vertex.agent.llm_request": json.dumps(request),
             "gcp.vertex.agent.llm_response": json.dumps(response)}),
    ]  # fmt: skip


SHAPES = (genai, genai_on_model, flattened, openinference, chain, strands, pydantic_ai, google_adk)
Shape = Callable[[], list[Span]]


def only(spans: list[Span]) -> Interaction:
    """The only Interaction of these spans."""
    (found,) = assemble(spans)
    return found


def limited(spans: list[Span], limit: int) -> list[Span]:
    """The spans as an SDK with that attribute value length limit exports them."""

    def cut(attributes: Any) -> dict[str, Any]:
        return {key: value[:limit] if isinstance(value, str) else value for key, value in attributes.items()}

    return [
        replace(
            each,
            attributes=cut(each.attributes),
            events=tuple(replace(event, attributes=cut(event.attributes)) for event in each.events),
        )
        for each in spans
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_whole_has_no_gap(shape: Shape) -> None:
    """Without a limit asked, reply, arguments and results are there, and no gap is."""
    found = only(shape())
    assert (found.asked, found.reply) == (ASKED, REPLY)
    assert found.gap("asked") is None
    assert found.gap("reply") is None
    assert [gap for call in found.tool_calls for gap in call.gaps] == []


@pytest.mark.parametrize("shape", SHAPES)
@given(limit=st.sampled_from([64, 100]) | st.integers(32, 400))
def test_what_a_limit_cut_is_never_told_whole(shape: Shape, limit: int) -> None:
    """Whatever the limit: a text that is not the whole one never passes without a gap if the limit is a usual one."""
    found = only(limited(shape(), limit))
    usual = limit in (64, 100)
    for field, whole in (("asked", ASKED), ("reply", REPLY)):
        value, gap = getattr(found, field), found.gap(field)
        if value != whole:
            assert value is None or whole.startswith(value), field
            assert gap is not None or (value is not None and not usual), (field, limit, value)
        if gap is not None:
            assert gap.kind is GapKind.TRUNCATED
    for call in found.tool_calls:
        if call.result != RESULT and usual:
            assert call.gap("result") is not None


@pytest.mark.parametrize(
    ("shape", "field", "setting"),
    [
        (openinference, "reply", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
        (flattened, "asked", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
        (strands, "reply", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
    ],
)
def test_the_beginning_stays_and_the_setting_is_named(shape: Shape, field: str, setting: str) -> None:
    """A text of which the beginning is there stays, with the setting that would leave it whole."""
    found = only(limited(shape(), 64))
    gap = found.gap(field)
    assert gap is not None
    assert (gap.kind, gap.setting, len(getattr(found, field))) == (GapKind.TRUNCATED, setting, 64)


def test_messages_that_the_sdk_cut_name_its_setting() -> None:
    """JSON without its end is not read, and what was not read is explained by the limit that all values of a span stop at."""
    spans = conversation(reply=REPLY * 4, tools=[Tool(name="getOrder", arguments={"why": ASKED}, result=RESULT)])
    found = only(limited(list(spans), 100))
    gaps = {gap.field: (gap.kind, gap.setting) for gap in found.all_gaps()}
    told = (GapKind.TRUNCATED, "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT")
    assert [gaps[f] for f in ("reply", "tool_calls", "tool_calls[0].arguments", "tool_calls[0].result")] == [told] * 4


@pytest.mark.parametrize("limit", [67, 73])
def test_a_result_that_is_a_json_string_is_not_whole_without_its_end(limit: int) -> None:
    """However odd the limit, and though nothing else was cut by it: what is there is read, and is not all."""
    root = agent_span(asked="why", reply="so")
    tool = tool_span("getOrder", {"a": 1}, RESULT, parent=root)
    (call,) = only(limited([root, tool], limit)).tool_calls
    assert call.result == RESULT[: limit - 1]
    assert [(gap.field, gap.kind) for gap in call.gaps] == [("result", GapKind.TRUNCATED)]


def test_messages_that_somebody_else_cut_name_no_setting() -> None:
    """A span with longer values was not cut by a limit of the SDK's."""
    cut = {"gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "te', "pad": "p " * 200 + "."}
    gap = only([agent_span(attributes=cut)]).gap("reply")
    assert gap is not None
    assert (gap.kind, gap.setting) == (GapKind.TRUNCATED, None)


def test_a_marked_cut_is_the_instrumentations() -> None:
    """A text that says that it was cut was not cut by the SDK: its limit would not help."""
    found = only([agent_span(reply="I am so ...[truncated]")])
    gap = found.gap("reply")
    assert gap is not None
    assert (gap.kind, gap.setting) == (GapKind.TRUNCATED, None)


def test_an_earlier_answer_is_no_reply() -> None:
    """Where what the model said last is cut, what it said before is not taken for the reply."""
    root = agent_span(asked=None, reply=None)
    first = model_span(parent=root, messages=[message("user", ASKED)], output=[message("assistant", "Let me see.")])
    last = model_span(parent=root, messages=[message("user", ASKED)], started_ns=root.started_ns + 1,
                      attributes={"gen_ai.output.messages": json.dumps([message("assistant", REPLY)])[:90]})  # fmt: skip
    found = only([root, first, last])
    gap = found.gap("reply")
    assert (found.reply, gap is not None and gap.kind) == (None, GapKind.TRUNCATED)


def test_results_that_only_cut_messages_had() -> None:
    """A tool without a span, in a history that is cut: its result is truncated, not left out by a setting."""
    root, first, _, last = genai_on_model()
    cut = replace(last, attributes={**last.attributes, "gen_ai.input.messages": '[{"role": "user", "parts": [{"ty'})
    (call,) = only([root, first, cut]).tool_calls
    gap = call.gap("result")
    assert gap is not None
    assert (gap.kind, gap.setting) == (GapKind.TRUNCATED, None)


@pytest.mark.parametrize("kept", ["newest", "oldest"])
def test_what_a_count_limit_may_have_taken(kept: str) -> None:
    """A conversation spread over attributes of which the SDK dropped some: the question told may be an earlier turn's."""
    turns = ("Hello", "Hi there", "And my order?", "It was sent.")
    flat: dict[str, Any] = {"gen_ai.operation.name": "chat"}
    for index, said in enumerate(turns):
        flat |= {
            f"gen_ai.prompt.{index}.role": ("user", "assistant")[index % 2],
            f"gen_ai.prompt.{index}.content": said,
        }
    items = list(flat.items())
    some = dict(items[-6:] if kept == "newest" else items[:4])
    found = only([span("chat", attributes=some, dropped_attributes=len(items) - len(some))])
    gap = found.gap("asked")
    assert gap is not None
    assert (gap.kind, gap.setting) == (GapKind.DROPPED, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT")


def test_dropped_attributes_beside_whole_messages_take_nothing() -> None:
    """Messages that stand in one attribute are whole, whatever else the SDK dropped."""
    found = only([agent_span(dropped_attributes=3)])
    assert (found.gap("asked"), found.gap("reply")) == (None, None)


@pytest.mark.parametrize("hidden", ["__REDACTED__", "[REDACTED]", "<elided>", "[Scrubbed due to 'password']"])
def test_placeholders_are_gaps(hidden: str) -> None:
    """What stands where content was is no content."""
    root = span("run", attributes={"openinference.span.kind": "AGENT", "input.value": hidden, "output.value": hidden})
    tool = tool_span("t", hidden, hidden, parent=root)
    found = only([root, tool])
    assert (found.asked, found.reply) == (None, None)
    kinds = {gap.kind for field in ("asked", "reply") if (gap := found.gap(field)) is not None}
    kinds |= {gap.kind for gap in found.tool_calls[0].gaps}
    assert kinds == {GapKind.REDACTED}
    assert len(found.tool_calls[0].gaps) == 2


def test_a_call_that_goes_on_from_a_trimmed_history() -> None:
    """A program that trims its history: the later call is shorter than the one that it continues."""
    long = [message("user", f"question {index}") for index in range(5)]
    first = model_span(messages=[*long, message("user", ASKED)], output=[message("assistant", CALL)])
    answer = message("tool", {"type": "tool_call_response", "id": "c1", "response": RESULT})
    last = model_span(messages=[answer], output=[message("assistant", REPLY)], parent=first, parent_id=None,
                      started_ns=first.ended_ns)  # fmt: skip
    found = only([last, first])
    assert (found.asked, found.reply, len(found.model_calls)) == (ASKED, REPLY, 2)


@pytest.mark.parametrize("content", [True, False])
def test_no_switch_is_named_for_instructions_where_content_is_on(content: bool) -> None:
    """An agent may have no instructions. Whoever is told to turn on what is on looks in vain."""
    root = agent_span(asked=ASKED if content else None, reply=REPLY if content else None)
    (found,) = assemble([root])
    gap = found.gap("system")
    assert gap is not None
    assert (gap.kind, gap.setting is None) == (GapKind.NOT_CAPTURED, content)


def test_no_switch_is_named_for_a_reply_where_the_last_thing_said_asks_for_tools() -> None:
    """A tool's result ended the run, or somebody is to approve the call: content is on."""
    root = agent_span(asked=ASKED, reply=None)
    asking = model_span(parent=root, messages=[message("user", ASKED)], output=[message("assistant", CALL)])
    found = only([root, asking, tool_span("getOrder", ARGUMENTS, RESULT, parent=root, call_id="c1")])
    gap = found.gap("reply")
    assert found.reply is None
    assert gap is not None
    assert (gap.kind, gap.setting) == (GapKind.NOT_CAPTURED, None)
