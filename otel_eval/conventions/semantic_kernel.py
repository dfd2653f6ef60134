"""Semantic Kernel beyond the semantic conventions: Python's log lines, .NET's first format, Java's, which has no content.

Source: semantic-kernel 1.45.0 for Python; ``ModelDiagnostics.cs`` of 1.10 to 1.20 for .NET;
``ChatCompletionSpan`` of 1.4.2 for Java, whose spans of functions do not say who called them. Content needs
``SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true``; Python's kernel logs the arguments of a
function call in any case. .NET's first format wrote messages as ``{"role:" user, "content:" hello}``, which is no JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.messages import role_of
from otel_eval.conventions.reading.values import Undecodable, decode, number, plain, text
from otel_eval.interaction import Message, TextPart, ToolCallPart, Usage
from otel_eval.signals import LogRecord, Span, SpanEvent

SETTING = "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"

_CALLING = re.compile(r"Calling (?P<name>\S+) function with args: (?P<arguments>.*)", re.S)
_MESSAGE = re.compile(r"""\{"role:" (?P<role>\w+), "content:" (?P<content>.*?)\}(?=, ?\n\{"role:" |\]\s*$)""", re.S)
_EVENTS = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}


def read(span: Span) -> Facts | None:
    """The loop that calls functions, and .NET's completions; the rest is the semantic conventions'."""
    if span.name == "AutoFunctionInvocationLoop" and "sk.available_functions" in span.attributes:
        return Facts(kind=Kind.STEP)
    if not span.scope.name.startswith(("Microsoft.SemanticKernel", "SemanticKernel")):
        return None
    if span.attributes.get("gen_ai.operation.name") not in ("chat.completions", "text.completions"):
        return None
    attributes = span.attributes
    response_id = text(attributes.get("gen_ai.response.id"))
    return Facts(
        kind=Kind.MODEL,
        input=_told(span.events, "gen_ai.content.prompt"),
        output=_told(span.events, "gen_ai.content.completion"),
        usage=Usage(
            input_tokens=number(attributes.get("gen_ai.response.prompt_tokens")),
            output_tokens=number(attributes.get("gen_ai.response.completion_tokens")),
        ),
        response_id=None if response_id == "N/A" else response_id,
        setting=SETTING if span.scope.name.startswith("Microsoft.") else None,
    )


def _told(events: Iterable[SpanEvent], name: str) -> tuple[Message, ...] | None:
    """The messages of the first format; None where the event is not there or in a format that others read."""
    for event in events:
        raw = event.attributes.get(_EVENTS[name]) if event.name == name else None
        if isinstance(raw, str) and raw.startswith('[{"role:" '):
            return tuple(
                Message(role=role_of(found["role"]), parts=(TextPart(text=found["content"]),))
                for found in _MESSAGE.finditer(raw)
            )
    return None


def read_log(record: LogRecord) -> Facts | None:
    """A function call with its arguments, out of the kernel's log line."""
    if record.scope.name != "semantic_kernel.kernel" or not isinstance(record.body, str):
        return None
    found = _CALLING.fullmatch(record.body)
    if found is None:
        return None
    try:
        arguments = plain(decode(found["arguments"]))
    except Undecodable:
        return None
    call = ToolCallPart(name=found["name"], arguments=arguments)
    return Facts(kind=Kind.STEP, output=(Message(role="assistant", parts=(call,)),))


CONVENTION = Convention(
    name="semantic-kernel",
    read=read,
    read_log=read_log,
    prefixes=("sk.",),
    scopes=("Microsoft.SemanticKernel", "SemanticKernel"),
)
