"""Which telemetry is whose: spans and log records are handed to the attempt that they came from.

A signal is an attempt's by trace id; else by session id (its trace is then adopted whole, also what came before); else,
where only one attempt runs at a time, by having started during it. Pure bookkeeping: no OpenTelemetry here, and every
method may be called from any thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from otel_eval.conventions.reading.sessions import session_ids
from otel_eval.signals import LogRecord, Span

_MAX_STRAY_TRACES = 256
_MAX_PAST_ATTEMPTS = 1024


@dataclass(slots=True, kw_only=True, eq=False)
class Evidence:
    """What is known of one attempt so far. ``open`` are spans that started and have not ended; ``adopted`` its other traces.

    ``by_session`` and ``by_time`` say how traces that are not the attempt's own came to it. ``on_change`` is called, from
    any thread, whenever something arrived.
    """

    trace_id: str
    root_span_id: str
    session: str
    exclusive: bool
    on_change: Callable[[], None]
    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)
    open: set[tuple[str, str]] = field(default_factory=set)
    by_session: set[str] = field(default_factory=set)
    by_time: set[str] = field(default_factory=set)
    strays: int = 0
    """Spans that ended meanwhile and belong to no attempt, known once the attempt is released."""

    @property
    def traces(self) -> set[str]:
        """Its own trace and those that it adopted."""
        return {self.trace_id, *self.by_session, *self.by_time}


@dataclass(frozen=True, slots=True)
class _Past:
    """What late telemetry of an attempt that ended is recognised by."""

    session: str
    traces: frozenset[str]


@dataclass(slots=True)
class _Stray:
    """A trace that nobody claimed yet."""

    open: set[tuple[str, str]] = field(default_factory=set)
    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)


class Attribution:
    """Hands signals to the attempts that are watched. With none watched it does nothing at all."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._watched: list[Evidence] = []
        self._by_trace: dict[str, Evidence] = {}
        self._strays: dict[str, _Stray] = {}
        self._past: deque[_Past] = deque(maxlen=_MAX_PAST_ATTEMPTS)

    @property
    def idle(self) -> bool:
        """Whether no attempt is watched."""
        return not self._watched

    def watch(self, evidence: Evidence) -> None:
        """Collect for this attempt from now on."""
        with self._lock:
            self._watched.append(evidence)
            self._by_trace[evidence.trace_id] = evidence

    def release(self, evidence: Evidence) -> None:
        """Collect for it no longer; what still comes of it is nobody's. What strayed is forgotten with the last attempt."""
        with self._lock:
            if evidence not in self._watched:
                return
            self._watched.remove(evidence)
            self._past.append(_Past(evidence.session, frozenset(evidence.traces)))
            evidence.strays = sum(len(stray.spans) for stray in self._strays.values())
            for trace_id in evidence.traces:
                self._by_trace.pop(trace_id, None)
            if not self._watched:
                self._strays.clear()

    def started(self, trace_id: str, span_id: str, attributes: Mapping[str, Any]) -> None:
        """A span started now."""
        with self._lock:
            owner = self._owner(trace_id, attributes, during=True)
            if owner is not None:
                owner.open.add((trace_id, span_id))
            elif (stray := self._stray(trace_id)) is not None:
                stray.open.add((trace_id, span_id))

    def ended(self, span: Span, *, during: bool = False) -> None:
        """A span ended; ``during``: it is known to have started while the attempts that are watched ran."""
        key = (span.trace_id, span.span_id)
        with self._lock:
            owner = self._owner(span.trace_id, span.attributes, during=during)
            if owner is None:
                if (stray := self._stray(span.trace_id)) is not None:
                    stray.open.discard(key)
                    stray.spans.append(span)
                return
            owner.open.discard(key)
            owner.spans.append(_below(owner, span))
        owner.on_change()

    def logged(self, record: LogRecord) -> None:
        """A log record came. One without a trace is an attempt's by session id or, alone, by time."""
        with self._lock:
            owner = self._owner(record.trace_id or "", record.attributes, during=not record.trace_id)
            if owner is None:
                if record.trace_id and (stray := self._stray(record.trace_id)) is not None:
                    stray.logs.append(record)
                return
            owner.logs.append(record)
        owner.on_change()

    def _owner(self, trace_id: str, attributes: Mapping[str, Any], *, during: bool) -> Evidence | None:
        if (owner := self._by_trace.get(trace_id)) is not None:
            return owner
        if (owner := self._by_session(attributes)) is not None:
            self._adopt(owner, trace_id, owner.by_session)
            return owner
        if (
            during
            and len(self._watched) == 1
            and self._watched[0].exclusive
            and not self._is_past(trace_id, attributes)
        ):
            owner = self._watched[0]
            self._adopt(owner, trace_id, owner.by_time)
            return owner
        return None

    def _by_session(self, attributes: Mapping[str, Any]) -> Evidence | None:
        sessions = session_ids(attributes)
        return next((evidence for evidence in self._watched if evidence.session in sessions), None)

    def _is_past(self, trace_id: str, attributes: Mapping[str, Any]) -> bool:
        """Whether it is the work of an attempt that ended: a thread that ran into its timeout goes on unheard."""
        sessions = session_ids(attributes)
        return any(trace_id in past.traces or past.session in sessions for past in self._past)

    def _adopt(self, owner: Evidence, trace_id: str, how: set[str]) -> None:
        if not trace_id:
            return
        how.add(trace_id)
        self._by_trace[trace_id] = owner
        if (stray := self._strays.pop(trace_id, None)) is not None:
            owner.open |= stray.open
            owner.spans += [_below(owner, span) for span in stray.spans]
            owner.logs += stray.logs

    def _stray(self, trace_id: str) -> _Stray | None:
        if not self._watched or len(self._strays) >= _MAX_STRAY_TRACES:
            return self._strays.get(trace_id)
        return self._strays.setdefault(trace_id, _Stray())


def _below(owner: Evidence, span: Span) -> Span:
    """The span with the attempt's own parent taken off: that one is never exported, so it would be missed for ever."""
    if span.parent_id != owner.root_span_id:
        return span
    return replace(span, parent_id=None, parent_is_remote=None)
