"""OpenInference for Java: LangChain4j's services and messages, which are written as Java does, and Spring AI's calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.openinference_langchain4j import spelled_out
from otel_eval.interaction import Interaction
from otel_eval.signals import Span
from otel_eval.testing.spans import span

ASKED = 'Where is "81"?\nAnd {9}?'
USER = f'UserMessage {{ name = null, contents = [TextContent {{ text = "{ASKED}" }}], attributes = {{}} }}'
SYSTEM = 'SystemMessage { text = "Be kind." }'
CALLS = 'AiMessage { text = null, thinking = null, toolExecutionRequests = [ToolExecutionRequest { id = "c1" }] }'
RESULT = (
    "ToolExecutionResultMessage{id='c1', toolName='find', contents=[TextContent { text = \"paid\" }], isError=null}"
)
CONTEXT = "DefaultInvocationContext{invocationId=9, interfaceName='shop.Agents$OrderAgent', methodName='chat', chatMemoryId=m1, at=1}"
CALL = {"id": "c1", "function": {"name": "find", "arguments": '{"id":81}'}}


def flattened(direction: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Messages in OpenInference's flattened attributes."""
    found: dict[str, Any] = {}
    for at, message in enumerate(messages):
        base = f"llm.{direction}_messages.{at}.message."
        found |= {base + key: value for key, value in message.items() if key != "tool_calls"}
        for number, call in enumerate(message.get("tool_calls", ())):
            inner = f"{base}tool_calls.{number}.tool_call."
            found[inner + "id"] = call["id"]
            found[inner + "function.name"] = call["function"]["name"]
            found[inner + "function.arguments"] = call["function"]["arguments"]
    return found


def model(parent: Span, system: str, told: list[dict[str, Any]], said: dict[str, Any], at: int) -> Span:
    """A model's call, the ``at``-th."""
    attributes = {"openinference.span.kind": "LLM", "llm.system": system, "llm.model_name": "gpt"}
    attributes |= flattened("input", told) | flattened("output", [{"role": "assistant", **said}])
    return span("generate", parent=parent, attributes=attributes, started_ns=parent.started_ns + at)


def run(service: dict[str, Any], system: str = "langchain4j", written: bool = True) -> Interaction:
    """A service that calls a tool."""
    agent = span("AiService.chat", attributes={"openinference.span.kind": "AGENT", **service})
    told: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM if written else "Be kind."},
        {"role": "user", "content": USER if written else ASKED},
    ]
    more: list[dict[str, Any]] = [
        *told,
        {"role": "assistant", "tool_calls": [CALL], **({"content": CALLS} if written else {})},
        {"role": "tool", "content": RESULT if written else "paid", "tool_call_id": "c1"},
    ]
    (found,) = assemble(
        [
            agent,
            model(agent, system, told, {"tool_calls": [CALL]}, 1),
            model(agent, system, more, {"content": "Here."}, 2),
        ]
    )
    return found


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize(
    "service",
    [
        {"input.value": "Execution Started", "output.value": "Execution Completed"},
        {
            "input.value": json.dumps({"userMessage": USER, "invocationContext": CONTEXT, "systemMessage": SYSTEM}),
            "output.value": "Execution Completed",
        },
        {},
    ],
)
def test_a_services_run(service: dict[str, str], *, written: bool) -> None:
    """What the service's span says of its run is neither question nor reply, however the messages are written."""
    found = run(service, written=written)
    assert (found.asked, found.reply, found.system) == (ASKED, "Here.", "Be kind.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("find", {"id": 81}, "paid")]


def test_who_ran() -> None:
    """The service's interface is the agent, the memory's id the session; ``default`` is none."""
    context = {"userMessage": USER, "invocationContext": CONTEXT}
    found = run({"input.value": json.dumps(context)})
    assert (found.agent, found.session) == ("OrderAgent", "m1")
    context["invocationContext"] = CONTEXT.replace("m1", "default")
    assert run({"input.value": json.dumps(context)}).session is None


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (USER, ASKED),
        ('UserMessage { name = "bob" contents = [] }', 'UserMessage { name = "bob" contents = [] }'),
        (
            'UserMessage { name = "bob", contents = [TextContent { text = "a" }, ImageContent { image = Image { url = "x" } '
            "detailLevel = LOW }], attributes = {} }",
            "a",
        ),
        (SYSTEM, "Be kind."),
        ('AiMessage { text = "Here.", thinking = null, toolExecutionRequests = [], attributes = {} }', "Here."),
        ('AiMessage { text = "Here." toolExecutionRequests = null }', 'AiMessage { text = "Here." toolExecutionRequests = null }'),
        (CALLS, None),
        (RESULT, "paid"),
        ('ToolExecutionResultMessage { id = "c1" toolName = "find" text = "paid" }', "paid"),
        ("Here.", "Here."),
        ('{"id": 81}', '{"id": 81}'),
        (None, None),
    ],
)  # fmt: skip
def test_messages_written_as_java_does(written: str | None, said: str | None) -> None:
    """The text as it was; what is in no known form stays."""
    assert spelled_out(written) == said


def test_spring_ai_under_openinference() -> None:
    """Model's calls alone, below whatever span the program has."""
    request = span("POST /chat")
    told: list[dict[str, Any]] = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": ASKED}]
    more: list[dict[str, Any]] = [
        *told,
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "content": '"paid"', "tool_call_id": "c1"},
    ]
    (found,) = assemble(
        [
            request,
            model(request, "spring-ai", told, {"content": "", "tool_calls": [CALL]}, 1),
            model(request, "spring-ai", more, {"content": "Here."}, 2),
        ]
    )
    assert (found.asked, found.reply) == (ASKED, "Here.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("find", {"id": 81}, "paid")]
