"""browser-use under Laminar."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import ToolCallPart
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, span

SCOPE = Scope("lmnr.tracer")
REQUEST = "<user_request>\nOpen the shop.\n</user_request>\n\n<browser_state>\nEmpty page\n</browser_state>"


def traced(name: str, kind: str = "DEFAULT", parent: Span | None = None, **attributes: Any) -> Span:
    """A span of Laminar's."""
    told = {key.replace("__", "."): value for key, value in attributes.items()}
    return span(name, parent=parent, scope=SCOPE, attributes={"lmnr.span.type": kind, **told})


def step(at: int, run: Span, action: str, params: dict[str, Any], given: dict[str, Any]) -> list[Span]:
    """A step, so many seconds after the run began: a model's call, and the action that it asked for."""
    own = span(
        "agent.step", parent=run, started_ns=run.started_ns + at * SECOND_NS, attributes={"lmnr.span.type": "DEFAULT"}
    )
    sent = [{"role": "system", "content": "Do what <user_request> says."}, {"role": "user", "content": REQUEST}]
    answer = json.dumps({"memory": "m", "action": [{action: params}]})
    told = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}]
    messages = {"gen_ai__input__messages": json.dumps(sent), "gen_ai__output__messages": json.dumps(told)}
    taken = json.dumps({"action": action, "params": params})
    done = {"lmnr__span__input": taken, "lmnr__span__output": json.dumps(given)}
    return [own, traced("openai.chat", "LLM", own, **messages), traced(action, "TOOL", own, **done)]


def test_a_run_is_one_interaction() -> None:
    """Asked what the prompt quotes, replied what the last action says; the judge at its end is no part of it."""
    run = traced("agent.run")
    first = step(1, run, "navigate", {"url": "x"}, {"error": None, "extracted_content": "Navigated to x"})
    second = step(2, run, "click", {"index": 3}, {"error": "no such element", "extracted_content": None})
    last = step(3, run, "done", {"text": "It is open.", "success": True}, {"extracted_content": "It is open."})
    judging = traced("_judge_trace", parent=run)
    judge = traced("openai.chat", "LLM", judging, gen_ai__input__messages='[{"role": "user", "content": "Judge."}]')
    (found,) = assemble([run, *first, *second, *last, judging, judge])
    assert (found.agent, found.asked, found.reply) == ("agent.run", "Open the shop.", "It is open.")
    assert [(call.name, call.arguments, call.result, call.error) for call in found.tool_calls] == [
        ("navigate", {"url": "x"}, "Navigated to x", None),
        ("click", {"index": 3}, None, "no such element"),
    ]
    assert len(found.model_calls) == 3


def test_the_last_request_counts() -> None:
    """A task that was added to a run follows the first."""
    both = "<initial_user_request>Open.</initial_user_request>\n<follow_up_user_request> Buy. </follow_up_user_request>"
    told = REQUEST.replace("Open the shop.", both)
    sent = json.dumps([{"role": "user", "content": told}])
    facts = facts_of(traced("openai.chat", "LLM", gen_ai__input__messages=sent))
    assert facts is not None
    assert facts.prompt == "Buy."


def test_actions_are_calls_of_tools() -> None:
    """Beside the object in which the model asked for them, as it stands."""
    _, model, _ = step(0, traced("agent.run"), "navigate", {"url": "x"}, {})
    facts = facts_of(model)
    assert facts is not None
    assert facts.output is not None
    assert facts.output[0].parts[1:] == (ToolCallPart(name="navigate", arguments={"url": "x"}),)


def test_another_programs_tools_are_laminars() -> None:
    """An input that is no action is a tool's own."""
    facts = facts_of(traced("look", "TOOL", lmnr__span__input='{"action": "x"}', lmnr__span__output='"blue"'))
    assert facts is not None
    assert (facts.kind, facts.arguments, facts.result) == (Kind.TOOL, {"action": "x"}, "blue")
