"""Spans of SDKs that record what functions took and gave: LangWatch, Judgment Labs, HoneyHive, DeepEval."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Usage
from otel_eval.signals import Span
from otel_eval.testing.spans import span

ASKED = "Refund order 81"
QUESTION = [{"role": "user", "content": ASKED}]


def langwatch(kind: str, name: str, taken: Any, given: Any, **fields: Any) -> Span:
    """A span of LangWatch's; values are in envelopes."""
    attributes = {"langwatch.span.type": kind, **fields.pop("extra", {})}
    for key, value in (("langwatch.input", taken), ("langwatch.output", given)):
        if value is not None:
            type_ = "text" if isinstance(value, str) else "chat_messages" if isinstance(value, list) else "json"
            attributes[key] = json.dumps({"type": type_, "value": value})
    return span(name, attributes=attributes, **fields)


def judgeval(kind: str, name: str, taken: Any, given: Any, **fields: Any) -> Span:
    """A span of Judgment's; a text that was given stands as it is."""
    attributes = {"judgment.span_kind": kind, **fields.pop("extra", {})}
    if taken is not None:
        attributes["judgment.input"] = json.dumps(taken)
    if given is not None:
        attributes["judgment.output"] = given if isinstance(given, str) else json.dumps(given)
    return span(name, attributes=attributes, **fields)


def honeyhive(kind: str, name: str, taken: Any, given: Any, **fields: Any) -> Span:
    """A span of HoneyHive's; each argument has a key, and so has each part of what was given."""
    attributes = {"honeyhive_event_type": kind, "honeyhive_event_name": name, **fields.pop("extra", {})}
    for key, value in (taken or {}).items():
        attributes[f"honeyhive_inputs.{key}"] = json.dumps(value) if isinstance(value, (dict, list)) else value
    parts = given if isinstance(given, dict) else {} if given is None else {None: given}
    for key, value in parts.items():
        attributes["honeyhive_outputs.result" + ("" if key is None else f".{key}")] = value
    return span(name, attributes=attributes, **fields)


def confident(kind: str, name: str, taken: Any, given: Any, **fields: Any) -> Span:
    """A span with DeepEval's attributes, as a program writes them; a text stands as it is."""
    attributes = {"confident.span.type": kind, f"confident.{kind}.name": name, **fields.pop("extra", {})}
    for key, value in (("confident.span.input", taken), ("confident.span.output", given)):
        if value is not None:
            attributes[key] = value if isinstance(value, str) else json.dumps(value)
    return span("work", attributes=attributes, **fields)


@pytest.mark.parametrize(
    ("make", "agent_kind", "frame_kind", "session", "agent"),
    [
        (langwatch, "agent", "span", {"metadata": '{"thread_id": "s1"}'}, "shop"),
        (langwatch, "agent", "workflow", {"langwatch.thread.id": "s1"}, "shop"),
        (judgeval, "agent", "function", {"judgment.session_id": "s1"}, "shop"),
        (honeyhive, "chain", "chain", {"honeyhive.session_id": "s1"}, "handle"),
        (confident, "agent", "custom", {"confident.trace.thread_id": "s1"}, "shop"),
    ],
    ids=["langwatch", "langwatch workflow", "judgeval", "honeyhive", "confident"],
)
def test_a_turn_of_observed_functions(
    make: Any, agent_kind: str, frame_kind: str, session: dict[str, str], agent: str
) -> None:
    """The function that says it is an agent gives the name, else the outermost; arguments are known by name."""
    frame = make(frame_kind, "handle", {"message": ASKED}, "Done.", extra=session)
    shop = make(agent_kind, "shop", {"message": ASKED, "history": []}, "Done.", parent=frame)
    model = span(
        "ChatCompletion",
        parent=shop,
        attributes={
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": ASKED,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_order",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"id": 81}',
            "honeyhive_event_type": "model",
        },
    )
    tool = make("tool", "get_order", {"id": 81}, {"status": "paid"}, parent=shop)
    (found,) = assemble([frame, shop, model, tool])
    assert (found.agent, found.session, found.asked, found.reply) == (agent, "s1", ASKED, "Done.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [
        ("get_order", {"id": 81}, {"status": "paid"})
    ]
    assert len(found.model_calls) == 1


@pytest.mark.parametrize("make", [langwatch, judgeval, honeyhive, confident])
def test_a_tool_that_raised(make: Any) -> None:
    """It has an error and no result."""
    tool = make("tool", "get_order", {"id": 81}, None, status="error", status_message="down")
    facts = facts_of(tool)
    assert facts is not None
    assert (facts.kind, facts.tool, facts.error) == (Kind.TOOL, "get_order", "down")


def test_judgments_spans_are_sent_before_they_end() -> None:
    """The last of the spans of one id counts, and a generator is no answer."""
    early = judgeval("agent", "shop", {"message": ASKED}, None, seconds=0.0, extra={"judgment.update_id": 0})
    model = judgeval(
        "llm",
        "OPENAI_API_CALL",
        None,
        None,
        parent=early,
        extra={
            "gen_ai.prompt": json.dumps({"messages": QUESTION, "model": "m"}),
            "gen_ai.completion": json.dumps(
                {"id": "r1", "choices": [{"message": {"role": "assistant", "content": "Done."}}]}
            ),
            "judgment.llm.model": "m",
            "judgment.usage.non_cached_input_tokens": 20,
            "judgment.usage.cache_read_input_tokens": 5,
            "judgment.usage.output_tokens": 7,
        },
    )
    late = judgeval("agent", "shop", {"message": ASKED}, "<generator>", extra={"judgment.update_id": 2})
    whole = Span(**{name: getattr(late, name) for name in late.__dataclass_fields__} | {
        "trace_id": early.trace_id, "span_id": early.span_id,
    })  # fmt: skip
    (found,) = assemble([early, model, whole])
    assert (found.agent, found.asked, found.reply, found.model) == ("shop", ASKED, "Done.", "m")
    assert found.usage == Usage(input_tokens=25, output_tokens=7, cache_read_tokens=5)


def test_deepevals_marks_on_anothers_span() -> None:
    """The span is read as the other's, with the thread and the user of the trace from here."""
    told = {"confident.span.type": "agent", "confident.trace.thread_id": "s1", "confident.trace.user_id": "u1"}
    named = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
    facts = facts_of(span("invoke_agent shop", attributes=told | named))
    assert facts is not None
    assert (facts.conventions, facts.agent, facts.session, facts.user_id) == (("genai",), "shop", "s1", "u1")


def test_langwatchs_own_span_of_a_model() -> None:
    """Messages in an envelope, tokens in an object of their own."""
    facts = facts_of(
        langwatch(
            "llm",
            "OpenAI ChatCompletion",
            QUESTION,
            [{"role": "assistant", "content": "Done."}],
            extra={"gen_ai.request.model": "m", "langwatch.metrics": '{"prompt_tokens": 5, "completion_tokens": 2}'},
        )
    )
    assert facts is not None
    assert (facts.kind, facts.model, facts.usage) == (Kind.MODEL, "m", Usage(input_tokens=5, output_tokens=2))
    assert [message.text for message in (*(facts.input or ()), *(facts.output or ()))] == [ASKED, "Done."]


@pytest.mark.parametrize(
    "made",
    [
        langwatch("guardrail", "g", "x", "y"),
        langwatch("server", "s", None, None),
        judgeval("behavior", "b", {"x": 1}, None),
        honeyhive("generic", "g", {"x": 1}, None),
        span("get_order_error", attributes={"honeyhive_event_type": "tool", "honeyhive_error": "down"}),
    ],
)
def test_what_is_no_agents_work(made: Span) -> None:
    """Kinds that nobody knows, and HoneyHive's extra span of a failure, are left out."""
    assert facts_of(made) is None
