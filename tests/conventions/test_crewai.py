"""CrewAI's own tracing: roles for names, tasks for questions, and no task's id for a conversation's."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind, Mark
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, message, span

SCOPE = Scope("crewai.telemetry")
PROMPT = "Refund o_9.\n\nThis is the expected criteria for your final answer: an answer\nyou MUST return …"


def crewai(
    name: str, event: str, parent: Span | None, second: int = 0, *, seconds: float = 1, **attributes: Any
) -> Span:
    """A span of CrewAI's."""
    started = {"started_ns": START_NS + second * SECOND_NS}
    own = {"crewai.event_name": event, **{key: value for key, value in attributes.items() if value is not None}}
    return span(name, parent=parent, attributes=own, scope=SCOPE, seconds=seconds, **started)


def said(role: str, text: str) -> str:
    """One message as the attribute has it."""
    return json.dumps([message(role, text)])


def run(conversation: str | None = None) -> list[Span]:
    """A crew of one agent, one task, one model call and one tool that failed, which CrewAI says twice."""
    talk = {"gen_ai.conversation.id": conversation} if conversation else {}
    root = crewai(
        "execute crew", "crew_kickoff_started", None, seconds=9, **talk,
        **{"gen_ai.operation.name": "invoke_workflow", "gen_ai.input.messages": said("user", '{"topic": "refunds"}'),
           "gen_ai.output.messages": said("assistant", "Sorry.")},
    )  # fmt: skip
    task = crewai(
        "execute task", "task_started", root, seconds=8, **talk,
        **{"gen_ai.operation.name": "execute_task", "crewai.task.description": "Refund o_9.", "crewai.task.output": "Sorry."},
    )  # fmt: skip
    agent = crewai(
        "execute agent", "agent_execution_started", task, seconds=7, **talk,
        **{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "3f8a0c", "crewai.agent.role": "Refunder",
           "gen_ai.input.messages": said("user", PROMPT), "gen_ai.output.messages": said("assistant", "Sorry.")},
    )  # fmt: skip
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}
    tool["gen_ai.tool.call.arguments"] = '{"order": "o_9"}'
    call = crewai("call tool", "tool_usage_started", agent, 2, **talk, **tool)
    failed = {"status": "error", "status_message": "down"}
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.conversation.id": "task-1"}
    return [
        root,
        task,
        agent,
        crewai("call llm", "llm_call_started", agent, 1, **{**model, **talk}),
        Span(**{**{f: getattr(call, f) for f in call.__slots__}, **failed}),
        crewai("tool failure", "tool_failure_detected", agent, 3, **tool),
    ]


def test_a_crew_is_one_interaction() -> None:
    """The role is the name, the task's description was asked, and a failure that is said twice is one call."""
    (found,) = assemble(run())
    assert (found.agent, found.asked, found.reply, found.failure) == ("Refunder", "Refund o_9.", "Sorry.", None)
    assert [(call.name, call.arguments, call.error) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "down")
    ]


def test_conversations() -> None:
    """A task's id on a model's call is no conversation; one that all spans have is."""
    assert [found.session for found in (*assemble(run()), *assemble(run("c1")))] == [None, "c1"]


def test_an_agent_alone_was_asked_what_its_prompt_is_around() -> None:
    """CrewAI wraps the description; what it adds is no user's."""
    facts = facts_of(run()[2])
    assert facts is not None
    assert facts.asked == "Refund o_9."


def test_a_flow_is_a_frame() -> None:
    """Its inputs are what the program was asked."""
    own = {
        "gen_ai.operation.name": "invoke_workflow",
        "crewai.flow.inputs": '{"question": "hi"}',
        "crewai.flow.result": "hello",
    }
    facts = facts_of(crewai("execute flow", "flow_started", None, **own))
    assert facts is not None
    assert (facts.kind, facts.asked, facts.reply) == (Kind.WORKFLOW, "hi", "hello")


def test_what_is_cut_is_marked() -> None:
    """CREWAI_OTEL_MAX_ATTR_BYTES leaves a mark beside what it cut."""
    own = {"gen_ai.tool.name": "t", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result.truncated": True}
    facts = facts_of(crewai("call tool", "tool_usage_started", None, **own))
    assert facts is not None
    assert Mark(field="result", kind=GapKind.TRUNCATED) in facts.marks
