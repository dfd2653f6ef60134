"""What a name promises of the value under it: ``password``, ``apiKey``, ``X-Auth-Token``, ``Authorization``, ``Set-Cookie``.

The less a name says (a token may be a word's), the more its value must look like a secret.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

from otel_eval.redaction import headers
from otel_eval.redaction.values import LEAST_OF_TOKEN, is_prose, is_word_of_passwords, looks_random, says_nothing

Kind: TypeAlias = Literal["password", "key", "token", "authorization", "auth", "cookie"]

HINTS = (
    "pass", "pw", "secret", "token", "key", "auth", "cookie",
    "kennwort", "contrase", "wachtwoord", "senha", "парол", "密", "パスワード",
)  # fmt: skip
"""What stands at the beginning of the last word of every such name, in lower case."""

ENDING = (
    r"(?:(?P<elsewhere>passwort|(?<=mot de )passe|kennwort|contrase[nñ]a|wachtwoord|senha|пароль|密[码碼]|パスワード)"
    r"|(?P<password>pass(?:word|wd|phrase|code)|pwd?)|(?P<secret>secret)|(?P<any_key>key)|(?P<token>token)"
    r"|(?P<authorization>(?<!pre)(?<!pre[ _-])authorization)|(?P<auth>auth)|(?P<cookie>cookies?))(?:[_-]?(?:b64|base64|encoded))?"
)
"""That word."""

_ENDING = re.compile(rf"{ENDING}\Z", re.IGNORECASE)
_OF_KEYS = (
    r"(?:api|app|account|access|auth|secret|private|encryption|signing|master|subscription|functions|webhook|consumer"
    r"|shared[_-]?access)[ _-]?(?:access[_-]?)?"
)
_BEFORE_KEY = re.compile(rf"{_OF_KEYS}\Z", re.IGNORECASE)
_BEFORE_TOKEN = re.compile(rf"(?:{_OF_KEYS}|(?:refresh|(?<!val)id|session|bearer)[_-]?)\Z", re.IGNORECASE)
_NO_SECRETS_TOKEN = re.compile(
    r"(?:max|min|per|next|previous|page|continuation|pad|eos|bos|unk|mask|sep|cls|special|stop|total|input|output|prompt"
    r"|completion|first|last|sync|cursor|new|each|every|change|request|idempotency|pagination|resume)[_ .-]?\Z",
    re.IGNORECASE,
)
_KINDS: Mapping[str, Kind] = {"secret": "key", "elsewhere": "password"}
_LONGEST_BEFORE = 24
_DESCRIBES = frozenset({"type", "description", "title", "format"})
_NAMES = ("name", "key", "header", "field", "Name", "Key")
_VALUES = ("value", "Value", "val")


def kind_of_ending(text: str, ending: re.Match[str]) -> Kind | None:
    """What the name promises whose last word was found there (by :data:`ENDING`); None: no secret."""
    start = ending.start()
    before = max(0, start - _LONGEST_BEFORE)
    group = ending.lastgroup or ""
    if group == "any_key":
        return "key" if _BEFORE_KEY.search(text, before, start) else None
    if group == "token":
        if _BEFORE_TOKEN.search(text, before, start):
            return "key"
        return None if _NO_SECRETS_TOKEN.search(text, before, start) else "token"
    return _KINDS.get(group) or cast("Kind", group)


@functools.lru_cache(maxsize=256)  # the names of tools' arguments: a few that come again and again
def kind_of(name: str) -> Kind | None:
    """What a name promises by its last word; None: no secret."""
    low = name.lower()
    for hint in HINTS:
        if hint in low:
            ending = _ENDING.search(name)
            return None if ending is None else kind_of_ending(name, ending)
    return None


def is_secret_under(name: str, value: str) -> bool:
    """Whether the text under that key of a structured value is a secret, whole, by the key's name."""
    kind = kind_of(name)
    if kind is None or kind == "cookie" or says_nothing(value):
        return False
    if kind in ("authorization", "auth"):
        return headers.is_credentials(value, quoted=True, named=kind == "authorization")
    if is_word_of_passwords(value) or (is_prose(value) and not name.lower().endswith("phrase")):
        return False
    return kind != "token" or looks_random(value, LEAST_OF_TOKEN)


def is_secret_number(name: str, value: float) -> bool:
    """Whether a number under that key is a secret: a PIN or a password that was read as one."""
    least = {"password": 4, "key": 6}.get(kind_of(name) or "")
    return least is not None and value == int(value) and len(str(abs(int(value)))) >= least


def describes(name: str) -> bool:
    """Whether what stands under that key of a schema says what a secret is, rather than being one."""
    return name in _DESCRIBES


def named_by(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """Of ``{"name": "Authorization", "value": "…"}`` and the like: the name, and the key of its value; else None."""
    for key in _VALUES:
        if key in value:
            found = (value[each] for each in _NAMES if isinstance(value.get(each), str))
            name = next(found, None)
            return None if name is None else (name, key)
    return None
