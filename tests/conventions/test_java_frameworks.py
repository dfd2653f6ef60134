"""Spring AI, and LangChain4j under Quarkus."""

from __future__ import annotations

from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Interaction
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import span

QUARKUS = Scope("io.quarkus.opentelemetry")
RAISED = (
    SpanEvent(name="exception", time_ns=1, attributes={"exception.type": "IOException", "exception.message": "down"}),
)


def spring(kind: str, name: str, attributes: dict[str, Any], **fields: Any) -> Span:
    """An observation of Spring AI's."""
    return span(name, attributes={"spring.ai.kind": kind, "gen_ai.operation.name": "framework", **attributes}, **fields)


def spring_turn(tool: dict[str, Any], **fields: Any) -> Interaction:
    """A chat client's call with an advisor, a model's call and a tool."""
    client = spring("chat_client", "spring_ai chat_client", {"spring.ai.chat.client.conversation.id": "c1"})
    advisor = spring("advisor", "call", {}, parent=client)
    model = span(
        "chat gpt",
        attributes={"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt", "gen_ai.usage.input_tokens": 4},
        parent=advisor,
    )
    called = spring("tool_call", "tool_call find", {"spring.ai.tool.definition.name": "find", **tool}, parent=client)
    (found,) = assemble([client, advisor, model, called])
    return found


def test_a_chat_clients_turn() -> None:
    """The client is the agent, without a name; tools have names of Spring's own."""
    found = spring_turn(
        {
            "spring.ai.tool.call.id": "t1",
            "spring.ai.tool.call.arguments": '{"id":81}',
            "spring.ai.tool.call.result": '"paid"',
        }
    )
    assert (found.agent, found.session, found.model, found.usage.input_tokens) == (None, "c1", "gpt", 4)
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("find", {"id": 81}, "paid")]
    assert (found.asked, found.reply) == (None, None)


def test_springs_tools_without_content() -> None:
    """The gap names the property."""
    (call,) = spring_turn({}).tool_calls
    gap = call.gap("result")
    assert gap is not None
    assert gap.setting == "spring.ai.tools.observations.include-content=true"


def test_an_ai_services_turn() -> None:
    """A service's method is the agent; the texts of all messages are the wrapping in which the question is known."""
    service = span("langchain4j.aiservices.ShopAgent.chat", scope=QUARKUS)
    request = {"gen_ai.request.model": "gpt", "gen_ai.content.prompt": "Be kind.\nWhere is it?"}
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find",
        "gen_ai.tool.call.arguments": '{"id":81}',
        "gen_ai.tool.call.result": "paid",
    }
    (found,) = assemble(
        [
            service,
            span("completion gpt", attributes=request, parent=service),
            span("langchain4j.tools.find", attributes=tool, parent=service),
            span(
                "completion gpt",
                attributes={**request, "gen_ai.completion": "Here."},
                parent=service,
                started_ns=service.started_ns + 5,
            ),
        ]
    )
    assert (found.agent, found.asked, found.reply) == ("ShopAgent", "Be kind.\nWhere is it?", "Here.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("find", {"id": 81}, "paid")]


def test_quarkus_records_exceptions_without_a_status() -> None:
    """The exception event is the failure, of a service and of a tool, whose name is in the span's."""
    service = facts_of(span("langchain4j.aiservices.ShopAgent.chat", scope=QUARKUS, events=RAISED))
    tool = facts_of(span("langchain4j.tools.find", scope=QUARKUS, events=RAISED))
    assert service is not None
    assert tool is not None
    assert (str(service.failure), tool.tool, tool.error) == ("IOException: down", "find", "IOException: down")


def test_quarkus_other_spans_are_ordinary() -> None:
    """A request in the same scope is nobody's work."""
    assert facts_of(span("GET /orders", scope=QUARKUS, attributes={"http.request.method": "GET"})) is None
