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
