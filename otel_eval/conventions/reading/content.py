"""Taking content out of attributes while noting what is hidden, cut or dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from otel_eval.conventions.facts import MISSING, NO_USAGE, Mark, Missing
from otel_eval.conventions.reading.answers import answer_messages
from otel_eval.conventions.reading.langchain_reprs import is_content_whole
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.payloads import input_payload, output_payload
from otel_eval.conventions.reading.placeholders import is_object_text, is_placeholder, says_nothing
from otel_eval.conventions.reading.values import (
    Undecodable,
    beginning_of_string,
    decode,
    decode_leniently,
    first_number,
    is_object,
    looks_cut,
    plain,
    text,
    unflatten,
)
from otel_eval.interaction import GapKind, JsonValue, Message, Usage
from otel_eval.signals import Span

_GENERATOR = re.compile(r"<(?:async_)?generator object [^\n]* at 0x[0-9a-f]+>")


class Content:
    """Reads attributes of one span, event or log record. What is wrong with them collects in ``marks``."""

    def __init__(self, attributes: Mapping[str, Any], dropped: int = 0) -> None:
        self.attributes = attributes
        self._marks: list[Mark] = []
        self._dropped = dropped > 0
        if dropped:
            self.mark("*", GapKind.DROPPED)

    @classmethod
    def of(cls, span: Span) -> Content:
        """The content of a span; attributes or events that the SDK dropped are marked."""
        return cls(span.attributes, span.dropped_attributes + span.dropped_events)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What was hidden, cut or dropped so far."""
        return tuple(self._marks)

    def mark(self, field: str, kind: GapKind) -> None:
        """Notes a fault once."""
        mark = Mark(field=field, kind=kind)
        if mark not in self._marks:
            self._marks.append(mark)

    def flattened(self, field: str) -> None:
        """Notes that the field is spread over many attributes: where the SDK dropped some, it may be part of it."""
        if self._dropped:
            self.mark(field, GapKind.DROPPED)

    def value(self, field: str, *keys: str, twice: bool = True) -> Any:
        """The first of the attributes that is there, decoded if it is JSON; MISSING where none is, or it is hidden or cut.

        ``twice`` false: the convention encodes every value once, so that a text that looks like JSON is a text.
        """
        raw = self._first(field, keys)
        if raw is MISSING:
            return MISSING
        try:
            return decode(raw, twice=twice)
        except Undecodable:
            self.mark(field, GapKind.TRUNCATED)
            return MISSING

    def json(self, field: str, *keys: str) -> JsonValue | Missing:
        """A tool's arguments: decoded JSON, else the text; a cut text stays, marked."""
        raw = self._first(field, keys)
        if raw is MISSING:
            return MISSING
        if (begun := self._begun(field, raw)) is not None:
            return begun
        try:
            return plain(decode(raw))
        except Undecodable:
            self.mark(field, GapKind.TRUNCATED)
            return str(raw)

    def result(self, field: str, *keys: str) -> JsonValue | Missing:
        """A tool's result: text blocks joined, objects and arrays decoded, a JSON string unquoted, other text as it stands.

        A generator is none: what it will give is not known yet (tools of Agno's, under OpenLIT).
        """
        raw = self._first(field, keys)
        if raw is MISSING or (isinstance(raw, str) and _GENERATOR.fullmatch(raw) is not None):
            return MISSING
        if (begun := self._begun(field, raw)) is not None:
            return begun
        if isinstance(raw, str) and raw[:1] == '"':
            return result_value(decode_leniently(raw))
        try:
            decoded = decode(raw)
        except Undecodable:
            self.mark(field, GapKind.TRUNCATED)
            return result_value(raw)
        return result_value(decoded if isinstance(decoded, (dict, list)) else raw)

    def messages(self, field: str, *keys: str, role: str = "user") -> tuple[Message, ...] | None:
        """The messages of the first attribute that has any; none where one says that nothing was said; else None."""
        told: tuple[Message, ...] | None = None
        for key in keys:
            raw = self.attributes.get(key)
            if raw is None or says_nothing(raw):
                continue
            if self.hidden(field, raw):
                return None
            try:
                value = decode(raw) if not isinstance(raw, str) or raw.lstrip()[:1] in ("[", "{") else raw
            except Undecodable:
                self.mark(field, GapKind.TRUNCATED)
                return None
            if isinstance(raw, str) and raw[:1] == '"' and key.endswith(_STRUCTURED):
                value = decode_leniently(raw)
            messages = _structured(value, role) if key.endswith(_STRUCTURED) else read_messages(value, role)
            if _hides(raw):
                self.mark(field, GapKind.REDACTED)
            if messages:
                return messages
            if _says_nothing(value):
                told = ()
        return told

    def numbered(self, field: str, prefix: str, role: str) -> tuple[Message, ...] | None:
        """The messages that are spread over ``prefix.0.role``, ``prefix.0.content`` and so on; None where there are none."""
        items = unflatten(self.attributes, prefix)
        if not items:
            return None
        self.flattened(field)
        for item in items:
            if is_object(item):
                self.hidden(field, item.get("content"))
        return read_messages(items, role)

    def instructions(self, *keys: str) -> str | None:
        """System instructions: a text, or the texts of parts or messages."""
        for key in keys:
            raw = self.attributes.get(key)
            if raw is None or says_nothing(raw) or self.hidden("system", raw):
                continue
            if isinstance(raw, str) and raw[:1] == '"':
                raw = decode_leniently(raw)  # JSON by the convention, like the messages
            if isinstance(raw, str) and raw.lstrip()[:1] not in ("[", "{"):
                return text(raw)
            told = _instructions_in(raw) if isinstance(raw, str) else _joined(raw)
            if told is not None:
                return told
        return None

    def hidden(self, field: str, raw: object) -> bool:
        """Whether the value is a placeholder, which is marked, or none at all."""
        if is_placeholder(raw):
            self.mark(field, GapKind.REDACTED)
            return True
        if is_object_text(raw):
            return True
        if isinstance(raw, str) and raw[:3] == '{"_' and '"_truncated": true' in raw[:40].replace('":t', '": t'):
            self.mark(
                field, GapKind.TRUNCATED
            )  # CrewAI: {"_truncated": true, "_original_size_bytes": …, "_preview": …}
            return True
        if isinstance(raw, str) and raw.startswith(_ENVELOPES) and '"original_bytes":' in raw:
            self.mark(field, GapKind.TRUNCATED)
            return True
        return False

    def _first(self, field: str, keys: tuple[str, ...]) -> object:
        """The first of the attributes that is there, as it stands; MISSING where none is, or it is hidden."""
        for key in keys:
            raw = self.attributes.get(key)
            if raw is not None and not (isinstance(raw, bytes) and decode_leniently(raw) is None):
                return MISSING if self.hidden(field, raw) else raw
        return MISSING

    def _begun(self, field: str, raw: object) -> str | None:
        """The text of a JSON string that was cut, which is marked; None for anything else."""
        begun = beginning_of_string(raw) if isinstance(raw, str) else None
        if begun is not None:
            self.mark(field, GapKind.TRUNCATED)
        return begun

    def cut(self, field: str, raw: object) -> bool:
        """Whether the value is an object or array that ends before its brackets do, which is marked.

        Of a tool's message only the result counts, not what LangChain writes after it.
        """
        if not isinstance(raw, str) or not isinstance(decode_leniently(raw), str) or not looks_cut(raw):
            return False
        if field == "result" and is_content_whole(raw):
            return False
        self.mark(field, GapKind.TRUNCATED)
        return True


_ENVELOPES = ('{"truncated":true,', '{"omitted":true,', '{"original_bytes":')
"""So begins what stands in place of a payload past a limit: tRPC-Agent-Go's, and of Eino's callback for Langfuse."""


@lru_cache(maxsize=512)
def _instructions_in(raw: str) -> str | None:
    """Remembered, because every model call of an agent repeats them."""
    return _joined(decode_leniently(raw))


def _joined(value: Any) -> str | None:
    texts = [said for message in read_messages(value, "system") if (said := message.text) and not is_object_text(said)]
    return "\n".join(texts) if texts else None


_STRUCTURED = ".messages"
"""So ends the name of an attribute that holds JSON by the conventions: a string of JSON in it is a text, or encoded twice."""


def _structured(value: Any, role: str) -> tuple[Message, ...]:
    """Messages; a model's whole response; or what is said in an object in which people put a question or an answer."""
    found = answer_messages(value) if role == "assistant" else read_messages(value, role)
    if found or not is_object(value):
        return found
    held = output_payload(value, structured=False) if role == "assistant" else input_payload(value)
    return held.messages or read_messages([held.text] if held.text else [], role)


def _says_nothing(value: object) -> bool:
    """Whether it is a list of messages that have nothing in them; a part without its content is a hidden one."""
    items = value if isinstance(value, list) else []
    return bool(items) and all(
        is_object(item)
        and "role" in item
        and not item.get("parts")
        and not item.get("content")
        and not item.get("tool_calls")
        for item in items
    )


def _hides(raw: object) -> bool:
    return isinstance(raw, str) and ("__REDACTED__" in raw or '"[REDACTED]"' in raw or "<elided>" in raw)


USAGE_KEYS: dict[str, tuple[str, ...]] = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"),
    "cache_read_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
    ),
    "cache_write_tokens": (
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write_input_tokens",
    ),
    "reasoning_tokens": ("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
}
"""Source: semantic conventions 1.27 (``prompt_tokens`` until 1.26) to semantic-conventions-genai (``cache_write``)."""


def usage_of(attributes: Mapping[str, Any], keys: Mapping[str, tuple[str, ...]] = USAGE_KEYS) -> Usage:
    """The token counts that stand in the attributes; NO_USAGE itself where none does."""
    counts = {field: count for field, names in keys.items() if (count := first_number(attributes, names)) is not None}
    return Usage(**counts) if counts else NO_USAGE
