"""TruLens' spans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import Interaction
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span


def tru(kind: str, name: str, parent: Span | None = None, **attributes: Any) -> Span:
    """A span of a traced function; two underscores stand for a dot."""
    own = {f"ai.observability.{key.replace('__', '.')}": value for key, value in attributes.items()}
    basic = {"ai.observability.span_type": kind, "ai.observability.call.function": f"__main__.Shop.{name}"}
    if kind == "tool":
        basic["gen_ai.tool.name"] = f"__main__.Shop.{name}"
    return span(f"__main__.Shop.{name}", parent=parent, attributes={**basic, **own}, scope=Scope("trulens"))


def record(**more: Any) -> Span:
    return tru("record_root", "run", app_name="shop", record_root__input="Weather?", conversation_id="s-1", **more)


def only(*spans: Span) -> Interaction:
    (found,) = assemble(spans)
    return found


def test_a_record_is_an_interaction_and_its_evaluation_is_none() -> None:
    root = record(record_root__output="Rain.")
    agent = tru("agent", "agent", root, call__kwargs__question="Weather?")
    tool = tru("tool", "get_weather", agent, call__kwargs__city="Paris", call__return='{"degrees": 18}')
    asked = '[{"role": "system", "content": "You help."}, {"role": "user", "content": "Weather?"}]'
    call = tru("generation", "generate", agent, call__kwargs__messages=asked, call__return="Rain.", cost__model="m")
    judged = tru("eval_root", "relevance", root, eval_root__score=1.0)
    found = only(root, agent, tool, call, judged)
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "s-1", "Weather?", "Rain.")
    assert (found.system, found.model, len(found.model_calls)) == ("You help.", "m", 1)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("get_weather", {"city": "Paris"}, {"degrees": 18})
    ]


def test_what_raised() -> None:
    root = replace(record(record_root__error="out of reach"), status="error")
    found = only(root, replace(tru("tool", "look", root, call__error="out of reach"), status="error"))
    assert found.failure is not None
    assert found.failure.message == "out of reach"
    assert [(call.name, call.error) for call in found.tool_calls] == [("look", "out of reach")]
