"""User messages of the user's own as text with ``{fields}`` in it, filled once: evidence that has braces stays evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from otel_eval.interaction import Interaction
from otel_eval.judges import layout
from otel_eval.judges.errors import JudgeConfigError
from otel_eval.judges.rendering import NOT_CAPTURED, history_text, result_text, text_of, tools_text

_FIELD = re.compile(r"\{([a-z_]+)\}")
_LABEL = re.compile(r"\w.{0,60}[^\w\s]")
_NAMED = re.compile(r"[^:：]{1,40}[:：]")
_TAG = re.compile(r"</?\s*([A-Za-z][\w.-]*)")
_UNSEEN = "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"


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

_SHOWN = {"tools": "tool_calls", "tool_results": "tool_calls"}

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


def shown(text: str) -> frozenset[str]:
    """The fields of an Interaction that the template shows something of."""
    return frozenset(_SHOWN.get(name, name) for name in _FIELD.findall(text) if name in FIELDS)


def fill(text: str, interaction: Interaction, more: Mapping[str, str] | None = None) -> str:
    """The template with its fields filled, in one pass; evidence is kept from imitating what frames it."""
    extra = more or {}
    known = (*layout.HEADINGS, *layout.LABEL_HEADINGS, *headings(text))
    framing = frames(text)
    tags = _tags(text)

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in extra:
            return extra[name]
        render = FIELDS.get(name)
        if render is None:
            return match.group()
        rendered = render(interaction)
        safe = rendered if name in _LAID_OUT else layout.quote(rendered, known, framing)
        return safe if tags is None else tags.sub(r"\g<0>\\", safe)

    return _FIELD.sub(value, text)


def headings(text: str) -> tuple[str, ...]:
    """What in a template announces evidence, which evidence must therefore not begin a line with: ``[Text]``, ``Reply:``,
    ``Reply = ``."""
    found = []
    for line in text.splitlines():
        *before_fields, last = (piece.strip() for piece in _FIELD.split(line)[::2])
        found += [
            piece for piece in (*before_fields, last) if piece.endswith((":", "：", "]")) or piece.startswith("[")
        ]
        found += [piece for piece in before_fields if _LABEL.fullmatch(piece)]
        found += [named[0] for named in [_NAMED.match(last)] if named is not None and not before_fields]
    return tuple(dict.fromkeys(found))


def frames(text: str) -> tuple[str, ...]:
    """All that a template says around evidence, piece by piece: no line of evidence may be one of them."""
    pieces = (piece.strip() for line in text.splitlines() for piece in _FIELD.split(line)[::2])
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def _tags(text: str) -> re.Pattern[str] | None:
    """Where evidence opens or closes one of the template's own tags, ``<reply>``; they count in the middle of a line, too."""
    names = sorted({name.lower() for name in _TAG.findall(text)})
    if not names:
        return None
    spelled = (_UNSEEN.join(re.escape(char) for char in name) for name in names)
    return re.compile(
        rf"[<＜‹〈﹤](?={_UNSEEN}\s*{_UNSEEN}[/／]?\s*{_UNSEEN}(?:{'|'.join(spelled)})(?![\w-]))", re.IGNORECASE
    )
