"""Evidence cannot forge the layout that a judge reads.

What the user wrote, what the agent replied and what tools returned stands between our headings. A line of it that a model
could take for a heading, for a tool line or for a fence gets ``> `` before it; ordinary text stays as it is, byte for
byte. Lines are compared in a *folded* form, so that disguises do not help: compatibility forms (full-width, mathematical
letters), accents, zero-width and bidirectional characters, tag characters, look-alike letters of other alphabets, digits
that pass for letters, entities, decoration (``**Criterion:**``, ``# Criterion:``) and spacing are folded away. Words that a
chat template is made of (``<|im_start|>``, ``[INST]``) get a backslash wherever they stand: a model's server may take them
for the end of our message. Quoting twice is quoting once.

Every expression here is linear in the length of the evidence: it is run on texts that nobody has checked.
"""

from __future__ import annotations

import html
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
    "a": "аαɑᴀⲁꓮᎪ", "b": "вьβʙⲃꓐᏴ", "c": "сϲᴄⲥꓚᏟ𐐽", "d": "ԁᴅđⲇꓓᎠ", "e": "еεєᴇⲉꓰᎬ𐐨", "f": "ғꜰƒꓝ", "g": "ɡɢցꓖᏀ", "h": "һнʜⲏꓧᎻ",
    "i": "іιıɪӏɩⲓꓲᏆᎥ", "j": "јꓙᎫ", "k": "кκᴋⲕꓗᏦ", "l": "ʟłⅼⲗꓡᏞ", "m": "мᴍⲙꓟᎷ", "n": "пηɴոⲛꓠᏁ", "o": "оοσøᴏօⲟꓳᎾ𐐬",
    "p": "рρᴘⲣꓑᏢ", "q": "ԛ", "r": "гʀⲅꓣᎡᏒ", "s": "ѕꜱꓢᏚ", "t": "тτᴛⲧꓔᎢ", "u": "υսᴜцꓴ", "v": "νѵᴠꓦᏙ", "w": "ԝωᴡꓪᎳ", "x": "хχⲭꓫ",
    "y": "уγʏⲩꓬᎩ", "z": "ᴢꓜᏃ", "'": "ʹʼʻʾˈꞌ",
    ":": "∶꞉ː։׃ꓽ᛬⁚", "[": "⟦【〔〈《⌈「『〖", "]": "⟧】〕〉》⌉」』〗", "`": "ˋʽ", "*": "∗⁎✱✲✳٭⋆✻✼✽❋❉❊★☆⚹🞶⁕✴✷",
    "-": "‐‑‒–—―−⁃➖", "→": "⇒⟶⟹➔➜➝➞➡↦⟼⇾⭢▶➤➙🡒", "{": "❴", "}": "❵", ">": "›❯⟩˃",
}  # fmt: skip
_ALPHABETS = (0x1F1E6, 0x1F150, 0x1F170)
"""Where letters begin that no compatibility form names: regional indicators, and white ones on black discs and squares."""
_LATIN = str.maketrans(
    {alike: latin for latin, all_alike in _LOOKALIKES.items() for alike in all_alike}
    | {chr(first + at): chr(ord("a") + at) for first in _ALPHABETS for at in range(26)}
)
_SHAPES = str.maketrans("i1|!035", "lllloes")
"""Letters and digits that pass for each other in print, compared as one: ``The agent rep|ied``, ``Cr1ter10n``."""
_TAGS = str.maketrans({chr(0xE0000 + code): chr(code) for code in range(0x20, 0x7F)})
_DECORATION = re.compile(r"[^\w:\[\]]|_")
_MARKUP = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))|<[^<>]*>"
    r"|\\[A-Za-z]{1,20}\*?\{|\[/?(?:[bisux ]|h[1-6]|center|(?:size|color|font)(?:=[^\[\]]{0,40})?)\]"
)
_NUMBERING = re.compile(r"^(?:[a-z]{1,4}[.)]|(?:step|part|section|point|item|no)\.?\s*\d{1,3}\s*[:.)-]?)\s+")
_LABELLED = re.compile(r"^(?:\[[^\[\]]{0,30}\])+")
_INVISIBLE = {"Mn", "Me", "Cf", "Cc"}
_FILLERS = "\u115f\u1160\u3164\uffa0\u2800"
_OVERRIDDEN = re.compile("\u202e([^\u202c]*)\u202c?")
_OVERWRITTEN = re.compile(".\b")

_FENCE = re.compile(r"`{3}|~{3}|(?:\*\s*){3,}$|(?:\*\s*){6}")
# A run of dashes is read from its beginning only: from each of its characters would be quadratic.
_ARROW = r"(?:(?<![-=])[-=]+\s*>|→)"
_BULLET = r"(?:[-*+•·‣▪●◦◆◇∙⦿✓✔■□○▸►»]|\d{1,3}[.)])\s*"
_TOOL_LINE = re.compile(
    rf"{_BULLET}(?:[^\s{{}}]+\s*(?:\{{|{_ARROW})|[^{{}}]*\{{.*\}}\s*{_ARROW})|[\w.-]+\s*\{{.*\}}\s*{_ARROW}"
)
# ChatML, Llama 2 and 3, Mistral, Gemma, DeepSeek. Source: the special tokens of their tokenizers.
_CHAT_TEMPLATE = re.compile(
    r"<(?=[|｜][^<>|｜\s]{1,40}[|｜]>|(?:start|end)_of_turn>|/?s>|<SYS>>|</SYS>>|(?:bos|eos)>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
)
_FAILED = re.compile(r"failed\]?:")
_BEGINNING = 500
_LINE_BREAKS = re.compile("[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r"}
_CLOSED_ARGUMENTS = re.compile(r"(\})(\s*)(-[\s-]*>|=+\s*>|[→⇒⟶⟹➔➜➝➞➡]|[－﹣–—−]+[>＞﹥]|-[＞﹥])")
_FAILED_RESULT = re.compile(r"((?:[-=]>|[→⇒⟶⟹➔➜➝➞➡])\s*)(failed\s*:)", re.IGNORECASE)


def quote(text: str, headings: Iterable[str] = HEADINGS, frames: Iterable[str] = ()) -> str:
    """The text with ``> `` before each line that could be taken for layout. Line breaks stay what they were.

    A line is taken for a heading where it *begins* like one, for one of ``frames`` (what a template frames evidence with,
    ``=====`` or ``END OF REPLY``) where it *is* one.
    """
    folded = _folded_headings(tuple(headings))
    framing = _folded_frames(tuple(frames))
    lines = escape_chat_template(text).splitlines(keepends=True)
    return "".join(QUOTE + line if _forges(line, folded, framing) else line for line in lines)


def escape_chat_template(text: str) -> str:
    """The text with a backslash in each word that chat templates are made of: ``<\\|im_start|>``."""
    return _CHAT_TEMPLATE.sub(r"\g<0>\\", text) if "<" in text or "[" in text else text


def escape_inline(text: str) -> str:
    """The text on one line: every line break that Unicode knows is written as an escape (``\\n``, ``\\u2028``)."""
    escaped = escape_chat_template(text)
    return _LINE_BREAKS.sub(lambda found: _SHORT_ESCAPES.get(found.group(), f"\\u{ord(found.group()):04x}"), escaped)


def escape_name(text: str) -> str:
    """A tool's name within a tool line: it can neither begin its arguments nor its result."""
    return re.sub(rf"[{{}}❴❵｛｝]|{_ARROW}", lambda found: "\\" + found.group(), escape_inline(text))


def escape_arguments(text: str) -> str:
    """Arguments within a tool line: they cannot end themselves and begin a result."""
    return _CLOSED_ARGUMENTS.sub(r"\1\\\2\3", escape_inline(text))


def escape_result(text: str) -> str:
    """A result within a tool line: one that is not a failure cannot read like one."""
    one_line = _FAILED_RESULT.sub(r"\1\\\2", escape_inline(text))
    beginning = (_skeleton(reading) for reading in _readings(one_line[:_BEGINNING]))
    return "\\" + one_line if any(_FAILED.match(_letters(text).lstrip(":[")) for text in beginning) else one_line


def _forges(line: str, headings: tuple[str, ...], frames: frozenset[str]) -> bool:
    if line.lstrip().startswith(">") or not line.strip():
        return False
    return any(_reads_as_layout(_skeleton(reading), headings, frames) for reading in _readings(line))


def _readings(line: str) -> set[str]:
    """The line as it stands, and as it reads where characters turn it round, overwrite or hide in it."""
    readings = {line}
    if not line.isascii():
        readings |= {line.translate(_TAGS), _OVERRIDDEN.sub(lambda found: found[1][::-1], line)}
    if "&" in line:
        readings.add(html.unescape(line))
    if "\b" in line:
        readings.add(_OVERWRITTEN.sub("", line))
    return readings


def _reads_as_layout(skeleton: str, headings: tuple[str, ...], frames: frozenset[str]) -> bool:
    if _FENCE.match(skeleton) or _TOOL_LINE.match(skeleton) or (frames and _frame(skeleton) in frames):
        return True
    unnumbered = _NUMBERING.sub("", skeleton, count=1)
    letters = _letters(unnumbered)
    begun = {letters, _bare(letters)}
    if "=" in unnumbered or "-" in unnumbered:
        separated = _letters(unnumbered.replace("=", ":").replace("-", ":"))
        begun |= {separated, _bare(separated)}
    if letters.startswith("["):
        begun.add(_LABELLED.sub("", letters, count=1))
    if any(reading.startswith(headings) or f"{reading}:" in headings for reading in begun):
        return True
    shaped = _letters(skeleton.lstrip("0123456789.)# ").translate(_SHAPES))
    return shaped.startswith(_shaped(headings))


@lru_cache(maxsize=64)
def _shaped(headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(heading.translate(_SHAPES) for heading in headings)


def _bare(letters: str) -> str:
    return letters.lstrip("0123456789:[]")


@lru_cache(maxsize=64)
def _folded_headings(headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(folded for heading in headings if (folded := _letters(_skeleton(heading))))


@lru_cache(maxsize=64)
def _folded_frames(frames: tuple[str, ...]) -> frozenset[str]:
    return frozenset(folded for frame in frames if (folded := _frame(_skeleton(frame))))


def _frame(skeleton: str) -> str:
    """Without spaces; a row of one character is the same frame however long it is."""
    squeezed = "".join(skeleton.split())
    return squeezed[:3] if len(squeezed) > 3 and len(set(squeezed)) == 1 else squeezed


def _skeleton(line: str) -> str:
    """The line as it looks: markup, compatibility forms, accents, invisible characters, look-alikes folded; trimmed."""
    line = _MARKUP.sub("", line.strip())
    # Before the compatibility form, which makes a sigma of the lunate one.
    line = line.replace("\u03f9", "C").replace("\u03f2", "c")
    if line.isascii() and line.isprintable():
        return line.casefold().strip()
    decomposed = unicodedata.normalize("NFKD", line)
    visible = "".join(
        char
        for char in decomposed
        if char == "\t" or (unicodedata.category(char) not in _INVISIBLE and char not in _FILLERS)
    )
    return visible.casefold().translate(_LATIN).strip()


def _letters(skeleton: str) -> str:
    """Letters and digits, with the colons and brackets that make a heading: no spacing, no decoration."""
    return _DECORATION.sub("", skeleton)
