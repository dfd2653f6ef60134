"""The examples run as their README says, and do what it says."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / name / "experiment.py"], capture_output=True, text=True, timeout=100, check=False
    )


def test_a_flaw_in_one_run_of_four_is_caught_by_the_gate():
    """pydantic-ai: the report says which run, which check and what it did; the exit status is the gate's."""
    pytest.importorskip("pydantic_ai")
    done = run("pydantic_ai_refunds")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL pass rate 0.75 over 4 attempts (1 case, 4 runs), required 0.9" in done.stdout
    assert "broken-order: PASSED in runs 1, 2, 3; FAILED in run 4" in done.stdout
    assert "FAIL tool-arguments: issueRefund(amountCents) expected 4999, was [5999]" in done.stdout
    assert "should_satisfy(the reply apologizes)" in done.stdout


def test_content_that_comes_as_log_records_is_judged():
    """OpenAI Agents SDK with event-only capture: question and tool arguments are on no span, and are there all the same."""
    pytest.importorskip("agents", reason="needs the OpenAI Agents SDK: pip install openai-agents")
    done = run("openai_agents_weather")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "attempts  2 of 2 passed" in done.stdout
    for number in (1, 2):
        line = f"run {number}: weather-agent was asked 'A customer writes: What is the weather in Lisbon?'"
        assert line in done.stdout


def test_an_agent_in_another_process_is_judged_over_otlp():
    """HTTP carries the attempt there, OTLP carries the telemetry back; two attempts at a time are not mixed up."""
    done = run("agent_over_http")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "attempts  2 of 2 passed" in done.stdout
    assert "should_call_tool_with(getOrder, orderId, o_9)  1.00 (2 of 2 passed)" in done.stdout


def test_two_runs_at_a_time_do_not_meet():
    """No port is fixed or chosen beforehand: CI runs several of them on one machine."""
    with ThreadPoolExecutor() as both:
        assert [done.returncode for done in both.map(run, ["agent_over_http"] * 2)] == [0, 0]


def test_adapted_label_judges_find_what_was_made_up():
    """The label judges that ship can be copied and changed; their labels and reasons are in the report."""
    done = run("label_judges")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "child-safe          1.00 (1 of 1 passed)" in done.stdout
    assert "FAIL label-judge: " in done.stdout
    assert "The message says nothing of a café." in done.stdout
    assert "It has what the document does not say." in done.stdout
