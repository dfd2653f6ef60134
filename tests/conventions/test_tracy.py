"""Tracy's spans of model calls, as its source writes them."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.conventions.tracy import ANTHROPIC, OPENAI, SETTING
from otel_eval.interaction import GapKind
from otel_eval.signals import Span
from otel_eval.testing.spans import span

SYSTEM, ASKED = ("system", "Be kind"), ("user", "Refund o_9")


def generation(*prompts: tuple[str, ...], name: str = OPENAI, second: int = 0, **completion: Any) -> Span:
    """A model's call: role, content and the call that it answers of each prompt."""
    own: dict[str, Any] = {"gen_ai.operation.name": "chat.completion", "gen_ai.request.model": "gpt-4o"}
    for index, (role, content, *call) in enumerate(prompts):
        told = {"role": role, "content": content, **({"tool_call_id": call[0]} if call else {})}
        own |= {f"gen_ai.prompt.{index}.{key}": value for key, value in told.items()}
    own |= {f"gen_ai.completion.0.{key.replace('__', '.')}": value for key, value in completion.items()}
    return span(name, attributes=own, started_ns=1_750_000_000_000_000_000 + second * 1_000_000_000)


def asking(content: str = "null", arguments: str = '{"id":"o_9"}') -> dict[str, str]:
    """What a model says that asks for a tool."""
    tool = {"tool__0__call__id": "k1", "tool__0__name": "refund", "tool__0__arguments": arguments}
    return {"finish_reason": "tool_calls", "role": "assistant", "content": content, **tool}


def test_a_loop_of_openai() -> None:
    """What was asked for stands in the answer alone, and the answer is JSON."""
    said = {"finish_reason": "stop", "role": "assistant", "content": json.dumps('Refunded "it".')}
    last = generation(SYSTEM, ASKED, ("assistant", "null"), ("tool", "done", "k1"), second=2, **said)
    (found,) = assemble([generation(SYSTEM, ASKED, **asking()), last])
    assert (found.asked, found.reply, found.system) == ("Refund o_9", 'Refunded "it".', "Be kind")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("refund", {"id": "o_9"}, "done")
    ]


def test_texts_as_they_stand() -> None:
    """Of a stream, and of what was asked: quotes are the speaker's own."""
    (found,) = assemble([generation(("user", '"Hi"'), role="assistant", content='"Hello"')])
    assert (found.asked, found.reply) == ('"Hi"', '"Hello"')


def test_prompts_of_anthropic() -> None:
    """JSON of either form."""
    blocks = json.dumps([{"type": "text", "text": "Refund o_9"}])
    found = facts_of(generation(("user", '"hi"'), ("user", blocks), name=ANTHROPIC, type="text", content="Done."))
    assert found is not None
    assert [message.text for message in found.input or ()] == ["hi", "Refund o_9"]


def test_hidden_content() -> None:
    """A tool's name is told all the same."""
    hidden = [(role, "REDACTED") for role in ("system", "user")]
    (found,) = assemble([generation(*hidden, **asking("REDACTED", "REDACTED"))])
    assert (found.asked, found.reply, found.system) == (None, None, None)
    assert [(call.name, call.arguments) for call in found.tool_calls] == [("refund", None)]
    assert ("asked", GapKind.REDACTED, SETTING) in {(gap.field, gap.kind, gap.setting) for gap in found.gaps}


def test_others_of_the_same_name() -> None:
    """Langfuse calls its spans of OpenAI's client the same."""
    assert facts_of(span(OPENAI)) is None
