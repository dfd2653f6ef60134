"""Spans that were sent before they ended: OTLP requires an end, and 0 is none."""

from __future__ import annotations

from dataclasses import replace

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.completion import Completion, CompletionSettings
from otel_eval.assemble.nodes import observe
from otel_eval.interaction import Gap, GapKind
from otel_eval.signals import Span
from otel_eval.testing.spans import agent_span, message, model_span, tool_span


def opened(span: Span) -> Span:
    return replace(span, ended_ns=0)


def test_an_agent_that_has_not_ended_is_not_complete() -> None:
    """Content capture would not bring what it has not said yet: the gap asks for no setting."""
    (found,) = assemble([opened(agent_span(reply=None))])
    assert (found.complete, found.ended_ns) == (False, None)
    assert found.gap("reply") == Gap(field="reply", kind=GapKind.INCOMPLETE)


def test_an_agent_that_has_ended_is_complete_whatever_below_it_has_not() -> None:
    root = agent_span()
    (found,) = assemble(
        [
            root,
            opened(model_span(parent=root)),
            opened(tool_span("pay", parent=root, attributes={"gen_ai.tool.call.result": None})),
        ]
    )
    assert found.complete
    assert found.tool_calls[0].gap("result") == Gap(field="result", kind=GapKind.INCOMPLETE)


def test_a_models_call_alone_that_has_not_ended_is_not_complete() -> None:
    (found,) = assemble([opened(model_span(messages=[message("user", "Hi")], output=[message("assistant", "Hel")]))])
    assert not found.complete


def test_it_is_waited_for_and_its_end_counts() -> None:
    completion = Completion(CompletionSettings(settle=2, settle_across_processes=7, idle=300, max_age=3600))
    agent = agent_span()
    completion.add(
        [observe(opened(replace(agent, attributes={**agent.attributes, "gen_ai.output.messages": "[]"})))], [], now=0
    )
    assert completion.due(60).ready == ()
    completion.add([observe(agent)], [], now=60)
    assert completion.due(61).ready == ()
    (ready,) = completion.due(68).ready
    assert (ready.interaction.complete, ready.interaction.reply) == (True, "It was delivered yesterday.")


def test_an_end_that_never_comes_is_not_waited_for_for_ever() -> None:
    completion = Completion(CompletionSettings(settle=2, settle_across_processes=7, idle=300, max_age=3600))
    completion.add([observe(opened(agent_span()))], [], now=0)
    assert completion.due(299).ready == ()
    (ready,) = completion.due(301).ready
    assert not ready.interaction.complete
