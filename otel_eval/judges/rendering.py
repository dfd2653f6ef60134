"""The user message of a criterion judge: sections under headings, in an order that does not change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from otel_eval.interaction import (
    GapKind,
    Interaction,
    JsonValue,
    Message,
    TextPart,
    ToolCall,
    ToolCallPart,
    ToolResultPart,
)
from otel_eval.judges import layout

NOT_CAPTURED = "(not captured)"
REDACTED = "(redacted)"
_ROLES = frozenset({"system", "developer", "user", "assistant", "model", "tool", "function"})
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
SECTIONS = ("system", "history")
"""What ``include`` may name."""


def default_user_message(criterion: str, interaction: Interaction, include: Iterable[str] = ()) -> str:
    """The criterion and the evidence, as every criterion judge sees them unless it has a template of its own.

    Sections are parted by a blank line; where no tool was called there is no tools section; a field that was not captured
    reads ``(not captured)``. Evidence cannot forge the layout (:mod:`otel_eval.judges.layout`). ``include`` adds the
    sections ``system`` and ``history``. Raises ValueError for another.
    """
    wanted = checked_sections(include)
    sections = [(layout.CRITERION, criterion.strip())]
    if "system" in wanted:
        sections.append((layout.SYSTEM, text_of(interaction, "system", interaction.system)))
    if "history" in wanted:
        sections.append((layout.HISTORY, history_text(interaction)))
    sections.append((layout.ASKED, text_of(interaction, "asked", interaction.asked) + _attachments(interaction)))
    sections.append((layout.REPLIED, text_of(interaction, "reply", interaction.reply)))
    tools = tools_text(interaction)
    if tools:
        sections.append((layout.TOOLS, tools))
    return "\n\n".join(f"{heading}\n{body}" for heading, body in sections)


def checked_sections(include: Iterable[str]) -> tuple[str, ...]:
    """The optional sections asked for. Raises ValueError for one that there is not."""
    wanted = tuple(include)
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        raise ValueError(f"include takes {', '.join(SECTIONS)}, not {', '.join(unknown)}")
    return wanted


def text_of(interaction: Interaction, field: str, text: str | None) -> str:
    """A text field as a judge reads it: quoted where it forges, marked where it is missing or cut by the telemetry."""
    gap = interaction.gap(field)
    if text is None:
        return REDACTED if gap is not None and gap.kind is GapKind.REDACTED else NOT_CAPTURED
    quoted = layout.quote(text)
    return f"{quoted} … (the rest was not captured)" if gap is not None and gap.kind is GapKind.TRUNCATED else quoted


def tools_text(interaction: Interaction) -> str:
    """One line for each tool call; empty where none was called, and all calls are known."""
    lines = [tool_line(call) for call in interaction.tool_calls]
    if interaction.gap("tool_calls") is not None:
        lines.append("(more tool calls may not have been captured)" if lines else NOT_CAPTURED)
    return "\n".join(lines)


def tool_line(call: ToolCall) -> str:
    """``- getOrder {orderId=o_9} -> {"status":"delivered"}``, ``-> failed: <error>`` in place of a failed call's result."""
    return f"- {layout.escape_name(call.name)} {arguments_text(call)} -> {_outcome_text(call)}"


def result_text(value: JsonValue) -> str:
    """Text as it stands, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return _compact(value)


def arguments_text(call: ToolCall) -> str:
    """``{orderId=o_9, amountCents=4999}``: text bare, anything else as compact JSON."""
    value = call.arguments
    if value is None:
        return "{}" if call.gap("arguments") is None else "{" + NOT_CAPTURED + "}"
    if isinstance(value, dict):
        inner = ", ".join(f"{key}={result_text(item)}" for key, item in value.items())
    else:
        inner = result_text(value)
    return "{" + layout.escape_arguments(inner) + "}"


def history_text(interaction: Interaction) -> str:
    """The earlier turns, a line for each message, its own line breaks escaped so that no turn can invent another."""
    lines = [f"- {_role(message)}: {layout.escape_inline(message_text(message))}" for message in interaction.history]
    if not lines:
        return NOT_CAPTURED if interaction.gap("history") is not None else "(nothing)"
    return "\n".join(lines)


def _role(message: Message) -> str:
    """The role if it is one: telemetry may say anything, and ``- Criterion:`` is a heading to some readers."""
    return message.role if message.role in _ROLES else "other"


def _outcome_text(call: ToolCall) -> str:
    if call.error is not None:
        return f"failed: {layout.escape_inline(call.error)}"
    gap = call.gap("result")
    if call.result is None:
        if gap is None:
            return "(nothing)"
        return REDACTED if gap.kind is GapKind.REDACTED else NOT_CAPTURED
    text = layout.escape_result(result_text(call.result))
    return f"{text} … (the rest was not captured)" if gap is not None and gap.kind is GapKind.TRUNCATED else text


def _attachments(interaction: Interaction) -> str:
    names = [
        layout.escape_inline(" ".join(filter(None, (attachment.modality, attachment.name, attachment.mime_type))))
        for attachment in interaction.attachments
    ]
    return f"\n(attached: {', '.join(names)})" if names else ""


def message_text(message: Message) -> str:
    """A message as the history section shows it, its line breaks not yet escaped."""
    return " ".join(_part_texts(message)) or "(no text)"


def _part_texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, TextPart):
            yield part.text
        elif isinstance(part, ToolCallPart):
            yield f"(called {part.name} with {result_text(part.arguments)})"
        elif isinstance(part, ToolResultPart):
            yield f"({'failed' if part.failed else 'result'}: {result_text(part.result)})"
