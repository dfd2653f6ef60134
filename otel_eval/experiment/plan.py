"""What a configuration adds to an experiment: the evaluators bound to the agent, and the judges they ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from otel_eval.evaluators.contract import Evaluator
from otel_eval.interaction import Interaction

if TYPE_CHECKING:
    from otel_eval.dispatch.bindings import Bindings
    from otel_eval.judges import Judges


@dataclass(frozen=True, slots=True)
class Configured:
    """The configuration's evaluators by id, how they are bound, and its judges. Empty without a configuration."""

    evaluators: dict[str, Evaluator] = field(default_factory=dict)
    bindings: Bindings | None = None
    judges: Judges | None = None

    @classmethod
    def of(cls, config: Any) -> Configured:
        """Of a path, of a configuration that was read, or of None. Raises ConfigError for one with mistakes."""
        if config is None:
            return cls()
        from otel_eval.config import Config, load
        from otel_eval.config.build import build_evaluators, build_judges
        from otel_eval.dispatch.bindings import Bindings

        read = config if isinstance(config, Config) else load(config)
        evaluators = build_evaluators(read)
        return cls(evaluators, Bindings(read.evaluators, read.roles, evaluators), build_judges(read))

    def bound_to(self, interaction: Interaction) -> tuple[Evaluator, ...]:
        """The evaluators that are bound to this agent. Sampling is for live traffic: an experiment judges every attempt."""
        from otel_eval.dispatch.bindings import Reason

        if self.bindings is None:
            return ()
        wanted = (Reason.EVALUATED, Reason.SAMPLED_OUT)
        decisions = self.bindings.decide(interaction)
        return tuple(self.evaluators[decision.evaluator] for decision in decisions if decision.reason in wanted)

    async def aclose(self) -> None:
        """Let go of the judges' connections."""
        if self.judges is not None:
            await self.judges.aclose()
