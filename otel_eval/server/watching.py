"""Who is told what a server does, beside the telemetry that it sends: a terminal, or a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_eval.dispatch import Accepted
from otel_eval.ledger.model import Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Whom to tell what happens, on the event loop: must not block or raise."""

    accepted: Callable[[Sequence[Accepted]], None] | None = None
    stored: Callable[[tuple[Stored, ...]], None] | None = None
