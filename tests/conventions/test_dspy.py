"""DSPy under OpenInference: programs of named fields."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

DSPY = Scope("openinference.instrumentation.dspy")


def dspy(name: str, kind: str, parent: Span | None = None, second: int = 0, **attributes: Any) -> Span:
    """A span with ``taken`` and ``given`` as JSON."""
    keys = {"taken": "input.value", "given": "output.value"}
    own = {keys.get(key, key): value if key not in keys else json.dumps(value) for key, value in attributes.items()}
    started = START_NS + second * SECOND_NS
    return span(
        name, parent=parent, attributes={"openinference.span.kind": kind, **own}, scope=DSPY, started_ns=started
    )


def react(given: dict[str, Any]) -> list[Span]:
    """A ReAct program that calls one tool."""
    root = dspy("ReAct.forward", "CHAIN", taken={"input_args": {"question": "Refund o_9"}}, given=given)
    rendered = {"messages": [{"role": "user", "content": "[[ ## question ## ]]\nRefund o_9\n[[ ## trajectory ## ]]"}]}
    model = dspy("LM.__call__", "LLM", root, 1, taken=rendered, given=["[[ ## next_tool_name ## ]]\nrefund"])
    tool = dspy("refund.__call__", "TOOL", root, 2, taken={"kwargs": {"order": "o_9"}}, given="done")
    finish = dspy("finish.__call__", "TOOL", root, 3, taken={"kwargs": {}}, given="Completed.")
    return [root, model, tool, finish]


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        ({"trajectory": {"thought_0": "hm"}, "reasoning": "because", "reply": "Done."}, "Done."),
        ({"reasoning": "because", "verdict": "Done."}, "Done."),  # a field of any name, if it is the only one
        ({"summary": "x", "answer": "Done."}, "Done."),
    ],
)
def test_a_program_is_asked_and_replies_in_fields(given: dict[str, Any], reply: str) -> None:
    """The fields of the outermost module, not what a model is sent; ``finish`` is no tool."""
    [found] = assemble(react(given))
    assert (found.asked, found.reply) == ("Refund o_9", reply)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "done")
    ]


def test_hidden_fields_are_none() -> None:
    """Nothing is made of what is redacted."""
    facts = facts_of(dspy("ReAct.forward", "CHAIN", **{"input.value": "__REDACTED__", "output.value": "__REDACTED__"}))
    assert facts is not None
    assert (facts.asked, facts.reply) == (None, None)


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        ("Prediction(\n    reasoning='because',\n    reply='It was sent.'\n)", "It was sent."),
        (
            "Prediction(\n    trajectory={'tool_name_0': 'finish'},\n    reasoning='',\n    reply=\"It's sent.\"\n)",
            "It's sent.",
        ),
        ("Prediction(\n    reply='It was se", None),
    ],
)
def test_a_prediction_in_pythons_words(given: str, reply: str | None) -> None:
    """As it was written until 0.1.25; a cut one is none."""
    found = facts_of(dspy("ChainOfThought.forward", "CHAIN", taken={"question": "Where is it?"}, given=given))
    assert found is not None
    assert found.reply == reply


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("ReActV2.forward", {"reply": "Done.", "history": {"messages": []}, "termination_reason": "submit"}),
        (
            "Desk.forward",
            {"reply": "Done.", "history": {"messages": []}, "termination_reason": "submit"},
        ),  # its subclass
    ],
)
def test_the_second_react_submits(name: str, given: dict[str, Any]) -> None:
    """Its own tool ends it, and its conversation is no field of the program's."""
    root = dspy(name, "CHAIN", taken={"input_args": {"question": "Refund o_9"}}, given=given)
    tool = dspy("refund.__call__", "TOOL", root, 1, taken={"kwargs": {"order": "o_9"}}, given="done")
    submit = dspy("submit.__call__", "TOOL", root, 2, taken={"kwargs": {"reply": "Done."}}, given={"reply": "Done."})
    [found] = assemble([root, tool, submit])
    assert (found.asked, found.reply) == ("Refund o_9", "Done.")
    assert [call.name for call in found.tool_calls] == ["refund"]


def test_a_tool_named_submit_is_a_tool_elsewhere() -> None:
    """The first ReAct leaves that name to the program."""
    root = dspy("ReAct.forward", "CHAIN", taken={"input_args": {"question": "Hand it in"}}, given={"reply": "Done."})
    submit = dspy("submit.__call__", "TOOL", root, 1, taken={"kwargs": {"form": "f"}}, given="received")
    [found] = assemble([root, submit])
    assert [(call.name, call.result) for call in found.tool_calls] == [("submit", "received")]


def mlflow(name: str, kind: str, parent: Span | None = None, second: int = 0, **values: Any) -> Span:
    """A span of MLflow's, every value in JSON."""
    keys = {"taken": "mlflow.spanInputs", "given": "mlflow.spanOutputs", "own": "name"}
    attributes = {keys.get(key, key): json.dumps(value) for key, value in {"mlflow.spanType": kind, **values}.items()}
    started = START_NS + second * SECOND_NS
    return span(name, parent=parent, attributes=attributes, scope=Scope("mlflow.tracing.provider"), started_ns=started)


def test_under_mlflow() -> None:
    """An agent's fields, a tool's own name; a predictor is no model, but what its model's span is below."""
    given = {"trajectory": {"thought_0": "hm"}, "reasoning": "because", "reply": "Done."}
    root = mlflow("ReAct.forward", "AGENT", taken={"question": "Refund o_9"}, given=given)
    step = {"next_thought": "hm", "next_tool_name": "refund"}
    predict = mlflow("Predict.forward", "LLM", root, 1, taken={"question": "Refund o_9"}, given=step)
    rendered = {"messages": [{"role": "user", "content": "[[ ## question ## ]]\nRefund o_9"}]}
    model = mlflow("LM.__call__", "CHAT_MODEL", predict, 1, taken=rendered, given=["[[ ## next_tool_name ## ]]"])
    tool = mlflow("Tool.refund", "TOOL", root, 2, own="refund", taken={"order": "o_9"}, given="done")
    [found] = assemble([root, predict, model, tool])
    assert (found.agent, found.asked, found.reply) == ("ReAct", "Refund o_9", "Done.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "done")
    ]
    assert len(found.model_calls) == 1


def test_a_predictor_alone_under_mlflow_is_asked_and_replies_in_fields() -> None:
    """Not in what its model is sent."""
    predict = mlflow("Predict.forward", "LLM", taken={"question": "Hi"}, given={"answer": "Hello"})
    rendered = {"messages": [{"role": "user", "content": "[[ ## question ## ]]\nHi"}]}
    model = mlflow("LM.__call__", "CHAT_MODEL", predict, 1, taken=rendered, given=["[[ ## answer ## ]]\nHello"])
    [found] = assemble([predict, model])
    assert (found.agent, found.asked, found.reply) == ("Predict", "Hi", "Hello")


def test_under_mlflow_in_the_standards_names() -> None:
    """Modules have no fields there: the reply is what ReActV2's own tool was called with."""
    scope = Scope("mlflow.tracing.provider")
    root = span("CHAIN", attributes={"gen_ai.operation.name": "CHAIN"}, scope=scope)
    predict = {"gen_ai.operation.name": "generate_content", "signature": '"question -> tool_calls"'}

    def tool(name: str, told: str, given: Any, second: int) -> Span:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": f"Tool.{name}",
            "gen_ai.tool.call.result": json.dumps(given),
            "name": json.dumps(name),
            "description": json.dumps(told),
        }
        started = START_NS + second * SECOND_NS
        return span(f"execute_tool Tool.{name}", parent=root, attributes=attributes, scope=scope, started_ns=started)

    [found] = assemble(
        [
            root,
            span("generate_content", parent=root, attributes=predict, scope=scope),
            tool("refund", "Refund an order.", "done", 1),
            tool("submit", "Submit the final outputs for the task.", {"answer": "Done."}, 2),
        ]
    )
    assert (found.reply, [call.name for call in found.tool_calls], found.model_calls) == ("Done.", ["refund"], ())
