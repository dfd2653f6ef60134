"""The judge models of one process: names to settings, limits and budgets, and the one way to ask any of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from otel_eval.clock import Clock, SystemClock
from otel_eval.faults import text_of
from otel_eval.identity import digest
from otel_eval.instruments import NullRecorder, Recorder
from otel_eval.interaction import Interaction
from otel_eval.judges.budget import BudgetStore, MemoryBudget
from otel_eval.judges.client import Client, model_client
from otel_eval.judges.completion import (
    CompletionFunction,
    ModelAnswer,
    ModelRequest,
    as_complete,
    checked_answer,
    given_completion,
)
from otel_eval.judges.conversation import Conversation
from otel_eval.judges.errors import JudgeConfigError, JudgeError, JudgeUnavailable, UnknownModel, UnusableAnswer
from otel_eval.judges.evidence import MAX_INPUT_CHARS, Preparing
from otel_eval.judges.prices import price_known
from otel_eval.judges.reading import LONGEST_ANSWER, shortened
from otel_eval.judges.settings import JudgeModelSettings
from otel_eval.loop_guard import BAGGAGE_KEY, LoopGuard
from otel_eval.record import JudgeCall
from otel_eval.redaction import Redaction

log = logging.getLogger(__name__)

Read = TypeVar("Read")

DEFAULT_NAME = "default"
_MORE_ROOM = 4
_ROOM_WHERE_NONE_WAS_SET = 8000


class Judges:
    """Whom judges ask. One for a server or a run; belongs to the event loop that it is first used on.

    ``models`` are the entries of ``judge_models``; ``default`` is the name asked where a judge names none (an entry, or a
    litellm name). ``complete`` answers instead of any model. ``keep_content`` False keeps neither messages nor answers on
    the records. ``redaction`` is applied to all that leaves. ``guard`` marks every call as ours. Raises JudgeConfigError
    for a budget in dollars on a model whose price nobody knows: it would never be spent.
    """

    def __init__(
        self,
        models: Mapping[str, JudgeModelSettings] | None = None,
        *,
        default: str | None = None,
        complete: CompletionFunction | None = None,
        clock: Clock | None = None,
        recorder: Recorder | None = None,
        guard: LoopGuard | None = None,
        budget_store: BudgetStore | None = None,
        redaction: Redaction | None = None,
        max_input_chars: int = MAX_INPUT_CHARS,
        keep_content: bool = True,
    ) -> None:
        self._models = dict(models or {})
        for entry, settings in self._models.items():
            _refuse_unpriced(entry, settings)
        self._default = default if default is not None else DEFAULT_NAME if DEFAULT_NAME in self._models else None
        self._complete = None if complete is None else as_complete(complete)
        self._clock = clock or SystemClock()
        self._recorder = recorder or NullRecorder()
        self._guard = guard
        self._store = budget_store or MemoryBudget()
        self._keep_content = keep_content
        self._clients: dict[str, Client] = {}
        for settings in self._models.values():
            self._count_nothing_yet(settings.model)
        self.redaction = redaction or Redaction()
        self.max_input_chars = max_input_chars
        self._preparing = Preparing()

    def settings(self, name: str | None) -> JudgeModelSettings:
        """The entry of that name, else that litellm model; None names the default. Raises JudgeConfigError without one."""
        chosen = name if name is not None else self._default
        if chosen is None:
            raise JudgeConfigError(
                "no judge model is named, and none is configured as judge_models.default: "
                "name one, as openai/gpt-4o-mini, or give the configuration that has it"
            )
        return self._models.get(chosen) or JudgeModelSettings(model=chosen)

    def fingerprint(self, conversation: Conversation) -> str | None:
        """What marks that evaluation's calls in their system message; None without a loop guard."""
        return None if self._guard is None else self._guard.fingerprint(conversation.evaluation_id)

    async def ask(
        self,
        conversation: Conversation,
        *,
        system: str,
        user: str,
        schema: Mapping[str, object],
        read: Callable[[str], Read],
        model: str | None = None,
        settings: JudgeModelSettings | None = None,
        complete: CompletionFunction | None = None,
    ) -> Read:
        """Ask once, and once more with more room where the answer was cut by its token limit; read what came.

        Every call is appended to ``conversation.calls``. Raises UnusableAnswer, BudgetSpent, JudgeUnavailable or another
        JudgeError.
        """
        client = self._client(model, settings, complete)
        request = ModelRequest(
            model=client.known_as,
            system=system,
            user=user,
            conversation_id=conversation.id,
            schema=schema,
            max_output_tokens=client.room,
            headers=self._headers(conversation),
        )
        answer = await self._answer(client, request, conversation)
        try:
            return read(answer.text)
        except UnusableAnswer:
            if not answer.cut:
                raise
        answer = await self._answer(client, replace(request, max_output_tokens=_more_room(client.room)), conversation)
        try:
            return read(answer.text)
        except UnusableAnswer as error:
            if answer.cut:
                raise UnusableAnswer("the answer was cut by its token limit, also with more room") from error
            raise

    async def evidence(
        self,
        interaction: Interaction,
        conversation: Conversation,
        max_chars: int | None = None,
        shown: Collection[str] | None = None,
    ) -> Interaction:
        """What a judge may see of the Interaction; the conversation learns which of the fields ``shown`` were cut.

        ``max_chars`` None takes the registry's own, ``shown`` None is all fields.
        """
        limit = self.max_input_chars if max_chars is None else max_chars
        evidence, cut = await self._preparing(interaction, self.redaction, limit)
        conversation.cut.update(field for field in cut if shown is None or field in shown)
        return evidence

    async def budget_spent(self, model: str) -> bool:
        """Whether that model's budget of the day (UTC) is used up, so that judges ask it in vain until midnight.

        False where that is not known: it has none, a function answers for it, or the budget's store does not answer.
        """
        try:
            budget = self._client(model, None, None).budget
            return budget is not None and await budget.is_spent(self._clock.now_ns())
        except Exception as error:  # noqa: BLE001 - whatever the store raises: the call itself finds out, and says so
            log.debug("the budget of %s cannot be read: %s", model, error)
            return False

    async def aclose(self) -> None:
        """Close the connections to models. The registry can be used again; it opens new ones."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    def _client(
        self, model: str | None, settings: JudgeModelSettings | None, complete: CompletionFunction | None
    ) -> Client:
        given = given_completion() if complete is None else complete
        function = self._complete if given is None else as_complete(given)
        if function is not None:
            name = model or self._default or "completion function"
            entry = self._models.get(name)
            return Client(model=name if entry is None else entry.model, name=name, complete=function)
        found = settings or self.settings(model)
        name = model or (self._default if settings is None else None) or found.model
        key = name if settings is None else f"{name} at {found.api_base}"
        if key not in self._clients:
            self._clients[key] = model_client(name, found, self._store)
        return self._clients[key]

    async def _answer(self, client: Client, request: ModelRequest, conversation: Conversation) -> ModelAnswer:
        """The answer of the model, or of the first of its fallbacks that gives one.

        Where none does, the model itself is down and worth waiting for, whatever its fallbacks' trouble is: a spare model
        whose budget is spent must not end a backlog that its own model may yet serve.
        """
        try:
            return await self._call(client, request, conversation)
        except JudgeUnavailable as error:
            for name in client.fallbacks:
                fallback = self._client(name, None, None)
                try:
                    return await self._call(fallback, replace(request, model=fallback.known_as), conversation)
                except JudgeError as trouble:
                    error.args = (f"{error}; fallback {name}: {str(trouble).removeprefix(f'{name}: ')}",)
            raise

    async def _call(self, client: Client, request: ModelRequest, conversation: Conversation) -> ModelAnswer:
        started = self._clock.now_ns()
        answer: ModelAnswer | None = None
        problem: str | None = None
        try:
            async with client.turn(request, self._clock) as turn:
                started = self._clock.now_ns()
                answer = await _in_time(client, request, conversation)
                await turn.book(answer)
            self._count(client, answer)
            return answer
        except BaseException as error:
            if isinstance(error, UnknownModel):
                error.among(self._models)
            problem = text_of(error) or type(error).__name__
            raise
        finally:
            conversation.calls.append(self._record(client, request, answer, problem, started))

    def _record(
        self, client: Client, request: ModelRequest, answer: ModelAnswer | None, problem: str | None, started: int
    ) -> JudgeCall:
        kept = self._keep_content
        return JudgeCall(
            conversation_id=request.conversation_id,
            requested_model=client.model,
            answered_model=answer.model if answer else None,
            response_id=answer.response_id if answer else None,
            system_message=request.system if kept else None,
            user_message=request.user if kept else None,
            answer=self.redaction.text(shortened(answer.text, LONGEST_ANSWER)) if kept and answer else None,
            input_tokens=answer.input_tokens if answer else None,
            output_tokens=answer.output_tokens if answer else None,
            cost_usd=answer.cost_usd if answer else None,
            error=problem,
            started_ns=started,
            ended_ns=self._clock.now_ns(),
        )

    def _count(self, client: Client, answer: ModelAnswer) -> None:
        labels = {"gen_ai.request.model": client.model}
        for kind, tokens in (("input", answer.input_tokens), ("output", answer.output_tokens)):
            if tokens:
                self._recorder.record("otel_eval.judge.tokens", tokens, {**labels, "gen_ai.token.type": kind})
        if answer.cost_usd:
            self._recorder.record("otel_eval.judge.cost", answer.cost_usd, labels)

    def _count_nothing_yet(self, model: str) -> None:
        """Prometheus would not see what the first call adds to series that were not there before."""
        self._recorder.record(
            "otel_eval.judge.tokens", 0, {"gen_ai.request.model": model, "gen_ai.token.type": "input"}
        )
        self._recorder.record("otel_eval.judge.cost", 0, {"gen_ai.request.model": model})

    def _headers(self, conversation: Conversation) -> dict[str, str]:
        seed = conversation.evaluation_id
        if self._guard is None:
            trace_id, span_id = digest("judge-trace", seed)[:32], digest("judge-span", conversation.id)[:16]
        else:
            trace_id, span_id = self._guard.trace_id(seed), self._guard.span_id(seed, conversation.id)
        return {
            "traceparent": f"00-{trace_id}-{span_id}-01",
            "baggage": f"{BAGGAGE_KEY}={seed}",
        }


async def _in_time(client: Client, request: ModelRequest, conversation: Conversation) -> ModelAnswer:
    """A function of the user's has no limits of its own, as a model has, and may give anything."""
    if client.limits is not None:
        return await client.complete(request)
    return checked_answer(await conversation.in_time(client.complete(request), "the completion function"))


def _refuse_unpriced(entry: str, settings: JudgeModelSettings) -> None:
    if settings.daily_budget_usd and settings.prices is None and not price_known(settings.model):
        raise JudgeConfigError(
            f"judge model {entry}: a budget in dollars needs a price, and none is known: give prices"
        )


def _more_room(room: int | None) -> int:
    return _ROOM_WHERE_NONE_WAS_SET if room is None else room * _MORE_ROOM
