"""Secrets that are known by the name they stand under: ``password: hunter22!``, ``{"api_key": "..."}``, ``?token=...``.

What looks like nothing by itself is a secret there, and its whole value goes. The same names stand before prose ("password:
please choose one"), placeholders and code (``token=settings.TOKEN``), which stay: the less a name says (a token may be a
word's), and the less the place does (a colon without quotes), the more the value must look like a secret.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

_PASSWORD = r"pass(?:word|wd|phrase|code)|pwd"
_KEY = (
    r"(?:api|account|access|auth|secret|private|encryption|shared[_-]?access)[ _-]?(?:access[_-]?)?(?:key|token)"
    r"|(?:refresh|id|session|bearer)[_-]?token|aws_secret_access_key|secret"
)
_NAME = rf"(?:(?P<password>{_PASSWORD})|(?P<key>{_KEY})|(?P<token>token)|(?P<authorization>authorization))"
_HINTS = ("pass", "pwd", "secret", "token", "key", "authorization")
_NO_SECRETS_TOKEN = re.compile(
    r"(?:max|min|per|next|previous|page|continuation|pad|eos|bos|unk|mask|sep|cls|special|stop|total|input|output|prompt"
    r"|completion|first|last|sync|cursor|new|each|every)[_ .-]?\Z",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    rf"""{_NAME}(?:["'`]\]?|\*\*)?\s{{0,5}}(?P<by>=>|:=|[:=])(?:\*\*)?\s{{0,5}}"""
    r"""(?:(?P<quote>["'`])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\n]){1,1000})(?P=quote)"""
    # A separator ends a value where another assignment or nothing follows it; what closes or ends a sentence is no part.
    r"""|(?P<bare>(?:(?![&;,]\s?[\w.-]{1,40}\s?[=:]|[;,](?:\s|\Z))[^\s"'`]){1,1000}))""",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    r"(?:bearer|basic|token|digest|api-?key|key|negotiate|ntlm|aws4-hmac-sha256)\s+(?=\S)", re.IGNORECASE
)
_CREDENTIALS = re.compile(r"[^\s\"'`]{6,}")
_NOTHING = re.compile(
    r"(?:null|none|nil|true|false)(?:\W.*)?|undefined|empty|unset|unknown|required|optional|string|str|text|bytes|hidden|masked|redacted|n/a"
    r"|yes|no|invalid|missing|expired|password|passwd|passphrase|passcode|secret|token|authorization|api[_-]?key"
    r"|[\W_x]*|[<({\[].*|\$[A-Za-z_]\w*|\$[({].*|%[({A-Za-z_].*|.*\[redacted.*"
    r"|(?:your|my|some|the|an?|example|placeholder|insert|enter)(?:[-_ ][a-z]+)+",
    re.IGNORECASE | re.DOTALL,
)
_CODE = re.compile(
    r"&?[A-Za-z_]\w*(?:[.]\w+|->\w+|::\w+)*[(\[].*|(?:[A-Za-z_]+\d{0,2})(?:(?:\.|->|::)[A-Za-z_]+\d{0,2})+", re.DOTALL
)
_VARIABLE = re.compile(
    r"[A-Za-z]*(?:_[A-Za-z]+)+\d?|[A-Za-z_]*(?:pass|pw|secret|token|key)[A-Za-z_]*\d?", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:['’/-][^\W\d_]+)*[.,;:!?)]*|\d{1,3}[.,;]?|\(?[a-z]+\)?")
_STANDARD = re.compile(
    r"(?:sha|md|base|utf|oauth|aes|rsa|argon|hs|rs|es)[-_]?\d+|\d+(?:\.\d+)*[a-z]{0,12}|v\d.*|.*://.*", re.IGNORECASE
)
_LETTER, _DIGIT, _SIGN = re.compile(r"[^\W\d_]"), re.compile(r"\d"), re.compile(r"[!@#$%^&*~+=?]")
_CASES = re.compile(r"[a-z][A-Z]+[a-z]+[A-Z]|={1,2}\Z")
_ENDS = ".,;:)]}>"
_LEAST_OF_KEY, _LEAST_AFTER_COLON, _LEAST_TOKEN, _LEAST_TOKEN_AFTER_COLON, _LONG = 6, 6, 8, 12, 16
_DESCRIBES = frozenset({"type", "description", "title", "format"})


def may_assign(text: str) -> bool:
    """Whether a name and what it is given may stand in the text; never False where :func:`assigned` finds something."""
    if ":" not in text and "=" not in text:
        return False
    searched = text.casefold()
    return any(map(searched.__contains__, _HINTS))


def assigned(text: str) -> Iterator[tuple[int, int]]:
    """Where values stand that are secrets by the name before them, from left to right."""
    position = 0
    while (match := _ASSIGNED.search(text, position)) is not None:
        span = _secret_in(text, match)
        if span is None:
            position = match.end("by")
        else:
            yield span
            position = span[1]


def is_secret_under(name: str, value: str) -> bool:
    """Whether the text under that key of a structured value is a secret by the key's name."""
    kind = kind_of(name)
    if kind is None or _says_nothing(value) or (kind != "authorization" and _is_prose(name, value)):
        return False
    if kind == "authorization":
        return _is_credentials(value)
    return kind != "token" or _looks_random(value, _LEAST_TOKEN)


def is_secret_number(name: str, value: float) -> bool:
    """Whether a number under that key is a secret: a PIN or a password that was read as one."""
    least = {"password": 4, "key": 6}.get(kind_of(name) or "")
    return least is not None and value == int(value) and len(str(abs(int(value)))) >= least


def describes(name: str) -> bool:
    """Whether what stands under that key of a schema says what a secret is, rather than being one."""
    return name in _DESCRIBES


@functools.lru_cache(maxsize=256)  # the names of tools' arguments: a few that come again and again
def kind_of(name: str) -> str | None:
    """``password``, ``key``, ``token`` or ``authorization``: what the last word of a name promises; None: no secret."""
    match = re.fullmatch(rf"(?:.*?[^A-Za-z]|.*?[a-z](?=[A-Z]))??(?i:{_NAME})", name, re.DOTALL)
    if match is None or _NO_SECRETS_TOKEN.search(name[: match.start(match.lastgroup or 0)]):
        return None
    return match.lastgroup


def _secret_in(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """The span of the secret in an assignment; None where the value is none."""
    kind = next(name for name in ("password", "key", "token", "authorization") if match[name] is not None)
    name = match[kind]
    if kind == "token" and _NO_SECRETS_TOKEN.search(text, max(0, match.start() - 16), match.start()):
        return None
    start, end = match.span("quoted" if match["quoted"] is not None else "bare")
    if kind == "authorization":
        return _credentials(text, start)
    if match["quoted"] is None:
        if text[end - 1] == ":" and "\n" in text[match.end("by") : start]:
            return None  # the next name
        follows = text[end : end + 1]
        end = start + len(text[start:end].rstrip(_ENDS))
        code = text[end : end + 1] in (",", ")", "]") or follows in ('"', "'", "`")
        secret = _is_bare_secret(kind, text[start:end], match["by"], in_code=code)
    else:
        value = text[start:end]
        secret = not _says_nothing(value) and not _is_prose(name, value)
        secret = secret and (kind == "password" or _looks_random(value, _LEAST_OF_KEY))
    return (start, end) if secret and start < end else None


def _is_bare_secret(kind: str, value: str, by: str, *, in_code: bool) -> bool:
    """Whether a value without quotes is a secret: after a colon it may as well be the first word of a sentence."""
    if _says_nothing(value) or _CODE.fullmatch(value) or value.startswith(("/", "\\", "./", "~")):
        return False
    if kind != "password":
        of_token = _LEAST_TOKEN_AFTER_COLON if by == ":" else _LEAST_TOKEN
        least = of_token if kind == "token" else _LEAST_OF_KEY
        return _VARIABLE.fullmatch(value) is None and _looks_random(value, least)
    if by != ":":
        return _VARIABLE.fullmatch(value) is None and not (in_code and value.isalpha())
    if value.isdecimal():
        return len(value) >= 4
    mixed = _LETTER.search(value) and (_DIGIT.search(value) or _SIGN.search(value[:-1]))
    return bool(mixed) and len(value) >= _LEAST_AFTER_COLON and _STANDARD.fullmatch(value) is None


def _looks_random(value: str, least: int) -> bool:
    """Letters and digits, not few of them; or many, of which some are capitals within a word."""
    if (
        any(char.isspace() for char in value)
        or len(value) < least
        or _STANDARD.fullmatch(value)
        or _CODE.fullmatch(value)
    ):
        return False
    if _DIGIT.search(value):
        return _LETTER.search(value) is not None or len(value) > 9
    return len(value) >= _LONG and _CASES.search(value) is not None and "_" not in value


def _says_nothing(value: str) -> bool:
    return _NOTHING.fullmatch(value.strip()) is not None


def _is_prose(name: str, value: str) -> bool:
    """Whether it is words; a passphrase is made of some."""
    words = value.split()
    return len(words) > 1 and not name.lower().endswith("phrase") and all(_WORD.fullmatch(word) for word in words)


def _credentials(text: str, start: int) -> tuple[int, int] | None:
    """Where the credentials of an Authorization header stand, after their scheme."""
    scheme = _SCHEME.match(text, start)
    match = _CREDENTIALS.match(text, scheme.end() if scheme else start)
    if match is None or not _is_credentials(text[start : match.end()]):
        return None
    return match.span()


def _is_credentials(value: str) -> bool:
    scheme = _SCHEME.match(value)
    rest = value[scheme.end() :] if scheme else value
    least = _LEAST_OF_KEY if scheme else _LONG
    if len(rest) < least or _says_nothing(rest) or _CODE.fullmatch(rest):
        return False
    return _DIGIT.search(rest) is not None or _CASES.search(rest) is not None
