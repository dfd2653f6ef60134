"""A text as far as the telemetry carries it, and what can be said for sure of the part that is there.

A text that was cut has an unknown end, one that was redacted has holes where the markers stand. What is found counts only
where no content in the unknown places could undo it: ``$`` matches at the end of a truncated reply, but maybe not of the
whole one; sixteen digits before the cut may be the beginning of twenty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from otel_eval.evaluators.evidence import AGENT_SPAN_MISSING, from_gap
from otel_eval.interaction import Gap, GapKind, Interaction
from otel_eval.outcome import Cause, Inconclusive
from otel_eval.redaction import markers


@dataclass(frozen=True, slots=True)
class TextEvidence:
    """``lacking`` is None where the text is whole. ``holes`` are (start, end) of what is unknown; the end may be infinite.

    Where whole pieces are missing at unknown places there is no hole for them, and ``scattered`` is True.
    """

    text: str
    lacking: Inconclusive | None = None
    holes: tuple[tuple[float, float], ...] = ()
    scattered: bool = False

    def contains(self, sought: str) -> bool:
        """Whether the text contains what is sought, which is case-folded; surely so where the text is not whole."""
        if sought in self.text.casefold():
            return not self.holes or any(sought in known.casefold() for known in self._known()) or _names_marker(sought)
        return False

    def firm(self, start: int, end: int, *, left: float = 0, right: float = 0) -> bool:
        """Whether a find there stands whatever the unknown is, given how far it looks beyond its own ends."""
        if self.lacking is None:
            return True
        if self.scattered and max(left, right) > 1:
            return False
        return not any(start - left < hole_end and end + right > hole_start for hole_start, hole_end in self.holes)

    def redacted(self, kind: str) -> bool:
        """Whether a redaction marker of that kind stands in the text: something of the kind was there."""
        return kind in markers.kinds(self.text)

    def _known(self) -> Iterator[str]:
        position = 0
        for start, end in self.holes:
            yield self.text[position : int(start)]
            if math.isinf(end):
                return
            position = int(end)
        yield self.text[position:]


def reply_of(interaction: Interaction) -> TextEvidence | Inconclusive:
    """The reply as evidence; inconclusive where there is none, or where what is there need not be the reply."""
    gap = interaction.gap("reply") if interaction.gaps else None
    if interaction.reply is None:
        return _no_reply(interaction, gap)
    if gap is not None and gap.kind is GapKind.INCOMPLETE:
        return from_gap(gap, "reply")
    if gap is None and not interaction.complete:
        return evidence_of(interaction.reply, AGENT_SPAN_MISSING, cut=True)
    if gap is None:
        return evidence_of(interaction.reply)
    return of_gap(interaction.reply, gap, "reply")


def of_gap(text: str, gap: Gap, name: str) -> TextEvidence:
    """A text beside a gap: cut at its end where truncated, else with pieces missing where markers stand or anywhere."""
    found = evidence_of(text, from_gap(gap, name), cut=gap.kind is GapKind.TRUNCATED)
    if found.holes:
        return found
    return TextEvidence(text, found.lacking, scattered=True)


def evidence_of(text: str, lacking: Inconclusive | None = None, *, cut: bool = False) -> TextEvidence:
    """A text whose only holes are its redaction markers and, where it was cut, whatever follows its end."""
    holes: tuple[tuple[float, float], ...] = markers.spans(text)
    if holes and lacking is None:
        lacking = Inconclusive(reason="redacted in part", cause=Cause.REDACTED)
    if cut:
        holes = (*holes, (len(text), math.inf))
    return TextEvidence(text, lacking, holes)


def _no_reply(interaction: Interaction, gap: Gap | None) -> Inconclusive:
    if interaction.failure is not None:
        reason = f"no reply: the Interaction failed: {interaction.failure}"
        return Inconclusive(reason=reason, cause=Cause.INTERACTION_FAILED)
    if gap is not None:
        return from_gap(gap, "reply")
    if not interaction.complete:
        return AGENT_SPAN_MISSING
    return Inconclusive(reason="reply not captured", cause=Cause.NOT_CAPTURED)


def _names_marker(sought: str) -> bool:
    return bool(markers.spans(sought))
