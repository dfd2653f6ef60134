"""What of an Interaction a judge may see: redacted, then cut to length, then kept from forging the layout.

Done before any rendering, so that templates of users get it too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from otel_eval.aside import Aside
from otel_eval.interaction import (
    Interaction,
    JsonValue,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolCallPart,
    ToolResultPart,
)
from otel_eval.judges import layout
from otel_eval.judges.rendering import message_text, result_text
from otel_eval.redaction import Redaction

MAX_INPUT_CHARS = 20_000
"""Characters of one section that a judge is shown unless told otherwise: some 5,000 tokens."""
LARGE = 100_000
"""Characters of an Interaction. To redact so many takes some 50 ms; where every word names a secret, seconds."""

_LEAST_PER_CALL = 200
_LONGEST_NAME = 200
_MOST_ATTACHMENTS = 50


def prepare(
    interaction: Interaction, redaction: Redaction, max_chars: int = MAX_INPUT_CHARS
) -> tuple[Interaction, tuple[str, ...]]:
    """The Interaction redacted and cut, and the names of the fields that were cut.

    ``max_chars`` bounds each section: the message asked, the reply, the instructions, the history, and all tool calls
    together. Each call gets an equal share, of 200 characters at least: of more than have room so, the first are shown.
    """
    redacted = redaction.interaction(interaction)
    changes: dict[str, Any] = {}
    for field in ("asked", "reply", "system"):
        text: str | None = getattr(redacted, field)
        if text is not None and len(text) > max_chars:
            changes[field] = cut_text(text, max_chars)
    calls, calls_cut = _cut_calls(redacted.tool_calls, max_chars)
    history, history_cut = _cut_history(redacted.history, max_chars)
    if calls_cut:
        changes["tool_calls"] = calls
    if history_cut:
        changes["history"] = history
    prepared = replace(redacted, **changes) if changes else redacted
    return _cut_names(prepared), tuple(changes)


class Preparing:
    """:func:`prepare` for an event loop: what is large is prepared in a thread, and one at a time.

    Redacting megabytes takes seconds, in which nobody else would be judged.
    """

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._aside = Aside("otel-eval-evidence")

    async def __call__(
        self, interaction: Interaction, redaction: Redaction, max_chars: int
    ) -> tuple[Interaction, tuple[str, ...]]:
        """As :func:`prepare`."""
        if _chars(interaction) <= LARGE:
            return prepare(interaction, redaction, max_chars)
        async with self._one_at_a_time:
            return await self._aside.call(lambda: prepare(interaction, redaction, max_chars))


def _chars(interaction: Interaction) -> int:
    """How many characters :func:`prepare` has to look at, about."""
    texts = (interaction.asked, interaction.reply, interaction.system)
    return (
        sum(len(text or "") for text in texts)
        + sum(_size(call) for call in interaction.tool_calls)
        + sum(len(message_text(message)) for message in interaction.history)
    )


def quoted(interaction: Interaction, headings: Iterable[str]) -> Interaction:
    """The Interaction with every text in it kept from forging those headings, for templates that render it themselves."""
    known = tuple(headings)

    def text(value: str | None) -> str | None:
        return None if value is None else layout.quote(value, known)

    def inline(value: str | None) -> str | None:
        return None if value is None else layout.quote(layout.escape_inline(value), known)

    return replace(
        interaction,
        asked=text(interaction.asked),
        reply=text(interaction.reply),
        system=text(interaction.system),
        agent=inline(interaction.agent),
        session=inline(interaction.session),
        user_id=inline(interaction.user_id),
        failure=None
        if interaction.failure is None
        else replace(
            interaction.failure, type=inline(interaction.failure.type), message=text(interaction.failure.message)
        ),
        attachments=tuple(
            replace(attachment, name=inline(attachment.name), mime_type=inline(attachment.mime_type))
            for attachment in interaction.attachments
        ),
        attributes={key: _quoted_value(value, known) for key, value in interaction.attributes.items()},
        tool_calls=tuple(
            replace(
                call,
                name=layout.escape_name(call.name),
                arguments=_quoted_value(call.arguments, known),
                result=_quoted_value(call.result, known),
                error=text(call.error),
            )
            for call in interaction.tool_calls
        ),
        history=tuple(
            replace(
                message,
                role=layout.quote(layout.escape_inline(message.role), known),
                parts=tuple(_quoted_part(part, known) for part in message.parts),
            )
            for message in interaction.history
        ),
    )


def cut_text(text: str, max_chars: int) -> str:
    """The beginning and the end of a text, with a mark between them that says how much is missing."""
    if len(text) <= max_chars:
        return text
    head = max_chars * 2 // 3
    tail = max_chars - head
    end = text[len(text) - tail :]
    return f"{text[:head]} … [{len(text) - max_chars} characters cut] … {end}"


def _cut_calls(calls: tuple[ToolCall, ...], max_chars: int) -> tuple[tuple[ToolCall, ...], bool]:
    sizes = [_size(call) for call in calls]
    if sum(sizes) <= max_chars:
        return calls, False
    share = max(_LEAST_PER_CALL, max_chars // len(calls))
    kept = max(1, max_chars // _LEAST_PER_CALL)
    shown = [call if size <= share else _cut_call(call, share) for call, size in zip(calls, sizes, strict=True)][:kept]
    if len(calls) > kept:
        shown.append(ToolCall(name=f"({len(calls) - kept} more tool calls cut)"))
    return tuple(shown), True


def _cut_call(call: ToolCall, share: int) -> ToolCall:
    arguments, result = result_text(call.arguments), result_text(call.result)
    half = share // 2
    for_arguments = min(len(arguments), max(half, share - len(result)))
    for_result = max(half, share - for_arguments)
    return replace(
        call,
        arguments=call.arguments if len(arguments) <= for_arguments else cut_text(arguments, for_arguments),
        result=call.result if len(result) <= for_result else cut_text(result, for_result),
        error=None if call.error is None else cut_text(call.error, share),
    )


def _cut_history(history: tuple[Message, ...], max_chars: int) -> tuple[tuple[Message, ...], bool]:
    kept: list[Message] = []
    left = max_chars
    for message in reversed(history):
        left -= len(message_text(message))
        if left < 0:
            note = Message(role="system", parts=(TextPart(text=f"({len(history) - len(kept)} earlier messages cut)"),))
            return (note, *reversed(kept)), True
        kept.append(message)
    return history, False


def _cut_names(interaction: Interaction) -> Interaction:
    """Names are short where they are names; telemetry may say anything."""
    names = [interaction.agent, *(call.name for call in interaction.tool_calls)]
    names += [name for each in interaction.attachments for name in (each.name, each.mime_type)]
    if len(interaction.attachments) <= _MOST_ATTACHMENTS and all(len(name or "") <= _LONGEST_NAME for name in names):
        return interaction

    def name(text: str | None) -> str | None:
        return None if text is None else cut_text(text, _LONGEST_NAME)

    attachments = tuple(
        replace(attachment, name=name(attachment.name), mime_type=name(attachment.mime_type))
        for attachment in interaction.attachments[:_MOST_ATTACHMENTS]
    )
    calls = tuple(replace(call, name=cut_text(call.name, _LONGEST_NAME)) for call in interaction.tool_calls)
    return replace(interaction, agent=name(interaction.agent), attachments=attachments, tool_calls=calls)


def _quoted_part(part: Part, headings: tuple[str, ...]) -> Part:
    if isinstance(part, TextPart | ReasoningPart):
        return replace(part, text=layout.quote(part.text, headings))
    if isinstance(part, ToolCallPart):
        return replace(part, name=layout.escape_name(part.name), arguments=_quoted_value(part.arguments, headings))
    if isinstance(part, ToolResultPart):
        return replace(part, result=_quoted_value(part.result, headings))
    return part


def _size(call: ToolCall) -> int:
    return len(call.name) + len(result_text(call.arguments)) + len(result_text(call.result)) + len(call.error or "")


def _quoted_value(value: JsonValue, headings: tuple[str, ...]) -> JsonValue:
    if isinstance(value, str):
        return layout.quote(value, headings)
    if isinstance(value, list):
        return [_quoted_value(item, headings) for item in value]
    if isinstance(value, dict):
        return {layout.quote(key, headings): _quoted_value(item, headings) for key, item in value.items()}
    return value
