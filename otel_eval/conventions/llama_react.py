"""LlamaIndex's ReAct agents: tools and answers in the text that model and program exchange, and nowhere else.

Source: llama-index-core 0.12 to 0.14, ``agent/react``: the formatter's instructions, the parser's patterns, and
``Observation: …`` for what a tool gave back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.reading.values import decode_leniently, is_object, plain
from otel_eval.frozen import changed
from otel_eval.interaction import JsonValue, Message, Part, TextPart, ToolCallPart, ToolResultPart

_FORMAT = re.compile(r"^Thought: .*^Action: .*^Action Input: .*^Answer: ", re.S | re.M)
_ACTION = re.compile(r"Thought:.*?^\s*Action:[ \t]*`?([^\n`(]+?)`?[ \t]*$\s*Action Input:(.*)\Z", re.S | re.M)
_ANSWER = re.compile(r"\s*Thought:.*?^\s*Answer:\s*(.*)\Z", re.S | re.M)
_INPUT = "Action Input: "
_OBSERVATION = "Observation: "


def as_react(facts: Facts) -> Facts:
    """A model's call with calls, results and answers as such, where its instructions ask for that format."""
    if facts.kind is not Kind.MODEL or not is_react(facts.input or (), facts.system):
        return facts
    said = {name: read_react(getattr(facts, name)) for name in ("input", "output") if getattr(facts, name) is not None}
    return changed(facts, **said)


def is_react(messages: Sequence[Message], system: str | None = None) -> bool:
    """Whether the instructions ask for that format."""
    told = (system, *(message.text for message in messages if message.role == "system"))
    return any(_INPUT in text and _FORMAT.search(text) for text in told if text)


def read_react(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with calls, results and answers as such; others as they are."""
    return tuple(_read(message) for message in messages)


def _read(message: Message) -> Message:
    said = message.text
    if said is None or len(message.parts) != 1:
        return message
    if message.role == "user" and said.startswith(_OBSERVATION):
        return Message(role="tool", parts=(ToolResultPart(result=said.removeprefix(_OBSERVATION)),))
    if message.role != "assistant":
        return message
    part: Part | None = None
    if (answer := _ANSWER.match(said)) is not None:
        part = TextPart(text=answer[1].strip())
    elif (action := _ACTION.search(said)) is not None:
        part = ToolCallPart(name=action[1].strip(), arguments=_arguments(action[2]))
    return message if part is None else Message(role="assistant", parts=(part,))


def _arguments(raw: str) -> JsonValue:
    value = decode_leniently(raw.strip())
    return plain(value) if is_object(value) else None
