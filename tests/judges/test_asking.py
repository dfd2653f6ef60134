"""How a question reaches a model, and what is kept of it."""

from __future__ import annotations

import threading

import pytest

from otel_eval.clock import SystemClock
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.judging import CUT_ATTRIBUTE
from otel_eval.instruments import BY_NAME
from otel_eval.interaction import Interaction
from otel_eval.judges import JudgeConfigError, JudgeModelSettings, Judges, ModelAnswer, ModelJudge, ModelRequest
from otel_eval.judges.completion import as_complete, completing, given_completion
from otel_eval.judges.errors import UnusableAnswer
from otel_eval.judges.reading import LONGEST_ANSWER
from otel_eval.loop_guard import BAGGAGE_KEY, LoopGuard
from otel_eval.outcome import Inconclusive, Outcome, Passed
from otel_eval.redaction import NOTHING, Redaction
from otel_eval.testing.interactions import interaction
from otel_eval.testing.models import fixed, verdict

SHOWN = interaction(reply="Fine.")
ID = "e" * 32
GUARD = LoopGuard(b"k" * 32)


class Model:
    """A completion function that keeps its requests."""

    def __init__(self, *answers: ModelAnswer) -> None:
        self.answers = list(answers) or [ModelAnswer(text=verdict(1))]
        self.requests: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return self.answers[min(len(self.requests), len(self.answers)) - 1]


class Counts:
    """A recorder that remembers."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, float, dict[str, str]]] = []

    def record(self, name: str, amount: float = 1, labels: object = None) -> None:
        assert isinstance(labels, dict)
        assert set(labels) <= set(BY_NAME[name].labels)
        self.recorded.append((name, amount, labels))


async def judged(judges: Judges, shown: Interaction = SHOWN) -> tuple[Outcome, EvaluationContext]:
    context = EvaluationContext(evaluation_id=ID, evaluator_id="x", judges=judges)
    return await run(ModelJudge().should_satisfy("c"), shown, context), context


async def test_an_answer_cut_by_its_limit_is_asked_for_once_more_with_more_room() -> None:
    """And read then; both calls are on the record."""
    model = Model(ModelAnswer(text='{"reason": "it', cut=True), ModelAnswer(text=verdict(0.8)))
    outcome, context = await judged(Judges(complete=model))
    assert isinstance(outcome, Passed)
    assert [request.max_output_tokens for request in model.requests] == [None, 8000]
    assert len(context.judge_calls) == 2


async def test_an_answer_cut_twice_is_inconclusive() -> None:
    """No third call."""
    model = Model(ModelAnswer(text='{"reason": "it', cut=True))
    outcome, _ = await judged(Judges(complete=model))
    assert isinstance(outcome, Inconclusive)
    assert outcome.reason == "c: the answer was cut by its token limit, also with more room"
    assert len(model.requests) == 2


async def test_an_answer_that_is_whole_despite_its_limit_is_taken() -> None:
    """The provider says cut, the object is complete."""
    model = Model(ModelAnswer(text=verdict(0.8), cut=True))
    outcome, _ = await judged(Judges(complete=model))
    assert isinstance(outcome, Passed)
    assert len(model.requests) == 1


async def test_an_unusable_answer_is_not_asked_for_again() -> None:
    """Asking again would be paid again."""
    model = Model(ModelAnswer(text="Sure! It passes."))
    await judged(Judges(complete=model))
    assert len(model.requests) == 1


async def test_every_call_is_marked_as_ours() -> None:
    """Traceparent in a trace of ours, baggage, and the fingerprint at the end of the system message."""
    model = Model()
    await judged(Judges(complete=model, guard=GUARD))
    [request] = model.requests
    version, trace_id, span_id, flags = request.headers["traceparent"].split("-")
    assert GUARD.owns_trace(trace_id)
    assert (version, len(span_id), flags) == ("00", 16, "01")
    assert request.headers["baggage"] == f"{BAGGAGE_KEY}={ID}"
    assert GUARD.owns_text(request.system)
    assert request.system.endswith(f"(request {GUARD.fingerprint(ID)})")


async def test_without_a_guard_there_is_no_fingerprint() -> None:
    """The headers are still there."""
    model = Model()
    await judged(Judges(complete=model))
    assert "oe-" not in model.requests[0].system
    assert model.requests[0].headers["traceparent"].startswith("00-")


async def test_the_record_says_what_the_model_answered_and_used() -> None:
    """Requested and answering model apart, tokens and cost."""
    answer = ModelAnswer(
        text=verdict(1), model="gpt-4o-mini-2024", response_id="r1", input_tokens=90, output_tokens=10, cost_usd=0.002
    )
    counts = Counts()
    _, context = await judged(Judges(complete=Model(answer), default="strict", recorder=counts))
    [call] = context.judge_calls
    assert (call.requested_model, call.answered_model, call.response_id) == ("strict", "gpt-4o-mini-2024", "r1")
    assert (call.input_tokens, call.output_tokens, call.cost_usd) == (90, 10, 0.002)
    assert counts.recorded == [
        ("otel_eval.judge.tokens", 90, {"gen_ai.request.model": "strict", "gen_ai.token.type": "input"}),
        ("otel_eval.judge.tokens", 10, {"gen_ai.request.model": "strict", "gen_ai.token.type": "output"}),
        ("otel_eval.judge.cost", 0.002, {"gen_ai.request.model": "strict"}),
    ]


async def test_content_is_kept_only_where_the_setting_says_so() -> None:
    """The call itself is."""
    _, context = await judged(Judges(complete=fixed(1), keep_content=False))
    [call] = context.judge_calls
    assert (call.system_message, call.user_message, call.answer) == (None, None, None)
    assert call.conversation_id == f"{ID}-judge"


async def test_what_is_sent_and_kept_is_redacted() -> None:
    """Also where the model repeats it; a registry may say otherwise."""
    shown = interaction(reply="Write to ann@example.com")
    model = Model(ModelAnswer(text=verdict(1, "names bob@example.com")))
    _, context = await judged(Judges(complete=model), shown)
    assert "Write to [REDACTED:email]" in model.requests[0].user
    assert "bob@example.com" not in (context.judge_calls[0].answer or "")
    await judged(Judges(complete=model, redaction=NOTHING), shown)
    assert "ann@example.com" in model.requests[1].user


async def test_of_an_answer_that_ran_away_the_beginning_is_kept() -> None:
    """Redacting takes time for each character: of an answer of 80 MB it stopped all judging for a minute."""
    outcome, context = await judged(Judges(complete=fixed("word " * LONGEST_ANSWER)))
    assert isinstance(outcome, Inconclusive)
    kept = context.judge_calls[0].answer
    assert kept is not None
    assert len(kept) < LONGEST_ANSWER + 100
    assert kept.endswith(f"word … [{4 * LONGEST_ANSWER + 1} characters cut]")


class WatchedRedaction(Redaction):
    """Keeps the names of the threads that redacted an Interaction."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[str] = []

    def interaction(self, interaction: Interaction) -> Interaction:
        self.threads.append(threading.current_thread().name)
        return super().interaction(interaction)


async def test_a_large_interaction_is_prepared_beside_the_event_loop() -> None:
    """For seconds nobody else would be judged; a small one costs no thread."""
    redaction = WatchedRedaction()
    judges = Judges(complete=fixed(1.0), redaction=redaction)
    outcome, _ = await judged(judges, interaction(reply="word " * 30_000))
    assert isinstance(outcome, Passed)
    assert outcome.attributes[CUT_ATTRIBUTE] == "reply"
    await judged(judges)
    assert redaction.threads == ["otel-eval-evidence", threading.current_thread().name]


async def test_the_configured_bound_on_inputs_holds_unless_the_judge_has_its_own() -> None:
    """Per section."""
    model = Model()
    shown = interaction(reply="x" * 100)
    await judged(Judges(complete=model, max_input_chars=30), shown)
    assert "[70 characters cut]" in model.requests[0].user


def test_a_name_is_an_entry_first_and_then_a_litellm_name() -> None:
    """None is the default; without one, what to configure."""
    entry = JudgeModelSettings(model="openai/gpt-4o-mini", timeout=5)
    judges = Judges({"default": entry})
    assert judges.settings("default") is judges.settings(None) is entry
    assert judges.settings("openai/other").model == "openai/other"
    with pytest.raises(JudgeConfigError, match=r"judge_models\.default"):
        Judges({"strict": entry}).settings(None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": " "}, "name of a model"),
        ({"timeout": 0}, "timeout is more than 0"),
        ({"max_concurrency": 0}, "max_concurrency is more than 0"),
        ({"requests_per_minute": 0}, "requests_per_minute"),
        ({"max_retries": -1}, "max_retries is at least 0"),
        ({"daily_budget_usd": -1}, "daily_budget_usd is at least 0"),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, object], message: str) -> None:
    """By the name of the setting."""
    with pytest.raises(JudgeConfigError, match=message):
        JudgeModelSettings(**{"model": "m", **changes})  # type: ignore[arg-type]


def test_no_key_is_shown_in_a_representation() -> None:
    """Settings end up in logs."""
    shown = repr(
        JudgeModelSettings(model="m", api_key="sk-secret", headers={"x-key": "hush"}, parameters={"k": "hush"})
    )
    assert "secret" not in shown
    assert "hush" not in shown


def test_a_completion_function_takes_a_request_or_two_texts() -> None:
    """Anything else is refused."""
    for function in (lambda: "", lambda a, b, c: "", "text"):
        with pytest.raises(JudgeConfigError, match="takes"):
            as_complete(function)  # type: ignore[arg-type]


async def test_a_completion_function_may_answer_with_an_answer_or_text_only() -> None:
    """Another type is no answer."""
    request = ModelRequest(model="m", system="s", user="u", conversation_id="c", schema={})
    answer = ModelAnswer(text="x", input_tokens=1)
    assert await as_complete(lambda system, user: answer)(request) == answer  # type: ignore[arg-type, return-value]
    with pytest.raises(JudgeConfigError, match="returned int"):
        await as_complete(lambda system, user: 1)(request)  # type: ignore[arg-type, return-value]


def test_completing_nests_and_ends() -> None:
    """The innermost counts."""
    outer, inner = fixed(1), fixed(0)
    with completing(outer):
        with completing(inner):
            assert given_completion() is inner
        assert given_completion() is outer
    assert given_completion() is None


async def test_a_judge_asked_outside_of_any_evaluation_decides_too() -> None:
    """In a conversation of its own; it raises what an evaluator would make inconclusive."""
    assert (await ModelJudge(complete=fixed(0.4)).decide("c", SHOWN)).score == 0.4
    with pytest.raises(UnusableAnswer):
        await ModelJudge(complete=fixed("no")).decide("c", SHOWN)


async def test_times_on_the_record_come_from_the_clock() -> None:
    """Nanoseconds since the epoch."""
    before = SystemClock().now_ns()
    _, context = await judged(Judges(complete=fixed(1)))
    assert before <= context.judge_calls[0].started_ns <= SystemClock().now_ns()
