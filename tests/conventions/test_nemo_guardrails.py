"""NeMo Guardrails' requests, of both engines and in both formats."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Usage
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import agent_span, span

SCOPE = Scope("nemo_guardrails")
CHECK = 'Is this allowed?\nUser message: "Where is o_9?"'


def event(name: str, content: str) -> SpanEvent:
    """An event with a text."""
    return SpanEvent(name=name, time_ns=1, attributes={"content": content})


def call(parent: Span, task: str, prompt: str, said: str) -> list[Span]:
    """A model's call in an action in a rail."""
    rail = span("guardrails.rail", parent=parent, scope=SCOPE, attributes={"rail.type": "input"})
    action = span("guardrails.action", parent=rail, scope=SCOPE, attributes={"action.name": task})
    attributes = {
        "gen_ai.operation.name": task,
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
        "llm.cache.hit": False,
    }
    told = (event("gen_ai.content.prompt", prompt), event("gen_ai.content.completion", said))
    return [rail, action, span(f"{task} m", parent=action, scope=SCOPE, attributes=attributes, events=told)]


def request(*events: SpanEvent, parent: Span | None = None, **attributes: Any) -> Span:
    """A request of ``LLMRails``."""
    own = {"gen_ai.operation.name": "guardrails", **attributes}
    return span("guardrails.request", parent=parent, scope=SCOPE, attributes=own, events=events)


def test_a_request_is_what_the_user_said_and_was_told() -> None:
    """Not what the checks around it were asked and answered."""
    root = request(
        event("guardrails.user_message", "Where is o_9?"),
        event("guardrails.utterance.bot.started", "On its way."),
        event("guardrails.utterance.bot.started", "Anything else?"),
    )
    prompt = "\n[cyan]System[/]\nHelp.\n[cyan]User[/]\nWhere is o_9?"
    said = call(root, "general", prompt, "On its way.")
    (found,) = assemble([root, *call(root, "self_check_input", CHECK, "No"), *said])
    assert (found.asked, found.reply) == ("Where is o_9?", "On its way.\nAnything else?")
    assert (len(found.model_calls), found.usage) == (2, Usage(input_tokens=20, output_tokens=4))
    facts = facts_of(said[-1])
    assert facts is not None
    assert [(one.role, one.text) for one in facts.input or ()] == [("system", "Help."), ("user", "Where is o_9?")]


def test_a_stopped_request_does_not_tell_what_was_asked() -> None:
    """The check's prompt is nobody's question."""
    root = request(event("guardrails.utterance.bot.started", "I may not say."))
    (found,) = assemble([root, *call(root, "self_check_input", CHECK, "Yes")])
    assert (found.asked, found.reply) == (None, "I may not say.")
    assert {gap.setting for gap in found.gaps} == {None}  # content is on


def test_a_request_of_the_other_engine() -> None:
    """Messages and answer are attributes; the answer is the refusal where a rail stopped it."""
    taken = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Why?"},
    ]
    told = {"guardrails.request.input": json.dumps(taken), "guardrails.request.output": "I may not say."}
    root = request(**told)
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    (found,) = assemble([root, span("chat m", parent=root, scope=Scope("nemo-guardrails"), attributes=model)])
    assert (found.asked, found.reply, len(found.history)) == ("Why?", "I may not say.", 2)


def test_the_legacy_format_has_counters() -> None:
    """Of a model's call its name and its tokens; content only in the other format, which the gap says."""
    root = span("interaction", scope=SCOPE)
    counted = {"llm_call_m_prompt_tokens_total": 7, "llm_call_m_completion_tokens_total": 3}
    model = span("LLM: m", parent=root, scope=SCOPE, attributes=counted)
    (found,) = assemble([root, model])
    assert (found.model, found.usage) == ("m", Usage(input_tokens=7, output_tokens=3))
    assert any("span_format: opentelemetry" in (gap.setting or "") for gap in found.gaps)


def test_a_request_in_an_agent_is_part_of_its_work() -> None:
    """The agent keeps its name, its question and its reply."""
    agent = agent_span(agent="shop", asked="Where?", reply="Here.")
    (found,) = assemble([agent, request(event("guardrails.utterance.bot.started", "There."), parent=agent)])
    assert (found.agent, found.asked, found.reply) == ("shop", "Where?", "Here.")
