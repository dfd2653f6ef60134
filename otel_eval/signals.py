"""OTLP spans and log records as plain Python: what conventions read. Protobuf stays in ``receive/`` and ``emit/``.

Ids are lower-case hex; an absent or all-zero parent is None. Attribute values are decoded ``AnyValue``: str, bool, int,
float, bytes, list and dict. Resources and scopes are shared objects: all spans of one batch and origin hold the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from otel_eval.frozen import frozen

Attributes: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Resource:
    """Who sent it (``service.name`` and friends)."""

    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which instrumentation wrote it."""

    name: str = ""
    version: str = ""
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event on a span."""

    name: str
    time_ns: int = 0
    attributes: Attributes = field(default_factory=dict)
    dropped_attributes: int = 0


@dataclass(frozen=True, slots=True)
class SpanLink:
    """A link from a span to another."""

    trace_id: str
    span_id: str
    attributes: Attributes = field(default_factory=dict)


@frozen
class Span:
    """One ended span. ``status`` is ``unset``, ``ok`` or ``error``; ``kind`` the OTLP number (0 unspecified … 5)."""

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: int = 0
    started_ns: int = 0
    ended_ns: int = 0
    attributes: Attributes = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    status: str = "unset"
    status_message: str = ""
    dropped_attributes: int = 0
    dropped_events: int = 0
    dropped_links: int = 0
    trace_state: str = ""
    parent_is_remote: bool | None = None
    """Whether the parent lives in another process (OTLP span flags 0x100 and 0x200); None where the SDK does not say."""
    resource: Resource = Resource()
    scope: Scope = Scope()


class OrdinarySpan(NamedTuple):
    """What is read of a span that no convention knows: it only links agents' spans with one another.

    Nine of ten spans are such. A tuple, because that is the cheapest to make: 0.5 us.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: int
    started_ns: int
    ended_ns: int
    parent_is_remote: bool | None
    resource: Resource
    scope: Scope


@frozen
class LogRecord:
    """One log record. ``event_name`` is the proto field, else the attribute ``event.name`` or ``event_name``.

    ``among`` records of the same span had the same time in this request. ``place`` is the index of this one among them:
    the order of those that a coarse clock cannot tell apart. ``copy`` is how many identical ones precede it: two that
    are alike are two, and not one that was sent again.
    """

    trace_id: str | None = None
    span_id: str | None = None
    event_name: str = ""
    time_ns: int = 0
    severity_number: int = 0
    body: Any = None
    attributes: Attributes = field(default_factory=dict)
    dropped_attributes: int = 0
    resource: Resource = Resource()
    scope: Scope = Scope()
    place: int = 0
    copy: int = 0
    among: int = 1
