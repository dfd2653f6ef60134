"""Which evaluators judge an Interaction, and why the others do not: a pure function of the configuration.

The most specific entry of an evaluator decides, and entries are not merged: the agent's exact name, a glob (the one that
spells out most; then the file's order), a role in the file's order, the role ``*`` (any role), the agent ``*``. An entry
whose ``service`` or ``environment`` does not match is not there for that Interaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from otel_eval.config.bindings import Binding, EvaluatorEntry, Role
from otel_eval.dispatch.globs import Globs, is_glob, literal_length
from otel_eval.dispatch.roles import Roles
from otel_eval.evaluators.contract import Evaluator
from otel_eval.identity import sampling_fraction
from otel_eval.interaction import Interaction


class Reason(StrEnum):
    """What becomes of one evaluator on one Interaction."""

    EVALUATED = "evaluated"
    NOT_BOUND = "not bound"
    DISABLED = "disabled"
    NESTED = "nested"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    SAMPLED_OUT = "sampled out"
    BUDGET_SPENT = "budget spent"
    """The judge's model may cost no more today: the evaluation is made, and ends inconclusive. The dispatcher says so, which
    knows budgets; bindings do not."""
    STOPPED = "stopped"
    """The agent's traffic turned out to be our own judge's calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An evaluator, what becomes of it, and which entry of its configuration said so (None: no entry matches)."""

    evaluator: str
    reason: Reason
    entry: str | None = None


_DISPOSITIONS = {
    Reason.EVALUATED: "evaluated",
    Reason.BUDGET_SPENT: "budget",
    Reason.SAMPLED_OUT: "sampled out",
    Reason.FAILED: "failed",
    Reason.INCOMPLETE: "incomplete",
    Reason.STOPPED: "dropped",
}
"""From the nearest to being judged to the farthest; every other reason is ``not bound``."""


def disposition(decisions: Iterable[Decision]) -> str:
    """One word for the whole Interaction, of the bounded set behind ``otel_eval.disposition``.

    The reason nearest to being judged wins; an Interaction that no entry reaches, that only switched-off entries reach,
    or that is nested below what the entries name, is ``not bound``.
    """
    reasons = {decision.reason for decision in decisions}
    return next((word for reason, word in _DISPOSITIONS.items() if reason in reasons), "not bound")


class Bindings:
    """The bindings of a configuration, ready to decide.

    ``evaluators`` are the built ones by id: they declare whether a failed Interaction is theirs to judge.
    """

    def __init__(
        self,
        entries: Mapping[str, EvaluatorEntry],
        roles: Mapping[str, Role],
        evaluators: Mapping[str, Evaluator],
    ) -> None:
        self._roles = Roles(roles)
        self._bound = [
            _Bound(name, entry, evaluators[name].trigger_on_failure if name in evaluators else False)
            for name, entry in entries.items()
        ]

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """Every (evaluator, entry) that is switched on, as :class:`Decision` names them."""
        return tuple((bound.name, entry.label) for bound in self._bound if bound.enabled for entry in bound.entries)

    @property
    def unreachable(self) -> tuple[str, ...]:
        """The evaluators that are switched on and bound to nothing: they only serve experiments."""
        return tuple(bound.name for bound in self._bound if bound.enabled and not bound.entries)

    def roles(self, interaction: Interaction) -> tuple[str, ...]:
        """The roles of its agent, in the file's order."""
        return self._roles.of(interaction)

    def decide(self, interaction: Interaction, first_id: str | None = None) -> tuple[Decision, ...]:
        """What becomes of each evaluator of the configuration, in the file's order.

        ``first_id``: the id that it was handed out under first, where later spans changed it: what was sampled in stays in.
        """
        roles = self._roles.of(interaction)
        return tuple(bound.decide(interaction, roles, first_id or interaction.id) for bound in self._bound)

    def entry(self, evaluator: str, interaction: Interaction) -> str | None:
        """The entry that binds that evaluator to the Interaction's agent, as :class:`Decision` names it."""
        roles = self._roles.of(interaction)
        return next((bound.entry(interaction, roles) for bound in self._bound if bound.name == evaluator), None)

    def bound(self, interaction: Interaction) -> tuple[str, ...]:
        """The evaluators that are bound to its agent at all: sampled or not, failed, nested or not. For experiments."""
        roles = self._roles.of(interaction)
        return tuple(bound.name for bound in self._bound if bound.reaches(interaction, roles))


class _Entry:
    """One entry: its settings, compiled."""

    def __init__(self, section: str, key: str, binding: Binding) -> None:
        self.label = f"{section}.{key}"
        self.binding = binding
        self.names_agents = section == "agents" and key != "*"
        self._by_role = section == "agent_roles"
        self._key = key
        self._names = Globs((key,))
        self._service = None if binding.service is None else Globs(binding.service)
        self._environment = None if binding.environment is None else Globs(binding.environment)

    def match(self, interaction: Interaction, roles: tuple[str, ...]) -> bool:
        if self._by_role:
            reached = bool(roles) if self._key == "*" else self._key in roles
        else:
            reached = self._key == "*" or self._names.match(interaction.agent)
        return (
            reached
            and (self._service is None or self._service.match(interaction.service_name))
            and (self._environment is None or self._environment.match(interaction.environment))
        )


def _by_specificity(entry: EvaluatorEntry) -> list[_Entry]:
    """The entries of an evaluator, the most specific first. Sorting is stable: ties stay in the file's order."""
    named = [key for key in entry.agents if not is_glob(key)]
    globs = sorted((key for key in entry.agents if is_glob(key) and key != "*"), key=literal_length, reverse=True)
    agents = [_Entry("agents", key, entry.agents[key]) for key in (*named, *globs)]
    roles = sorted(entry.agent_roles, key=lambda key: key == "*")
    anyone = [_Entry("agents", "*", entry.agents["*"])] if "*" in entry.agents else []
    return [*agents, *(_Entry("agent_roles", key, entry.agent_roles[key]) for key in roles), *anyone]


class _Bound:
    """One evaluator with its entries."""

    def __init__(self, name: str, entry: EvaluatorEntry, trigger_on_failure: bool) -> None:
        self.name = name
        self.enabled = entry.enabled
        self.entries = _by_specificity(entry)
        self._trigger_on_failure = trigger_on_failure

    def decide(self, interaction: Interaction, roles: tuple[str, ...], id: str) -> Decision:
        if not self.enabled:
            return Decision(evaluator=self.name, reason=Reason.DISABLED)
        entry = self._entry(interaction, roles)
        if entry is None:
            return Decision(evaluator=self.name, reason=Reason.NOT_BOUND)
        return Decision(evaluator=self.name, reason=self._reason(entry, interaction, id), entry=entry.label)

    def entry(self, interaction: Interaction, roles: tuple[str, ...]) -> str | None:
        entry = self._entry(interaction, roles)
        return None if entry is None else entry.label

    def reaches(self, interaction: Interaction, roles: tuple[str, ...]) -> bool:
        entry = self._entry(interaction, roles)
        return self.enabled and entry is not None and entry.binding.enabled

    def _entry(self, interaction: Interaction, roles: tuple[str, ...]) -> _Entry | None:
        return next((entry for entry in self.entries if entry.match(interaction, roles)), None)

    def _reason(self, entry: _Entry, interaction: Interaction, id: str) -> Reason:
        binding = entry.binding
        on_failure = binding.trigger_on_failure
        if not binding.enabled:
            return Reason.DISABLED
        if interaction.parent_id is not None and not (entry.names_agents or binding.nested):
            return Reason.NESTED
        if not interaction.complete and not binding.trigger_on_incomplete:
            return Reason.INCOMPLETE
        if interaction.failed and not (self._trigger_on_failure if on_failure is None else on_failure):
            return Reason.FAILED
        return Reason.EVALUATED if _sampled_in(self.name, binding, interaction, id) else Reason.SAMPLED_OUT


def _sampled_in(evaluator: str, binding: Binding, interaction: Interaction, id: str) -> bool:
    """The same answer on every replica. An Interaction without a session is sampled by its own id."""
    keys = {"interaction": id, "trace": interaction.trace_id, "session": interaction.session}
    key = keys[binding.sample_by] or id
    if binding.sampling_ratio == 1:  # the fraction nearest to 1 is 1 as a float
        return True
    return sampling_fraction(binding.sampling_group or evaluator, key) < binding.sampling_ratio
