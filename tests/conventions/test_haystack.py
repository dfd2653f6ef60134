"""Haystack's own tracing: agents of 3.x, pipelines of components, and errors that are tags."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.haystack import SETTING
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span


def haystack(name: str, parent: Span | None = None, second: int = 0, *, seconds: float = 1, **tags: Any) -> Span:
    """A span with tags as attributes, containers as JSON."""
    own = {key: value if isinstance(value, str | bool | int) else json.dumps(value) for key, value in tags.items()}
    started = {"started_ns": START_NS + second * SECOND_NS}
    return span(name, parent=parent, attributes=own, scope=Scope("my.app"), seconds=seconds, **started)


def chat(role: str, *content: Any, **meta: Any) -> dict[str, Any]:
    """``ChatMessage.to_dict``."""
    return {
        "role": role,
        "meta": meta,
        "name": None,
        "content": [{"text": c} if isinstance(c, str) else c for c in content],
    }


CALL = {"tool_name": "refund", "arguments": {"order": "o_9"}, "id": "c1", "extra": None}
RESULT = {"tool_call_result": {"result": "done", "origin": CALL, "error": False}}


def run(*, content: bool = True) -> list[Span]:
    """An agent in a pipeline that calls one tool."""
    asked, wants, got = (
        chat("user", "Refund o_9"),
        chat("assistant", {"tool_call": CALL}, model="m"),
        chat("tool", RESULT),
    )
    end = chat(
        "assistant", "Done.", model="m", usage={"prompt_tokens": 3, "completion_tokens": 2}, finish_reason="stop"
    )

    given = {"messages": [asked, wants, got, end], "last_message": end}
    pipeline = haystack("haystack.pipeline.run", seconds=9, **{"haystack.pipeline.execution_mode": "sync"})
    component = {"haystack.component.name": "bob", "haystack.component.type": "Agent"}
    holder = haystack("haystack.component.run", pipeline, seconds=8, **component)
    agent_tags = {"haystack.agent.input": {"messages": [asked]}, "haystack.agent.output": given} if content else {}
    agent = haystack("haystack.agent.run", holder, seconds=8, **{"haystack.agent.max_steps": 9}, **agent_tags)
    step = haystack("haystack.agent.step", agent, 1, seconds=4, **{"haystack.agent.step": 0})
    model_tags = {
        "haystack.agent.step.llm.input": {"messages": [asked]},
        "haystack.agent.step.llm.output": {"replies": [wants]},
    }
    tool_tags = {"haystack.agent.step.tool.input": CALL["arguments"], "haystack.agent.step.tool.output": "done"}
    return [
        pipeline,
        holder,
        agent,
        step,
        haystack("haystack.agent.step.llm", step, 1, **(model_tags if content else {"haystack.x": "y"})),
        haystack(
            "haystack.agent.step.tool", step, 2, **{"haystack.tool.name": "refund"}, **(tool_tags if content else {})
        ),
    ]


def test_an_agent_in_a_pipeline() -> None:
    """One Interaction, with the tool that its span and the messages tell of once."""
    (found,) = assemble(run())
    assert (found.asked, found.reply) == ("Refund o_9", "Done.")
    assert [(call.name, call.arguments, call.result, call.call_id) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "done", "c1")
    ]
    assert len(found.model_calls) == 1


def test_content_that_is_off() -> None:
    """The tool's name is always there; what it took and gave is a gap that names the switch."""
    (found,) = assemble(run(content=False))
    assert (found.asked, found.reply, [call.name for call in found.tool_calls]) == (None, None, ["refund"])
    gap = found.gap("asked")
    assert gap is not None
    assert gap.setting == SETTING


def read(name: str, **tags: Any) -> Facts:
    """The facts of such a span."""
    facts = facts_of(haystack(name, **tags))
    assert facts is not None
    return facts


def test_a_tool_that_failed() -> None:
    """The error is a tag and a text in the output; the status is unset."""
    own = {
        "haystack.tool.name": "refund",
        "haystack.tool.error": True,
        "haystack.agent.step.tool.output": {"error": "down"},
    }
    assert read("haystack.agent.step.tool", **own).error == "down"
    own.pop("haystack.agent.step.tool.output")
    assert read("haystack.agent.step.tool", **own).error is not None


@pytest.mark.parametrize(
    ("data", "asked"),
    [
        ({"prompt_builder": {"question": "hi"}, "retriever": {"query": "hi"}}, "hi"),
        ({"prompt_builder": {"question": "hi"}, "other": {"query": "something else"}}, None),
        ({"query": "hi"}, "hi"),
        ({"retriever": {"top_k": 3}}, None),
    ],
)
def test_what_a_pipeline_was_asked(data: Any, asked: str | None) -> None:
    """Told where the components agree on it."""
    assert read("haystack.pipeline.run", **{"haystack.pipeline.input_data": data}).asked == asked


@pytest.mark.parametrize(
    ("data", "reply"),
    [
        ({"llm": {"replies": ["hello"], "meta": []}}, "hello"),
        ({"llm": {"replies": [chat("assistant", "hello")]}}, "hello"),
        ({"answer_builder": {"answers": [{"data": "hello", "query": "hi", "documents": []}]}}, "hello"),
        ({"agent": {"messages": [], "last_message": chat("assistant", "hello")}}, "hello"),
        ({"retriever": {"documents": []}}, None),
    ],
)
def test_what_a_pipeline_replied(data: Any, reply: str | None) -> None:
    """Of a generator, an agent or an answer builder."""
    assert read("haystack.pipeline.run", **{"haystack.pipeline.output_data": data}).reply == reply


def test_a_generator_in_a_pipeline_is_a_model_call() -> None:
    """Its messages, its model and its tokens are in its output."""
    own = {
        "haystack.component.type": "OpenAIGenerator",
        "haystack.component.input": {"prompt": "hi"},
        "haystack.component.output": {"replies": ["hello"], "meta": [{"model": "m", "usage": {"prompt_tokens": 3}}]},
    }
    facts = read("haystack.component.run", **own)
    assert (facts.kind, facts.model, facts.usage.input_tokens) == (Kind.MODEL, "m", 3)
    assert [message.text for message in (*(facts.input or ()), *(facts.output or ()))] == ["hi", "hello"]


def test_private_names_of_2x() -> None:
    """Until 2.8 messages were written with an underscore."""
    message = {"_role": "assistant", "_content": [{"text": "hello"}], "_meta": {"model": "m"}, "_name": None}
    own = {"haystack.component.type": "OpenAIChatGenerator", "haystack.component.output": {"replies": [message]}}
    facts = read("haystack.component.run", **own)
    assert (facts.model, [said.text for said in facts.output or ()]) == ("m", ["hello"])


def test_an_agent_in_a_pipeline_has_its_components_name() -> None:
    """Two agents in a row are two, each under the name that the pipeline gives it."""
    pipeline = haystack("haystack.pipeline.run", seconds=9, **{"haystack.pipeline.execution_mode": "sync"})
    spans = [pipeline]
    for second, (name, said) in enumerate((("writer", "Draft."), ("editor", "Done."))):
        component = {"haystack.component.name": name, "haystack.component.type": "Agent"}
        holder = haystack("haystack.component.run", pipeline, 4 * second, seconds=3, **component)
        tags = {
            "haystack.agent.input": {"messages": [chat("user", "Write it")]},
            "haystack.agent.output": {"messages": [chat("user", "Write it"), chat("assistant", said)]},
        }
        spans += [holder, haystack("haystack.agent.run", holder, 4 * second, seconds=2, **tags)]
    writer, editor = assemble(spans)
    assert (writer.agent, writer.asked, writer.reply, writer.parent_id) == ("writer", "Write it", "Draft.", None)
    assert (editor.agent, editor.reply, editor.parent_id) == ("editor", "Done.", None)


def test_a_tool_that_gives_an_error_object_failed() -> None:
    """Haystack does not look into what a tool gives."""
    facts = read("haystack.agent.step.tool", **{"haystack.agent.step.tool.output": {"error": "no such order"}})
    assert facts.error == "no such order"


def test_an_agent_as_a_tool_gives_its_last_message() -> None:
    """``AgentTool`` gives all that the agent gave; the model is shown the text of its last message."""
    end = chat("assistant", "Five days.")
    given = {"messages": [chat("user", "How long?"), end], "last_message": end, "exit_reason": "text"}
    facts = read("haystack.agent.step.tool", **{"haystack.agent.step.tool.output": given})
    assert facts.result == "Five days."
