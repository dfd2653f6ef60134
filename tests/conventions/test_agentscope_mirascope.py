"""AgentScope's and Mirascope's spans: the standard's, with objects of the frameworks' own in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import START_NS, message, span

SCOPE = Scope("agentscope")
JAVA = Scope("agentscope-java")
ASKED = "Refund order 81"


@pytest.mark.parametrize(
    ("told", "result", "error"),
    [
        ({"state": "success", "metadata": {}, "id": "c1"}, {"status": "paid"}, None),
        ({"metadata": None, "is_interrupted": False, "id": "c1"}, {"status": "paid"}, None),
        ({"state": "denied", "metadata": {}, "id": "c1"}, {"status": "paid"}, "denied"),
        ({"state": "error", "metadata": {}, "id": "c1", "said": "Error: down"}, "Error: down", "Error: down"),
    ],
    ids=["2", "1", "denied", "raised"],
)
def test_agentscopes_result_is_in_an_object(told: dict[str, Any], result: Any, error: str | None) -> None:
    """The blocks hold what the tool gave; the state says whether it failed, where the span's status is OK."""
    text = told.pop("said", '{"status": "paid"}')
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.arguments": '{"id": 81}',
        "gen_ai.tool.call.result": json.dumps({"content": [{"type": "text", "text": text, "id": "b1"}], **told}),
    }
    found = facts_of(span("execute_tool get_order", scope=SCOPE, status="ok", attributes=attributes))
    assert found is not None
    assert (found.tool, found.arguments, found.result, found.error) == ("get_order", {"id": 81}, result, error)


def test_what_java_raised_failed() -> None:
    """An exception event without a status is a failure, and its sentence in place of a tool's result an error."""
    own = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "desk",
        "agentscope.function.name": "callAgent",
    }
    raised = SpanEvent(
        name="exception", attributes={"exception.type": "ModelException", "exception.message": "on fire"}
    )
    found = facts_of(span("invoke_agent desk", scope=JAVA, attributes=own, events=[raised]))
    assert found is not None
    assert found.failure is not None
    assert (found.agent, found.failure.type, found.failure.message) == ("desk", "ModelException", "on fire")
    told = '[{"text": "Error: Tool execution failed: no such order"}]'
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.call.result": told}
    found = facts_of(span("execute_tool find", scope=JAVA, attributes=tool))
    assert found is not None
    assert found.error == "Error: Tool execution failed: no such order"


def test_another_result_is_as_the_standard_says() -> None:
    """An object of the tool's own is no envelope."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.result": '{"content": "x", "metadata": {}}',
    }
    found = facts_of(span("execute_tool get_order", scope=SCOPE, attributes=attributes))
    assert found is not None
    assert (found.conventions, found.result) == (("genai",), {"content": "x", "metadata": {}})


CALL = [{"type": "tool_call", "id": "c1", "name": "get_order", "args": '{"id": 81}'}]
GIVEN = [{"type": "tool_output", "id": "c1", "name": "get_order", "result": "paid"}]
HISTORY = [
    {"role": "user", "content": [{"type": "text", "text": ASKED}]},
    {"role": "assistant", "content": CALL},
    {"role": "user", "content": GIVEN},
]


def mirascope(*, instrumented: bool) -> list[Span]:
    """A traced function that goes on after a tool; with and without the spans of ``ops.instrument_llm()``."""
    session = {"mirascope.ops.session.id": "s1"}
    traced = {
        "mirascope.type": "trace",
        "mirascope.fn.qualname": "shop",
        "mirascope.trace.arg_values": json.dumps({"message": ASKED}),
        "mirascope.trace.output": "Done.",
    }
    root = span("shop", attributes=traced | session, scope=Scope("mirascope.ops"))
    resumed = {
        "mirascope.type": "response_resume",
        "mirascope.response.model_id": "openai/m",
        "mirascope.response.messages": json.dumps(HISTORY),
        "mirascope.response.content": '[{"type": "text", "text": "Done."}]',
        "mirascope.response.usage": '{"input_tokens": 10, "output_tokens": 3}',
    }
    resume = span("Response.resume openai/m", attributes=resumed | session, parent=root, started_ns=START_NS + 1)
    if not instrumented:
        return [root, resume]
    asks = {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {"id": 81}}
    first, second = [message("user", ASKED)], [message("assistant", asks)]
    given = message("user", {"type": "tool_call_response", "id": "c1", "response": "paid"})
    spans = []
    for started_ns, parent, taken, out in (
        (START_NS, root, first, second),
        (START_NS + 2, resume, [*first, *second, given], [message("assistant", "Done.")]),
    ):
        said = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(taken),
            "gen_ai.output.messages": json.dumps(out),
            "gen_ai.usage.input_tokens": 10,
        }
        spans.append(span("chat openai/m", attributes=said, parent=parent, started_ns=started_ns))
    return [root, resume, *spans]


@pytest.mark.parametrize(("instrumented", "calls"), [(True, 2), (False, 1)])
def test_mirascopes_traced_function(instrumented: bool, calls: int) -> None:
    """A resumed response is one call with the model's span below it, and stands for the call where there is none."""
    (found,) = assemble(mirascope(instrumented=instrumented))
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "s1", ASKED, "Done.")
    called = [(c.name, c.arguments, c.result) for c in found.tool_calls]
    assert called == (
        [("get_order", {"id": 81}, "paid")] if instrumented else []
    )  # else the call that asked has no span
    assert (len(found.model_calls), found.usage.input_tokens) == (calls, 10 * calls)
