"""The one function that turns a span into facts, with the conventions of ``table.py`` and those that users add.

Users add theirs with the entry-point group ``otel_eval.conventions``: each entry point is a :class:`Convention`, and comes
before ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, reduce
from importlib.metadata import entry_points
from typing import Any

from otel_eval.conventions import genai, generic
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Mark, Note, fill
from otel_eval.conventions.llama_react import as_react
from otel_eval.conventions.offering import Offering
from otel_eval.conventions.reading.placeholders import is_nothing, is_placeholder, says_nothing
from otel_eval.conventions.reading.sessions import real_id, session_of, user_of
from otel_eval.conventions.reading.truncation import tails_of
from otel_eval.conventions.table import CONVENTIONS
from otel_eval.frozen import changed, completed
from otel_eval.identity import digest
from otel_eval.interaction import GapKind
from otel_eval.signals import LogRecord, Span

_STANDARD = [genai.CONVENTION.name]
"""Of a span that the standard alone knows, what it does not say may stand under names that people use for anything."""


class Registry:
    """A fixed list of conventions."""

    def __init__(self, conventions: Iterable[Convention]) -> None:
        self.conventions = tuple(conventions)
        self._offering = Offering(self.conventions)

    def facts_of(self, span: Span) -> Facts | None:
        """What the span says about an agent's work; None for an ordinary span. Pure; never raises for odd values."""
        told: list[Facts] = []
        names: list[str] = []
        for convention in self._offering.of(span):
            if convention.fallback and told:
                continue
            try:
                facts = convention.read(span)
            except RecursionError:  # nested deeper than anybody writes but to break a reader
                continue
            if facts is None:
                continue
            names.append(convention.name)
            told.append(_said(facts))
        if not told or told[0].kind is Kind.OTHER:
            return None
        if names == _STANDARD and (elsewhere := generic.told_elsewhere(told[0], span)) is not None:
            told.append(_said(elsewhere))
        whole = as_react(reduce(fill, told) if len(told) > 1 else changed(told[0]))
        return completed(
            whole,
            **_hidden_in(whole),
            conventions=tuple(names),
            cut=tails_of(span),
            agent=whole.agent or None,
            session=session_of(span.attributes) if whole.session is None else real_id(whole.session),
            user_id=user_of(span.attributes) if whole.user_id is None else real_id(whole.user_id),
        )

    def note_of(self, record: LogRecord) -> Note | None:
        """What the record says about the span that it names; None for an ordinary record."""
        if record.trace_id is None or record.span_id is None:
            return None
        for convention in self.conventions:
            try:
                facts = None if convention.read_log is None else convention.read_log(record)
            except RecursionError:
                continue
            if facts is not None:
                facts = changed(facts, conventions=(convention.name,))
                order = (record.time_ns, record.place, _rank(facts), f"{digest(repr(facts))}-{record.copy}")
                return Note(
                    trace_id=record.trace_id, span_id=record.span_id, order=order, among=record.among, facts=facts
                )
        return None


def _said(facts: Facts) -> Facts:
    """Without what is there and says nothing: a blank name, and what languages write in place of a value.

    Texts in messages are left alone, and a model's own answer: those may say ``None``.
    """
    nothing: dict[str, Any] = {}
    if facts.agent is not None and facts.agent.isspace():
        nothing["agent"] = None
    if says_nothing(facts.system):
        nothing["system"] = None
    if is_nothing(facts.result):
        nothing["result"] = MISSING
    if facts.kind is not Kind.MODEL:
        nothing |= {name: None for name in ("asked", "reply") if is_nothing(getattr(facts, name))}
    return changed(facts, **nothing) if nothing else facts


_NAMED = {"asked": "input", "prompt": "input", "reply": "output", "system": "system"}
"""The fields that a convention names outright, and what marks are about where they are hidden."""


def _hidden_in(facts: Facts) -> dict[str, Any]:
    """What changes where a placeholder stands in place of a text: it is none, and marked."""
    hidden = [name for name in _NAMED if is_placeholder(getattr(facts, name))]
    if not hidden:
        return {}
    marks = (Mark(field=_NAMED[name], kind=GapKind.REDACTED) for name in hidden)
    return {"marks": tuple(dict.fromkeys((*facts.marks, *marks))), **dict.fromkeys(hidden)}


_RANKS = {"system": 0, "user": 1, "assistant": 2, "tool": 3}


def _rank(facts: Facts) -> int:
    """Of records of one moment: instructions, what was asked, what the model called, what that gave, what was answered."""
    if facts.output is not None:
        return 4
    roles = {message.role for message in facts.input or ()}
    return _RANKS.get(roles.pop(), 1) if len(roles) == 1 else 1


@cache
def default_registry() -> Registry:
    """The conventions of installed packages, then ours."""
    installed = [point.load() for point in entry_points(group="otel_eval.conventions")]
    return Registry((*installed, *CONVENTIONS))


def facts_of(span: Span) -> Facts | None:
    """:meth:`Registry.facts_of` of the default registry."""
    return default_registry().facts_of(span)


def note_of(record: LogRecord) -> Note | None:
    """:meth:`Registry.note_of` of the default registry."""
    return default_registry().note_of(record)
