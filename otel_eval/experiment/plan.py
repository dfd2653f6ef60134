"""What a configuration adds to an experiment: the evaluators bound to the agent, and the judges they ask."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from otel_eval.evaluators.contract import Evaluator
from otel_eval.interaction import Interaction

if TYPE_CHECKING:
    from otel_eval.config import Config
    from otel_eval.dispatch.bindings import Bindings, Decision
    from otel_eval.judges import Judges


@dataclass(frozen=True, slots=True)
class Configured:
    """The configuration's evaluators by id, how they are bound, and its judges. Empty without a configuration."""

    evaluators: dict[str, Evaluator] = field(default_factory=dict)
    bindings: Bindings | None = None
    judges: Judges | None = None
    only: frozenset[str] | None = None
    evaluator_timeout: float = 60.0
    role_attributes: frozenset[str] = frozenset()
    """The attributes of agents' spans that roles are matched by: what Interactions must be put together with."""

    @classmethod
    def of(cls, config: Config | str | os.PathLike[str] | None, *, only: frozenset[str] | None = None) -> Configured:
        """Of a path, of a configuration that was read, or of None. Raises ConfigError for one with mistakes."""
        if config is None:
            return cls()
        from otel_eval.config import Config, load
        from otel_eval.config.build import build_evaluators, build_judges
        from otel_eval.dispatch.bindings import Bindings

        read = config if isinstance(config, Config) else load(config)
        evaluators = build_evaluators(read)
        return cls(
            evaluators,
            Bindings(read.evaluators, read.roles, evaluators),
            build_judges(read),
            only,
            read.dispatch.evaluator_timeout,
            read.role_attributes,
        )

    @property
    def asked(self) -> Judges:
        """The judges that evaluators ask: the configuration's, else those of the running event loop."""
        from otel_eval.judges import judges_of_this_loop  # not needed to say what an experiment is

        return judges_of_this_loop() if self.judges is None else self.judges

    def with_role(self, interaction: Interaction) -> Interaction:
        """The Interaction with the first role that its agent has, as it is recorded live."""
        roles = () if self.bindings is None else self.bindings.roles(interaction)
        return replace(interaction, role=roles[0]) if roles else interaction

    def bound_to(self, interaction: Interaction) -> tuple[Evaluator, ...]:
        """The evaluators that are bound to this agent. Sampling is for live traffic: an experiment judges every attempt."""
        if self.bindings is None:
            return ()
        return tuple(self.evaluators[name] for name in self.bindings.bound(interaction) if name in self.evaluators)

    def nothing_for(self, interaction: Interaction) -> str:
        """Why nothing was judged where neither the experiment nor the configuration had an evaluator for this agent."""
        if self.bindings is None:
            return "no evaluator was given, so nothing was judged"
        who = "an agent without a name" if interaction.agent is None else f"the agent {interaction.agent!r}"
        return f"the configuration binds no evaluator to {who}, and none was given: nothing was judged"

    def decide(self, interaction: Interaction) -> tuple[Decision, ...]:
        """What the bindings make of each evaluator, as they would live; of those in ``only`` where that is given."""
        decisions = () if self.bindings is None else self.bindings.decide(interaction)
        return tuple(each for each in decisions if self.only is None or each.evaluator in self.only)

    async def aclose(self) -> None:
        """Let go of the judges' connections."""
        if self.judges is not None:
            await self.judges.aclose()
