"""Where secrets hide from patterns that read text as it stands: behind escapes, over lines, in base64 and in hex.

Two ways out, and neither takes what is no secret for one. A *folded* text has escapes written out and wrapped lines joined;
what a pattern finds in it is found in the original at the same place. A token that is base64 or hex is decoded, and is a
secret where what comes out is text that holds one: of tokens that are none, nearly all decode to what is no text.
"""

from __future__ import annotations

import base64
import binascii
import bisect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from otel_eval.redaction import keys

_ESCAPED = re.compile(
    r"(?<!\\)\\++u(?P<json>[0-9A-Fa-f]{4})"  # JSON, also JSON in JSON: any number of backslashes
    r"""|(?<!\\)\\++(?P<short>[/"'nrt])"""
    r"|%(?P<percent>2[0-9A-Fa-f]|[3-7][0-9A-Fa-f])"
    r"|&\#(?:x(?P<hex>[2-7][0-9A-Fa-f])|(?P<decimal>[3-9][0-9]|1[01][0-9]|12[0-6]));"
    r"|&(?P<named>quot|apos|lt|gt|amp);"
    "|(?P<nothing>[\u00ad\u200b-\u200d\u2060\ufeff]+)"
)
_NOTHING = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_MEANT = {"n": "\n", "r": "\r", "t": "\t", "quot": '"', "apos": "'", "lt": "<", "gt": ">", "amp": "&"}
_WRAPPED = re.compile(
    r"""(?<=[A-Za-z0-9_+/=.-]{12})["']?[ \t]*+(?:[+\\][ \t]*+)?\r?\n[ \t]*+(?:\+[ \t]*+)?["']?"""
    # The rest of a key stands alone on its line, and looks like one: letters and digits, and nothing but. What is left
    # of it on a last line of fewer than eight characters tells nobody anything.
    r"""(?=[A-Za-z_+/=.-]*[0-9])(?=[0-9_+/=.-]*[A-Za-z])(?=[A-Za-z0-9_+/=.-]{8,}["',;)\]}]*[ \t]*(?:\r?\n|\Z))"""
)
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{20,}(?:(?:\r?\n[ \t]*|\\r?\\?n)[A-Za-z0-9+/_-]{4,})*={0,2}")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}){16,}")
_LONGEST_TOKEN = 100_000
_FIRST = 64
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Folded:
    """``text`` without what hides in it. ``starts`` are where its pieces begin, ``pieces`` the spans that they stand for."""

    text: str
    starts: tuple[int, ...]
    pieces: tuple[tuple[int, int, bool], ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that this span of ``text`` (not empty) stands for."""
        return self._at(start)[0], self._at(end - 1)[1]

    def _at(self, position: int) -> tuple[int, int]:
        """What one character stands for."""
        index = bisect.bisect_right(self.starts, position) - 1
        start, end, literal = self.pieces[index]
        if not literal:
            return start, end
        at = start + position - self.starts[index]
        return at, at + 1


def folded(text: str, may_hold_key: Callable[[str], bool]) -> Folded | None:
    """The text with its escapes written out, and with lines joined where it may hold a key; None: nothing hides."""
    escapes = [(*match.span(), _meant(match)) for match in _ESCAPED.finditer(text)] if _may_escape(text) else []
    if not escapes and "\n" not in text:
        return None
    view = _fold(text, escapes) if escapes else Folded(text, (0,), ((0, len(text), True),))
    wraps = _wraps(view.text, may_hold_key)
    if not wraps:
        return view if escapes else None
    spans = [view.original(*wrap) for wrap in wraps]
    begins = [start for start, _ in spans]
    outside = [each for each in escapes if not _within(spans, bisect.bisect_right(begins, each[0]) - 1, each[0])]
    return _fold(text, sorted([*outside, *((start, end, "") for start, end in spans)]))


def _within(spans: list[tuple[int, int]], index: int, position: int) -> bool:
    return index >= 0 and position < spans[index][1]


def _may_escape(text: str) -> bool:
    if "\\" in text or "%" in text or ("&" in text and ";" in text):
        return True
    return not text.isascii() and _NOTHING.search(text) is not None


def _meant(match: re.Match[str]) -> str:
    """What an escape stands for. Half of a surrogate pair, of which no secret is made, stays what it is."""
    kind = match.lastgroup or ""
    value = match[kind]
    if kind == "nothing":
        return ""
    if kind in ("short", "named"):
        return _MEANT.get(value, value)
    code = int(value, 10 if kind == "decimal" else 16)
    return match[0] if 0xD800 <= code < 0xE000 else chr(code)


def _wraps(text: str, may_hold_key: Callable[[str], bool]) -> list[tuple[int, int]]:
    if "\n" not in text or not may_hold_key(text):
        return []
    # What begins like a key is the next one, not the rest of the one before.
    return [match.span() for match in _WRAPPED.finditer(text) if not text.startswith(keys.HINTS, match.end())]


def _fold(text: str, changes: list[tuple[int, int, str]]) -> Folded:
    """The text with these spans (in order) put in other words."""
    parts: list[str] = []
    starts: list[int] = []
    pieces: list[tuple[int, int, bool]] = []
    length = position = 0
    for start, end, meant in [*changes, (len(text), len(text), "")]:
        if position < start:
            starts.append(length)
            pieces.append((position, start, True))
            parts.append(text[position:start])
            length += start - position
        if meant:
            starts.append(length)
            pieces.append((start, end, False))
            parts.append(meant)
            length += len(meant)
        position = end
    return Folded("".join(parts), tuple(starts), tuple(pieces))


def encoded(text: str, kind_of: Callable[[str], str | None]) -> Iterator[tuple[int, int, str]]:
    """The base64 and hex tokens that decode to text that holds a secret, each with the kind that ``kind_of`` gives."""
    for match in _TOKEN.finditer(text):
        whole = match.group()
        first = re.match(r"[A-Za-z0-9+/_-]+={0,2}", whole)
        for token in dict.fromkeys((whole, first.group() if first else whole)):
            decoded = _decoded(token)
            if decoded is not None and (kind := kind_of(decoded)) is not None:
                yield match.start(), match.start() + len(token), kind
                break


def _decoded(token: str) -> str | None:
    """The text that a token encodes; None where it is none."""
    if len(token) > _LONGEST_TOKEN:
        return None
    plain = re.sub(r"\\r|\\n|\s|=", "", token)
    if _HEX.fullmatch(plain):
        return _text(bytes.fromhex(plain))
    plain = plain.replace("-", "+").replace("_", "/")
    if len(plain) % 4 == 1 or _bytes(plain[:_FIRST]) is None or _text(_bytes(plain[:_FIRST]) or b"", cut=True) is None:
        return None
    data = _bytes(plain)
    return None if data is None else _text(data)


def _bytes(plain: str) -> bytes | None:
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _text(data: bytes, cut: bool = False) -> str | None:
    """The bytes as text, UTF-8 or (as PowerShell encodes) UTF-16; ``cut``: they may end within a character."""
    if len(data) >= 8 and not any(data[1:8:2]):
        return data.decode("utf-16-le", "ignore")
    if _NO_TEXT.search(data) is not None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode() if cut and error.start > len(data) - 4 else None
