"""Langfuse's observations: decorated functions, generations and LangChain's callback."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Span, SpanEvent
from otel_eval.testing.spans import span


def observation(kind: str, name: str, taken: Any = None, given: Any = None, **fields: Any) -> Span:
    """An observation; texts as they are, the rest in JSON, as since 3.1."""
    attributes = {"langfuse.observation.type": kind, **fields.pop("more", {})}
    for key, value in (("langfuse.observation.input", taken), ("langfuse.observation.output", given)):
        if value is not None:
            attributes[key] = value if isinstance(value, str) else json.dumps(value)
    return span(name, attributes=attributes, **fields)


def read(*args: Any, **fields: Any) -> Facts:
    """The facts of an observation."""
    facts = facts_of(observation(*args, **fields))
    assert facts is not None
    return facts


CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 81}'}}
ASKED = {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Where is it?"}]}


@pytest.mark.parametrize("kind", ["agent", "span", "chain"])
def test_a_turn_of_decorated_functions(kind: str) -> None:
    """The outermost is the invocation, whether it says that it is an agent or is a span, as all were in 3.0."""
    agent = observation(kind, "shop", {"args": ["Where is it?"], "kwargs": {}}, "Here.", more={"session.id": "s1"})
    asking = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    usage = {"langfuse.observation.usage_details": '{"prompt_tokens": 42, "completion_tokens": 17}'}
    (found,) = assemble(
        [
            agent,
            observation("generation", "OpenAI-generation", ASKED, asking, parent=agent, more=usage),
            observation("tool", "find", {"args": [], "kwargs": {"id": 81}}, {"status": "paid"}, parent=agent),
        ]
    )
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "s1", "Where is it?", "Here.")
    assert found.system == "Be kind."
    (call,) = found.tool_calls
    assert (call.arguments, call.result, call.call_id) == ({"id": 81}, {"status": "paid"}, "c1")
    assert (found.usage.input_tokens, found.usage.output_tokens) == (42, 17)


@pytest.mark.parametrize(
    ("raw", "reply"),
    [("Here.", "Here."), ('"Here."', "Here."), ('{"answer": "Here."}', "Here."), ('{"score": 1}', '{"score": 1}')],
)
def test_replies(raw: str, reply: str) -> None:
    """A text as it is or in quotes (3.0), an envelope, or a structured answer."""
    assert read("agent", "shop", None, raw).reply == reply


def test_an_error_may_be_the_level_alone() -> None:
    """3.0 left the status unset."""
    facts = read(
        "agent",
        "shop",
        more={"langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "boom"},
    )
    assert facts.failure is not None
    assert facts.failure.message == "boom"


def test_a_tool_that_raised() -> None:
    """Its exception is the error, and there is no result."""
    event = SpanEvent(
        name="exception", time_ns=1, attributes={"exception.type": "RuntimeError", "exception.message": "down"}
    )
    facts = read("tool", "find", {"args": [], "kwargs": {}}, status="error", events=(event,))
    assert (facts.error, facts.result) == ("RuntimeError: down", MISSING)


def test_content_off() -> None:
    """The decorator's switch leaves a gap that names it."""
    agent = observation("agent", "shop")
    (found,) = assemble([agent])
    gap = found.gap("reply")
    assert gap is not None
    assert gap.setting == "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=true"


@pytest.mark.parametrize(
    ("name", "metadata", "kind"),
    [
        ("shop", {"lc_agent_name": "shop"}, Kind.AGENT),
        ("agent", {"lc_agent_name": '"shop"'}, Kind.WORKFLOW),
        ("agent", {"langgraph_node": "agent"}, Kind.STEP),
        ("shop_agent", {}, Kind.AGENT),
    ],
)
def test_langchains_callback(name: str, metadata: dict[str, str], kind: Kind) -> None:
    """What has ``agent`` in its name is an agent to the callback; a graph's node is none."""
    more = {f"langfuse.observation.metadata.{key}": value for key, value in metadata.items()}
    assert read("agent", name, more=more).kind is kind


def test_langchains_tool() -> None:
    """Arguments as Python writes them, and a tool message as the result."""
    given = {"content": "down", "type": "tool", "name": "find", "tool_call_id": "c1", "status": "error"}
    facts = read("tool", "find", {"input": "{'id': 81}"}, given)
    assert (facts.arguments, facts.error, facts.call_id) == ({"id": 81}, "down", "c1")


def test_the_traces_input_and_output_serve_where_the_functions_are_not_there() -> None:
    """A program may tell them for the whole trace."""
    facts = read("span", "shop", more={"langfuse.trace.input": "Where is it?", "langfuse.trace.output": "Here."})
    assert (facts.asked, facts.reply) == ("Where is it?", "Here.")


@pytest.mark.parametrize("kind", ["event", "retriever", "embedding", "guardrail"])
def test_other_types_are_no_agents_work(kind: str) -> None:
    """They are left out, and so is a span of another tracer that carries the trace's attributes."""
    assert facts_of(observation(kind, "x", "in", "out")) is None
    assert facts_of(span("x", attributes={"langfuse.trace.name": "t", "user.id": "u"})) is None


def test_a_cut_output_is_a_gap() -> None:
    """JSON that a length limit cut is no reply."""
    facts = read("agent", "shop", None, '{"answer": "He')
    assert facts.reply is None
    assert [(mark.field, mark.kind) for mark in facts.marks] == [("output", GapKind.TRUNCATED)]


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        (["Refund?"], "Refund?"),
        (["u_1", "Where is it?", "en"], "Where is it?"),
        (["Where is it?", "Be quick please"], None),
        (["u_1", "en"], None),
        (["s_1", [{"role": "user", "content": "Where is it?"}]], "Where is it?"),
        (
            ["Where is it?", [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi!"}]],
            "Where is it?",
        ),
    ],
)
def test_what_was_said_among_several_arguments(args: list[Any], asked: str | None) -> None:
    """Of several positional texts the only one with words; else none, and the model's call tells."""
    facts = read("agent", "shop", {"args": args, "kwargs": {}})
    said = facts.asked if facts.input is None else facts.input[-1].text
    assert said == asked


def test_what_a_handler_returns_is_no_reply() -> None:
    """A traced function's object is its own; an agent's is a structured reply."""
    assert read("span", "handle", None, {"status": 200}).reply is None
    assert read("agent", "shop", None, {"score": 1}).reply == '{"score": 1}'


def test_a_session_in_metadata_is_json() -> None:
    """Callbacks write metadata as JSON: the quotes are no part of the thread's id."""
    facts = facts_of(
        span("x", attributes={"langfuse.observation.type": "agent", "langfuse.trace.metadata.thread_id": '"t-0"'})
    )
    assert facts is not None
    assert facts.session == "t-0"


def test_a_graphs_router_is_no_agent() -> None:
    """A function that has ``agent`` in its name and gives the name of a node is a step; a graph gives its state."""
    own = {"langfuse.observation.type": "agent", "langfuse.observation.metadata.langgraph_node": "__start__"}
    router = facts_of(span("route_to_agent", attributes={**own, "langfuse.observation.output": '"triage_agent"'}))
    inner = facts_of(span("refund_agent", attributes={**own, "langfuse.observation.output": '{"messages": []}'}))
    assert router is not None
    assert inner is not None
    assert (router.kind, inner.kind) == (Kind.STEP, Kind.AGENT)


def test_a_payload_past_the_limit_of_eino() -> None:
    """Its callback puts an object with the beginning in the payload's place, which is neither a message nor a result."""
    cut = '{"original_bytes":90000,"preview":"{\\"role\\":\\"assist","truncated":true}'
    attributes = {"langfuse.observation.type": "generation", "langfuse.observation.output": cut}
    facts = facts_of(span("ChatModel", attributes=attributes))
    assert facts is not None
    assert (facts.output, [(mark.field, mark.kind) for mark in facts.marks]) == (
        None,
        [("output", GapKind.TRUNCATED)],
    )


def test_a_tools_message_has_the_tools_name_for_a_role_in_javascript() -> None:
    """A run that is resumed has no question but the one in its state, and what the tool gave is none."""
    asking = {"content": "", "role": "assistant", "tool_calls": [CALL]}
    given = {"content": "paid", "additional_kwargs": {}, "role": "find"}
    state = [{"content": "Where is it?", "role": "user"}, asking, given, {"content": "Here.", "role": "assistant"}]
    resume = {"lg_name": "Command", "resume": {"decisions": [{"type": "approve"}]}, "goto": []}
    own = {"langfuse.observation.metadata.lc_agent_name": "shop"}
    agent = observation("span", "shop", resume, {"messages": state}, more=own)
    (found,) = assemble([agent, observation("generation", "ChatOpenAI", state[:3], state[3], parent=agent)])
    assert (found.asked, found.reply) == ("Where is it?", "Here.")
    assert [message.role for message in read("generation", "ChatOpenAI", state[:3], state[3]).input or ()] == [
        "user",
        "assistant",
        "tool",
    ]


def test_a_supervisor_is_not_named_after_the_agent_that_it_calls() -> None:
    """``create_supervisor`` makes its own agent with ``create_react_agent``, which no span is named after."""

    def node(name: str, way: str, **more: str) -> dict[str, str]:
        told = {"langgraph_node": name, "langgraph_checkpoint_ns": way, **more}
        return {f"langfuse.observation.metadata.{key}": value for key, value in told.items()}

    graph = observation("chain", "LangGraph", {"messages": [{"type": "human", "content": "Refund it."}]})
    call = {"role": "assistant", "tool_calls": [{"name": "transfer_to_billing", "args": {}, "id": "c1"}]}
    asking = node("agent", "boss:11|agent:12")
    boss = observation("chain", "boss", parent=graph, more=node("boss", "boss:11"))
    first = observation("generation", "ChatOpenAI", ASKED, call, parent=boss, more=asking)
    later_ns = graph.started_ns + 1000
    billing = observation(
        "agent",
        "billing",
        parent=graph,
        started_ns=later_ns,
        more=node("billing", "billing:13", lc_agent_name="billing"),
    )
    own = node("model", "billing:13|model:14", lc_agent_name="billing")
    second = observation(
        "generation", "ChatOpenAI", ASKED, {"role": "assistant", "content": "Done."}, parent=billing, more=own
    )
    step = observation("agent", "agent", parent=boss, more=asking)
    for calling in (first, step):  # a model's span, or where that is lost its node's
        (found,) = assemble([graph, boss, calling, billing, second])
        assert (found.agent, found.asked, found.reply, found.tool_calls) == ("boss", "Refund it.", "Done.", ())
