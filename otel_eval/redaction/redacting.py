"""Redaction: what must not leave the machine, replaced by typed markers before a judge or an exporter sees it.

Built in: keys and tokens (by their shape, and by the name that they stand under), e-mail addresses, IBANs (with their check
digits), payment cards (with the Luhn check) and telephone numbers in an international or a North American form. Users add
patterns of their own. The stored Interaction is never changed: exact evaluators see the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

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
from otel_eval.redaction import headers
from otel_eval.redaction.markers import marked, marker
from otel_eval.redaction.names import describes, is_secret_number, is_secret_under, kind_of, named_by
from otel_eval.redaction.patterns import API_KEY, BUILTIN, OwnPattern
from otel_eval.redaction.texts import Texts

_KIND = re.compile(r"[a-z][a-z0-9_]{0,40}")

_LEAST_OF_CARDS = 10**13

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
        own = [_user_pattern(name, expression) for name, expression in (patterns or {}).items()]
        self._texts = Texts([*(pattern for pattern in BUILTIN if pattern.kind in wanted), *own])
        self._by_name = API_KEY in wanted
        self._least_number = 0 if own else _LEAST_OF_CARDS

    def text(self, text: str) -> str:
        """The text with typed markers. Redacting twice is redacting once."""
        return self._texts.redacted(text)

    def value(self, value: JsonValue) -> JsonValue:
        """A JSON value with the texts in it redacted, keys included.

        A whole number that is a card becomes its marker, and so does what is a secret under a key such as ``password``.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return self._list(value)
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and self._may_hide_in(value):
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

    def _may_hide_in(self, value: float) -> bool:
        """Whether something can be found in a number's digits: of the built-in patterns only cards, which are long."""
        return self._least_number <= abs(value) < 10**40

    def _list(self, value: list[JsonValue]) -> JsonValue:
        """A list; in one of pairs the first of each may be a name, and before a header's value its name may stand."""
        if not value or not self._by_name:
            return [self.value(item) for item in value]
        if all(isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) for item in value):
            return [[self.text(pair[0]), self._named(pair[0], pair[1])] for pair in value]  # type: ignore[index, arg-type]
        before: str | None = None
        redacted: list[JsonValue] = []
        for item in value:
            redacted.append(self.value(item) if before is None else self._named(before, item))
            before = item if isinstance(item, str) and item.lower() in headers.NAMES else None
        return redacted

    def _object(self, value: dict[str, JsonValue]) -> JsonValue:
        redacted: dict[str, JsonValue] = {self.text(key): self._named(key, item) for key, item in value.items()}
        named = named_by(value) if self._by_name else None
        if named is not None and kind_of(named[0]) is not None:
            redacted[named[1]] = self._secret(named[0], value[named[1]])
        return redacted

    def _named(self, name: str, value: JsonValue) -> JsonValue:
        return self._secret(name, value) if self._by_name and kind_of(name) is not None else self.value(value)

    def _secret(self, name: str, value: JsonValue) -> JsonValue:
        """The value under a secret's name, with markers for what is one in lists and objects, too."""
        if isinstance(value, str):
            return self._secret_text(name, value)
        if isinstance(value, list):
            return [self._secret(name, item) for item in value]
        if isinstance(value, dict):
            return self._secret_object(name, value)
        if isinstance(value, int | float) and not isinstance(value, bool) and is_secret_number(name, value):
            return marker(API_KEY)
        return self.value(value)

    def _secret_text(self, name: str, value: str) -> str:
        if kind_of(name) == "cookie":
            found = headers.cookie_values(value, 0)
            return self.text(marked(value, ((start, end, API_KEY) for start, end in found)))
        redacted = self.text(value)
        return marker(API_KEY) if redacted == value and is_secret_under(name, value) else redacted

    def _secret_object(self, name: str, value: dict[str, JsonValue]) -> JsonValue:
        of_cookies = kind_of(name) == "cookie"
        named = named_by(value)
        redacted: dict[str, JsonValue] = {}
        for key, item in value.items():
            inner = named[0] if named is not None and key == named[1] else key
            if of_cookies and isinstance(item, str) and headers.is_cookie_secret(inner, item):
                redacted[self.text(key)] = marker(API_KEY)
            elif describes(key) or kind_of(inner):
                redacted[self.text(key)] = self._named(inner, item)
            else:
                redacted[self.text(key)] = self._secret(name, item)
        return redacted

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
