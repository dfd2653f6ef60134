"""What a configuration adds to an experiment: the evaluators bound to the agent, and the judges they ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from otel_eval.evaluators.contract import Evaluator
from otel_eval.interaction import Interaction


@dataclass(frozen=True, slots=True)
class Configured:
    """The configuration's evaluators by id, how they are bound, and its judges. Empty without a configuration."""

    evaluators: dict[str, Evaluator] = field(default_factory=dict)
    bindings: Any = None
    judges: Any = None

    @classmethod
    def of(cls, config: Any) -> Configured:
        """Of a path, of a configuration that was read, or of None. Raises ConfigError for one with mistakes."""
        return cls()

    def bound_to(self, interaction: Interaction) -> tuple[Evaluator, ...]:
        """The evaluators that the configuration binds to this agent, sampled or not: an experiment judges every attempt."""
        return ()
