"""Mistakes in an experiment stop it before the first attempt costs anything; what breaks later costs no attempt."""

import asyncio
import threading

import pytest

from experiment.agents import Shop
from otel_eval.config.load import load
from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.criterion import JudgeEvaluator
from otel_eval.evaluators.custom import evaluator
from otel_eval.evaluators.failures import should_not_fail
from otel_eval.evaluators.tools import should_call_tool
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.errors import InvalidExperiment
from otel_eval.experiment.experiment import Experiment
from otel_eval.experiment.gates import Gate, all_cases_should_pass, pass_rate_should_be_at_least
from otel_eval.experiment.results import Status
from otel_eval.experiment.telemetry import InProcess
from otel_eval.experiment.wire import OverOtlp
from otel_eval.outcome import Passed

CASE = EvalCase("order", "Where is o_9?", should_call_tool("getOrder"))


class Nameless(Evaluator):
    def evaluate(self, interaction, context):
        return Passed("fine")


class Blank(Nameless):
    check = "blank"

    def default_id(self):
        return " "


class Runnable:
    def run(self, command):
        return command


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"timeout": 0}, "timeout is a number of seconds above 0, not 0"),
        ({"timeout": "3s"}, "timeout is a number of seconds above 0, not '3s'"),
        ({"timeout": float("nan")}, "timeout is a number of seconds above 0, not nan"),
        ({"evaluator_timeout": -1}, "evaluator_timeout is a number of seconds above 0"),
        ({"reply": "output"}, "reply is a function, not 'output'"),
        ({"prepare": 3}, "prepare is a function, not 3"),
        ({"progress": False}, "progress is a function, not False"),
        ({"telemetry": "here"}, "telemetry is InProcess(…) or OverOtlp(…), not 'here'"),
        ({"name": None}, "name is a text, not None"),
        ({"cases": CASE}, "cases are given as a list of them, not EvalCase("),
        ({"cases": "order"}, "cases are given as a list of them, not 'order'"),
        ({"evaluators": should_call_tool("x")}, "evaluators are given as a list of them, not <CallsTools"),
        ({"evaluators": [Nameless()]}, "Nameless has no id (AttributeError"),
        ({"evaluators": [Blank()]}, "the id of Blank is a text, not ' '"),
        ({"evaluators": [Nameless]}, "it is the class of one: Nameless(…)"),
        ({"evaluators": [should_not_fail]}, "call it: should_not_fail(…)"),
        ({"evaluators": [[should_not_fail()]]}, "give its elements one by one"),
        ({"evaluators": [lambda interaction: True]}, "decorate it with @evaluator"),
        ({"gate": all_cases_should_pass}, "call it: all_cases_should_pass(…)"),
        ({"agent": Runnable()}, "such as lambda command: agent.run(command)"),
    ],
)  # fmt: skip
def test_a_setting_of_a_wrong_kind_is_refused_at_once(settings, says):
    """It names the setting and what is allowed; no attempt is made of it, and the agent is not blamed for it."""
    with pytest.raises(InvalidExperiment) as raised:
        Experiment(**{"cases": [CASE], "agent": print} | settings)
    assert says in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "make",
    [
        lambda: InProcess(tracer_provider="mine"),
        lambda: InProcess(logger_provider=3),
        lambda: InProcess(patience=-1),
        lambda: OverOtlp(patience=float("inf")),
        lambda: OverOtlp(settle=None),
    ],
)
def test_where_telemetry_is_read_is_checked_too(make):
    """A provider is one, and a wait has an end."""
    with pytest.raises(InvalidExperiment):
        make()


@pytest.mark.parametrize("of", [3, "", "  ", int, should_call_tool("getOrder"), object()])
def test_a_gate_over_what_is_no_evaluators_name_is_refused(of):
    """Not after the whole batch ran, and not as missing evidence."""
    with pytest.raises(InvalidExperiment, match="of is an evaluator's id, its check or its class"):
        pass_rate_should_be_at_least(0.9, of=of)
    assert pass_rate_should_be_at_least(0.9, of=JudgeEvaluator)


def test_a_name_that_no_evaluator_has_is_told_from_missing_evidence():
    """The detail lists the evaluators that there were."""
    shop = Shop()
    gate = pass_rate_should_be_at_least(0.9, of="tolls")
    report = Experiment(cases=[CASE], agent=shop, telemetry=shop.telemetry, gate=gate).run()
    assert report.gate.detail == (
        "tolls judged no case, so its rate cannot be read; there were should_call_tool(getOrder)"
    )
    assert not report.gate.decided


class Breaks(Gate):
    name = "breaks"

    def decide(self, attempts):
        raise ZeroDivisionError("no attempts of mine")


class Babbles(Breaks):
    def decide(self, attempts):
        return True


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        (Breaks(), "ZeroDivisionError: no attempts of mine (test_invalid.py:"),
        (Babbles(), "it returned bool, not a GateResult"),
    ],
)
def test_a_gate_that_breaks_has_not_passed_and_keeps_the_attempts(gate, says):
    """The attempts are paid for: they are in the report."""
    shop = Shop()
    report = Experiment(cases=[CASE], agent=shop, telemetry=shop.telemetry, gate=gate).run()
    assert (report.passed, report.gate.decided) == (False, False)
    assert report.gate.detail.startswith(f"the gate broke: {says}")
    assert [attempt.status for attempt in report.attempts] == [Status.PASSED]


def test_an_evaluator_that_hangs_is_an_error_of_its_own_result():
    """Whether it awaits or blocks; the others judge, and the batch goes on."""
    released = threading.Event()

    @evaluator(check="blocks")
    def blocks(interaction):
        released.wait(30)
        return True

    @evaluator(check="waits")
    async def waits(interaction):
        await asyncio.Event().wait()

    shop = Shop()
    report = Experiment(
        cases=[CASE], agent=shop, telemetry=shop.telemetry, evaluators=[blocks, waits], evaluator_timeout=0.2
    ).run()
    released.set()
    assert [result.describe() for result in report.results] == [
        "ERROR blocks: took longer than 0.2 s",
        "ERROR waits: took longer than 0.2 s",
        "PASS tools: called getOrder",
    ]


def test_with_a_limit_an_evaluator_that_breaks_does_so_as_ever():
    """What it raises, a timeout of its own among it, is its error; what it returns is its outcome."""

    @evaluator(check="raises")
    def raises(interaction):
        raise TimeoutError("the lookup")

    @evaluator(check="fine")
    async def fine(interaction):
        return True

    shop = Shop()
    report = Experiment(
        cases=[EvalCase("a", "Hello")],
        agent=shop,
        telemetry=shop.telemetry,
        evaluators=[raises, fine],
        evaluator_timeout=30,
    ).run()
    assert [result.describe().split(" ")[:2] for result in report.results] == [["ERROR", "raises:"], ["PASS", "fine:"]]
    assert "the lookup" in report.results[0].describe()


def test_an_attempt_that_nothing_judged_says_why():
    """INCONCLUSIVE without a result would leave the reader to guess."""
    shop = Shop()
    report = Experiment(cases=[EvalCase("a", "Hello")], agent=shop, telemetry=shop.telemetry).run()
    assert report.attempts[0].status is Status.INCONCLUSIVE
    assert "note: no evaluator was given, so nothing was judged" in report.render(color=False)


def test_an_agent_that_the_configuration_does_not_name_is_named(tmp_path):
    """A slip in either name is seen at once."""
    file = tmp_path / "otel-eval.yaml"
    file.write_text("evaluators: {fine: {check: should_not_fail, agents: [somebody-else]}}")
    shop = Shop()
    report = Experiment(cases=[EvalCase("a", "b")], agent=shop, telemetry=shop.telemetry, config=file).run()
    [attempt] = report.attempts
    assert attempt.status is Status.INCONCLUSIVE
    assert attempt.notes == (
        "the configuration binds no evaluator to the agent 'shop', and none was given: nothing was judged",
    )


def test_an_id_that_the_configuration_uses_otherwise_costs_one_attempt_alone(tmp_path):
    """Which evaluators are bound is known once the agent has run: the batch goes on."""
    path = tmp_path / "otel-eval.yaml"
    path.write_text("evaluators: {mine: {check: {should_call_tool: refund}, agents: [shop]}}")
    shop = Shop()
    report = Experiment(
        cases=[EvalCase("a", "Hello"), EvalCase("b", "Hello", should_call_tool("getOrder").with_id("mine"))],
        agent=shop, telemetry=shop.telemetry, config=load(path),
    ).run()  # fmt: skip
    assert [attempt.status for attempt in report.attempts] == [Status.FAILED, Status.ERROR]
    assert "two different evaluators have the id 'mine'" in report.attempts[1].results[0].describe()


@pytest.mark.parametrize("raised", [SystemExit(3), asyncio.CancelledError("scope"), ValueError("no database")])
def test_whatever_prepare_raises_is_its_attempts_alone(raised):
    """An exit and a leaked cancellation too."""
    shop, first = Shop(), iter([True])

    async def prepare(case):
        if next(first, False):
            raise raised

    report = Experiment(cases=[CASE], agent=shop, telemetry=shop.telemetry, prepare=prepare, repeat=2).run()
    assert [attempt.status for attempt in report.attempts] == [Status.ERROR, Status.PASSED]
    assert report.results[0].describe().startswith(f"ERROR setup: {type(raised).__name__}: {raised} (test_invalid.py:")


async def test_an_evaluator_that_blocks_does_not_use_up_the_agents_time():
    """It runs beside the event loop: an agent that waits meanwhile goes on waiting, and is not failed for it."""
    shop, blocked, asked = Shop(), threading.Event(), asyncio.Event()

    @evaluator(check="blocks")
    def blocks(interaction):
        return blocked.wait(10)

    async def agent(command: str) -> str:
        reply = shop(command)
        if command == "second":
            asked.set()
            loop = asyncio.get_running_loop()
            loop.call_later(0.05, blocked.set)  # never called where the loop itself is blocked
        else:
            await asked.wait()
        return reply

    report = await Experiment(
        cases=[EvalCase("a", "first"), EvalCase("b", "second")],
        agent=agent, telemetry=shop.telemetry, evaluators=[blocks], concurrency=2, evaluator_timeout=20,
    ).run_async()  # fmt: skip
    assert [attempt.status for attempt in report.attempts] == [Status.PASSED, Status.PASSED]
