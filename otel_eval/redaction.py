"""Redaction: what must not leave the machine, replaced by typed markers before a judge or an exporter sees it.

Built in: keys and tokens (OpenAI, Anthropic, AWS, GitHub, GitLab, Slack, Google, Hugging Face, JWT, bearer tokens, private
key blocks), e-mail addresses, IBANs (with their check digits), payment cards (with the Luhn check) and telephone numbers in
an international or a North American form. Users add patterns of their own. The stored Interaction is never changed: exact
evaluators see the original.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

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

API_KEY = "api_key"
IBAN = "iban"

_KIND = re.compile(r"[a-z][a-z0-9_]{0,40}")


def passes_luhn(digits: str) -> bool:
    """Whether a run of digits has a right check digit. Source: ISO/IEC 7812-1, annex B."""
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if index % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def passes_mod_97(iban: str) -> bool:
    """Whether an IBAN, spaces aside, has right check digits. Source: ISO 13616, ISO 7064 MOD 97-10."""
    compact = re.sub(r"\s", "", iban).upper()
    number = "".join(str(int(char, 36)) for char in compact[4:] + compact[:4])
    return 15 <= len(compact) <= 34 and int(number) % 97 == 1


def _always(_: str) -> bool:
    return True


def _is_card(text: str) -> bool:
    return passes_luhn(re.sub(r"[ -]", "", text))


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


_KEYS = r"""
    -----BEGIN\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?----- .*? (?:-----END\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)
  | \b sk-(?:[A-Za-z]+-)* [A-Za-z0-9_-]{16,}               # OpenAI, Anthropic and many that follow them
  | \b (?:AKIA|ASIA) [0-9A-Z]{16} \b                       # AWS access key id
  | \b gh[pousr]_ [A-Za-z0-9]{20,} | \b github_pat_ [A-Za-z0-9_]{20,} | \b glpat- [A-Za-z0-9_-]{16,}
  | \b xox[abeoprs]- [A-Za-z0-9-]{10,} | \b xapp- [A-Za-z0-9-]{10,}
  | \b AIza [0-9A-Za-z_-]{35} | \b ya29\. [0-9A-Za-z_-]{20,}
  | \b hf_ [A-Za-z0-9]{20,} \b
  | \b eyJ [A-Za-z0-9_-]{8,} \. eyJ [A-Za-z0-9_-]{8,} \. [A-Za-z0-9_-]*   # JWT
"""
_KEY_HINTS = (
    "-----BEGIN", "sk-", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "xapp-",
    "AIza", "ya29.", "hf_", "eyJ",
)  # fmt: skip
_ASSIGNED = r"""
    (?: \b bearer \s+ | \b aws_secret_access_key ["']? \s* [=:] \s* ["']? ) (?P<secret> [A-Za-z0-9._~+/=-]{16,} )
"""
BUILTIN = (
    Pattern(API_KEY, re.compile(_KEYS, re.VERBOSE | re.DOTALL), hints=_KEY_HINTS),
    Pattern(API_KEY, re.compile(_ASSIGNED, re.VERBOSE | re.IGNORECASE)),
    Pattern(
        EMAIL, re.compile(r"(?<![\w.+-])\w[\w.+'-]{0,63}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])"), hints=("@",)
    ),
    Pattern(IBAN, re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), passes_mod_97),
    Pattern(PAYMENT_CARD, re.compile(r"(?<![\d.])(?<!\d[ -])[2-6](?:[ -]?\d){12,18}(?![ -]?\d)"), _is_card),
    Pattern(PHONE, re.compile(r"(?<![\w+])\+[1-9](?:[ ().-]{0,2}\d){7,14}(?!\d)"), _is_phone, hints=("+",)),
    Pattern(PHONE, re.compile(r"(?<![\w.-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-.])[2-9]\d{2}[-.]\d{4}(?![\w-]|\.\d)")),
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
        self._patterns = [pattern for pattern in BUILTIN if pattern.kind in wanted]
        self._patterns += [_user_pattern(name, expression) for name, expression in (patterns or {}).items()]

    def text(self, text: str) -> str:
        """The text with typed markers. Redacting twice is redacting once."""
        for pattern in self._patterns:
            text = pattern.redact(text)
        return text

    def value(self, value: JsonValue) -> JsonValue:
        """A JSON value with the texts in it redacted, keys included; a whole number that is a card becomes its marker."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, int) and not isinstance(value, bool):
            written = str(value) if abs(value) < 10**40 else ""
            redacted = self.text(written)
            return value if redacted == written else redacted
        return value

    def interaction(self, interaction: Interaction) -> Interaction:
        """A copy that may leave the machine: every text that a user, an agent, a model or a tool wrote is redacted."""
        return replace(
            interaction,
            session=self._optional(interaction.session),
            user_id=self._optional(interaction.user_id),
            asked=self._optional(interaction.asked),
            reply=self._optional(interaction.reply),
            system=self._optional(interaction.system),
            failure=self._failure(interaction.failure),
            tool_calls=tuple(self._tool_call(call) for call in interaction.tool_calls),
            history=tuple(self._message(message) for message in interaction.history),
            attachments=tuple(self._attachment(attachment) for attachment in interaction.attachments),
        )

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
            return replace(part, arguments=self.value(part.arguments))
        if isinstance(part, ToolResultPart):
            return replace(part, result=self.value(part.result))
        return self._attachment(part)


def _user_pattern(name: str, expression: str) -> Pattern:
    if _KIND.fullmatch(name) is None:
        raise ValueError(f"a redaction pattern's name is lower-case letters, digits and underscores, not {name!r}")
    try:
        return Pattern(name, re.compile(expression))
    except re.error as error:
        raise ValueError(f"redaction pattern {name}: {error}") from error


NOTHING = Redaction(kinds=())
"""Redacts nothing: for a judge that runs on the same machine."""
