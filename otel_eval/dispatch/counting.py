"""What the dispatcher counts. Every live evaluation once, at its first verdict; what changes later apart from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from otel_eval.instruments import Recorder
from otel_eval.interaction import Interaction
from otel_eval.ledger import Backlog, Change, Stored
from otel_eval.outcome import Errored, Evaluation, Inconclusive
from otel_eval.record import EvaluationRecord


def count_interactions(recorder: Recorder, became: Iterable[tuple[Interaction, str]]) -> None:
    """Interactions, and what became of each."""
    counts = Counter(
        (each.agent, each.service_name, each.environment, disposition, each.failed) for each, disposition in became
    )
    for (agent, service, environment, disposition, failed), count in counts.items():
        labels = _target(agent, service, environment)
        labels |= {"otel_eval.disposition": disposition, "otel_eval.failed": str(failed).lower()}
        recorder.record("otel_eval.interactions", count, labels)


def count_stored(recorder: Recorder, stored: Iterable[Stored]) -> None:
    """What a transaction that stored records changed: new verdicts, and verdicts that are another than before.

    What a record cost was spent, whether its verdict counts or not.
    """
    alike: defaultdict[tuple[str | None, ...], list[EvaluationRecord]] = defaultdict(list)
    for each in stored:
        if each.change is not Change.DUPLICATE:
            _count_cost(recorder, each.record)
        if each.change is Change.NEW:
            record = each.record
            target = (record.agent, record.service, record.environment)
            alike[(*target, record.evaluator, record.outcome.name, record.origin.value)].append(record)
        elif each.change is Change.REVISED and each.previous is not None:
            _count_revised(recorder, each.record, each.previous)
    for records in alike.values():
        _count_new(recorder, records)


def show_backlog(recorder: Recorder, backlog: Backlog, now_ns: int) -> None:
    """How much waits, and for how long."""
    recorder.record("otel_eval.backlog.evaluations", backlog.count)
    recorder.record("otel_eval.backlog.age", backlog.age_seconds(now_ns))


def show_pause(recorder: Recorder, model: str | None, paused: bool) -> None:
    """Whether a judge model is paused."""
    if model is not None:
        recorder.record("otel_eval.judge.paused", int(paused), {"gen_ai.request.model": model})


def _count_new(recorder: Recorder, alike: Sequence[EvaluationRecord]) -> None:
    """New records with the same labels: a counter takes their sum as fast as one of them."""
    one = alike[-1]
    labels = _labels(one)
    recorder.record("otel_eval.evaluations", len(alike), labels, judged=_judged(one))
    for record in alike:
        seconds = max(0, record.ended_ns - record.started_ns) / 1e9
        recorder.record("otel_eval.evaluation.duration", seconds, labels, judged=_judged(record))
        if isinstance(record.outcome, Evaluation) and record.outcome.score is not None:
            recorder.record("otel_eval.evaluation.score", record.outcome.score, labels, judged=_judged(record))
        if isinstance(record.outcome, Inconclusive | Errored):
            why = labels | {"otel_eval.reason": record.outcome.cause.value}
            recorder.record("otel_eval.evaluation.without_verdict", 1, why, judged=_judged(record))


def _count_cost(recorder: Recorder, record: EvaluationRecord) -> None:
    cost = sum(call.cost_usd or 0 for call in record.judge_calls)
    if cost > 0:
        recorder.record("otel_eval.evaluation.cost", cost, _labels(record))


def _labels(record: EvaluationRecord) -> dict[str, str]:
    return _target(record.agent, record.service, record.environment) | {
        "gen_ai.evaluation.name": record.evaluator,
        "otel_eval.outcome": record.outcome.name,
        "otel_eval.origin": record.origin.value,
    }


def _count_revised(recorder: Recorder, record: EvaluationRecord, previous: str) -> None:
    labels = _target(record.agent, record.service, record.environment) | {
        "gen_ai.evaluation.name": record.evaluator,
        "otel_eval.outcome.from": previous,
        "otel_eval.outcome.to": record.outcome.name,
    }
    recorder.record("otel_eval.evaluation.revised", 1, labels, judged=_judged(record))


def _judged(record: EvaluationRecord) -> tuple[str, str]:
    """The exemplar: from a point in a graph to the trace."""
    return (record.trace_id, record.span_id)


def _target(agent: str | None, service: str | None, environment: str | None) -> dict[str, str]:
    return {
        "gen_ai.agent.name": agent or "",
        "otel_eval.target.service": service or "",
        "otel_eval.target.environment": environment or "",
    }
