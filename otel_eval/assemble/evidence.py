"""What one Interaction is made of, before it is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from otel_eval.assemble.calls import Call
from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tool_spans import ToolSpan
from otel_eval.conventions.facts import Facts
from otel_eval.identity import interaction_id

T = TypeVar("T")
DEEPEST = 20
"""Agents within agents: two that hand over to each other for ever nest without end."""


@dataclass(slots=True, kw_only=True)
class Evidence:
    """All that one Interaction is made of.

    ``frames``: the spans that stand for the invocation, outermost first; none for a bare loop. ``steps``: other spans of
    it that may carry content. ``calls``: the model's calls of the conversation; ``inner_calls``: those that tools made.
    ``is_handoff``: whether a tool of that name only hands over to another agent. ``later``: the agents that took over, in
    order. ``within``: agents that ran inside this one's span but not in a tool of its. ``around``: what the spans above
    say, innermost first, where each of several turns is an Interaction of its own. ``alone``: no other agent ran in its trace.
    ``lacks_agent``: the agent's own span never came, a workflow's around it stands for it.
    """

    trace_id: str
    span_id: str
    frames: Sequence[Node]
    steps: Sequence[Node]
    calls: Sequence[Call]
    inner_calls: Sequence[Call]
    tools: Sequence[ToolSpan]
    nodes: Sequence[Node]
    agent: str | None
    is_handoff: Callable[[str], bool]
    later: Sequence[Evidence] = ()
    within: Sequence[Evidence] = ()
    around: Sequence[Facts] = ()
    parent_id: str | None = None
    complete: bool = True
    alone: bool = False
    lacks_agent: bool = False
    _height: int = field(init=False)

    def __post_init__(self) -> None:
        self._height = 1 + max((inner._height for inner in (*self.later, *self.within)), default=0)

    @property
    def inside(self) -> Sequence[Evidence]:
        """``within``; empty where agents are nested deeper than ``DEEPEST``, so that reading them never runs out of stack."""
        return self.within if self._height <= DEEPEST else ()

    @property
    def successors(self) -> Sequence[Evidence]:
        """``later``; empty where agents hand over more often than ``DEEPEST``."""
        return self.later if self._height <= DEEPEST else ()

    @property
    def id(self) -> str:
        """The Interaction's id."""
        return interaction_id(self.trace_id, self.span_id)

    def frame_facts(self) -> list[Facts]:
        """What the frames say, outermost first."""
        return [node.facts for node in self.frames if node.facts is not None]

    def conversation(self) -> list[Facts]:
        """What the frames say, and then the calls."""
        return [*self.frame_facts(), *(call.facts for call in self.calls)]

    def all_facts(self) -> list[Facts]:
        """What all spans say: frames, calls, then the rest in order."""
        return [*self.conversation(), *(node.facts for node in self.nodes if node.facts is not None)]

    @property
    def started_ns(self) -> int:
        """When the first of its spans started."""
        return min((node.started_ns for node in (*self.frames, *self.nodes)), default=0)

    @property
    def ended_ns(self) -> int:
        """When the last of its spans ended."""
        return max((node.ended_ns for node in (*self.frames, *self.nodes)), default=0)


def first_told(values: Iterable[T | None]) -> T | None:
    """The first that is told."""
    return next((value for value in values if value is not None), None)
