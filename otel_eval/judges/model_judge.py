"""A judge that asks a model: one call for a verdict, no memory from one verdict to the next."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from otel_eval.interaction import Interaction
from otel_eval.judges import layout, prompts, template
from otel_eval.judges.completion import CompletionFunction
from otel_eval.judges.conversation import Conversation, current_conversation
from otel_eval.judges.errors import JudgeConfigError
from otel_eval.judges.evidence import quoted
from otel_eval.judges.judge import Judge
from otel_eval.judges.per_loop import LoopJudges, judges_of_this_loop
from otel_eval.judges.reading import read_verdict
from otel_eval.judges.registry import Judges
from otel_eval.judges.rendering import checked_sections, default_user_message
from otel_eval.judges.settings import JudgeModelSettings
from otel_eval.outcome import Verdict

UserMessage: TypeAlias = "Callable[[str, Interaction], str] | str"


class ModelJudge(Judge):
    """Asks a model through litellm.

    Which model: ``complete``, a completion function, comes first; then one given for a test
    (:func:`otel_eval.judges.completing`) or for the whole server; then ``model``, an entry of ``judge_models`` or any
    litellm name; then the configured default. ``system_message`` replaces the default one; the reply format is appended to
    either. ``user_message`` is a function ``(criterion, interaction) -> str`` or a text with fields such as ``{reply}``; the
    Interaction that it renders is redacted, cut and quoted already. ``include`` adds the sections ``system`` and
    ``history`` to the default user message. ``max_input_chars`` bounds each section (else the configured bound holds).
    ``api_base`` and ``api_key`` are for a model that no configuration speaks of. Raises JudgeConfigError (a ValueError).
    """

    has_limits = True

    def __init__(
        self,
        model: str | None = None,
        *,
        system_message: str | None = None,
        user_message: UserMessage | None = None,
        complete: CompletionFunction | None = None,
        include: Iterable[str] = (),
        max_input_chars: int | None = None,
        api_base: str | None = None,
        api_key: str | None = None,
    ) -> None:
        if max_input_chars is not None and max_input_chars <= 0:
            raise JudgeConfigError(f"max_input_chars is more than 0, not {max_input_chars}")
        if api_base is not None and model is None:
            raise JudgeConfigError("api_base needs the name of a model")
        if isinstance(user_message, str):
            template.check(user_message, "criterion")
        self._model = model
        self._stands_for: str | None = None
        self._system = system_message
        self._user = user_message
        self._complete = complete
        self._include = checked_sections(include)
        self._max_input_chars = max_input_chars
        self._api_base = api_base
        self._api_key = api_key
        self._judges: LoopJudges | None = None

    @property
    def model(self) -> str | None:
        """The model it names; None asks the configured default."""
        return self._model

    @property
    def declared(self) -> bool:
        """Whether it is made of texts and settings alone: no function of a user's takes part in a call."""
        return self._complete is None and not callable(self._user)

    def with_model(self, model: str, *, stands_for: str | None = None) -> ModelJudge:
        """A copy that asks that model: an entry of ``judge_models``, or any litellm name.

        ``stands_for`` is the litellm model behind an entry's name; evaluators' versions change with it.
        """
        return self._copy(_model=model, _stands_for=stands_for)

    def with_system_message(self, text: str) -> ModelJudge:
        """A copy with that system message; the reply format is still appended."""
        return self._copy(_system=text)

    def with_user_message(self, function: UserMessage) -> ModelJudge:
        """A copy that renders the user message so."""
        if isinstance(function, str):
            template.check(function, "criterion")
        return self._copy(_user=function)

    def with_complete(self, function: CompletionFunction | None) -> ModelJudge:
        """A copy that asks that function, whatever model it names."""
        return self._copy(_complete=function)

    def with_judges(self, judges: LoopJudges | None) -> ModelJudge:
        """A copy that asks through these, wherever it decides: the names that it asks by are entries of theirs."""
        return self._copy(_judges=judges)

    def system_message(self) -> str:
        """What the model is told first: the custom message or the default one, then the reply format."""
        return self._system_message(None)

    def user_message(self, criterion: str, interaction: Interaction) -> str:
        """What the model is asked, from an Interaction as it is; a call redacts and cuts it before."""
        if self._user is None:
            return default_user_message(criterion, interaction, self._include)
        if isinstance(self._user, str):
            return template.fill(self._user, interaction, {"criterion": criterion})
        return self._user(criterion, interaction)

    async def decide(self, criterion: str, interaction: Interaction) -> Verdict:
        """Raises UnusableAnswer, BudgetSpent, JudgeUnavailable or another JudgeError where there is no verdict."""
        conversation = current_conversation()
        judges = self._asked_through(conversation)
        return await judges.ask(
            conversation,
            system=self._system_message(judges.fingerprint(conversation)),
            user=self.user_message(criterion, await self._evidence(interaction, judges, conversation)),
            schema=prompts.VERDICT_SCHEMA,
            read=read_verdict,
            model=self._model,
            settings=self._own_settings(),
            complete=self._complete,
        )

    def definition(self) -> Any:
        asked = self._stands_for or self._model
        return [asked, self.system_message(), self._user or "default", list(self._include), self._max_input_chars]

    def _asked_through(self, conversation: Conversation) -> Judges:
        if self._judges is not None:
            return self._judges.of_this_loop()
        return conversation.judges or judges_of_this_loop()

    def _system_message(self, fingerprint: str | None) -> str:
        own = prompts.DEFAULT_SYSTEM_MESSAGE if self._system is None else self._system
        return prompts.with_format(own, prompts.REPLY_FORMAT, fingerprint)

    async def _evidence(self, interaction: Interaction, judges: Judges, conversation: Conversation) -> Interaction:
        prepared = await judges.evidence(interaction, conversation, self._max_input_chars, self._shown())
        # Our own renderings quote what they frame; a function of the user's must get it quoted.
        return quoted(prepared, (*layout.HEADINGS, *layout.LABEL_HEADINGS)) if callable(self._user) else prepared

    def _shown(self) -> frozenset[str] | None:
        """The fields that its user message shows something of; None where a function of the user's decides."""
        if self._user is None:
            return frozenset(("asked", "reply", "tool_calls", *self._include))
        return template.shown(self._user) if isinstance(self._user, str) else None

    def _own_settings(self) -> JudgeModelSettings | None:
        if self._model is None or (self._api_base is None and self._api_key is None):
            return None
        return JudgeModelSettings(model=self._model, api_base=self._api_base, api_key=self._api_key)

    def _copy(self, **changes: Any) -> ModelJudge:
        changed = copy.copy(self)
        vars(changed).update(changes)
        return changed
