"""LlamaIndex's workflows under OpenInference, and its ReAct agents under whatever instruments the model's calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

SCOPE = Scope("openinference.instrumentation.llama_index")
FORMAT = (
    "…\nThought: I need a tool.\nAction: tool name\nAction Input: {…}\n…\nThought: I can answer.\nAnswer: [yours]\n"
)
WANTS = 'Thought: A tool.\nAction: refund\nAction Input: {"order": "o_9"}'
ENDS = "Thought: I can answer.\nAnswer: Done.\nReally."


def react(*said: str) -> list[dict[str, Any]]:
    """The standard's messages: instructions, a question, and then answers of the model and observations in turn."""
    roles = ("system", "user", "assistant", "user")
    texts = (FORMAT, "Refund o_9", *said)
    return [
        {"role": role, "parts": [{"type": "text", "content": text}]} for role, text in zip(roles, texts, strict=False)
    ]


def call(taken: list[dict[str, Any]], given: str, second: int) -> Span:
    """A model's call in the standard's names, by nobody in particular."""
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": given}]}]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(taken),
        "gen_ai.output.messages": json.dumps(answer),
    }
    return span("chat m", parent=ROOT, attributes=attributes, started_ns=START_NS + second * SECOND_NS)


ROOT = span(
    "invoke_agent bob", seconds=9, attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bob"}
)


def test_a_react_agents_tools_and_answers_are_in_its_texts() -> None:
    """The thought is no part of the reply, a request for a tool is none."""
    spans = [ROOT, call(react(), WANTS, 1), call(react(WANTS, "Observation: refunded"), ENDS, 2)]
    [found] = assemble(spans)
    assert (found.asked, found.reply) == ("Refund o_9", "Done.\nReally.")
    assert [(tool.name, tool.arguments, tool.result) for tool in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "refunded")
    ]


def test_that_format_is_a_text_where_nobody_asked_for_it() -> None:
    """Only the instructions make it one."""
    plain = [message for message in react() if message["role"] != "system"]
    [found] = assemble([ROOT, call(plain, ENDS, 1)])
    assert found.reply == ENDS


@pytest.mark.parametrize(
    ("written", "reply"),
    [
        ("text='18 degrees')]), structured_respon...", "18 degrees"),
        ('text="it\'s \\\\n 18")]), s...', "it's \\n 18"),
        ("text='18 degr...", None),  # cut in the text
    ],
)
def test_the_end_of_a_run_has_what_a_tool_returned_directly(written: str, reply: str | None) -> None:
    """An event in Python's words, of which the beginning is kept."""
    event = (
        "StopEvent(result=AgentOutput(response=ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, "
        f"additional_kwargs={{}}, blocks=[TextBlock(block_type='text', {written}"
    )
    attributes = {"openinference.span.kind": "CHAIN", "output.value": event}
    facts = facts_of(span("FunctionAgent.run", attributes=attributes, scope=SCOPE))
    assert facts is not None
    assert facts.reply == reply


@pytest.mark.parametrize("raised", [False, True])
def test_a_workflow_of_the_programs_own_steps(raised: bool) -> None:
    """Its reply is what it returned, and not what the model said in a step; where it raised, its failure is the run's."""
    taken = {"openinference.span.kind": "CHAIN", "input.value": '{"init_state": {}, "start_event": "StartEvent()"}'}
    given = {} if raised else {"output.value": "StopEvent(result='Hello. Bye.')"}
    root = span("Flow.run", scope=SCOPE, attributes=taken | given, status="error" if raised else "ok")
    step = span("Flow.draft", parent=root, attributes={"openinference.span.kind": "CHAIN"})
    said = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Greet",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Hello.",
    }
    (found,) = assemble([root, step, span("OpenAI.achat", parent=step, attributes=said)])
    assert (found.agent, found.asked, found.failure is not None) == ("Flow", "Greet", raised)
    assert raised or found.reply == "Hello. Bye."


def mlflow(
    name: str,
    kind: str,
    parent: Span | None = None,
    second: int = 0,
    taken: Any = None,
    given: Any = None,
    named: Any = None,
) -> Span:
    """A span of MLflow's, every value in JSON."""
    values = {"mlflow.spanType": kind, "mlflow.spanInputs": taken, "mlflow.spanOutputs": given, "name": named}
    if kind in ("LLM", "CHAT_MODEL"):
        values["mlflow.message.format"] = "llamaindex"
    attributes = {key: json.dumps(value) for key, value in values.items() if value is not None}
    started = START_NS + second * SECOND_NS
    scope = Scope("mlflow.tracing.provider")
    return span(name, parent=parent, attributes=attributes, scope=scope, started_ns=started, seconds=9 - second)


def said(role: str, text: str) -> dict[str, Any]:
    """A message of LlamaIndex's."""
    return {"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}]}


def run_under_mlflow(owner: str = "FunctionAgent") -> list[Span]:
    """An agent that calls one tool; its models stream."""
    event = {"tool_name": "refund", "tool_kwargs": {"order": "o_9"}, "tool_id": "c1"}
    result = {"response": said("assistant", "Done."), "current_agent_name": "zoe", "tool_calls": [event]}
    root = mlflow(
        f"{owner}.run", "AGENT", taken={"user_msg": "Refund o_9", "chat_history": None}, given={"result": result}
    )
    step = mlflow("BaseWorkflowAgent.run_agent_step", "CHAIN", root, 1, {"ev": {"current_agent_name": "bob"}})
    request = {"messages": [said("system", "Be kind."), said("user", "Refund o_9")]}
    stream = "<async_generator object llm_chat_callback.<locals>.wrap.<locals>.wrapped_gen at 0x7fdb6f392320>"
    model = mlflow("OpenAI.astream_chat", "CHAT_MODEL", step, 1, request, stream)
    prepared = mlflow("OpenAI._prepare_chat_with_tools", "LLM", step, 1, request, {"messages": request["messages"]})
    call = mlflow("BaseWorkflowAgent.call_tool", "CHAIN", root, 2, {"ctx": "<Context>", "ev": event}, event)
    gave = {"blocks": [], "tool_name": "refund", "raw_input": {}, "raw_output": "refunded", "is_error": False}
    tool = mlflow("FunctionTool.acall", "TOOL", call, 2, {"kwargs": {"order": "o_9"}}, gave, named="refund")
    return [root, step, prepared, model, call, tool]


@pytest.mark.parametrize(("owner", "agent"), [("FunctionAgent", "zoe"), ("AgentWorkflow", "bob")])
def test_a_run_under_mlflow(owner: str, agent: str) -> None:
    """One Interaction, of the run's agent; of several, the first, whom a step names. A generator is no answer."""
    [found] = assemble(run_under_mlflow(owner))
    assert (found.agent, found.asked, found.reply, found.system) == (agent, "Refund o_9", "Done.", "Be kind.")
    assert [(tool.name, tool.arguments, tool.result) for tool in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "refunded")
    ]
    assert len(found.model_calls) == 1
