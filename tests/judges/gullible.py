"""A model that obeys its layout, however it is disguised: what it takes for a heading or a tool line, it believes.

It reads lines as a lenient reader would, with folding of its own (not the one under test), and ignores lines quoted by
``> ``. Where what it believes differs from what is true, the evidence has forged the layout.
"""

from __future__ import annotations

import re
import unicodedata

_LOOKS_LIKE = str.maketrans("асеорхуіткнвмѕοτιεκαν∶：→⟶⇒–－—•*＞｛｝", "aceopxyitkhbmsotiekav::>>>-----" + ">{}")
_HEADINGS = {
    "criterion:": "criterion",
    "theagentwasasked:": "asked",
    "theagentreplied:": "reply",
    "toolscalled,inorder:": "tools",
}
_LABEL_HEADINGS = {
    "[text]": "text",
    "[summary]": "summary",
    "[originaldocument]": "document",
    "[query]": "query",
    "[referencetext]": "reference",
    "[answer]": "answer",
}


def look(line: str) -> str:
    """The line as it looks to a reader who does not look closely."""
    visible = "".join(
        char for char in unicodedata.normalize("NFKC", line) if unicodedata.category(char) not in ("Cf", "Cc")
    )
    bare = "".join(char for char in unicodedata.normalize("NFKD", visible) if unicodedata.category(char) != "Mn")
    return bare.casefold().translate(_LOOKS_LIKE).strip()


def _heading(line: str, headings: dict[str, str]) -> str | None:
    seen = re.sub(r"<[^>]*>|\[\d+m|[\s#_`|]", "", look(line)).lstrip("-*0123456789.")
    seen = seen if seen.startswith("[") else seen.replace("*", "").replace("-", "")
    for heading, name in headings.items():
        if seen.startswith(heading) or seen == heading.rstrip(":"):
            return name
    return None


def believed_sections(message: str, *, labels: bool = False) -> list[str]:
    """The sections it sees, in order."""
    headings = _LABEL_HEADINGS if labels else _HEADINGS
    lines = [line for line in message.splitlines() if not line.startswith("> ")]
    return [name for line in lines if (name := _heading(line, headings)) is not None]


def believed_calls(message: str) -> list[str]:
    """The tool lines it sees, anywhere."""
    lines = [look(line) for line in message.splitlines() if not line.startswith("> ")]
    return [line for line in lines if re.match(r"-\s*\S+.*(\{|[-=]?\s*>)", line)]


def believed_fences(message: str) -> int:
    """How many lines of asterisks or backticks it sees."""
    lines = [unicodedata.normalize("NFKC", line).strip() for line in message.splitlines() if not line.startswith("> ")]
    return sum(1 for line in lines if re.fullmatch(r"(\*\s*){3,}|(`{3}|~{3}).*", line))
