"""otel-eval's own metrics, declared as data: the docs and the dashboards are checked against this table.

Source: docs/metrics.md is generated from it. Label values are bounded (``emit/`` sees to it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from otel_eval.outcome import Cause

Values: TypeAlias = "tuple[str, tuple[str, ...]]"
"""A label, and values of it."""

EVALUATION_LABELS = (
    "gen_ai.evaluation.name",
    "gen_ai.agent.name",
    "otel_eval.outcome",
    "otel_eval.origin",
    "otel_eval.target.service",
    "otel_eval.target.environment",
)
TARGET_LABELS = ("gen_ai.agent.name", "otel_eval.target.service", "otel_eval.target.environment")
TRANSPORT: Values = ("otel_eval.transport", ("grpc", "http"))
SIGNAL: Values = ("otel_eval.signal", ("traces", "logs", "metrics"))
REJECTED: Values = ("otel_eval.reason", ("partial_success", "refused", "unknown_signal"))
REFUSALS = (
    "malformed", "wrong_signal", "too_large", "unsupported", "unauthenticated", "journal_full", "overloaded", "storage",
)  # fmt: skip
API_STATUSES = (
    "OK", "CANCELLED", "INVALID_ARGUMENT", "NOT_FOUND", "UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION",
    "RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL", "UNKNOWN",
)  # fmt: skip
DISPOSITIONS = ("evaluated", "budget", "sampled out", "failed", "incomplete", "dropped", "not bound")
OF_OTHERS = (
    "gen_ai.agent.name",
    "gen_ai.evaluation.name",
    "gen_ai.request.model",
    "otel_eval.target.service",
    "otel_eval.target.environment",
)
"""The labels whose values others choose, and that need a bound."""
WATCHED = (
    *(
        ("inconclusive", cause)
        for cause in (
            Cause.NOT_CAPTURED,
            Cause.REDACTED,
            Cause.JUDGE_ANSWER_UNUSABLE,
            Cause.JUDGE_ERROR,
            Cause.JUDGE_TIMEOUT,
            Cause.JUDGE_UNAVAILABLE,
            Cause.BUDGET_SPENT,
        )
    ),
    ("error", Cause.UNKNOWN_LABEL),
    ("error", Cause.EVALUATOR_ERROR),
)
"""The reasons for no verdict that alerts watch, each with its outcome: not all there are, which would double the series."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """One instrument. ``kind`` is ``counter``, ``histogram`` or ``gauge``.

    Prometheus cannot see the increase of a series that is born with 1: the first event would be missing. So counters are
    exported as 0 before they count, as far as their series are known: ``known`` are labels with all their values, each
    combination of which is there from the start (empty: a counter without labels; None: nothing is known before the first
    measurement). ``born_with`` is a label and its values: the first measurement for any of them exports 0 for the others
    too. ``born_beside`` names a counter with ``born_with`` and sets of labels, which are exported as 0 when that one's are.
    """

    name: str
    kind: str
    unit: str
    description: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    known: tuple[Values, ...] | None = None
    born_with: Values | None = None
    born_beside: tuple[str, tuple[Mapping[str, str], ...]] | None = None


class Recorder(Protocol):
    """Where the pipeline's stages count. Amounts of a gauge are its new value."""

    def record(
        self,
        name: str,
        amount: float = 1,
        labels: Mapping[str, str] | None = None,
        *,
        judged: tuple[str, str] | None = None,
    ) -> None:
        """Add to a counter, observe in a histogram, set a gauge. Raises KeyError for a name that is not declared.

        ``judged``: trace and span id (hex) of the span that the measurement is about, for an exemplar.
        """
        ...


class NullRecorder:
    """Counts nothing; checks the names all the same."""

    def record(
        self,
        name: str,
        amount: float = 1,
        labels: Mapping[str, str] | None = None,
        *,
        judged: tuple[str, str] | None = None,
    ) -> None:
        BY_NAME[name]


INSTRUMENTS: tuple[Instrument, ...] = (
    Instrument(
        name="otel_eval.evaluations",
        kind="counter",
        unit="{evaluation}",
        description="Evaluations that ended, each counted once, at its first verdict.",
        labels=EVALUATION_LABELS,
        born_with=("otel_eval.outcome", ("passed", "failed", "inconclusive", "error")),
    ),
    Instrument(
        name="otel_eval.evaluation.score",
        kind="histogram",
        unit="",
        description="Scores that evaluations gave, from 0 to 1.",
        labels=EVALUATION_LABELS,
        buckets=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    ),
    Instrument(
        name="otel_eval.evaluation.duration",
        kind="histogram",
        unit="s",
        description="How long an evaluation took, waiting for its turn not included.",
        labels=EVALUATION_LABELS,
        buckets=SECONDS,
    ),
    Instrument(
        name="otel_eval.evaluation.revised",
        kind="counter",
        unit="{evaluation}",
        description="Evaluations whose outcome changed because late telemetry changed the Interaction.",
        labels=("gen_ai.evaluation.name", *TARGET_LABELS, "otel_eval.outcome.from", "otel_eval.outcome.to"),
    ),
    Instrument(
        name="otel_eval.evaluation.without_verdict",
        kind="counter",
        unit="{evaluation}",
        description="Evaluations that ended inconclusive or in error, each counted once, by why.",
        labels=(*EVALUATION_LABELS, "otel_eval.reason"),
        born_beside=(
            "otel_eval.evaluations",
            tuple({"otel_eval.outcome": outcome, "otel_eval.reason": cause.value} for outcome, cause in WATCHED),
        ),
    ),
    Instrument(
        name="otel_eval.evaluation.cost",
        kind="counter",
        unit="{USD}",
        description="What the judge calls of evaluations cost, in US dollars, where a price is known.",
        labels=EVALUATION_LABELS,
    ),
    Instrument(
        name="otel_eval.interactions",
        kind="counter",
        unit="{interaction}",
        description="Interactions put together, each counted once, by what became of its first revision.",
        labels=(*TARGET_LABELS, "otel_eval.disposition", "otel_eval.failed"),
        born_with=("otel_eval.disposition", DISPOSITIONS),
    ),
    Instrument(
        name="otel_eval.judge.tokens",
        kind="counter",
        unit="{token}",
        description="Tokens that judges used.",
        labels=("gen_ai.request.model", "gen_ai.token.type"),
        born_with=("gen_ai.token.type", ("input", "output")),
    ),
    Instrument(
        name="otel_eval.judge.cost",
        kind="counter",
        unit="{USD}",
        description="What judges cost, in US dollars, where a price is known.",
        labels=("gen_ai.request.model",),
    ),
    Instrument(
        name="otel_eval.judge.paused",
        kind="gauge",
        unit="",
        description="1 while a judge model is paused because its provider is down, else 0.",
        labels=("gen_ai.request.model",),
    ),
    Instrument(
        name="otel_eval.backlog.evaluations",
        kind="gauge",
        unit="{evaluation}",
        description="Evaluations that wait for their turn.",
    ),
    Instrument(
        name="otel_eval.backlog.age",
        kind="gauge",
        unit="s",
        description="Age of the oldest evaluation that waits; 0 with none.",
    ),
    Instrument(
        name="otel_eval.spans.received",
        kind="counter",
        unit="{span}",
        description="Spans acknowledged.",
        labels=("otel_eval.transport",),
        known=(TRANSPORT,),
    ),
    Instrument(
        name="otel_eval.spans.dropped",
        kind="counter",
        unit="{span}",
        description="Spans refused or left out, by reason.",
        labels=("otel_eval.reason",),
        known=(("otel_eval.reason", ("trace_id", "span_id", "malformed", "unreadable", "own", "late")),),
    ),
    Instrument(
        name="otel_eval.logs.received",
        kind="counter",
        unit="{record}",
        description="Log records acknowledged.",
        labels=("otel_eval.transport",),
        known=(TRANSPORT,),
    ),
    Instrument(
        name="otel_eval.logs.dropped",
        kind="counter",
        unit="{record}",
        description="Log records refused or left out, by reason.",
        labels=("otel_eval.reason",),
        known=(("otel_eval.reason", ("trace_id", "span_id", "no_trace", "malformed", "unreadable")),),
    ),
    Instrument(
        name="otel_eval.requests.refused",
        kind="counter",
        unit="{request}",
        description="OTLP requests refused whole, by reason.",
        labels=("otel_eval.transport", "otel_eval.reason"),
        known=(TRANSPORT, ("otel_eval.reason", REFUSALS)),
    ),
    Instrument(
        name="otel_eval.requests.quarantined",
        kind="counter",
        unit="{request}",
        description="Acknowledged OTLP requests that could not be decoded and were put aside.",
        known=(),
    ),
    Instrument(
        name="otel_eval.api.calls",
        kind="counter",
        unit="{call}",
        description="Calls of the API, by how they ended; one that follows the ledger is counted when it does.",
        labels=("rpc.method", "rpc.response.status_code"),
        born_with=("rpc.response.status_code", API_STATUSES),
    ),
    Instrument(
        name="otel_eval.journal.bytes",
        kind="gauge",
        unit="By",
        description="Acknowledged telemetry that is not yet put together.",
    ),
    Instrument(
        name="otel_eval.judging.restarts",
        kind="counter",
        unit="{restart}",
        description="Times that the judging process was started again because it had died, since the server was started.",
        known=(),
    ),
    Instrument(
        name="otel_eval.outbox.evaluations",
        kind="gauge",
        unit="{evaluation}",
        description="Verdicts stored but not yet exported.",
    ),
    Instrument(
        name="otel_eval.export.failures",
        kind="counter",
        unit="{request}",
        description="Exports of verdicts that the endpoint did not take and that are tried again.",
        labels=("otel_eval.signal",),
        known=(SIGNAL,),
    ),
    Instrument(
        name="otel_eval.export.rejected",
        kind="counter",
        unit="{item}",
        description="Spans and events of ours that the endpoint refused for good, or that could not be made; the ledger keeps their records.",
        labels=("otel_eval.signal", "otel_eval.reason"),
        known=(SIGNAL, REJECTED),
    ),
    Instrument(
        name="otel_eval.forward.failures",
        kind="counter",
        unit="{request}",
        description="Tries to forward telemetry that the next endpoint did not take and that are tried again.",
        labels=("otel_eval.signal",),
        known=(SIGNAL,),
    ),
    Instrument(
        name="otel_eval.forward.rejected",
        kind="counter",
        unit="{item}",
        description="Forwarded telemetry that the next endpoint refused for good.",
        labels=("otel_eval.signal", "otel_eval.reason"),
        known=(SIGNAL, REJECTED),
    ),
    Instrument(
        name="otel_eval.retention.deleted",
        kind="counter",
        unit="{item}",
        description="What was deleted because it was older than storage.retention.",
        labels=("otel_eval.item",),
        known=(("otel_eval.item", ("interaction", "evaluation", "quarantined request")),),
    ),
    Instrument(
        name="otel_eval.labels.overflowed",
        kind="counter",
        unit="{measurement}",
        description="Measurements whose label value was replaced by 'other' because its bound was reached.",
        labels=("otel_eval.label",),
        known=(("otel_eval.label", OF_OTHERS),),
    ),
)

BY_NAME = {instrument.name: instrument for instrument in INSTRUMENTS}
