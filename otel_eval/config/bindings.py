"""The sections of the file about evaluators: what each checks, and which agents it is bound to."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from otel_eval.config.numbers import Ratio, Votes
from otel_eval.config.values import Flag, Section, SomeTexts, Text, Texts, refuse

KINDS = ("check", "builtin", "judge", "label_judge", "use")
BUILTINS = ("toxicity", "summarization", "hallucination")
REQUIRABLE = Literal[
    "asked", "reply", "tool_calls", "tool_arguments", "tool_results", "system", "history", "session", "usage"
]


class Binding(Section):
    """How one evaluator judges the agents that an entry names."""

    enabled: Flag = True
    """`false` switches this entry off; less specific entries do not take over."""
    trigger: Literal["interaction"] = "interaction"
    """What starts an evaluation."""
    sampling_ratio: Ratio = 1.0
    """The part of the Interactions that is judged, from 0 to 1."""
    sample_by: Literal["interaction", "trace", "session"] = "interaction"
    """What is in or out together."""
    sampling_group: Text | None = None
    """Evaluators that share a group sample the same Interactions; else each evaluator samples for itself."""
    trigger_on_failure: Flag | None = None
    """Whether failed Interactions are judged; else what the evaluator declares."""
    trigger_on_incomplete: Flag = False
    """Whether Interactions are judged whose agent span never came, or has not ended."""
    nested: Flag = False
    """Whether `*` and roles reach the Interactions of sub-agents; entries that name agents always do."""
    service: SomeTexts | None = None
    """Only Interactions of these services (`service.name`, globs allowed)."""
    environment: SomeTexts | None = None
    """Only Interactions of these environments (`deployment.environment.name`, globs allowed)."""


def _entries(value: Any) -> Any:
    """A list of names is a mapping of them to the defaults; an entry without a value is the defaults."""
    if isinstance(value, list):
        for name in value:
            if not isinstance(name, str) or not name.strip():
                raise refuse("a list of names, or a mapping of names to settings")
        return {name: {} for name in value}
    if isinstance(value, dict):
        return {name: {} if entry is None else entry for name, entry in value.items()}
    raise refuse("a list of names, or a mapping of names to settings")


Entries = Annotated[
    dict[str, Binding],
    BeforeValidator(_entries, json_schema_input_type=list[str] | dict[str, Binding | None]),
]


class JudgeSpec(Section):
    """A criterion for a judge."""

    criterion: Text
    """One sentence that the reply must meet."""
    threshold: Ratio = 0.5
    """The score from which it passes."""
    requires: tuple[REQUIRABLE, ...] = ()
    """Fields without which there is nothing to judge: a gap in one makes it inconclusive."""
    include: tuple[Literal["system", "history"], ...] = ()
    """Further sections for the judge to see."""
    votes: Votes = 1
    """How often the judge is asked; the low median counts."""
    system: Text | None = None
    """A system message of your own; the reply format is always appended."""
    user: Text | None = None
    """A user message of your own: a text with `{criterion}`, `{asked}`, `{reply}`, `{tools}`, `{tool_results}`, …"""


class Labels(Section):
    """What the judge's labels mean, compared trimmed and in lower case."""

    passed: Annotated[SomeTexts, Field(alias="pass")]
    """The label, or labels, that pass."""
    failed: Annotated[SomeTexts, Field(alias="fail")]
    """The label, or labels, that fail."""


class LabelJudgeSpec(Section):
    """A label judge of your own."""

    system: Text
    """The system message."""
    user: Text
    """The user message: a text with `{reply}`, `{asked}`, `{tools}`, `{tool_results}`, `{system}`, `{history}`, `{agent}`."""
    labels: Labels
    requires: tuple[REQUIRABLE, ...] = ()
    """Fields without which there is nothing to judge: a gap in one makes it inconclusive."""
    votes: Votes = 1
    """How often the judge is asked; the majority counts."""


def _check(value: Any) -> Any:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, dict) and len(value) == 1:
        return value
    raise refuse("one check: a bare name, or a mapping of one name to its argument, arguments or options")


CheckSpec = Annotated[
    Any,
    BeforeValidator(_check, json_schema_input_type=str | Annotated[dict[str, Any], Field(min_length=1, max_length=1)]),
]


def _import_path(value: Any) -> str:
    parts = value.split(":") if isinstance(value, str) else []
    if len(parts) == 1 and re.fullmatch(r"[\w.-]+", parts[0]):
        return str(value)
    if len(parts) == 2 and all(all(name.isidentifier() for name in part.split(".")) for part in parts):
        return str(value)
    raise refuse("an import path, as my_package.evaluators:HouseStyle, or the name of an entry point")


ImportPath = Annotated[str, BeforeValidator(_import_path, json_schema_input_type=str)]


class EvaluatorEntry(Section):
    """One evaluator: exactly one of `check`, `builtin`, `judge`, `label_judge` and `use`, and what it is bound to."""

    check: CheckSpec | None = None
    """An exact evaluator: a bare name, or a mapping of one name to its argument, a list of arguments or named ones."""
    builtin: Literal["toxicity", "summarization", "hallucination"] | None = None
    """One of the label judges that ship."""
    judge: JudgeSpec | None = None
    """A criterion for a judge."""
    label_judge: LabelJudgeSpec | None = None
    """A label judge of your own."""
    use: ImportPath | None = None
    """An evaluator of your own, by import path, or by its name among the entry points `otel_eval.evaluators`."""
    options: dict[str, Any] = Field(default_factory=dict)
    """With `use`: keyword arguments for a class or a factory."""
    votes: Votes = 1
    """With `builtin`: how often the judge is asked; the majority counts."""
    judge_model: Text | None = None
    """An entry of `judge_models`, or any litellm name; `default` without it. With `use`, for evaluators that have a method
    `with_model`."""
    enabled: Flag = True
    """`false` switches the evaluator off."""
    agents: Entries = Field(default_factory=dict)
    """Agents by name, by glob, or `*` for every agent."""
    agent_roles: Entries = Field(default_factory=dict)
    """Agents by role, or `*` for every agent that has one."""

    @property
    def kind(self) -> str:
        """Which of the five it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def asks_judge(self) -> bool:
        """Whether it is one of the evaluators that ask a judge's model by nature."""
        return self.kind in ("builtin", "judge", "label_judge")


class Role(Section):
    """Agents that have a role: by name or glob, or by attributes; either is enough."""

    agents: Texts = ()
    """Names or globs."""
    attributes: dict[str, Text] = Field(default_factory=dict)
    """Attributes of the agent span or its resource, all of which must have these values (globs allowed)."""
