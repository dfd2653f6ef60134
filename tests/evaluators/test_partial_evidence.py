"""The rule of partial evidence as a property: more evidence never overturns what was decided on less."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval import (
    reply_should_be_json,
    reply_should_contain,
    reply_should_match,
    reply_should_not_contain,
    reply_should_not_contain_luhn_number,
    reply_should_not_contain_payment_card,
    reply_should_not_match,
    should_call_tool,
    should_call_tool_with,
    should_call_tools,
    should_call_tools_in_order,
    should_make_at_most_model_calls,
    should_make_at_most_tool_calls,
    should_not_call_tool,
    should_not_fail,
    should_reply_within,
    should_use_at_most_tokens,
    tool_result_should_contain,
    tools_should_not_fail,
)
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.exact import ExactEvaluator
from otel_eval.interaction import Failure, Gap, GapKind, Interaction, ModelCall, ToolCall, Totals, Usage
from otel_eval.outcome import Evaluation
from otel_eval.redaction.markers import marker
from otel_eval.testing.interactions import interaction, tool_call

CONTEXT = EvaluationContext(evaluation_id="0" * 32, evaluator_id="under-test")
CARD = "4111111111111111"

REPLY_CHECKS = [
    reply_should_contain("cat"),
    reply_should_contain("cat", "o_1"),
    reply_should_not_contain("cat"),
    reply_should_not_contain("dog", "redacted"),
    *(
        make(pattern)
        for make in (reply_should_match, reply_should_not_match)
        for pattern in (
            "cat", "cat$", r"\bcat\b", "^cat", r"(?m)^cat$", "cat(?!s)", "(?<!a )cat", r"c\w*t", ".*+(?<=cat)", r"cat\Z",
            "(?>.*)(?<=cat)", "[0-9]{4}", "cat.*dog", r"\Bat",
        )
    ),
    reply_should_not_contain_payment_card(),
    reply_should_not_contain_luhn_number(2, 4),
    reply_should_not_contain_luhn_number(1, 30),
    reply_should_be_json(),
    reply_should_be_json({"type": "integer"}),
]  # fmt: skip
TOOL_CHECKS = [
    should_call_tool("a"),
    should_call_tools("a", "b"),
    should_call_tools_in_order("a", "b", "a"),
    should_not_call_tool("a"),
    should_call_tool_with("a", "x", "cat"),
    should_call_tool_with("a", "x", 12),
    should_call_tool_with("a", "x", None),
    should_call_tool_with("b", "x", ["cat"]),
    tool_result_should_contain("a", "cat"),
    tool_result_should_contain("a", 'cat"}'),
    tools_should_not_fail(),
    should_make_at_most_tool_calls(0),
    should_make_at_most_tool_calls(2),
]
OTHER_CHECKS = [
    should_make_at_most_model_calls(0),
    should_make_at_most_model_calls(2),
    should_use_at_most_tokens(0),
    should_use_at_most_tokens(50),
    should_reply_within("2s"),
    should_reply_within(0),
    should_not_fail(),
]

words = st.sampled_from(
    ["cat", "CAT", "cats", "a cat", " ", "dog", "\n", "o_1", CARD, CARD[:-1], "4111 1111 1111 1111", "1", "0", "-", " 12 ",
     "redacted", '{"x": 1}', "12", "Straße", "٤١١١"]
)  # fmt: skip
near_cats = st.lists(st.sampled_from(["cat", "s", " ", "a ", "\n", "at"]), max_size=3).map("".join)
texts = st.one_of(st.lists(words, max_size=6).map("".join), near_cats)
json_values = st.one_of(
    st.none(), st.booleans(), st.sampled_from([12, 12.0, 1]), texts, st.lists(st.just("cat"), max_size=2)
)


@st.composite
def tool_calls(draw: st.DrawFn) -> ToolCall:
    error = draw(st.sampled_from([None, None, "boom"]))
    result = None if error else draw(st.one_of(json_values, st.dictionaries(st.sampled_from("xy"), json_values)))
    arguments = draw(
        st.one_of(st.none(), texts, st.dictionaries(st.sampled_from("xy"), st.one_of(json_values, near_cats)))
    )
    return ToolCall(name=draw(st.sampled_from("aab")), arguments=arguments, result=result, error=error)


@st.composite
def interactions(draw: st.DrawFn) -> Interaction:
    calls = tuple(draw(st.lists(tool_calls(), max_size=4)))
    models = tuple(ModelCall() for _ in range(draw(st.integers(0, 4))))
    usage = Usage(input_tokens=draw(st.integers(0, 40)), output_tokens=draw(st.integers(0, 40)))
    return Interaction(
        id="a-b",
        trace_id="a",
        span_id="b",
        reply=draw(texts),
        tool_calls=calls,
        model_calls=models,
        usage=usage,
        totals=Totals(tool_calls=len(calls) + draw(st.integers(0, 2)), model_calls=len(models), usage=usage),
        failure=draw(st.sampled_from([None, Failure(message="boom")])),
        started_ns=1_000_000_000,
        ended_ns=draw(st.integers(1_000_000_000, 5_000_000_000)),
    )


@st.composite
def less_reply(draw: st.DrawFn, whole: Interaction) -> Interaction:
    """The Interaction with a reply that was cut, redacted in part, redacted whole or lost."""
    reply = whole.reply or ""
    how = draw(st.sampled_from(["cut", "hole", "card", "lost", "cut and hole"]))
    gaps: tuple[Gap, ...] = ()
    if how == "lost":
        kind = draw(st.sampled_from(list(GapKind)))
        return dataclasses.replace(whole, reply=None, gaps=(Gap(field="reply", kind=kind),))
    if how == "card":
        reply = re.sub(rf"(?<!\d){CARD}(?!\d)", marker("payment_card"), reply)
        untouched = reply == whole.reply
        return whole if untouched else dataclasses.replace(whole, reply=reply)
    if "cut" in how:
        reply = reply[: draw(st.integers(0, len(reply)))]
        gaps = (Gap(field="reply", kind=GapKind.TRUNCATED),)
    if "hole" in how:
        start = draw(st.integers(0, len(reply)))
        end = draw(st.integers(start, len(reply)))
        reply = reply[:start] + draw(st.sampled_from(["[REDACTED]", "__REDACTED__", marker("email")])) + reply[end:]
    return dataclasses.replace(whole, reply=reply, gaps=gaps)


NEAR = ["cat", "cats", "a cat", "at", "cat\n", "catat", CARD, CARD + "2", CARD + " 2", "12" + CARD, "1a " + CARD]


@st.composite
def cut_by_little(draw: st.DrawFn) -> tuple[Interaction, Interaction]:
    """A reply and the same one with its last characters, or its first, missing: where mistakes about edges live."""
    reply = draw(st.sampled_from(NEAR))
    bare = Interaction(id="a-b", trace_id="a", span_id="b", reply=reply)
    lost = draw(st.integers(0, 2))
    if draw(st.booleans()):
        gaps = (Gap(field="reply", kind=GapKind.TRUNCATED),)
        return dataclasses.replace(bare, reply=reply[: len(reply) - lost], gaps=gaps), bare
    if draw(st.booleans()):
        return dataclasses.replace(bare, reply="[REDACTED]" + reply[lost:]), bare
    return dataclasses.replace(bare, reply=reply[: len(reply) - lost] + "[REDACTED]"), bare


@st.composite
def less_of_a_call(draw: st.DrawFn, call: ToolCall) -> ToolCall:
    field = draw(st.sampled_from(["arguments", "result"]))
    value = getattr(call, field)
    kind = draw(st.sampled_from([GapKind.TRUNCATED, *GapKind]))
    left = None
    if kind is GapKind.TRUNCATED and isinstance(value, str):
        left = value[: draw(st.integers(0, len(value)))]
    elif kind is GapKind.TRUNCATED and isinstance(value, dict) and value:
        kept = list(value)[: draw(st.integers(1, len(value)))]
        left = {key: value[key] for key in kept}
        last = left[kept[-1]]
        left[kept[-1]] = last[: draw(st.integers(0, len(last)))] if isinstance(last, str) else last
    elif kind is GapKind.REDACTED and isinstance(value, dict):
        left = {key: draw(st.sampled_from([item, "[REDACTED]"])) for key, item in value.items()}
    return dataclasses.replace(call, gaps=(Gap(field=field, kind=kind),), **{field: left})


@st.composite
def less_tools(draw: st.DrawFn, whole: Interaction) -> Interaction:
    """The Interaction with tool calls lost, or with calls that lost a part; perhaps without its agent span."""
    if draw(st.booleans()) and whole.tool_calls:
        calls = tuple(draw(st.one_of(st.just(call), less_of_a_call(call))) for call in whole.tool_calls)
        return dataclasses.replace(whole, tool_calls=calls)
    kept = tuple(call for call in whole.tool_calls if draw(st.booleans()))
    totals = Totals(tool_calls=draw(st.sampled_from([None, len(kept)])), model_calls=None)
    if draw(st.booleans()):
        return dataclasses.replace(whole, tool_calls=kept, totals=totals, complete=False)
    gap = Gap(field="tool_calls", kind=draw(st.sampled_from(list(GapKind))))
    return dataclasses.replace(whole, tool_calls=kept, totals=totals, gaps=(gap,))


@st.composite
def less_counted(draw: st.DrawFn, whole: Interaction) -> Interaction:
    """The Interaction with fewer model calls, fewer tokens and an earlier end, and told to be without them or incomplete."""
    models = whole.model_calls[: draw(st.integers(0, len(whole.model_calls)))]
    usage = draw(st.sampled_from([Usage(), Usage(input_tokens=whole.usage.input_tokens), whole.usage]))
    incomplete = draw(st.booleans())
    gaps = () if incomplete else tuple(Gap(field=f, kind=GapKind.DROPPED) for f in ("model_calls", "usage", "ended_ns"))
    return dataclasses.replace(
        whole,
        model_calls=models,
        usage=usage,
        totals=Totals(model_calls=draw(st.sampled_from([None, len(models)])), usage=usage),
        ended_ns=draw(st.one_of(st.none(), st.integers(1_000_000_000, whole.ended_ns or 0))),
        failure=draw(st.sampled_from([None, Failure(message="below")])) if incomplete else whole.failure,
        complete=not incomplete,
        gaps=gaps,
    )


def assert_stands(evaluator: ExactEvaluator, less: Interaction, whole: Interaction) -> None:
    early, late = evaluator.evaluate(less, CONTEXT), evaluator.evaluate(whole, CONTEXT)
    if isinstance(early, Evaluation):
        assert type(late) is type(early), (evaluator.id, less, early, late)


@settings(max_examples=300)
@given(st.data())
def test_more_of_the_reply_never_overturns_an_outcome(data: st.DataObject) -> None:
    """What a check says of a cut or redacted reply it says of the whole one."""
    whole = data.draw(interactions())
    less = data.draw(less_reply(whole))
    for evaluator in REPLY_CHECKS:
        assert_stands(evaluator, less, whole)


@settings(max_examples=150)
@given(cut_by_little())
def test_what_is_next_to_the_cut_never_overturns_an_outcome(pair: tuple[Interaction, Interaction]) -> None:
    """The character that is missing may complete a word, a line or a number."""
    for evaluator in REPLY_CHECKS:
        assert_stands(evaluator, *pair)


@settings(max_examples=300)
@given(st.data())
def test_more_tool_calls_never_overturn_an_outcome(data: st.DataObject) -> None:
    """What a check says of some of the tool calls, or of calls in part, it says of all of them."""
    whole = data.draw(interactions())
    less = data.draw(less_tools(whole))
    for evaluator in TOOL_CHECKS:
        assert_stands(evaluator, less, whole)


@settings(max_examples=200)
@given(st.data())
def test_more_counts_and_the_agent_span_never_overturn_an_outcome(data: st.DataObject) -> None:
    """What a budget, or no-failure, says before the last of the evidence it says after it."""
    whole = data.draw(interactions())
    less = data.draw(less_counted(whole))
    for evaluator in OTHER_CHECKS:
        assert_stands(evaluator, less, whole)


@pytest.mark.parametrize("kind", [GapKind.NOT_CAPTURED, GapKind.REDACTED, GapKind.DROPPED, GapKind.INCOMPLETE])
async def test_a_value_beside_a_gap_never_fails(kind: GapKind, context: EvaluationContext) -> None:
    """What is there may not be all that was there; what was sought and found still passes, unless the span never came."""
    call = tool_call("a", {"k": 2}, gaps=(Gap(field="arguments", kind=kind),))
    other = await run(should_call_tool_with("a", "k", 1), interaction(tool_calls=[call]), context)
    same = await run(should_call_tool_with("a", "k", 2), interaction(tool_calls=[call]), context)
    assert other.name == "inconclusive"
    assert same.name == ("inconclusive" if kind is GapKind.INCOMPLETE else "passed")
