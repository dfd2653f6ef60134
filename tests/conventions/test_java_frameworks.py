"""Spring AI, and LangChain4j under Quarkus."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.conventions.spring_ai_content import client_prompt, completion, model_prompt
from otel_eval.interaction import Interaction
from otel_eval.signals import LogRecord, Scope, Span, SpanEvent
from otel_eval.testing.spans import log_record, span

BOOT = Scope("org.springframework.boot", "4.0.7")
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai"}
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


def said(of: Span, title: str, written: str) -> LogRecord:
    """What one of Spring's handlers logs."""
    return log_record("", span=of, body=f"{title}:\n{written}", scope=Scope("org.springframework.ai.observation"))


def test_spring_logs_what_was_said() -> None:
    """A client's prompt tells what was asked and its instructions, its completion the reply, whatever stands in them."""
    client = spring("chat_client", "spring_ai chat_client", {}, scope=BOOT)
    model = span("chat gpt", attributes=CHAT, parent=client)
    asked, reply = 'Where is "my" order, "81"?\n[now]', 'It is "here", "there".'
    (found,) = assemble(
        [client, model],
        [
            said(model, "Chat Model Completion", f'["{reply}"]'),
            said(model, "Chat Model Prompt Content", f'["Be kind.", "{asked}"]'),
            said(client, "Chat Client Completion", f'["{reply}"]'),
            said(client, "Chat Client Prompt Content", f'["system":"Be kind.", "user":"{asked}"]'),
        ],
    )
    assert (found.asked, found.reply, found.system) == (asked, reply, "Be kind.")


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ('["Be kind.", "Where is it?"]', "Where is it?"),
        ('["Be kind.", "Hello.", "Hi!", "Where is it?"]', "Where is it?"),
        ('["Be kind.", "["a", "b"]"]', '["a", "b"]'),
        ('["Be kind.", "A 5" disk?"]', 'Be kind.", "A 5" disk?'),
        ('["Be kind.", ""]', None),
    ],
    ids=["one", "after-others", "JSON", "a-quote-alone", "none"],
)
def test_spring_without_a_clients_log(prompt: str, asked: str | None) -> None:
    """The last text of a model's prompt is the question, all of it the wrapping where that cannot be told apart."""
    request = span("POST /chat", scope=BOOT)
    model = span("chat gpt", attributes=CHAT, parent=request)
    (found,) = assemble(
        [request, model],
        [
            said(model, "Chat Model Prompt Content", prompt),
            said(model, "Chat Model Completion", '["Here."]'),
        ],
    )
    assert (found.asked, found.reply) == (asked, "Here.")


def test_spring_that_logs_nothing() -> None:
    """The gaps name the properties, also where the model's calls have no attribute of Spring's."""
    client = spring("chat_client", "spring_ai chat_client", {}, scope=BOOT)
    (found,) = assemble([client, span("chat gpt", attributes=CHAT, parent=client)])
    settings = [gap.setting or "" for gap in found.gaps if gap.field in ("asked", "reply")]
    assert len(settings) == 2
    assert all("spring.ai.chat.observations.log-completion=true" in setting for setting in settings)


def test_others_that_spring_boot_observes() -> None:
    """Spring AI's properties are no setting of theirs; LangChain4j's observations have none."""
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}
    facts = facts_of(span("chat gpt", scope=BOOT, attributes=attributes))
    assert facts is not None
    assert not facts.setting


@pytest.mark.parametrize(
    ("written", "asked", "system", "prompt"),
    [
        ('["user":"Hi"]', "Hi", None, None),
        ('["user":"Hi", "system":"Be kind."]', "Hi", "Be kind.", None),
        ('["assistant":"Yes?", "user":""]', None, None, None),
        ("[]", None, None, None),
        ('["Hi"]', None, None, '["Hi"]'),
        ("Hi", None, None, "Hi"),
        (None, None, None, None),
    ],
)
def test_a_clients_prompt(written: str | None, asked: str | None, system: str | None, prompt: str | None) -> None:
    """Roles come in any order; what has none is a wrapping."""
    facts = client_prompt(written)
    assert (facts.asked, facts.system, facts.prompt) == (asked, system, prompt)


@pytest.mark.parametrize("written", ["[]", '[""]', "", None])
def test_spring_had_nothing_to_say(written: str | None) -> None:
    """A model that calls tools answers nothing."""
    assert completion(written).output is None
    assert (model_prompt(written).input, model_prompt(written).prompt) == (None, None)


def test_milestones_of_spring_ai_wrote_attributes() -> None:
    """The texts are written alike, whether logged or not."""
    client = spring("chat_client", "spring_ai chat_client", {"gen_ai.prompt": '["user":"Hi"]'}, scope=BOOT)
    attributes = {**CHAT, "gen_ai.prompt": '["Hi"]', "gen_ai.completion": '["Hello."]'}
    (found,) = assemble([client, span("chat gpt", attributes=attributes, parent=client)])
    assert (found.asked, found.reply) == ("Hi", "Hello.")


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


@pytest.mark.parametrize(
    ("written", "setting"),
    [
        ({}, True),
        ({"gen_ai.prompt": "Hi"}, True),
        ({"gen_ai.prompt": "Hi", "gen_ai.completion": "Hello."}, False),
        ({"gen_ai.prompt": "Hi", "gen_ai.response.finish_reasons": "TOOL_EXECUTION"}, False),
    ],
)
def test_quarkus_names_settings_where_content_is_off(written: dict[str, str], *, setting: bool) -> None:
    """What is on closes no gap; a tool's content has settings of its own."""
    model = facts_of(span("completion gpt", scope=QUARKUS, attributes={"gen_ai.request.model": "gpt", **written}))
    tool = facts_of(span("langchain4j.tools.find", scope=QUARKUS))
    assert model is not None
    assert tool is not None
    assert ("include-prompt" in (model.setting or "")) is setting
    assert "include-tool-result" in (tool.setting or "")


def test_quarkus_other_spans_are_ordinary() -> None:
    """A request in the same scope is nobody's work."""
    assert facts_of(span("GET /orders", scope=QUARKUS, attributes={"http.request.method": "GET"})) is None


def quarkus_agent(name: str, parent: Span | None = None, **fields: Any) -> Span:
    """An agent of LangChain4j's agentic module."""
    own = {"gen_ai.operation.name": "agent_invocation", "gen_ai.agent.name": name, "gen_ai.agent.id": f"{name}$0"}
    return span(f"langchain4j.agent.{name}", attributes=own, parent=parent, scope=QUARKUS, **fields)


def quarkus_service(name: str, said: str, parent: Span) -> list[Span]:
    """An AI service's method with its model's call."""
    service = span(f"langchain4j.aiservices.{name}.run", parent=parent)
    told = {"gen_ai.request.model": "gpt-4o", "gen_ai.prompt": f"to {name}", "gen_ai.completion": said}
    return [service, span("completion gpt-4o", attributes=told, parent=service)]


def test_quarkus_agents_around_their_services() -> None:
    """One that runs a service is that service; stages that one runs, each asked something else, are told one by one."""
    flow = quarkus_agent("flow", seconds=4)
    order = quarkus_agent("order", flow)
    polish = quarkus_agent("polish", flow, started_ns=order.ended_ns)
    spans = [flow, order, polish, *quarkus_service("Orders", "ok", order), *quarkus_service("Polisher", "ok!", polish)]
    assert {each.agent: each.reply for each in assemble(spans)} == {"Orders": "ok", "Polisher": "ok!"}
