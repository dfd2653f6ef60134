"""Evidence cannot forge the layout that a judge reads.

What the user wrote, what the agent replied and what tools returned stands between our headings. A line of it that a model
could take for a heading, for a tool line or for a fence gets ``> `` before it; ordinary text stays as it is, byte for
byte. Lines are compared in a *folded* form, so that disguises do not help: compatibility forms (full-width, mathematical
letters), accents, zero-width and bidirectional characters, look-alike letters of other alphabets, decoration
(``**Criterion:**``, ``# Criterion:``) and spacing are folded away. Quoting twice is quoting once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

QUOTE = "> "

CRITERION = "Criterion:"
ASKED = "The agent was asked:"
REPLIED = "The agent replied:"
TOOLS = "Tools called, in order:"
SYSTEM = "The agent's instructions:"
HISTORY = "Earlier in the conversation:"
HEADINGS = (CRITERION, ASKED, REPLIED, TOOLS, SYSTEM, HISTORY)
"""The headings of a criterion judge's user message."""

LABEL_HEADINGS = ("[Text]", "[Summary]", "[Original Document]", "[Query]", "[Reference text]", "[Answer]")
"""The headings of the label judges that ship."""

# Source: the part of Unicode TR39's confusables that outlives NFKD and case folding, for what occurs in a layout.
_LOOKALIKES = {
    "a": "аαɑᴀ", "b": "вьβʙ", "c": "сϲᴄ", "d": "ԁᴅđ", "e": "еεєᴇ", "f": "ғꜰƒ", "g": "ɡɢց", "h": "һнʜ", "i": "іιıɪӏ",
    "j": "ј", "k": "кκᴋ", "l": "ʟłⅼ", "m": "мᴍ", "n": "пηɴո", "o": "оοσøᴏօ", "p": "рρᴘ", "q": "ԛ", "r": "гʀ", "s": "ѕꜱ",
    "t": "тτᴛ", "u": "υսᴜц", "v": "νѵᴠ", "w": "ԝωᴡ", "x": "хχ", "y": "уγʏ", "z": "ᴢ",
    ":": "∶꞉ː։׃ꓽ᛬⁚", "[": "⟦【〔", "]": "⟧】〕", "`": "ˋʽ", "*": "∗⁎✱✲✳٭⋆", "-": "‐‑‒–—―−⁃➖", "→": "⇒⟶⟹➔➜➝➞➡↦",
    "{": "❴", "}": "❵", ">": "›❯⟩˃",
}  # fmt: skip
_LATIN = str.maketrans({alike: latin for latin, all_alike in _LOOKALIKES.items() for alike in all_alike})
_DECORATION = re.compile(r"[^\w:\[\]]|_")
_MARKUP = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|<[^<>]{0,80}>")
_INVISIBLE = {"Mn", "Me", "Cf", "Cc"}

_FENCE = re.compile(r"`{3}|~{3}|(?:\*\s*){3,}$")
_ARROW = r"(?:[-=]+\s*>|→)"
_BULLET = r"[-*+•·‣▪●◦]\s*"
_TOOL_LINE = re.compile(rf"{_BULLET}(?:[^\s{{}}]+\s*(?:\{{|{_ARROW})|[^{{}}]*\{{.*\}}\s*{_ARROW})")
_FAILED = re.compile(r"failed\s*:")
_LINE_BREAKS = re.compile("[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r"}
_CLOSED_ARGUMENTS = re.compile(r"(\})(\s*)(-[\s-]*>|=+\s*>|[→⇒⟶⟹➔➜➝➞➡]|[－﹣–—−]+[>＞﹥]|-[＞﹥])")
_FAILED_RESULT = re.compile(r"(->\s*)(failed\s*:)", re.IGNORECASE)


def quote(text: str, headings: Iterable[str] = HEADINGS) -> str:
    """The text with ``> `` before each line that could be taken for layout. Line breaks stay what they were."""
    folded = _folded_headings(tuple(headings))
    return "".join(QUOTE + line if _forges(line, folded) else line for line in text.splitlines(keepends=True))


def escape_inline(text: str) -> str:
    """The text on one line: every line break that Unicode knows is written as an escape (``\\n``, ``\\u2028``)."""
    return _LINE_BREAKS.sub(lambda found: _SHORT_ESCAPES.get(found.group(), f"\\u{ord(found.group()):04x}"), text)


def escape_name(text: str) -> str:
    """A tool's name within a tool line: it can neither begin its arguments nor its result."""
    return re.sub(rf"[{{}}❴❵｛｝]|{_ARROW}", lambda found: "\\" + found.group(), escape_inline(text))


def escape_arguments(text: str) -> str:
    """Arguments within a tool line: they cannot end themselves and begin a result."""
    return _CLOSED_ARGUMENTS.sub(r"\1\\\2\3", escape_inline(text))


def escape_result(text: str) -> str:
    """A result within a tool line: one that is not a failure cannot read like one."""
    one_line = _FAILED_RESULT.sub(r"\1\\\2", escape_inline(text))
    return "\\" + one_line if _FAILED.match(_skeleton(one_line).lstrip(" '\"")) else one_line


def _forges(line: str, headings: tuple[str, ...]) -> bool:
    if line.lstrip().startswith(">") or not line.strip():
        return False
    skeleton = _skeleton(line)
    if _FENCE.match(skeleton) or _TOOL_LINE.match(skeleton):
        return True
    letters = _letters(skeleton)
    bare = letters.lstrip("0123456789:[]")
    return any(
        letters.startswith(heading) or bare.startswith(heading) or bare == heading.rstrip(":") for heading in headings
    )


@lru_cache(maxsize=64)
def _folded_headings(headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(folded for heading in headings if (folded := _letters(_skeleton(heading))))


def _skeleton(line: str) -> str:
    """The line as it looks: markup, compatibility forms, accents, invisible characters, look-alikes folded; trimmed."""
    line = _MARKUP.sub("", line.strip())
    if line.isascii() and line.isprintable():
        return line.casefold().strip()
    decomposed = unicodedata.normalize("NFKD", line)
    visible = "".join(char for char in decomposed if char == "\t" or unicodedata.category(char) not in _INVISIBLE)
    return visible.casefold().translate(_LATIN).strip()


def _letters(skeleton: str) -> str:
    """Letters and digits, with the colons and brackets that make a heading: no spacing, no decoration."""
    return _DECORATION.sub("", skeleton)
