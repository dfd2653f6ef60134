"""LangChain4j under OpenInference for Java: an AI service's run is an AGENT that says little, messages may be ``toString``.

Source: openinference-instrumentation-langchain4j 0.1.0 to 0.1.9, ``LangChain4jAiServiceStartedListener``,
``LangChain4jServiceCompletedListener``, ``LangChain4jModelListener``; the texts are those of langchain4j-core 1.0 to 1.19.
A service's input is ``Execution Started`` or an object of texts like ``UserMessage { name = null, contents = [TextContent {
text = "…" }], attributes = {} }``, nothing escaped, and its output ``Execution Completed``. The first versions wrote the
model's messages in that way as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.values import is_object, text
from otel_eval.frozen import changed
from otel_eval.interaction import Message, Part, TextPart, ToolResultPart
from otel_eval.signals import Span

_STARTED, _COMPLETED = "Execution Started", "Execution Completed"
_USER = re.compile(r"UserMessage \{ name = .*?, contents = \[(.*)\](?:, attributes = .*)? \}", re.S)
_CONTENT = re.compile(r'TextContent \{ text = "(.*?)" \}(?=, \w+Content \{|$)', re.S)
_TOLD = re.compile(r'(?:System|Ai)Message \{ text = "(.*?)"(?:, (?:thinking|toolExecutionRequests) = .*)? \}', re.S)
_CALLS = re.compile(r"AiMessage \{ text = null.* \}", re.S)
_RESULT = re.compile(
    r"""ToolExecutionResultMessage ?\{ ?id ?= ?.*?(?:contents=\[TextContent \{ text = "(.*)" \}\], isError=|text = "(.*)").*\}""",
    re.S,
)
_INTERFACE = re.compile(r"\binterfaceName='(?:[\w$]+[.$])*(\w+)'")
_MEMORY = re.compile(r"\bchatMemoryId=(?!null,|default,)([^,]+), ")
"""``default`` is what stands there without an id."""


def is_service(span: Span) -> bool:
    """Whether the span is the run of an AI service."""
    return span.name in ("AiService.start", "AiService.chat")


def service(span: Span, setting: str) -> Facts:
    """Who ran, and what was asked where the span says so; the reply is the model's."""
    content = Content.of(span)
    taken, given = content.value("input", "input.value"), text(span.attributes.get("output.value"))
    asked = spelled_out(text(taken.get("userMessage"))) if is_object(taken) else None
    system = spelled_out(text(taken.get("systemMessage"))) if is_object(taken) else None
    context = str(taken.get("invocationContext")) if is_object(taken) else ""
    interface, memory = _INTERFACE.search(context), _MEMORY.search(context)
    return Facts(
        kind=Kind.AGENT,
        agent=None if interface is None else interface[1],
        session=None if memory is None else memory[1],
        asked=text(taken) if isinstance(taken, str) and taken != _STARTED else asked,
        reply=None if given == _COMPLETED else given,
        system=system,
        failure=failure_of(span),
        marks=content.marks,
        setting=setting,
    )


def spelled_out(written: str | None) -> str | None:
    """The text in a message that is written as Java does; other texts as they are. None for a message without a text."""
    if written is None or not written.endswith("}"):
        return written
    if (user := _USER.fullmatch(written)) is not None:
        return "\n".join(_CONTENT.findall(user[1])) or None
    if (told := _TOLD.fullmatch(written)) is not None:
        return told[1] or None
    if (result := _RESULT.fullmatch(written)) is not None:
        return result[1] if result[1] is not None else result[2]
    return None if _CALLS.fullmatch(written) is not None else written


def messages(found: Iterable[Message]) -> tuple[Message, ...]:
    """The messages with their texts spelled out."""
    return tuple(changed(message, parts=tuple(_parts(message))) for message in found)


def _parts(message: Message) -> Iterable[Part]:
    for part in message.parts:
        if isinstance(part, ToolResultPart) and isinstance(part.result, str):
            yield changed(part, result=spelled_out(part.result))
        elif not isinstance(part, TextPart):
            yield part
        elif (said := spelled_out(part.text)) is not None:
            yield TextPart(text=said)
