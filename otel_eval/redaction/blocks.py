"""Private keys in PEM: whole, without their end or their beginning, and without either where their first bytes tell."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

_LABEL = r"(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?"
_BEGIN = re.compile(rf"-----BEGIN {_LABEL}-----")
_EDGE = re.compile(rf"-----(?P<edge>BEGIN|END) {_LABEL}-----")
_BREAK = r"(?:\s|\\+[nr])"
_BASE64 = "[A-Za-z0-9+/]"
_OVER = r"""(?=[\r\n\\"'`]|\Z|\.\.\.|…|\s*\[)"""  # the line, or what there is of it
# After the first line: the headers of an encrypted key, long lines, and short ones that stand alone.
_LINES = re.compile(
    rf"(?:{_BREAK}{{1,10}}(?:[A-Z][A-Za-z-]{{3,20}}: [^\n\\]{{1,80}}{_OVER}|{_BASE64}{{32,}}={{0,2}}|{_BASE64}{{1,31}}={{0,2}}{_OVER}))*"
)
# The first bytes of a private key in DER, in base64: PKCS 1 and PKCS 8 with their version and algorithm, SEC 1, and OpenSSH.
_HEAD = re.compile(
    rf"(?<![A-Za-z0-9+/])(?:MII[A-Z]{_BASE64}{{2}}IBA(?:AK|DAN)|M(?:HcCAQEE|IGkAgEBB|IHcAgEBB|C4CAQAwBQYDK2V|I[GH]{_BASE64}AgEAM)"
    rf"|b3BlbnNzaC1rZXktdj){_BASE64}{{16,}}"
)
_IN_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
_LONG = 16


def may_hold_key(text: str) -> bool:
    """Whether one may stand in the text; never False where :func:`private_keys` finds something."""
    return "PRIVATE KEY" in text or "MI" in text or "MC4CAQ" in text or "MHcCAQ" in text or "b3BlbnNzaC1rZXktdj" in text


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Where private keys stand, from left to right; the line that begins one, spoken of in a sentence, is none."""
    taken = 0
    for start, end in sorted([*_blocks(text), *_without_edges(text)], key=lambda span: (span[0], -span[1])):
        if start >= taken:
            yield start, end
            taken = end


def _without_edges(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while (head := _HEAD.search(text, position)) is not None:
        position = _after_lines(text, head.end())
        yield head.start(), position


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    edges = list(_EDGE.finditer(text))
    position = 0
    for edge, following in itertools.zip_longest(edges, edges[1:]):
        if edge["edge"] == "END":
            start = _before_end(text, position, edge.start())
            if start is not None:
                yield start, edge.end()
        elif following is not None and following["edge"] == "END":
            if _holds_key(text[edge.end() : following.start()]):
                yield edge.span()[0], following.end()
        elif (end := _after_lines(text, edge.end())) > edge.end():
            yield edge.start(), end
        position = edge.end()


def _holds_key(between: str) -> bool:
    return re.search(rf"[\r\n]|\\+[nr]|{_BASE64}{{{_LONG}}}", between) is not None


def _after_lines(text: str, start: int) -> int:
    match = _LINES.match(text, start)
    return start if match is None else match.end()


def _before_end(text: str, least: int, end: int) -> int | None:
    """Where what is left of a key begins that ends there; None where no line of one stands before it."""
    start: int | None = None
    at, last = end, True
    while True:
        at = _before_break(text, least, at)
        begin = at
        while begin > least and text[begin - 1] in _IN_BASE64:
            begin -= 1
        if begin > least and text[begin - 1] == "\\" and text[begin : begin + 1] in ("n", "r"):
            begin += 1  # of an escaped line break
        if at - begin >= _LONG:
            start = begin
        elif not (last and at > begin):
            return start
        at, last = begin, False


def _before_break(text: str, least: int, at: int) -> int:
    while at > least:
        if text[at - 1].isspace():
            at -= 1
        elif text[at - 1] in "nr" and text[at - 2 : at - 1] == "\\":
            at -= 2
        else:
            break
    return at
