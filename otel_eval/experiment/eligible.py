"""What the records of a ledger do not show: evaluations that wait, and Interactions that an evaluator was to judge and
did not.

A pass rate is read beside its coverage, and a ledger keeps no row for what was sampled out. Bindings are a pure function of
the configuration, so they are asked again. For an evaluator that no configuration at hand binds, all that can be said is
which Interactions of the agents that it judges it has not judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from otel_eval.config import Config
from otel_eval.config.build import build_evaluator
from otel_eval.dispatch.bindings import Bindings, Reason
from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.experiment.batch import Unjudged, Why
from otel_eval.experiment.results import EvaluatorRef
from otel_eval.interaction import Interaction
from otel_eval.judges import JudgeConfigError
from otel_eval.ledger import Ledger, WaitingEvaluation
from otel_eval.record import EvaluationRecord, Origin

_PAGE = 500

WHY = {
    Reason.EVALUATED: Why.NOT_RUN,
    Reason.SAMPLED_OUT: Why.SAMPLED_OUT,
    Reason.FAILED: Why.NOT_RUN,
    Reason.INCOMPLETE: Why.NOT_RUN,
}
"""Why an evaluator that is bound to an Interaction has no record of it. For every other reason it was not to judge it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is asked about: one evaluator (by id or check) or all; whose Interactions; since when; live ones or re-runs."""

    evaluator: str | None = None
    agent: str | None = None
    service: str | None = None
    environment: str | None = None
    since_ns: int | None = None
    origin: Origin = Origin.LIVE

    def has(self, agent: str | None, service: str | None, environment: str | None) -> bool:
        """Whether what is of that agent, service and environment is meant."""
        given = ((self.agent, agent), (self.service, service), (self.environment, environment))
        return all(wanted is None or wanted == found for wanted, found in given)

    def asks(self, evaluator_id: str, check: str, *, among: Collection[str]) -> bool:
        """Whether that evaluator is meant, of those with the ids ``among``: a check only where none of them is called so."""
        return self.evaluator is None or self.evaluator == (evaluator_id if self.evaluator in among else check)


class Binders:
    """The configuration's evaluators that are meant, and which Interactions they are bound to."""

    def __init__(self, config: Config, scope: Scope) -> None:
        built: dict[str, Evaluator] = {}
        for name, entry in config.evaluators.items():
            if entry.enabled and (scope.evaluator not in config.evaluators or scope.evaluator == name):
                try:
                    built[name] = build_evaluator(config, name)
                except (EvaluatorDefinitionError, JudgeConfigError):
                    continue  # a module that is only where the server runs: its binding is known all the same
        self._refs = {
            name: EvaluatorRef(id=name, check=built[name].check if name in built else "")
            for name, entry in config.evaluators.items()
            if entry.enabled and scope.asks(name, built[name].check if name in built else "", among=config.evaluators)
        }
        self._bindings = Bindings(config.evaluators, config.roles, built)

    def __contains__(self, evaluator_id: object) -> bool:
        return evaluator_id in self._refs

    def unjudged(self, interaction: Interaction) -> Iterator[Unjudged]:
        """One for each evaluator that was to judge it, with why there is no record of it if there is none."""
        for decision in self._bindings.decide(interaction):
            ref, why = self._refs.get(decision.evaluator), WHY.get(decision.reason)
            if ref is not None and why is not None:
                yield Unjudged(interaction_id=interaction.id, evaluator=ref, why=why)


def waiting(ledger: Ledger, scope: Scope) -> list[WaitingEvaluation]:
    """The evaluations that wait, of every evaluator, and however long they have: their time is still to come."""
    found: list[WaitingEvaluation] = []
    after: tuple[int, str] | None = None
    while page := ledger.waiting(_PAGE, after=after):
        after = (page[-1].enqueued_ns, page[-1].evaluation_id)
        mine = [each for each in page if each.origin is scope.origin]
        if (scope.agent, scope.service, scope.environment) != (None, None, None):
            stored = ledger.stored_interactions({each.interaction_id for each in mine})
            meant = {name for name, one in stored.items() if _is_meant(one.interaction, scope)}
            mine = [each for each in mine if each.interaction_id in meant]
        found += mine
    return found


@dataclass(slots=True, kw_only=True)
class Found:
    """``unbound``: evaluators that the configuration does not bind, and that did not run on all that their agents
    did: nothing tells what was sampled out."""

    unjudged: list[Unjudged] = field(default_factory=list)
    unbound: tuple[str, ...] = ()


def unjudged(
    ledger: Ledger,
    scope: Scope,
    config: Config,
    records: Sequence[EvaluationRecord],
    in_queue: Sequence[WaitingEvaluation],
) -> Found:
    """What has no record among these: ``in_queue`` waits (read before the records, lest one slip through between), and
    the rest.

    Both are of every evaluator: they tell which Interactions came within the time that is asked about, whatever the agent's
    clock said when they ended. What was there before an evaluator's first record is nothing that it missed.
    """
    checks = {each.evaluator: each.check for each in in_queue} | {each.evaluator: each.check for each in records}
    refs = {
        name: EvaluatorRef(id=name, check=check)
        for name, check in checks.items()
        if scope.asks(name, check, among=checks.keys() | config.evaluators.keys())
    }
    found = Found(
        unjudged=[
            Unjudged(interaction_id=each.interaction_id, evaluator=refs[each.evaluator], why=Why.WAITING)
            for each in in_queue
            if each.evaluator in refs
        ]
    )
    if scope.origin is not Origin.LIVE:
        return found  # which Interactions are judged again is no binding's to say
    binders = Binders(config, scope)
    times = _Times(records, in_queue)
    unbound = [ref for name, ref in refs.items() if name not in binders] if scope.evaluator is not None else []
    strangers = _Strangers(unbound, times)
    queued = {(each.interaction_id, each.evaluator) for each in in_queue}
    coming = _interactions(ledger, scope, times.seen)
    while page := list(islice(coming, _PAGE)):
        standings = ledger.standings([each.id for each in page])
        for interaction in page:
            standing = standings.get(interaction.id)
            judged = set() if standing is None else {evaluator for evaluator, _ in standing.attempts}
            judged |= {name for name in refs if (interaction.id, name) in queued}
            strangers.look_at(interaction, judged)
            found.unjudged += (
                each
                for each in binders.unjudged(interaction)
                if each.evaluator.id not in judged
                and (each.why is Why.SAMPLED_OUT or times.is_missed(interaction, each.evaluator.id))
            )
    missed = tuple(strangers.unjudged())
    found.unjudged += missed
    found.unbound = tuple(dict.fromkeys(each.evaluator.id for each in missed))
    return found


def _interactions(ledger: Ledger, scope: Scope, seen: Collection[str]) -> Iterator[Interaction]:
    """Those that ended within the time, and those that were judged, or wait, within it. Each once."""
    rest = set(seen)
    for interaction in ledger.interactions(agent=scope.agent, since_ns=scope.since_ns):
        rest.discard(interaction.id)
        if _is_meant(interaction, scope):
            yield interaction
    remaining = iter(sorted(rest))
    while page := list(islice(remaining, _PAGE)):
        stored = {one.interaction.id: one.interaction for one in ledger.stored_interactions(page).values()}
        yield from (interaction for interaction in stored.values() if _is_meant(interaction, scope))


class _Times:
    """When Interactions and evaluators were first heard of."""

    def __init__(self, records: Iterable[EvaluationRecord], in_queue: Iterable[WaitingEvaluation]) -> None:
        self.seen: dict[str, int] = {}
        self._first: dict[str, int] = {}
        heard = [(each.interaction_id, each.evaluator, each.started_ns) for each in records]
        heard += [(each.interaction_id, each.evaluator, each.enqueued_ns) for each in in_queue]
        for interaction_id, evaluator, time_ns in heard:
            self.seen[interaction_id] = min(time_ns, self.seen.get(interaction_id, time_ns))
            self._first[evaluator] = min(time_ns, self._first.get(evaluator, time_ns))

    def is_missed(self, interaction: Interaction, evaluator: str) -> bool:
        """Whether the evaluator was there when the Interaction came."""
        came_ns = max(interaction.ended_ns or 0, self.seen.get(interaction.id, 0))
        return evaluator in self._first and came_ns >= self._first[evaluator]


class _Strangers:
    """Evaluators that no configuration binds: the Interactions of their agents without a record of theirs."""

    def __init__(self, refs: Sequence[EvaluatorRef], times: _Times) -> None:
        self._refs = refs
        self._times = times
        self._theirs: set[tuple[str, object]] = set()
        self._without: list[tuple[object, Unjudged]] = []

    def look_at(self, interaction: Interaction, judged: Collection[str]) -> None:
        kind = (interaction.agent, interaction.service_name, interaction.environment, interaction.parent_id is not None)
        for ref in self._refs:
            if ref.id in judged:
                self._theirs.add((ref.id, kind))
            elif self._times.is_missed(interaction, ref.id):
                missing = Unjudged(interaction_id=interaction.id, evaluator=ref, why=Why.NOT_RUN)
                self._without.append((kind, missing))

    def unjudged(self) -> Iterator[Unjudged]:
        yield from (each for kind, each in self._without if (each.evaluator.id, kind) in self._theirs)


def _is_meant(interaction: Interaction, scope: Scope) -> bool:
    return scope.has(interaction.agent, interaction.service_name, interaction.environment)
