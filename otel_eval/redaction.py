"""Redaction: what must not leave the machine, replaced by typed markers before a judge or an exporter sees it.

Built in: keys and tokens (of many providers by their prefix, JWT, bearer tokens, private key blocks, passwords in addresses,
what is assigned to ``api_key`` and the like), e-mail addresses, IBANs (with their check digits), payment cards (with the Luhn check) and telephone numbers in
an international or a North American form. Users add patterns of their own. The stored Interaction is never changed: exact
evaluators see the original.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import regex

from otel_eval.interaction import (
    Attachment,
    Failure,
    Interaction,
    JsonValue,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolCallPart,
    ToolResultPart,
)
from otel_eval.redaction_markers import EMAIL, PAYMENT_CARD, PHONE, marker
from otel_eval.redaction_numbers import cards, ibans

API_KEY = "api_key"
IBAN = "iban"

_TIME_LIMIT_SECONDS = 1.0
_KIND = re.compile(r"[a-z][a-z0-9_]{0,40}")


def _always(_: str) -> bool:
    return True


def _is_phone(text: str) -> bool:
    return 8 <= sum(char.isdigit() for char in text) <= 15


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one type of secret looks like; ``confirms`` decides what a regular expression cannot (a check digit).

    Where the expression has a group ``secret``, that part alone is replaced. A text without any of the ``hints`` has no
    match: most texts have none, and a search for a hint is some ten times faster than the expression.
    """

    kind: str
    expression: re.Pattern[str]
    confirms: Callable[[str], bool] = _always
    hints: tuple[str, ...] = ()

    def redact(self, text: str) -> str:
        """The text with a marker in place of every match."""
        if self.hints and not any(hint in text for hint in self.hints):
            return text
        return self.expression.sub(self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        whole = match.group()
        if "secret" not in self.expression.groupindex:
            return marker(self.kind) if self.confirms(whole) else whole
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return whole[:start] + marker(self.kind) + whole[end:]


@dataclass(frozen=True, slots=True)
class Numbers:
    """What :mod:`otel_eval.redaction_numbers` finds, where a regular expression cannot say how far it goes."""

    kind: str
    find: Callable[[str], Iterator[tuple[int, int]]]
    may_have: re.Pattern[str]

    def redact(self, text: str) -> str:
        """The text with a marker in place of every find."""
        if self.may_have.search(text) is None:
            return text
        parts, position = [], 0
        for start, end in self.find(text):
            parts += [text[position:start], marker(self.kind)]
            position = end
        return "".join([*parts, text[position:]])


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A pattern of the user's: nobody knows how long it takes over a text that somebody else wrote.

    Where it takes more than a second, the whole text becomes the marker: what could not be searched does not leave.
    """

    kind: str
    expression: Any

    def redact(self, text: str) -> str:
        """The text with a marker in place of every match."""
        try:
            return str(self.expression.sub(lambda _: marker(self.kind), text, timeout=_TIME_LIMIT_SECONDS))
        except TimeoutError:
            return marker(self.kind)


_KEYS = r"""
    -----BEGIN\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?----- .*? (?:-----END\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)
  | (?<![A-Za-z0-9]) (?:
      sk- (?= [A-Za-z_-]{0,100} [0-9]) [A-Za-z0-9_-]{16,}    # OpenAI, Anthropic and many that follow them
    | (?:AKIA|ASIA) [0-9A-Z]{16} \b                          # AWS access key id
    | gh[pousr]_ [A-Za-z0-9]{20,} | github_pat_ [A-Za-z0-9_]{20,} | glpat- [A-Za-z0-9_-]{16,}
    | xox[abeoprs]- [A-Za-z0-9-]{10,} | xapp- [A-Za-z0-9-]{10,} | hooks\.slack\.com/services/ [A-Za-z0-9/]{20,}
    | AIza [0-9A-Za-z_-]{35} | ya29\. [0-9A-Za-z_-]{20,} | GOCSPX- [A-Za-z0-9_-]{20,}
    | hf_ [A-Za-z0-9]{20,} \b
    | [sr]k_ (?:live|test)_ [A-Za-z0-9]{16,} | whsec_ [A-Za-z0-9+/=]{20,}    # Stripe
    | SG\. [A-Za-z0-9_-]{16,} \. [A-Za-z0-9_-]{16,}          # SendGrid
    | npm_ [A-Za-z0-9]{30,} | pypi- [A-Za-z0-9_-]{32,}
    | gsk_ [A-Za-z0-9]{20,} | xai- [A-Za-z0-9]{20,} | r8_ [A-Za-z0-9]{20,} | pplx- [A-Za-z0-9]{20,} | nvapi- [A-Za-z0-9_-]{20,}
    | do[opr]_v1_ [a-f0-9]{32,} | shp(?:at|ca|pa|ss)_ [A-Fa-f0-9]{32} | dapi [a-f0-9]{32} | hv[sb]\. [A-Za-z0-9_-]{20,}
    | lin_api_ [A-Za-z0-9]{20,} | ntn_ [A-Za-z0-9]{20,} | [0-9]{8,10}:AA [A-Za-z0-9_-]{33}    # the last one: Telegram
    | eyJ [A-Za-z0-9_-]{8,} \. eyJ [A-Za-z0-9_-]{8,} \. [A-Za-z0-9_-]*   # JWT
  )
"""
_KEY_HINTS = (
    "-----BEGIN", "sk-", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "xapp-",
    "AIza", "ya29.", "hf_", "eyJ", "hooks.slack", "GOCSPX-", "k_live_", "k_test_", "whsec_", "SG.", "npm_", "pypi-", "gsk_",
    "xai-", "r8_", "pplx-", "nvapi-", "_v1_", "shp", "dapi", "hvs.", "hvb.", "lin_api_", "ntn_", ":AA",
)  # fmt: skip
_SECRET_NAME = (
    r"(?:api|account|access|auth|secret|private|encryption|shared[_-]?access)[_-]?(?:access[_-]?)?(?:key|token)"
    r"|client[_-]?secret|(?:refresh|id|session|bearer)[_-]?token|pass(?:word|wd|phrase)"
)
_ASSIGNED = rf"""
    (?: \b (?:bearer|basic) (?:\s+|%20) | (?:{_SECRET_NAME}) ["']? \s{{0,5}} [=:] \s{{0,5}} ["']? )
    (?P<secret> (?= [^\s0-9]{{0,200}} [0-9]) [A-Za-z0-9._~+/=-]{{16,}} )
"""
_NAMES_SECRET = re.compile(rf"(?:.*[_.-])?(?:{_SECRET_NAME}|aws_secret_access_key)", re.IGNORECASE)
_LEAST_SECRET = 6
_IN_ADDRESS = r"(?<![A-Za-z0-9])[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,64}:(?P<secret>[^\s/@]{3,200})@"
_SPACING = r"[ \u00a0\u202f().\-\u2010-\u2015/]"
BUILTIN: tuple[Pattern | Numbers, ...] = (
    Pattern(API_KEY, re.compile(_KEYS, re.VERBOSE | re.DOTALL), hints=_KEY_HINTS),
    Pattern(API_KEY, re.compile(_ASSIGNED, re.VERBOSE | re.IGNORECASE)),
    Pattern(API_KEY, re.compile(_IN_ADDRESS), hints=("://",)),
    Pattern(
        EMAIL,
        re.compile(
            r"(?<![\w.+-])\w[\w.+'-]{0,63}(?:[@＠]|%40)"
            r"(?:(?:[\w-]{1,63}\.){1,8}(?!(?:png|jpe?g|gif|svg|webp)\b)(?:xn--[A-Za-z0-9-]{2,59}|[^\W\d_]{2,24})(?![^\W_]|-)"
            r"|\[[0-9A-Fa-f.:]{7,45}\])"
        ),
        hints=("@", "＠", "%40"),
    ),
    Numbers(IBAN, ibans, re.compile(r"[A-Za-z]{2}[0-9]{2}")),
    Numbers(PAYMENT_CARD, cards, re.compile(r"\d(?:\D{0,3}\d){12}")),
    Pattern(
        PHONE,
        re.compile(rf"(?<![A-Za-z0-9+])[+＋][1-9](?:{_SPACING}{{0,2}}\d){{7,14}}(?!\d)"),
        _is_phone,
        hints=("+", "＋"),
    ),
    Pattern(PHONE, re.compile(rf"00(?<![\w.+-]00)(?<!\d 00)[1-9]\d{{0,2}}{_SPACING}(?:{_SPACING}?\d){{6,12}}(?!\d)")),
    Pattern(
        PHONE,
        re.compile(
            r"(?<![\w.-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?[2-9]\d{2}[ .\-\u2010-\u2015]"
            r"|[2-9]\d{2}[.\-\u2010-\u2015][2-9]\d{2}[.\-\u2010-\u2015])\d{4}(?![\w-]|\.\d)"
        ),
    ),
)
"""In the order in which they are applied: an IBAN before the card number that its digits may contain."""

BUILTIN_KINDS = tuple(dict.fromkeys(pattern.kind for pattern in BUILTIN))


class Redaction:
    """Which patterns are applied: the built-in ones of those ``kinds``, then the user's by name of their type.

    Raises ValueError for a kind that is not built in, a name that is not a marker's type, or a bad regular expression.
    """

    def __init__(self, kinds: Iterable[str] = BUILTIN_KINDS, patterns: Mapping[str, str] | None = None) -> None:
        wanted = tuple(kinds)
        unknown = [kind for kind in wanted if kind not in BUILTIN_KINDS]
        if unknown:
            raise ValueError(f"redaction knows {', '.join(BUILTIN_KINDS)}, not {', '.join(unknown)}")
        self._patterns: list[Pattern | Numbers | OwnPattern] = [
            pattern for pattern in BUILTIN if pattern.kind in wanted
        ]
        self._by_name = API_KEY in wanted
        self._patterns += [_user_pattern(name, expression) for name, expression in (patterns or {}).items()]

    def text(self, text: str) -> str:
        """The text with typed markers. Redacting twice is redacting once."""
        for pattern in self._patterns:
            text = pattern.redact(text)
        return text

    def value(self, value: JsonValue) -> JsonValue:
        """A JSON value with the texts in it redacted, keys included.

        A whole number that is a card becomes its marker, and so does any text under a key such as ``password``.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._named(key, item) for key, item in value.items()}
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**40:
            written = str(int(value)) if value == int(value) else ""
            redacted = self.text(written)
            return value if redacted == written else redacted
        return value

    def interaction(self, interaction: Interaction) -> Interaction:
        """A copy that may leave the machine: every text that a user, an agent, a model or a tool wrote is redacted."""
        return replace(
            interaction,
            agent=self._optional(interaction.agent),
            session=self._optional(interaction.session),
            user_id=self._optional(interaction.user_id),
            asked=self._optional(interaction.asked),
            reply=self._optional(interaction.reply),
            system=self._optional(interaction.system),
            failure=self._failure(interaction.failure),
            tool_calls=tuple(self._tool_call(call) for call in interaction.tool_calls),
            history=tuple(self._message(message) for message in interaction.history),
            attachments=tuple(self._attachment(attachment) for attachment in interaction.attachments),
            attributes={name: self._named(name, value) for name, value in interaction.attributes.items()},
        )

    def _named(self, name: str, value: JsonValue) -> JsonValue:
        if self._by_name and isinstance(value, str) and len(value) >= _LEAST_SECRET and _NAMES_SECRET.fullmatch(name):
            redacted = self.text(value)
            return marker(API_KEY) if redacted == value and not value.startswith("[REDACTED") else redacted
        return self.value(value)

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def _failure(self, failure: Failure | None) -> Failure | None:
        return None if failure is None else replace(failure, message=self._optional(failure.message))

    def _tool_call(self, call: ToolCall) -> ToolCall:
        return replace(
            call,
            name=self.text(call.name),
            arguments=self.value(call.arguments),
            result=self.value(call.result),
            error=self._optional(call.error),
        )

    def _message(self, message: Message) -> Message:
        return replace(message, parts=tuple(self._part(part) for part in message.parts))

    def _attachment(self, attachment: Attachment) -> Attachment:
        return replace(attachment, name=self._optional(attachment.name))

    def _part(self, part: Part) -> Part:
        if isinstance(part, TextPart | ReasoningPart):
            return replace(part, text=self.text(part.text))
        if isinstance(part, ToolCallPart):
            return replace(part, name=self.text(part.name), arguments=self.value(part.arguments))
        if isinstance(part, ToolResultPart):
            return replace(part, result=self.value(part.result))
        return self._attachment(part)


def _user_pattern(name: str, expression: str) -> OwnPattern:
    if _KIND.fullmatch(name) is None:
        raise ValueError(f"a redaction pattern's name is lower-case letters, digits and underscores, not {name!r}")
    try:
        re.compile(expression)
        return OwnPattern(name, regex.compile(expression, regex.VERSION0))
    except (re.error, regex.error) as error:
        raise ValueError(f"redaction pattern {name}: {error}") from error


NOTHING = Redaction(kinds=())
"""Redacts nothing: for a judge that runs on the same machine."""
