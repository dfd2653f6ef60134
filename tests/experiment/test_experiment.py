import asyncio
import contextvars
import threading
import time
from dataclasses import FrozenInstanceError, dataclass

import pytest

from experiment.agents import Shop
from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.reply_text import reply_should_contain
from otel_eval.evaluators.tools import should_call_tool, should_not_call_tool
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.current import current_attempt
from otel_eval.experiment.errors import EventLoopRunning, InvalidExperiment
from otel_eval.experiment.experiment import Experiment, ExperimentRunner
from otel_eval.experiment.gates import all_cases_should_pass, pass_rate_should_be_at_least, target_should_not_fail
from otel_eval.experiment.results import Status
from otel_eval.outcome import Errored, Failed, Inconclusive, Passed

CASE = EvalCase("order", "Where is o_9?")


@dataclass(eq=False)
class Custom(Evaluator):
    """Calls a function with the Interaction and the context."""

    decide: object
    name: str = "custom"
    check = "custom"

    @property
    def id(self) -> str:
        return self.name

    @property
    def version(self) -> str:
        return "1"

    def evaluate(self, interaction, context):
        return self.decide(interaction, context)


def run(agent, *evaluators, cases=(CASE,), telemetry=None, **settings):
    telemetry = agent.telemetry if telemetry is None else telemetry
    return Experiment(cases=cases, agent=agent, evaluators=evaluators, telemetry=telemetry, **settings).run()


def test_the_interaction_is_read_from_the_spans_that_the_agent_emitted():
    """Question, reply, tools and session are those of the trace, judged by the evaluators."""
    report = run(
        Shop(), should_call_tool("getOrder"), should_not_call_tool("issueRefund"), reply_should_contain("you said")
    )
    (attempt,) = report.attempts
    assert [result.describe().split(":")[0] for result in report.results] == [
        "PASS tools", "PASS forbidden-tools", "PASS reply-contains",
    ]  # fmt: skip
    assert report.passed
    assert attempt.interaction.asked == "Where is o_9?"
    assert attempt.interaction.tool_calls[0].arguments == {"orderId": "o_9"}
    assert attempt.interaction.trace_id == attempt.trace_id
    assert attempt.interaction.session == attempt.session
    assert attempt.notes == ()


def test_each_attempt_has_a_session_and_a_trace_of_its_own():
    """Four runs of two cases are eight sessions and eight traces, in the order of cases and runs."""
    shop = Shop()
    report = run(shop, should_call_tool("getOrder"), cases=[CASE, EvalCase("again", "And o_10?")], repeat=4)
    assert len({attempt.session for attempt in report.attempts}) == 8
    assert len({attempt.interaction.trace_id for attempt in report.attempts}) == 8
    assert [(a.case_id, a.run) for a in report.attempts] == [(c, r) for c in ("order", "again") for r in (1, 2, 3, 4)]
    assert shop.commands == ["Where is o_9?"] * 4 + ["And o_10?"] * 4
    assert report.gate.detail == "2 of 2 cases passed, required all"


async def test_an_async_agent_runs_in_the_running_loop():
    """await run_async() with an async agent, several at a time, each with its own evidence."""
    shop, together, most = Shop(), 0, 0

    async def agent(command: str) -> str:
        nonlocal together, most
        together += 1
        most = max(most, together)
        with shop.invocation(command, command.upper()):
            await asyncio.sleep(0.01)
        together -= 1
        return command.upper()

    cases = [EvalCase(f"c{n}", f"command {n}", reply_should_contain(f"COMMAND {n}")) for n in range(6)]
    report = await Experiment(cases=cases, agent=agent, telemetry=shop.telemetry, concurrency=3).run_async()
    assert report.passed
    assert most == 3
    assert [attempt.interaction.asked for attempt in report.attempts] == [case.command for case in cases]


async def test_run_in_a_running_loop_says_what_to_await():
    """run() cannot work there, and the error says what does."""
    with pytest.raises(EventLoopRunning, match=r"await experiment\.run_async\(\)"):
        run(Shop())


def test_a_sync_agent_may_start_a_loop_of_its_own():
    """Many frameworks' run_sync does: the function runs in a thread with the attempt's context."""
    shop = Shop()

    def agent(command: str) -> str:
        return asyncio.run(asyncio.sleep(0, shop(command)))

    assert run(agent, should_call_tool("getOrder"), telemetry=shop.telemetry).passed


def test_a_lambda_that_returns_a_coroutine_is_awaited():
    """What counts is what comes back."""
    shop = Shop()

    async def answer(command: str) -> str:
        return shop(command)

    assert run(lambda command: answer(command), should_call_tool("getOrder"), telemetry=shop.telemetry).passed


def test_the_reply_is_taken_out_of_an_object():
    """reply= says where; without it the mistake is named, and it is the experiment's, not the agent's."""
    shop = Shop()
    agent = lambda command: {"output": shop(command)}  # noqa: E731
    assert run(agent, reply_should_contain("you said"), reply=lambda r: r["output"], telemetry=shop.telemetry).passed
    report = run(agent, reply_should_contain("you said"), telemetry=shop.telemetry)
    assert report.results[0].describe() == (
        "ERROR setup: the agent function returned dict, not text: say where its text is, as in reply=lambda r: r.output"
    )
    broken = run(agent, telemetry=shop.telemetry, reply=lambda r: r.output)
    assert broken.attempts[0].status is Status.ERROR
    assert "reply= raised AttributeError" in broken.results[0].describe()


def test_the_returned_reply_is_judged_and_another_in_the_trace_is_shown():
    """The user sees what the function returned; where the trace ends with other words the report has both."""
    shop = Shop()

    def agent(command: str) -> str:
        with shop.invocation(command, "raw words of the model"):
            pass
        return "polished words"

    report = run(agent, reply_should_contain("polished"), telemetry=shop.telemetry)
    assert report.passed
    assert report.attempts[0].reply == "polished words"
    assert report.attempts[0].traced_reply == "raw words of the model"
    assert run(Shop(), reply_should_contain("you")).attempts[0].traced_reply is None


def test_an_agent_that_returns_nothing_replied_what_the_trace_says():
    """None is no reply of its own."""
    shop = Shop()

    def agent(command: str) -> None:
        shop(command)

    report = run(agent, reply_should_contain("you said"), telemetry=shop.telemetry)
    assert report.passed


def test_the_command_serves_where_the_trace_has_no_question():
    """Content capture may be off: evaluators still know what was asked, and the gap is closed."""
    shop = Shop()

    def agent(command: str) -> str:
        with shop.invocation(None, None):
            pass
        return "fine"

    interaction = run(agent, reply_should_contain("fine"), telemetry=shop.telemetry).attempts[0].interaction
    assert (interaction.asked, interaction.reply) == ("Where is o_9?", "fine")
    assert interaction.gap("asked") is None
    assert interaction.gap("reply") is None


def test_an_agent_that_raises_is_one_failed_result_and_the_batch_goes_on():
    """Its evaluators are counted as not run."""
    shop = Shop()

    def agent(command: str) -> str:
        if "9" in command:
            raise ValueError("boom")
        return shop(command)

    cases = [CASE, EvalCase("fine", "Where is o_8?")]
    report = run(
        agent, should_call_tool("getOrder"), cases=cases, telemetry=shop.telemetry, gate=target_should_not_fail()
    )
    assert report.results[0].describe().startswith("FAIL target: ValueError: boom (test_experiment.py:")
    assert [attempt.status for attempt in report.attempts] == [Status.FAILED, Status.PASSED]
    assert report.tally("tools").not_run == 1
    assert not report.passed


@pytest.mark.parametrize(
    "error",
    [StopIteration("done"), KeyError("x"), TimeoutError("from the agent"), SystemExit(3), asyncio.CancelledError()],
)
def test_whatever_an_agent_raises_is_its_failure(error):
    """Also what a future could not carry."""

    def agent(command: str) -> str:
        raise error

    async def async_agent(command: str) -> str:
        raise error

    assert run(agent, telemetry=Shop().telemetry).attempts[0].status is Status.FAILED
    if not isinstance(error, StopIteration):
        assert run(async_agent, telemetry=Shop().telemetry).attempts[0].status is Status.FAILED


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize("where", ["agent", "prepare", "reply"])
def test_an_exception_that_cannot_say_what_it_is_stops_no_batch(where):
    """Its class is told, wherever it came from."""

    def breaks(given):
        raise Unprintable

    functions = {"agent": lambda command: "yes", where: breaks}
    report = Experiment(cases=[EvalCase("a", "b"), EvalCase("c", "d")], **functions).run()
    says = ("reply= raised " if where == "reply" else "") + "Unprintable: (its message could not be read) (test_"
    assert [result.describe().partition(": ")[2].startswith(says) for result in report.results] == [True, True]


def test_an_agent_that_takes_too_long_failed():
    """The timeout cancels an async agent and is told as such."""
    cancelled = threading.Event()

    async def agent(command: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    report = run(agent, telemetry=Shop().telemetry, timeout=0.02)
    assert report.results[0].describe() == "FAIL target: TimeoutError: no reply within 0.02 s"
    assert cancelled.is_set()


def test_a_sync_agent_that_hangs_holds_nobody_up():
    """Its thread cannot be cancelled, and is not waited for either: not after the attempt, not at the end."""
    release = threading.Event()
    started = time.monotonic()
    report = run(lambda command: release.wait(60), telemetry=Shop().telemetry, timeout=0.02)
    assert time.monotonic() - started < 30
    release.set()
    assert report.results[0].describe() == "FAIL target: TimeoutError: no reply within 0.02 s"


def test_what_ends_a_test_passes_through_an_agent():
    """pytest.fail is no failure of the agent."""

    def agent(command: str) -> str:
        pytest.fail("the test is over")

    with pytest.raises(pytest.fail.Exception, match="the test is over"):
        run(agent, telemetry=Shop().telemetry)


def test_a_case_that_cannot_be_prepared_is_one_setup_result():
    """prepare= is called with the case before each attempt, and the batch goes on."""
    shop, prepared = Shop(), []

    async def prepare(case: EvalCase) -> None:
        prepared.append(case.id)
        if case.id == "order":
            raise OSError("no database")

    cases = [CASE, EvalCase("fine", "Where is o_8?")]
    report = run(shop, should_call_tool("getOrder"), cases=cases, prepare=prepare, repeat=2)
    assert prepared == ["order", "order", "fine", "fine"]
    assert report.results[0].describe().startswith("ERROR setup: OSError: no database (test_experiment.py:")
    assert [attempt.status for attempt in report.attempts] == [Status.ERROR] * 2 + [Status.PASSED] * 2
    assert shop.commands == ["Where is o_8?"] * 2


def test_expected_and_metadata_reach_custom_evaluators():
    """The context has what the case says, and the experiment knows nothing of its meaning."""
    seen = []

    def decide(interaction, context):
        seen.append((context.case_id, context.expected, dict(context.metadata), context.origin))
        return Passed("seen")

    case = EvalCase("order", "Where is o_9?", Custom(decide), expected={"status": "delivered"}, metadata={"tier": 1})
    assert run(Shop(), cases=[case]).passed
    assert seen == [("order", {"status": "delivered"}, {"tier": 1}, "offline")]


def test_an_evaluator_that_breaks_fails_only_its_own_result():
    """The others are there, and the attempt is in error."""

    def decide(interaction, context):
        raise ZeroDivisionError("oops")

    report = run(Shop(), should_call_tool("getOrder"), Custom(decide), reply_should_contain("you said"))
    assert [type(result.outcome) for result in report.results] == [Passed, Errored, Passed]
    assert report.results[1].describe().startswith("ERROR custom: ZeroDivisionError: oops (test_experiment.py:")
    assert report.attempts[0].status is Status.ERROR


def test_evaluators_of_the_experiment_come_before_the_cases_and_run_once():
    """The same evaluator for all cases and for one is one result."""
    case = EvalCase("order", "Where is o_9?", should_call_tool("getOrder"), reply_should_contain("you"))
    report = run(Shop(), should_call_tool("getOrder"), cases=[case])
    assert [result.check for result in report.results] == ["tools", "reply-contains"]


def test_two_evaluators_with_one_id_are_refused_before_anything_runs():
    """Their results could not be told apart."""
    shop = Shop()

    class Other(Custom):
        version = "2"

    with pytest.raises(
        InvalidExperiment, match=r"two different evaluators have the id 'custom': give one another, with_id\("
    ) as refused:
        run(shop, Custom(lambda i, c: Passed("")), Other(lambda i, c: Passed("")))
    assert shop.commands == []
    assert refused.value.__context__ is None, "a traceback would begin with what is none of the reader's"


def test_without_evaluators_an_attempt_says_nothing():
    """No result at all is inconclusive: no evidence, no pass."""
    report = run(Shop())
    assert report.attempts[0].status is Status.INCONCLUSIVE
    assert not report.passed


def test_progress_is_told_after_each_attempt():
    """How many are done of how many, with the attempt."""
    told = []
    run(Shop(), repeat=3, progress=lambda attempt, done, total: told.append((attempt.run, done, total)))
    assert told == [(1, 1, 3), (2, 2, 3), (3, 3, 3)]


def test_what_breaks_beside_agent_and_evaluators_is_raised_as_it_is():
    """A mistake in a progress function is nobody's result, and comes without a group around it."""

    def progress(attempt, done, total):
        raise RuntimeError("my own mistake")

    with pytest.raises(RuntimeError, match="my own mistake"):
        run(Shop(), repeat=3, progress=progress)


def test_context_of_the_caller_reaches_the_agent():
    """A sync agent's thread sees the caller's context variables."""
    setting = contextvars.ContextVar("setting", default="none")
    setting.set("set")
    shop = Shop()

    def agent(command: str) -> str:
        shop(command)
        return setting.get()

    assert run(agent, reply_should_contain("set"), telemetry=shop.telemetry).passed


def test_the_builder_says_the_same():
    """Each step gives a new runner, and the last runs."""
    shop = Shop()
    begun = ExperimentRunner().cases(CASE).agent(shop).configured(telemetry=shop.telemetry)
    runner = begun.evaluator(should_call_tool("getOrder")).repeat(4).gate(pass_rate_should_be_at_least(0.75))
    report = runner.gate(target_should_not_fail()).concurrency(2).run()
    assert report.passed
    assert len(report.attempts) == 4
    assert report.gate.parts[0].detail == "pass rate 1.00 over 4 attempts (1 case, 4 runs), required 0.75"
    assert begun.experiment().evaluators == ()
    assert [case.id for case in begun.cases([EvalCase("b", "b")], EvalCase("c", "c")).experiment().cases] == [
        "order",
        "b",
        "c",
    ]


async def test_the_builder_runs_in_a_running_loop_too():
    """run_async() of the builder."""
    shop = Shop()
    runner = ExperimentRunner().cases(CASE).agent(shop, reply=str).evaluator(should_call_tool("getOrder"))
    assert (await runner.configured(telemetry=shop.telemetry).run_async()).passed


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EvalCase(" ", "c"), "a case needs an id"),
        (lambda: EvalCase("a", " \n"), "a command says something"),
        (lambda: EvalCase("a", "c", lambda i: True), "decorate it with @evaluator"),
        (lambda: Experiment(cases=[CASE, CASE], agent=str), "two cases have the id 'order'"),
        (lambda: Experiment(cases=["x"], agent=str), "not an EvalCase"),
        (lambda: Experiment(cases=[CASE], agent=str, repeat=0), "repeat is a whole number from 1"),
        (lambda: Experiment(cases=[CASE], agent=str, concurrency=True), "concurrency is a whole number"),
        (lambda: Experiment(cases=[CASE], agent="shop"), "the agent is a function"),
        (lambda: Experiment(cases=[CASE], agent=str, gate=0.9), "a gate is a Gate"),
        (lambda: Experiment(cases=[CASE], agent=str, evaluators=[0.9]), "not an evaluator"),
        (lambda: ExperimentRunner().run(), "needs cases and agent"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_is_said(make, message):
    """Before anything runs, with what is allowed."""
    with pytest.raises(InvalidExperiment, match=message):
        make()


def test_values_are_frozen():
    """Cases and experiments do not change under those who hold them."""
    assert EvalCase.of("order", "Where is o_9?") == CASE
    with pytest.raises(FrozenInstanceError):
        CASE.id = "other"
    with pytest.raises(FrozenInstanceError):
        Experiment(cases=[CASE], agent=str).repeat = 3


def test_outside_of_an_attempt_there_is_no_current_one():
    """current_attempt() says so instead of giving something made up."""
    with pytest.raises(LookupError, match="no attempt"):
        current_attempt()


def test_a_failed_check_makes_the_default_gate_fail():
    """One failed result is a failed attempt, case and gate, with the reason."""
    report = run(Shop(), should_call_tool("issueRefund"))
    assert isinstance(report.results[0].outcome, Failed)
    assert report.gate.detail == "0 of 1 case passed, required all; not passed: order FAILED"
    assert all_cases_should_pass().decide(report.attempts) == report.gate
    assert not isinstance(report.results[0].outcome, Inconclusive)
