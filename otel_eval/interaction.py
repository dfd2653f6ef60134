"""The domain: an *Interaction* is one invocation of an agent, put back together from its telemetry.

Everything here is a frozen value. Times are integers of nanoseconds since the Unix epoch. ``None`` always means "the
telemetry does not say"; a :class:`Gap` beside it tells why and which setting would close it. Nothing here imports
anything of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"


class GapKind(StrEnum):
    """Why a field is not there, or not there whole."""

    NOT_CAPTURED = "not_captured"
    """The instrumentation did not write it, usually because content capture is off."""
    REDACTED = "redacted"
    """A placeholder stands where the content was (``__REDACTED__``, ``<elided>``, …)."""
    TRUNCATED = "truncated"
    """Cut by a length limit: what is there is the beginning of it."""
    DROPPED = "dropped"
    """The SDK threw attributes, events or links away past a count limit."""
    INCOMPLETE = "incomplete"
    """The span that would carry it never arrived, or has not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A field that the telemetry does not carry (whole), and the setting that would close the gap.

    ``field`` is a field name of :class:`Interaction` (``asked``, ``reply``, ``tool_calls``, ``model_calls``, ``usage``,
    ``system``, ``history``, ``session``, ``agent``) or of :class:`ToolCall` (``arguments``, ``result``), which seen from the
    Interaction is called ``tool_calls[2].result``. ``setting`` is None where no setting is known to help.
    """

    field: str
    kind: GapKind
    setting: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more model calls. Cached and reasoning tokens are *included* in input and output.

    Source: OpenTelemetry GenAI semantic conventions, ``gen_ai.usage.*``. None: not told; 0: told to be none.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def total_tokens(self) -> int | None:
        """Input and output together; None where neither is known."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cache_read_tokens=_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_sum(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens=_sum(self.reasoning_tokens, other.reasoning_tokens),
        )


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Text as the user, the model or the system wrote it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningPart:
    """What a model thought before it answered; never part of the reply."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """A model's request to call a tool."""

    name: str
    arguments: JsonValue = None
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPart:
    """What a tool gave back, as the model was shown it. ``failed`` where the message says that it is an error."""

    call_id: str | None = None
    name: str | None = None
    result: JsonValue = None
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An image, file or the like: named, never inlined. ``size`` in bytes where known."""

    modality: str
    mime_type: str | None = None
    name: str | None = None
    size: int | None = None


Part: TypeAlias = TextPart | ReasoningPart | ToolCallPart | ToolResultPart | Attachment


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation. ``role`` is ``system``, ``user``, ``assistant`` or ``tool``."""

    role: str
    parts: tuple[Part, ...] = ()

    @property
    def text(self) -> str | None:
        """The text parts, joined by line breaks; None where there is no text part."""
        texts = [part.text for part in self.parts if isinstance(part, TextPart)]
        return "\n".join(texts) if texts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How something failed, in the words of the telemetry. ``type`` is an exception class or an error code."""

    type: str | None = None
    message: str | None = None

    def __str__(self) -> str:
        if self.type and self.message:
            return f"{self.type}: {self.message}"
        return self.message or self.type or "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool. A failed call has an ``error`` and no ``result``; a handoff is not a tool call.

    ``arguments`` and ``result`` are decoded JSON where they were JSON, else the text as it stood. None without a gap:
    the tool took nothing, or gave nothing back.
    """

    name: str
    arguments: JsonValue = None
    result: JsonValue = None
    error: str | None = None
    call_id: str | None = None
    span_id: str | None = None
    started_ns: int | None = None
    ended_ns: int | None = None
    gaps: tuple[Gap, ...] = ()

    def gap(self, field: str) -> Gap | None:
        """The gap of ``arguments`` or ``result`` (the gaps of a tool call name the bare field), or None."""
        return next((gap for gap in self.gaps if gap.field == field), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call of a model: the leaf spans that usage and model-call budgets are counted from."""

    span_id: str | None = None
    model: str | None = None
    response_id: str | None = None
    finish_reasons: tuple[str, ...] = ()
    usage: Usage = Usage()
    failure: Failure | None = None
    started_ns: int | None = None
    ended_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A span that the agent span links to, ids in lower-case hex."""

    trace_id: str
    span_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts over an Interaction *and* those nested in it. None: the telemetry does not allow the count."""

    tool_calls: int | None = None
    model_calls: int | None = None
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """One invocation of an agent.

    ``id`` is ``<trace id>-<span id>`` in lower-case hex. ``parent_id`` is the Interaction this one is nested in (a
    sub-agent). ``asked`` is the user message of *this* turn, ``history`` the earlier turns that the model saw.
    ``usage`` is this Interaction's own, ``totals`` includes the nested ones. ``complete`` is False where the agent's
    own span never came, or has not ended (its end is 0). ``role`` comes from the configuration, not from telemetry.
    ``attributes`` are those of the agent span that the configuration's roles are matched by, and no others.
    """

    id: str
    trace_id: str
    span_id: str
    parent_id: str | None = None
    agent: str | None = None
    role: str | None = None
    session: str | None = None
    user_id: str | None = None
    asked: str | None = None
    reply: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    failure: Failure | None = None
    model: str | None = None
    usage: Usage = Usage()
    totals: Totals = Totals()
    system: str | None = None
    history: tuple[Message, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    resource: Mapping[str, JsonValue] = field(default_factory=dict)
    attributes: Mapping[str, JsonValue] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    started_ns: int | None = None
    ended_ns: int | None = None
    gaps: tuple[Gap, ...] = ()
    conventions: tuple[str, ...] = ()
    complete: bool = True

    @property
    def failed(self) -> bool:
        """Whether the invocation itself failed. A failed tool call alone does not make it so."""
        return self.failure is not None

    @property
    def service_name(self) -> str | None:
        """``service.name`` of the resource that the agent span came from."""
        return self._resource_text("service.name")

    @property
    def service_version(self) -> str | None:
        """``service.version`` of the resource."""
        return self._resource_text("service.version")

    @property
    def environment(self) -> str | None:
        """``deployment.environment.name``, or the older ``deployment.environment``."""
        return self._resource_text("deployment.environment.name") or self._resource_text("deployment.environment")

    @property
    def duration_ns(self) -> int | None:
        """How long the agent took; None where a time is missing or the clock ran backwards."""
        if self.started_ns is None or self.ended_ns is None or self.ended_ns < self.started_ns:
            return None
        return self.ended_ns - self.started_ns

    def gap(self, field: str) -> Gap | None:
        """The gap of that field, or None where the field is whole; of a tool call's: ``tool_calls[2].result``."""
        gaps = self.all_gaps() if field.startswith("tool_calls[") else self.gaps
        return next((gap for gap in gaps if gap.field == field), None)

    def all_gaps(self) -> Iterator[Gap]:
        """This Interaction's gaps, then those of its tool calls as ``tool_calls[<index>].<field>``."""
        yield from self.gaps
        for index, call in enumerate(self.tool_calls):
            for gap in call.gaps:
                yield Gap(field=f"tool_calls[{index}].{gap.field}", kind=gap.kind, setting=gap.setting)

    def _resource_text(self, key: str) -> str | None:
        value = self.resource.get(key)
        return value if isinstance(value, str) and value else None
