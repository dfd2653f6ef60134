import json
import re

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
import json
import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.trace import TracerProvider
from otel_eval.experiment import EvalCase, Experiment, InProcess, pass_rate_should_be_at_least
from otel_eval.evaluators.reply_text import reply_should_contain

tracers = TracerProvider(shutdown_on_exit=False)
telemetry = InProcess(tracer_provider=tracers, logger_provider=LoggerProvider(shutdown_on_exit=False))
calls = []

def agent(command):
    calls.append(command)
    reply = "no idea" if len(calls) % 4 == 0 else "delivered"
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
    with tracers.get_tracer("shop").start_as_current_span("invoke_agent shop", attributes=attributes):
        return reply

SETTINGS = dict(cases=[EvalCase("order", "Where is o_9?", reply_should_contain("delivered"))], agent=agent, telemetry=telemetry)
"""

TESTS = """
from conftest import *

def test_passes(experiment):
    report = experiment(**SETTINGS, repeat=4, gate=pass_rate_should_be_at_least(0.75))
    assert len(report.attempts) == 4

def test_fails(experiment):
    experiment(Experiment(**SETTINGS, repeat=4, name="flaky"))

async def test_async(experiment):
    await experiment.run_async(**SETTINGS)

def test_without():
    pass
"""


@pytest.fixture
def project(pytester, monkeypatch):
    """A user's project: the plugin comes by its entry point, or is named where the installation does not know it yet."""
    pytester.makepyfile(conftest=CONFTEST, test_shop=TESTS)
    return pytester


def arguments(project, *more: str) -> list[str]:
    import importlib.metadata

    known = {entry.name for entry in importlib.metadata.entry_points(group="pytest11")}
    named = [] if "otel_eval" in known else ["-p", "otel_eval.experiment.pytest_plugin"]
    return [*named, "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", *more]


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_test_is_an_experiment_with_its_gate(project, workers):
    """Passing gates pass, failing ones fail the test with the report, and a line each stands in the summary."""
    result = project.runpytest_subprocess(*arguments(project, *workers))
    result.assert_outcomes(passed=3, failed=1)
    text = result.stdout.str()
    assert "FAIL reply-contains: delivered: " in text or re.search(r"FAIL reply-contains: .*delivered", text)
    assert "inconsistent cases" in text
    assert "PASS test_shop.py::test_passes: pass rate 0.75 over 4 attempts (1 case, 4 runs), required 0.75" in text
    assert "FAIL flaky: 0 of 1 case passed, required all; not passed: order INCONSISTENT" in text
    assert "pytest_plugin.py" not in text.split("short test summary")[0].replace("\\", "/")


def test_reports_are_kept_where_asked(project):
    """One JSON and one JUnit file for each experiment, named after its test."""
    project.runpytest_subprocess(*arguments(project, "--otel-eval-reports=reports", "-k", "passes or async"))
    files = sorted(path.name for path in (project.path / "reports").iterdir())
    assert files == [
        "test_shop.py-test_async.json", "test_shop.py-test_async.xml",
        "test_shop.py-test_passes.json", "test_shop.py-test_passes.xml",
    ]  # fmt: skip
    assert json.loads((project.path / "reports" / files[2]).read_text())["passed"] is True


def test_the_sync_call_in_an_async_test_says_what_to_await(project):
    """The message names run_async."""
    project.makepyfile(
        test_wrong="from conftest import *\nasync def test_it(experiment):\n    experiment(**SETTINGS)\n"
    )
    result = project.runpytest_subprocess(*arguments(project, "test_wrong.py"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*await experiment.run_async()*"])


def test_the_summary_shows_the_gate_and_not_its_test(project):
    """A test that fails for another reason, and one that expects the gate to fail, do not turn the gate's word around."""
    project.makepyfile(
        test_other="""
        from conftest import *

        def test_fails_afterwards(experiment):
            experiment(**SETTINGS, name="good")
            assert False

        def test_expects_it(experiment):
            with pytest.raises(AssertionError):
                experiment(**SETTINGS, repeat=4, name="bad")

        @pytest.mark.xfail
        def test_known(experiment):
            experiment(**SETTINGS, repeat=4, name="known")
        """
    )
    text = project.runpytest_subprocess(*arguments(project, "test_other.py")).stdout.str()
    assert "PASS good: 1 of 1 case passed" in text
    assert "FAIL bad: 0 of 1 case passed" in text
    assert "FAIL known: 0 of 1 case passed" in text


def test_reports_of_parameters_have_files_of_their_own(project):
    """Whatever the parameters hold, and however long they are."""
    project.makepyfile(
        test_many="""
        from conftest import *

        @pytest.mark.parametrize("asked", ["a b", "a-b", "x" * 300])
        def test_it(experiment, asked):
            experiment(**SETTINGS)
        """
    )
    result = project.runpytest_subprocess(*arguments(project, "--otel-eval-reports=reports", "test_many.py"))
    result.assert_outcomes(passed=3)
    assert len(list((project.path / "reports").glob("*.json"))) == 3


def test_a_failure_says_why_in_the_last_lines(project):
    """The short summary has the gate's detail, and the traceback ends in the test."""
    text = project.runpytest_subprocess(*arguments(project, "-k", "fails")).stdout.str()
    assert "GateNotPassed: 0 of 1 case passed" in text
    assert "report.py:" not in text
