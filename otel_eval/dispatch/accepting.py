"""One batch of Interactions on its way into the ledger: what is new, who judges it, what is known at once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from otel_eval.clock import Clock
from otel_eval.dispatch.bindings import Bindings, Decision, Reason, disposition
from otel_eval.dispatch.execution import Execution
from otel_eval.dispatch.feedback import Feedback
from otel_eval.dispatch.judge_input import asks_the_same, nothing_to_ask
from otel_eval.dispatch.plan import Planned
from otel_eval.identity import evaluation_id
from otel_eval.interaction import Interaction
from otel_eval.judges import Judges
from otel_eval.ledger import AsyncLedger, Batch, StoredInteraction, WaitingEvaluation
from otel_eval.loop_guard import LoopGuard
from otel_eval.record import EvaluationRecord, Origin

_JUDGED = (Reason.EVALUATED, Reason.BUDGET_SPENT)
NO_ALIASES: Mapping[str, str] = {}
NO_DIGEST = ""
"""No Interaction has it."""
_YIELD_EVERY = 64
"""Interactions after which the event loop gets its turn."""


class Completed(Protocol):
    """An Interaction that is complete, with the digest of its evidence."""

    @property
    def interaction(self) -> Interaction: ...

    @property
    def digest(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An Interaction that is stored, and what becomes of it. ``waiting`` evaluations are still to come.

    ``disposition`` is the word that ``otel_eval.interactions`` counts it by.
    """

    interaction: Interaction
    revision: int
    decisions: tuple[Decision, ...]
    disposition: str
    records: tuple[EvaluationRecord, ...] = ()
    waiting: tuple[WaitingEvaluation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Coming:
    """A new revision. ``before``: the id that the last one is stored under; ``first_id``: that of the first one."""

    stored: StoredInteraction
    before: str
    first_id: str


@dataclass(slots=True)
class Intake:
    """A batch, decided: what is to be stored, and what was left out because it is ours (``own``)."""

    accepted: list[Accepted] = field(default_factory=list)
    stored: list[StoredInteraction] = field(default_factory=list)
    own: list[Interaction] = field(default_factory=list)
    stops: list[tuple[str, Interaction]] = field(default_factory=list)

    def batch(self, aliases: Mapping[str, str]) -> Batch:
        """All of it, for one transaction."""
        return Batch(
            interactions=tuple(self.stored),
            records=tuple(record for each in self.accepted for record in each.records),
            waiting=tuple(waiting for each in self.accepted for waiting in each.waiting),
            aliases=aliases,
        )


class Accepting:
    """Decides batches, and runs what needs no judge. Stores nothing itself."""

    def __init__(
        self,
        *,
        bindings: Bindings,
        planned: Mapping[str, Planned],
        execution: Execution,
        feedback: Feedback,
        guard: LoopGuard,
        ledger: AsyncLedger,
        clock: Clock,
        judges: Judges | None = None,
    ) -> None:
        self._bindings = bindings
        self._planned = planned
        self._execution = execution
        self._feedback = feedback
        self._guard = guard
        self._ledger = ledger
        self._clock = clock
        self._judges = judges

    async def take(self, completed: Sequence[Completed], aliases: Mapping[str, str] = NO_ALIASES) -> Intake:
        """Decide what is new in the batch. What the ledger has already, by its digest, is left out.

        ``aliases``: ids that were handed out before, to those that they mean now. Revisions go on under the new id.
        """
        intake = Intake()
        for count, coming in enumerate(await self._new(completed, aliases), 1):
            interaction = coming.stored.interaction
            if self._guard.owns(interaction.trace_id, interaction.system):
                intake.own.append(interaction)
            else:
                await self._take(intake, coming)
            if count % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        return intake

    async def _new(self, completed: Iterable[Completed], aliases: Mapping[str, str]) -> list[_Coming]:
        """The last of each id, with its role and revision, where its evidence is not the stored one's."""
        last = {each.interaction.id: each for each in completed}
        former: dict[str, list[str]] = {}
        for old, new in aliases.items():
            if new in last and old not in last:
                former.setdefault(new, []).append(old)
        asked = {old: NO_DIGEST for names in former.values() for old in names}
        revisions = await self._ledger.next_revisions(asked | {name: each.digest for name, each in last.items()})
        found: dict[str, tuple[StoredInteraction, str]] = {}
        for name, each in last.items():
            revision, is_new = revisions[name]
            if not is_new:
                continue
            before = max((name, *former.get(name, ())), key=lambda known: revisions[known][0])
            roles = self._bindings.roles(each.interaction)
            interaction = replace(each.interaction, role=roles[0]) if roles else each.interaction
            revision = max(revision, revisions[before][0])
            found[name] = StoredInteraction(interaction=interaction, revision=revision, digest=each.digest), before
        revised = [name for name, (stored, _) in found.items() if stored.revision > 1]
        earlier = await self._ledger.aliases_of(revised) if revised else {}
        return [
            _Coming(
                stored=stored,
                before=before,
                first_id=min((*earlier.get(name, ()), *former.get(name, ())), default=name),
            )
            for name, (stored, before) in found.items()
        ]

    async def _take(self, intake: Intake, coming: _Coming) -> None:
        stored, interaction = coming.stored, coming.stored.interaction
        decisions = self._without_loops(intake, interaction, self._bindings.decide(interaction, coming.first_id))
        standing = await self._standing(coming, decisions)
        decisions = await self._with_budgets(decisions, standing)
        records, queued = [], []
        for decision in decisions:
            planned = self._planned.get(decision.evaluator)
            if decision.reason not in _JUDGED or planned is None or decision.evaluator in standing:
                continue
            waiting = self._waiting(decision.evaluator, planned, stored)
            if planned.inline:
                records.append(await self._execution.inline(planned.evaluator, interaction, waiting))
            elif (nothing := nothing_to_ask(planned.evaluator, interaction)) is not None:
                records.append(self._execution.record(planned.evaluator, interaction, waiting, nothing))
            else:
                queued.append(waiting)
        intake.stored.append(stored)
        intake.accepted.append(
            Accepted(
                interaction=interaction,
                revision=stored.revision,
                decisions=decisions,
                disposition=disposition(decisions),
                records=tuple(records),
                waiting=tuple(queued),
            )
        )

    def _without_loops(
        self, intake: Intake, interaction: Interaction, decisions: tuple[Decision, ...]
    ) -> tuple[Decision, ...]:
        """The decisions, with bindings stopped whose traffic turned out to be our own judge calls."""
        judging = [each.evaluator for each in decisions if self._asks_judge(each)]
        intake.stops += [(evaluator, interaction) for evaluator in self._feedback.arrived(judging, interaction)]
        return tuple(
            replace(each, reason=Reason.STOPPED)
            if each.evaluator in judging and self._feedback.stopped(each.evaluator, interaction.agent)
            else each
            for each in decisions
        )

    async def _with_budgets(self, decisions: tuple[Decision, ...], standing: Collection[str]) -> tuple[Decision, ...]:
        """The decisions, told apart where a budget of today is spent: those evaluations end without a verdict."""
        if self._judges is None:
            return decisions
        asked = {
            model
            for each in decisions
            if self._asks_judge(each)
            and each.evaluator not in standing
            and (model := self._planned[each.evaluator].judge_model) is not None
        }
        spent = {model for model in asked if await self._judges.budget_spent(model)}
        if not spent:
            return decisions
        return tuple(
            replace(each, reason=Reason.BUDGET_SPENT)
            if self._asks_judge(each)
            and each.evaluator not in standing
            and self._planned[each.evaluator].judge_model in spent
            else each
            for each in decisions
        )

    def _asks_judge(self, decision: Decision) -> bool:
        planned = self._planned.get(decision.evaluator)
        return decision.reason is Reason.EVALUATED and planned is not None and not planned.inline

    async def _standing(self, coming: _Coming, decisions: Iterable[Decision]) -> frozenset[str]:
        """The evaluators whose verdict on an earlier revision holds, since they would be asked the same."""
        judging = [
            each.evaluator
            for each in decisions
            if self._asks_judge(each) and self._planned[each.evaluator].reads_evidence_alone
        ]
        if coming.stored.revision == 1 or not judging:
            return frozenset()
        before, now = await self._ledger.interaction(coming.before), coming.stored.interaction
        judging = [name for name in judging if asks_the_same(self._planned[name].evaluator, before, now)]
        if not judging:
            return frozenset()
        waiting = {each.evaluator for each in await self._ledger.waiting(interaction_id=before.id)}
        ended = {
            record.evaluator
            for record in await self._ledger.evaluations(coming.before)
            if record.origin is Origin.LIVE
            and record.evaluator in judging
            and record.evaluator_version == self._planned[record.evaluator].version
        }
        return frozenset(ended - waiting)

    def _waiting(self, name: str, planned: Planned, stored: StoredInteraction) -> WaitingEvaluation:
        version = planned.version
        return WaitingEvaluation(
            evaluation_id=evaluation_id(
                interaction_id=stored.interaction.id,
                evaluator=name,
                evaluator_version=version,
                revision=stored.revision,
            ),
            interaction_id=stored.interaction.id,
            evaluator=name,
            evaluator_version=version,
            check=planned.evaluator.check,
            revision=stored.revision,
            enqueued_ns=self._clock.now_ns(),
        )
