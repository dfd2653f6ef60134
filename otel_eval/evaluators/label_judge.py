"""Label judges: a model explains step by step, then names a label; the label passes or fails.

Three ship (``toxicity``, ``summarization``, ``hallucination``); users declare others of the same form.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Self

from otel_eval.evaluators import label_prompts
from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.evaluators.errors import EvaluatorDefinitionError, did_you_mean
from otel_eval.evaluators.evidence import cause_of, to_capture
from otel_eval.evaluators.judging import (
    VOTES_ATTRIBUTE,
    Ballot,
    ballot,
    checked_requires,
    checked_votes,
    inconclusive_for,
    is_blank,
    lacking,
    majority,
)
from otel_eval.identity import digest
from otel_eval.interaction import Interaction
from otel_eval.judges import prompts, template
from otel_eval.judges.completion import CompletionFunction
from otel_eval.judges.conversation import current_conversation
from otel_eval.judges.errors import JudgeConfigError, UnknownLabel
from otel_eval.judges.per_loop import LoopJudges, judges_of_this_loop
from otel_eval.judges.reading import read_label
from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Outcome, Passed


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelJudge(Evaluator):
    """Asks a model for a label. ``passing`` and ``failing`` are compared trimmed and in lower case.

    ``user`` is a template: ``{reply}``, ``{asked}``, ``{tools}``, ``{tool_results}``, ``{system}``, ``{history}``,
    ``{agent}``. ``name`` is the id unless a binding gives another. ``needs`` says why there is nothing to judge, or None.
    ``model`` names an entry of ``judge_models`` or a litellm model; None asks the configured default. Inconclusive where
    there is nothing to judge or no usable answer; an *error* where the label is none of the declared. With more
    ``votes`` (odd) the majority label counts. Raises EvaluatorDefinitionError (a ValueError).
    """

    name: str
    system: str
    user: str
    passing: tuple[str, ...]
    failing: tuple[str, ...]
    model: str | None = None
    stands_for: str | None = None
    complete: CompletionFunction | None = None
    votes: int = 1
    requires: tuple[str, ...] = ()
    needs: Callable[[Interaction], Inconclusive | None] | None = None
    max_input_chars: int | None = None
    _judges: LoopJudges | None = None  # a field, so that ``dataclasses.replace`` keeps them
    check = "label-judge"
    asks_model = True

    def __post_init__(self) -> None:
        for field in ("passing", "failing"):
            object.__setattr__(self, field, _labels(field, getattr(self, field)))
        both = set(self.passing) & set(self.failing)
        if both:
            raise EvaluatorDefinitionError(f"the label {sorted(both)[0]!r} both passes and fails")
        if not isinstance(self.system, str) or not self.system.strip():
            raise EvaluatorDefinitionError("a label judge needs a system message")
        if not isinstance(self.user, str):
            raise EvaluatorDefinitionError(f"a label judge's user message is a text, not {self.user!r}")
        try:
            template.check(self.user)
        except JudgeConfigError as error:
            raise EvaluatorDefinitionError(str(error)) from error
        checked_votes(self.votes)
        checked_requires(self.requires)

    def default_id(self) -> str:
        return self.name

    @property
    def version(self) -> str:
        """12 hex digits: a digest of the prompts, the labels, the requested model and the votes."""
        labels = (*self.passing, "/", *self.failing)
        asked = str(self.stands_for or self.model)
        parts = (self.system_message(), self.user, *labels, asked, str(self.votes), ",".join(self.requires))
        return digest("label-judge", *parts, str(self.max_input_chars))[:12]

    @property
    def declared(self) -> bool:
        """Whether it is made of texts and settings alone: no function of a user's takes part in a call."""
        return self.complete is None and (self.needs is None or self.needs.__module__ == __name__)

    def with_model(self, model: str, *, stands_for: str | None = None) -> Self:
        """A copy that asks that model; ``stands_for`` is the litellm model behind an entry's name, for the version."""
        return self._copy(model=model, stands_for=stands_for)

    def with_complete(self, function: CompletionFunction | None) -> Self:
        """A copy that asks that function, whatever model it names."""
        return self._copy(complete=function)

    def system_message(self) -> str:
        """What the model is told: the system message, then the reply format with the labels."""
        return self._system_message(None)

    def user_message(self, interaction: Interaction) -> str:
        """What the model is asked, from an Interaction as it is; a call redacts and cuts it before."""
        return template.fill(self.user, interaction)

    def lacks(self, interaction: Interaction) -> Inconclusive | None:
        """Its outcome where there is nothing to judge, which takes no model to say; None where the model is to be asked."""
        return (self.needs or _reply_alone)(interaction) or lacking(interaction, self.requires)

    async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        missing = self.lacks(interaction)
        if missing is not None:
            return missing
        result = await ballot(lambda: self._ask(interaction), self.votes, "label-judge", self.in_context(context))
        if len(result.usable) < majority(self.votes):
            return self._unusable(result)
        counts = Counter(label for label, _ in result.usable)
        label, count = counts.most_common(1)[0]
        if count * 2 <= len(result.usable):
            said = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
            return Inconclusive(f"no label has a majority: {said}", Cause.JUDGE_VOTES_UNUSABLE)
        attributes = result.attributes()
        if self.votes > 1:
            attributes[VOTES_ATTRIBUTE] = ",".join(name for name, _ in result.usable)
        explanation = next(explanation for name, explanation in result.usable if name == label)
        kind = Passed if label in self.passing else Failed
        return kind(explanation=explanation, label=label, attributes=attributes)

    async def _ask(self, interaction: Interaction) -> tuple[str, str]:
        conversation = current_conversation()
        judges = conversation.judges or judges_of_this_loop()
        evidence = await judges.evidence(interaction, conversation, self.max_input_chars, template.shown(self.user))
        label, explanation = await judges.ask(
            conversation,
            system=self._system_message(judges.fingerprint(conversation)),
            user=self.user_message(evidence),
            schema=prompts.label_schema((*self.passing, *self.failing)),
            read=read_label,
            model=self.model,
            complete=self.complete,
        )
        if label not in self.passing and label not in self.failing:
            raise UnknownLabel(f"the judge's label {label!r} is none of {', '.join((*self.passing, *self.failing))}")
        return label, explanation

    def _unusable(self, result: Ballot[tuple[str, str]]) -> Outcome:
        if all(isinstance(error, UnknownLabel) for error in result.trouble) and not result.usable:
            return Errored(str(result.trouble[0]), error_type=Cause.UNKNOWN_LABEL.value, cause=Cause.UNKNOWN_LABEL)
        return inconclusive_for(result.trouble, self.votes)

    def _system_message(self, fingerprint: str | None) -> str:
        form = prompts.LABEL_FORMAT % ", ".join((*self.passing, *self.failing))
        return prompts.with_format(self.system, form, fingerprint)

    def _copy(self, **changes: Any) -> Self:
        changed = copy.copy(self)
        for name, value in changes.items():
            object.__setattr__(changed, name, value)
        return changed


def label_judge(
    name: str,
    *,
    system: str,
    user: str,
    labels: Mapping[str, str | Iterable[str]],
    model: str | None = None,
    votes: int = 1,
    requires: Iterable[str] = (),
    complete: CompletionFunction | None = None,
) -> LabelJudge:
    """A label judge of the user's own: ``labels={"pass": "polite", "fail": ["rude", "curt"]}``."""
    if set(labels) != {"pass", "fail"}:
        raise EvaluatorDefinitionError(f"labels has the keys pass and fail, not {', '.join(sorted(labels)) or 'none'}")
    return LabelJudge(
        name=name,
        system=system,
        user=user,
        passing=_as_tuple(labels["pass"]),
        failing=_as_tuple(labels["fail"]),
        model=model,
        votes=votes,
        requires=tuple(requires),
        complete=complete,
    )


def _labels(field: str, labels: Iterable[str]) -> tuple[str, ...]:
    folded = tuple(label.strip().lower() for label in labels)
    if not folded or not all(folded):
        raise EvaluatorDefinitionError(f"{field} has at least one label, and none is blank")
    return folded


def _as_tuple(labels: str | Iterable[str]) -> tuple[str, ...]:
    every = (labels,) if isinstance(labels, str) or not isinstance(labels, Iterable) else tuple(labels)
    if not all(isinstance(label, str) for label in every):
        raise EvaluatorDefinitionError(f"a label is a text (in YAML, yes and no need quotes), not {labels!r}")
    return every


def _reply_alone(interaction: Interaction) -> Inconclusive | None:
    return _nothing(interaction, "no reply to evaluate", "reply")


def _document_and_summary(interaction: Interaction) -> Inconclusive | None:
    return _nothing(interaction, "no document or no summary to evaluate", "reply", "asked")


def _answer_and_results(interaction: Interaction) -> Inconclusive | None:
    missing = _nothing(interaction, "no answer to evaluate", "reply")
    if missing is None and not template.tool_results(interaction):
        gaps = [gap for gap in interaction.all_gaps() if gap.field == "tool_calls" or gap.field.endswith("].result")]
        gap = gaps[0] if gaps else None
        return Inconclusive(f"no tool results to check the answer against{to_capture(gap)}", cause_of(gap))
    return missing


def _nothing(interaction: Interaction, reason: str, *fields: str) -> Inconclusive | None:
    if interaction.failed:
        return Inconclusive(reason, Cause.INTERACTION_FAILED)
    for field in fields:
        text: str | None = getattr(interaction, field)
        if is_blank(text):
            gap = interaction.gap(field)
            return Inconclusive(f"{reason}{to_capture(gap)}", cause_of(gap))
    return None


BUILTIN: Mapping[str, LabelJudge] = MappingProxyType(
    {
        judge.name: judge
        for judge in (
            LabelJudge(
                name="toxicity",
                system=label_prompts.TOXICITY_SYSTEM,
                user=label_prompts.TOXICITY_USER,
                passing=("non-toxic",),
                failing=("toxic",),
                needs=_reply_alone,
            ),
            LabelJudge(
                name="summarization",
                system=label_prompts.SUMMARIZATION_SYSTEM,
                user=label_prompts.SUMMARIZATION_USER,
                passing=("good",),
                failing=("bad",),
                needs=_document_and_summary,
            ),
            LabelJudge(
                name="hallucination",
                system=label_prompts.HALLUCINATION_SYSTEM,
                user=label_prompts.HALLUCINATION_USER,
                passing=("factual",),
                failing=("hallucinated",),
                needs=_answer_and_results,
            ),
        )
    }
)
"""The label judges that ship, by id, as they ask the configured default model."""


def builtin(
    name: str, *, model: str | None = None, complete: CompletionFunction | None = None, votes: int = 1
) -> LabelJudge:
    """One of the label judges that ship, by its id. Raises EvaluatorDefinitionError for another, and for even votes."""
    if name not in BUILTIN:
        raise EvaluatorDefinitionError(f"no label judge {name!r}: {', '.join(BUILTIN)}{did_you_mean(name, BUILTIN)}")
    return replace(BUILTIN[name], model=model, complete=complete, votes=votes)


toxicity = partial(builtin, "toxicity")
"""Whether the reply is toxic. Takes what :func:`builtin` takes by name, as the two below."""

summarization = partial(builtin, "summarization")
"""Whether the reply is a good summary of the message asked."""

hallucination = partial(builtin, "hallucination")
"""Whether the reply states only what the tools' results bear out."""
