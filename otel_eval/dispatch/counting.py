"""What the dispatcher counts. Every live evaluation once, at its first verdict; what changes later apart from it."""

from __future__ import annotations

from collections.abc import Iterable

from otel_eval.instruments import Recorder
from otel_eval.interaction import Interaction
from otel_eval.ledger import Backlog, Change, Stored
from otel_eval.outcome import Errored, Evaluation, Inconclusive
from otel_eval.record import EvaluationRecord


def count_interaction(recorder: Recorder, interaction: Interaction, disposition: str) -> None:
    """One Interaction and what became of it."""
    labels = _target(interaction.agent, interaction.service_name, interaction.environment)
    labels |= {"otel_eval.disposition": disposition, "otel_eval.failed": str(interaction.failed).lower()}
    recorder.record("otel_eval.interactions", 1, labels)


def count_stored(recorder: Recorder, stored: Iterable[Stored]) -> None:
    """What storing records changed: new verdicts, and verdicts that are another than before."""
    for each in stored:
        if each.change is Change.NEW:
            _count_new(recorder, each.record)
        elif each.change is Change.REVISED and each.previous is not None:
            _count_revised(recorder, each.record, each.previous)


def show_backlog(recorder: Recorder, backlog: Backlog, now_ns: int) -> None:
    """How much waits, and for how long."""
    recorder.record("otel_eval.backlog.evaluations", backlog.count)
    recorder.record("otel_eval.backlog.age", backlog.age_seconds(now_ns))


def show_pause(recorder: Recorder, model: str | None, paused: bool) -> None:
    """Whether a judge model is paused."""
    if model is not None:
        recorder.record("otel_eval.judge.paused", int(paused), {"gen_ai.request.model": model})


def _count_new(recorder: Recorder, record: EvaluationRecord) -> None:
    labels = _target(record.agent, record.service, record.environment) | {
        "gen_ai.evaluation.name": record.evaluator,
        "otel_eval.outcome": record.outcome.name,
        "otel_eval.origin": record.origin.value,
    }
    judged = (record.trace_id, record.span_id)  # the exemplar: from a point in a graph to the trace
    recorder.record("otel_eval.evaluations", 1, labels, judged=judged)
    seconds = max(0, record.ended_ns - record.started_ns) / 1e9
    recorder.record("otel_eval.evaluation.duration", seconds, labels, judged=judged)
    if isinstance(record.outcome, Evaluation) and record.outcome.score is not None:
        recorder.record("otel_eval.evaluation.score", record.outcome.score, labels, judged=judged)
    if isinstance(record.outcome, Inconclusive | Errored):
        why = labels | {"otel_eval.reason": record.outcome.cause.value}
        recorder.record("otel_eval.evaluation.without_verdict", 1, why, judged=judged)
    cost = sum(call.cost_usd or 0 for call in record.judge_calls)
    if cost > 0:
        recorder.record("otel_eval.evaluation.cost", cost, labels)


def _count_revised(recorder: Recorder, record: EvaluationRecord, previous: str) -> None:
    labels = _target(record.agent, record.service, record.environment) | {
        "gen_ai.evaluation.name": record.evaluator,
        "otel_eval.outcome.from": previous,
        "otel_eval.outcome.to": record.outcome.name,
    }
    recorder.record("otel_eval.evaluation.revised", 1, labels, judged=(record.trace_id, record.span_id))


def _target(agent: str | None, service: str | None, environment: str | None) -> dict[str, str]:
    return {
        "gen_ai.agent.name": agent or "",
        "otel_eval.target.service": service or "",
        "otel_eval.target.environment": environment or "",
    }
