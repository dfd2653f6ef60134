"""What must hold after a run. Each proof returns its findings, one sentence each; none is a proof."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator

from otel_eval.outcome import Cause, Evaluation, Inconclusive
from otel_eval.record import EvaluationRecord
from tests.judges_run.run import USD_PER_MILLION_IN, USD_PER_MILLION_OUT, Run, key_of
from tests.judges_run.script import CRITERION, INPUT_TOKENS, LABEL, Did


def findings(run: Run) -> list[str]:
    """Everything that does not hold."""
    proofs = (_one_record_each, _no_invented_verdict, _true_causes, _nothing_asked_twice, _bill, _events, _clean_exits)
    return [finding for proof in proofs for finding in proof(run)]


def figures(run: Run) -> dict[str, object]:
    """What happened, for people."""
    outcomes = Counter(_outcome(record) for record in run.records)
    did = Counter(each.kind.name for each in _all(run))
    return {
        "interactions": len(run.numbers),
        "records": len(run.records),
        "outcomes": dict(outcomes.most_common()),
        "model did": dict(did.most_common()),
        "requests": sum(did.values()),
        "billed calls": run.billed.calls,
        "booked calls": run.booked_tokens and _booked(run)[0],
        "in flight at the stops": run.in_flight_at_stops,
        "billed tokens": run.billed.input_tokens + run.billed.output_tokens,
        "booked tokens": run.booked_tokens,
        "seconds": round(run.seconds, 1),
    }


def _one_record_each(run: Run) -> Iterator[str]:
    """Every Interaction has exactly one record for each binding, the first of its kind, and nothing waits."""
    found = Counter((record.interaction_id, record.evaluator) for record in run.records)
    wanted = {(name, evaluator) for name in run.numbers for evaluator in (CRITERION, LABEL)}
    yield from (f"{key} has no record" for key in sorted(wanted - set(found)))
    yield from (f"{key} was never sent" for key in sorted(set(found) - wanted))
    yield from (f"{key} has {count} records" for key, count in found.items() if count > 1)
    for record in run.records:
        if (record.revision, record.attempt) != (1, 0):
            yield f"{record.id} is revision {record.revision}, attempt {record.attempt}"
    if run.waiting:
        yield f"{run.waiting} evaluations wait still"


def _no_invented_verdict(run: Run) -> Iterator[str]:
    """A stored score, label and reason is what the model gave for that very Interaction; pass and fail follow from it."""
    for record in run.records:
        outcome = record.outcome
        if not isinstance(outcome, Evaluation):
            continue
        last = record.judge_calls[-1]
        given = next((did for did in _did(run, record) if did.said == last.answer and did.kind.name == "verdict"), None)
        if given is None:
            yield f"{record.id}: the model never answered {last.answer!r} about it"
            continue
        said = outcome.score if record.evaluator == CRITERION else outcome.label
        if said != given.value:
            yield f"{record.id}: the model said {given.value!r}, the record {said!r}"
        passed = given.value == "non-toxic" if record.evaluator == LABEL else float(given.value or 0.0) >= 0.5
        if passed != (outcome.name == "passed"):
            yield f"{record.id}: {given.value!r} is recorded as {outcome.name}"
        if _reason(given) not in outcome.explanation:
            yield f"{record.id}: {outcome.explanation!r} is not what the model gave as its reason"
        if record.evaluator == LABEL and outcome.score is not None:
            yield f"{record.id}: a label judge's record has a score"


def _true_causes(run: Run) -> Iterator[str]:
    """A non-verdict says what the model did last about that Interaction, and where it gave a verdict last, that is stored."""
    for record in run.records:
        last = _did(run, record)[-1]
        if isinstance(record.outcome, Evaluation):
            if run.kills == 0 and last.said != record.judge_calls[-1].answer:
                yield f"{record.id}: the model was asked again after its verdict"
            continue
        cause = record.outcome.cause
        wanted = last.kind.cause
        if last.kind.name == "out of range" and record.evaluator == LABEL:
            wanted = Cause.UNKNOWN_LABEL
        if cause is not wanted:
            yield f"{record.id}: the model's last was {last.kind.name!r}, the record says {cause}: {record.describe()}"
        if isinstance(record.outcome, Inconclusive) == (cause is Cause.UNKNOWN_LABEL):
            yield f"{record.id}: {cause} is {record.outcome.name}"


def _nothing_asked_twice(run: Run) -> Iterator[str]:
    """What was answered is not asked about again, but for calls that were in flight when the server stopped."""
    again = 0
    for (number, evaluator), calls in run.script.did.items():
        ended = [did for did in calls if did.billed and did.kind.name != "cut"]
        again += max(0, len(ended) - 1)
        if len(ended) > 1 + len(run.plan.stops):
            yield f"{evaluator} of Interaction {number} was answered {len(ended)} times"
    if again > len(run.plan.stops) * run.plan.concurrency:
        yield f"{again} evaluations were asked for again, more than were in flight at the stops"


def _bill(run: Run) -> Iterator[str]:
    """What is booked in the ledger is what was billed, to the token and the cent.

    A call is booked when its answer arrives and before its verdict is stored; where the process is killed, the bill of those
    in flight is lost with it: at most as many as the model's concurrency allows, for each kill. A clean stop loses none.
    """
    billed = [did for did in _all(run) if did.billed]
    if (len(billed), sum(did.output_tokens for did in billed)) != (run.billed.calls, run.billed.output_tokens):
        yield "the script and the model do not agree on what was billed"
    calls, output = _booked(run)
    lost = run.billed.calls - calls
    if not 0 <= lost <= run.kills * run.plan.concurrency:
        yield f"{calls:g} calls are booked, {run.billed.calls} were billed, with {run.kills} kills"
    if lost == 0 and output != run.billed.output_tokens:
        yield f"{output} output tokens are booked, {run.billed.output_tokens} were billed"
    booked = {did.said: did.output_tokens for did in billed}
    recorded = [call for record in run.records for call in record.judge_calls if call.error is None]
    for call in recorded:
        if call.output_tokens != booked.get(call.answer) or call.input_tokens != INPUT_TOKENS:
            yield f"{call.conversation_id}: the record says {call.output_tokens} tokens for {call.answer!r}"
        price = (INPUT_TOKENS * USD_PER_MILLION_IN + (call.output_tokens or 0) * USD_PER_MILLION_OUT) / 1e6
        if call.cost_usd is None or not math.isclose(call.cost_usd, price):
            yield f"{call.conversation_id}: the record says {call.cost_usd} USD, it was {price}"
    if len(recorded) > calls:
        yield f"{len(recorded)} calls are on records, and only {calls:g} are booked"


def _events(run: Run) -> Iterator[str]:
    """Each record was told to the collector at least once, with its own outcome and score."""
    told: dict[tuple[object, object], tuple[object, object]] = {}
    for event in run.events:
        said = (event.attributes["otel_eval.outcome"], event.attributes.get("gen_ai.evaluation.score.value"))
        if told.setdefault(key_of(event), said) != said:
            yield f"{key_of(event)} was told as {told[key_of(event)]} and as {said}"
    for record in run.records:
        score = record.outcome.score if isinstance(record.outcome, Evaluation) else None
        if told.get((record.interaction_id, record.evaluator)) != (record.outcome.name, score):
            yield f"{record.id} was told as {told.get((record.interaction_id, record.evaluator))}"


def _clean_exits(run: Run) -> Iterator[str]:
    """SIGTERM ends with 0."""
    yield from (f"the server ended with {status} on SIGTERM" for status in run.exits if status != 0)


def _booked(run: Run) -> tuple[float, int]:
    """Calls and output tokens in the ledger's budget, from its sums of tokens and of dollars."""
    micro = round(run.booked_usd * 1e6)
    output = round((micro - run.booked_tokens * USD_PER_MILLION_IN) / (USD_PER_MILLION_OUT - USD_PER_MILLION_IN))
    return (run.booked_tokens - output) / INPUT_TOKENS, output


def _did(run: Run, record: EvaluationRecord) -> list[Did]:
    return run.script.did[run.numbers[record.interaction_id], record.evaluator]


def _all(run: Run) -> Iterator[Did]:
    return (each for calls in run.script.did.values() for each in calls)


def _reason(given: Did) -> str:
    found = json.loads((given.said or "").removeprefix("```json").removesuffix("```"))
    return str(found.get("reason") or found["explanation"])


def _outcome(record: EvaluationRecord) -> str:
    outcome = record.outcome
    return outcome.name if isinstance(outcome, Evaluation) else f"{outcome.name}: {outcome.cause.value}"
