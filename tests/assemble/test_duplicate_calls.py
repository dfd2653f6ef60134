"""One call, and one run, that several instrumentations wrote without the context of one another."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Resource, Scope, Span
from otel_eval.testing.spans import START_NS, Tool, agent_span, conversation, message, model_span
from tests.assemble.kit import later, only

FRAMEWORK, CLIENT = Scope(name="framework"), Scope(name="client")
ASKED, SAID = "Where is my order?", "It was delivered yesterday."
TOOLS = (
    Tool(name="getOrder", arguments={"id": 9}, result="lost"),
    Tool(name="refund", arguments={"id": 9}, result="ok"),
)


def run(started_ns: int = START_NS, **fields: Any) -> tuple[Span, ...]:
    """An agent's spans as its framework's instrumentation writes them."""
    return conversation(tools=TOOLS, scope=FRAMEWORK, started_ns=started_ns, **fields)


def beside(call: Span, **fields: Any) -> Span:
    """What the client's instrumentation writes of that call: in a trace of its own, a bit shorter."""
    whole: dict[str, Any] = {
        "trace_id": None,
        "span_id": None,
        "parent_id": None,
        "scope": CLIENT,
        "started_ns": later(call, 0.01),
        "seconds": 0.08,
        "resource": call.resource,
        **fields,
    }
    told = {name: value for name, value in whole.items() if value is not None}
    more = {"attributes": {**call.attributes, **told.pop("attributes", {})}, "status": call.status}
    return model_span(**more, **told)


def models(spans: tuple[Span, ...]) -> list[Span]:
    return [each for each in spans if each.name.startswith("chat")]


def test_a_clients_spans_are_calls_of_the_agent() -> None:
    """In traces of their own, as LangChain's callbacks leave them; what they say more is known of the call."""
    spans = run()
    found = only([*spans, *(beside(call, attributes={"gen_ai.response.id": call.span_id}) for call in models(spans))])
    assert [call.response_id for call in found.model_calls] == [call.span_id for call in models(spans)]
    assert found.usage.input_tokens == 300
    assert [call.name for call in found.tool_calls] == ["getOrder", "refund"]
    assert found.reply == SAID


def test_a_clients_spans_below_what_is_around_the_agent() -> None:
    """In the agent's trace, where a server's span is the context of both."""
    request = Span(**{**_fields(run()[0]), "name": "POST /chat", "attributes": {}, "span_id": "ab" * 8})
    spans = run(parent=request)
    clients = [beside(call, trace_id=request.trace_id, parent_id=request.span_id) for call in models(spans)]
    assert len(only([request, *spans, *clients]).model_calls) == 3


def test_calls_at_once_take_one_each() -> None:
    """Two users ask the same at once, and the first call is not the one around the first of the clients' spans."""
    slow = conversation(scope=FRAMEWORK, session="slow", started_ns=START_NS)
    slow = tuple(Span(**{**_fields(each), "ended_ns": START_NS + 10**9}) for each in slow)
    quick = conversation(scope=FRAMEWORK, session="quick", started_ns=START_NS + 10**8)
    clients = [
        beside(quick[1]),
        beside(slow[1], started_ns=START_NS + 5 * 10**8),
    ]
    assert [found.session for found in assemble([*slow, *quick, *clients])] == ["slow", "quick"]


def test_a_run_written_twice_is_one() -> None:
    """Two tracers of one framework, in two traces; what only one of them knows is not lost."""
    spans = run(session=None)
    copy = conversation(tools=TOOLS, scope=CLIENT, started_ns=START_NS + 10**6, session="session-2", agent="LangGraph")
    found = only([*spans, *copy])
    assert (found.agent, found.session, len(found.model_calls)) == ("support-agent", "session-2", 3)
    assert [(call.name, call.result) for call in found.tool_calls] == [("getOrder", "lost"), ("refund", "ok")]
    assert found.usage.output_tokens == 60


def test_a_bare_call_written_twice_is_one() -> None:
    """No agent's span: a call of a model by itself."""
    call = model_span(
        messages=[message("user", ASKED)], output=[message("assistant", SAID)], scope=FRAMEWORK, seconds=0.1
    )
    assert len(only([call, beside(call)]).model_calls) == 1


def test_a_failed_call_written_twice_is_one() -> None:
    """Where one of them writes an empty answer beside the failure."""
    root = agent_span(reply=None, failure="on fire", scope=FRAMEWORK)
    call = model_span(
        parent=root,
        messages=[message("user", ASKED)],
        output=[message("assistant", "")],
        failure="on fire",
        seconds=0.1,
    )
    client = model_span(
        messages=[message("user", ASKED)], failure="on fire", scope=CLIENT, started_ns=later(call, 0.01), seconds=0.08
    )
    assert len(only([root, call, client]).model_calls) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"scope": FRAMEWORK},
        {"started_ns": START_NS + 10**9},
        {"resource": Resource(attributes={"service.name": "another"})},
        {"messages": [message("user", "Who are you?")]},
        {"output": [message("assistant", "I do not know.")]},
        {"attributes": {"gen_ai.system_instructions": '[{"type": "text", "content": "You are another."}]'}},
    ],
    ids=["instrumentation", "time", "service", "question", "answer", "system"],
)
def test_what_differs_is_another_call(other: dict[str, Any]) -> None:
    """Instrumentation, time, program, question, answer and system prompt: each tells two calls apart."""
    told = {"messages": [message("user", ASKED)], "output": [message("assistant", SAID)]}
    system = {"gen_ai.system_instructions": '[{"type": "text", "content": "You help."}]'}
    root = agent_span(scope=FRAMEWORK, seconds=0.1)
    call = model_span(parent=root, seconds=0.1, attributes=system, **told)
    client = model_span(
        **{
            "scope": CLIENT,
            "started_ns": later(call, 0.01),
            "seconds": 0.08,
            "resource": call.resource,
            **told,
            **other,
        }
    )
    assert len(assemble([root, call, client])) == 2


def _fields(span: Span) -> dict[str, Any]:
    return {name: getattr(span, name) for name in span.__dataclass_fields__}
