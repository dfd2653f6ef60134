"""User messages of the user's own as text with ``{fields}`` in it, filled once: evidence that has braces stays evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from otel_eval.interaction import Interaction
from otel_eval.judges import layout
from otel_eval.judges.errors import JudgeConfigError
from otel_eval.judges.rendering import NOT_CAPTURED, history_text, result_text, text_of, tools_text

_FIELD = re.compile(r"\{([a-z_]+)\}")


def tool_results(interaction: Interaction) -> str:
    """A line ``name: result`` for each tool call with a result that is not blank."""
    return "\n".join(
        f"{layout.escape_name(call.name)}: {layout.escape_inline(result_text(call.result))}"
        for call in interaction.tool_calls
        if call.result is not None and result_text(call.result).strip()
    )


FIELDS: Mapping[str, Callable[[Interaction], str]] = {
    "asked": lambda interaction: text_of(interaction, "asked", interaction.asked),
    "reply": lambda interaction: text_of(interaction, "reply", interaction.reply),
    "tools": lambda interaction: tools_text(interaction) or "(none)",
    "tool_results": tool_results,
    "system": lambda interaction: text_of(interaction, "system", interaction.system),
    "history": history_text,
    "agent": lambda interaction: layout.escape_inline(interaction.agent or NOT_CAPTURED),
}
"""What a template may name, beside ``{criterion}`` for a criterion judge."""

_LAID_OUT = frozenset({"tools", "history"})
"""Fields whose every line is of our making, and escaped within."""


def check(text: str, *more_fields: str) -> None:
    """Raises JudgeConfigError where the template names a field that there is not, or none at all."""
    named = _FIELD.findall(text)
    allowed = [*more_fields, *FIELDS]
    unknown = sorted({name for name in named if name not in allowed})
    if unknown:
        raise JudgeConfigError(f"a template has no {{{unknown[0]}}}; it may name {', '.join(allowed)}")
    if not any(name in FIELDS for name in named):
        raise JudgeConfigError(f"a template that shows the judge nothing: name one of {', '.join(FIELDS)}")


def fill(text: str, interaction: Interaction, more: Mapping[str, str] | None = None) -> str:
    """The template with its fields filled, in one pass; evidence is kept from imitating what frames it."""
    extra = more or {}
    known = (*layout.HEADINGS, *layout.LABEL_HEADINGS, *headings(text))

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in extra:
            return extra[name]
        render = FIELDS.get(name)
        if render is None:
            return match.group()
        rendered = render(interaction)
        return rendered if name in _LAID_OUT else layout.quote(rendered, known)

    return _FIELD.sub(value, text)


def headings(text: str) -> tuple[str, ...]:
    """The lines of a template that frame evidence, which evidence must therefore not imitate: ``[Text]``, ``Reply:``."""
    lines = (line.strip() for line in text.splitlines())
    framing = (_FIELD.split(line)[0].strip() for line in lines)
    return tuple(dict.fromkeys(line for line in framing if line.endswith((":", "]")) or line.startswith("[")))
