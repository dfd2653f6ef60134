"""Runs of a thread that a service keeps, as azure-ai-agents writes their requests."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.nodes import observe
from otel_eval.assemble.trace_ties import ties
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, START_NS, span

AZURE = Scope("azure.core.tracing.ext.opentelemetry_span")
STEP = "gen_ai.run_step.tool_calls"


class Service:
    """Writes one request after another, each a span: of one trace, or each a trace of its own."""

    def __init__(self, *, apart: bool = False, content: bool = True) -> None:
        self.top = None if apart else span("POST /chat", seconds=600)
        self.spans: list[Span] = [] if self.top is None else [self.top]
        self.content = content

    def ask(self, operation: str, run: str | None = None, *told: tuple[str, dict[str, Any]], **more: Any) -> None:
        """One request; ``told``: its events, by name, with their content."""
        ids = {"gen_ai.thread.id": "thread_1", "gen_ai.thread.run.id": run}
        events = tuple(
            SpanEvent(name, 0, {**{k: v for k, v in ids.items() if v}, "gen_ai.event.content": json.dumps(body)})
            for name, body in told
            if self.content
        )
        if operation == "list_run_steps":
            ids = {"gen_ai.thread.id": run, "gen_ai.thread.run.id": "thread_1"}
        status = {"status": "error"} if "error.type" in more else {}
        attributes = {"gen_ai.system": "az.ai.agents", "gen_ai.operation.name": operation, **ids, **more}
        started = START_NS + len(self.spans) * 2 * SECOND_NS
        self.spans.append(
            span(
                operation,
                attributes=attributes,
                events=events,
                parent=self.top,
                scope=AZURE,
                started_ns=started,
                **status,
            )
        )

    def put(self, said: str) -> None:
        self.ask("create_message", None, ("gen_ai.user.message", {"content": said, "role": "user"}))

    def poll(self, run: str, *, said: str, calls: tuple[str, ...] = ()) -> None:
        """A run that is polled, which wants the tools one after another; steps and messages are listed, the newest first."""
        self.ask("start_thread_run", run)
        for name in calls:
            self.ask("get_thread_run", run)
            given = {"content": f"{name} done", "id": f"{run}-{name}"}
            self.ask("submit_tool_outputs", run, ("gen_ai.tool.message", given))
        ended = {"gen_ai.thread.run.status": "completed", "gen_ai.response.model": "gpt-4o"}
        self.ask("get_thread_run", run, **ended, **{"gen_ai.usage.input_tokens": 15})
        for name in reversed(calls):
            function = {"name": name, "arguments": {"order": 81}}
            body = {"tool_calls": [{"id": f"{run}-{name}", "type": "function", "function": function}]}
            self.ask("list_run_steps", run, (STEP, body))
        self.ask("list_messages", run, ("gen_ai.assistant.message", {"content": {"text": {"value": said}}}))

    def found(self) -> tuple[Interaction, ...]:
        return assemble(self.spans)


@pytest.mark.parametrize("apart", [False, True])
def test_the_requests_of_a_run_are_one_interaction(*, apart: bool) -> None:
    """Whether they have a span around them or not; the listed steps come newest first, with exchanged ids."""
    service = Service(apart=apart)
    service.put("Refund 81")
    service.poll("run_1", said="Done.", calls=("get_order", "refund"))

    (turn,) = service.found()

    assert (turn.asked, turn.reply, turn.session, turn.model) == ("Refund 81", "Done.", "thread_1", "gpt-4o")
    assert [(call.name, call.arguments, call.result) for call in turn.tool_calls or ()] == [
        ("get_order", {"order": 81}, "get_order done"),
        ("refund", {"order": 81}, "refund done"),
    ]
    assert turn.usage.input_tokens == 15


def test_the_runs_of_a_thread_are_its_turns() -> None:
    """Each was asked what was put into the thread since the one before, which is its history."""
    service = Service()
    for number in (1, 2):
        service.put(f"Question {number}")
        service.poll(f"run_{number}", said=f"Answer {number}.")

    first, second = service.found()

    assert (first.asked, first.reply) == ("Question 1", "Answer 1.")
    assert (second.asked, second.reply) == ("Question 2", "Answer 2.")
    assert [message.text for message in second.history or ()] == ["Question 1", "Answer 1."]


def test_a_run_that_failed() -> None:
    """The request that is told so is not the one that started it."""
    service = Service()
    service.put("Refund 81")
    service.ask("start_thread_run", "run_1")
    service.ask("get_thread_run", "run_1", **{"gen_ai.thread.run.status": "failed", "error.type": "server_error"})
    (turn,) = service.found()
    assert (turn.asked, turn.reply, turn.failed) == ("Refund 81", None, True)


def test_results_of_tools_that_nobody_is_known_to_have_asked_for() -> None:
    """A stream whose steps were not written has what the tools gave, and not what they are: a gap."""
    service = Service()
    service.put("Refund 81")
    said = {"content": {"text": {"value": "Done."}}}
    given = ("gen_ai.tool.message", {"content": "paid", "id": "call_1"})
    service.ask("process_thread_run", "run_1", given, ("gen_ai.assistant.message", said))
    (turn,) = service.found()
    assert (turn.asked, turn.reply) == ("Refund 81", "Done.")
    assert any(gap.field == "tool_calls" and gap.kind is GapKind.NOT_CAPTURED for gap in turn.gaps)


def test_without_content() -> None:
    """The run is there, and what would have shown what it said."""
    service = Service(content=False)
    service.put("Refund 81")
    service.poll("run_1", said="Done.")
    (turn,) = service.found()
    assert (turn.asked, turn.reply) == (None, None)
    settings = {gap.field: gap.setting for gap in turn.gaps}
    assert settings["asked"] == "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"


def test_the_order_of_arrival_does_not_matter() -> None:
    """Spans come as they end."""
    service = Service(apart=True)
    service.put("Refund 81")
    service.poll("run_1", said="Done.", calls=("refund",))
    told = {repr(assemble(order)) for order in list(permutations(service.spans, len(service.spans)))[::50]}
    assert len(told) == 1


def test_requests_about_a_thread_are_tied_by_its_id() -> None:
    """Each may be a trace of its own."""
    service = Service(apart=True)
    service.put("Refund 81")
    service.poll("run_1", said="Done.")
    assert {ties(observe(each)) for each in service.spans} == {frozenset({"thread:thread_1"})}


def test_a_run_lasts_until_it_is_known_to_have_ended() -> None:
    """The request that started it is answered at once; what is asked for meanwhile is not complete."""
    service = Service()
    service.put("Refund 81")
    service.ask("start_thread_run", "run_1", **{"gen_ai.thread.run.status": "queued"})
    service.ask("get_thread_run", "run_1", **{"gen_ai.thread.run.status": "in_progress"})
    (turn,) = service.found()
    assert not turn.complete
    service.ask("get_thread_run", "run_1", **{"gen_ai.thread.run.status": "completed"})
    service.ask("list_messages", "run_1", ("gen_ai.assistant.message", {"content": {"text": {"value": "Done."}}}))
    (turn,) = service.found()
    assert (turn.complete, turn.reply) == (True, "Done.")
    assert turn.ended_ns == service.spans[-2].ended_ns


def test_a_message_of_a_run_that_is_gone() -> None:
    """The spans of an earlier turn may have been let go but for those beside it: the last message is what was asked."""
    service = Service(apart=True)
    service.put("Question 1")
    service.put("Question 2")
    service.poll("run_2", said="Answer 2.")
    (turn,) = service.found()
    assert (turn.asked, turn.reply) == ("Question 2", "Answer 2.")
