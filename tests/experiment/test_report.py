import json
import re
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from experiment.batches import attempt, mixed
from otel_eval.experiment.errors import GateNotPassed, UnreadableReport
from otel_eval.experiment.gates import all_cases_should_pass, pass_rate_should_be_at_least, target_should_not_fail
from otel_eval.experiment.report import Report
from otel_eval.experiment.report_json import schema, to_dict
from otel_eval.experiment.results import Attempt, EvaluatorRef, Result
from otel_eval.interaction import Gap, GapKind, ToolCall
from otel_eval.outcome import Failed, Passed
from otel_eval.testing.interactions import interaction

GATE = all_cases_should_pass().decide([])

EXPECTED = """\
support: NOT PASSED
attempts  2 of 7 passed (2 failed, 1 error, 2 inconclusive)
gate      FAIL 0 of 5 cases passed, required all; not passed: refund INCONSISTENT, hello INCONCLUSIVE, broken FAILED, \
unready ERROR, silent INCONCLUSIVE
evaluators
  looks-up-the-order  1.00 (4 of 4 passed), 0 inconclusive, 0 errors, not run in 3
  polite              0.67 (2 of 3 passed), 1 inconclusive, 0 errors, not run in 3
inconsistent cases
  refund: PASSED in runs 1, 3; FAILED in run 2
agent     4 model calls, 480 tokens, 1.00 s on average, 1.00 s at most
judges    4 calls, 400 tokens, $0.0040, 0.50 s on average

refund, run 2: FAILED
  asked: I want my money back.
  reply: No.
  tools:
    getOrder {"orderId": "o_9"} -> {"status": "delivered"}
    pay -> failed: declined
  FAIL judge: polite enough: scored 0.10, needed 0.50 — it is curt

hello, run 1: INCONCLUSIVE
  asked: I want my money back.
  reply: No.
  tools:
    getOrder {"orderId": "o_9"} -> {"status": "delivered"}
    pay -> failed: declined
  INCONCLUSIVE judge: no usable verdict

broken, run 1: FAILED
  asked: I want my money back.
  reply: (none)
  FAIL target: ValueError: boom

unready, run 1: ERROR
  asked: I want my money back.
  reply: (none)
  ERROR setup: no database

silent, run 1: INCONCLUSIVE
  asked: I want my money back.
  reply: (none)
  INCONCLUSIVE telemetry: no provider"""


def test_the_report_tells_people_what_came_out():
    """Gate and sums first, then every attempt that did not pass with what was seen and why."""
    assert mixed().render(color=False) == EXPECTED


def test_colour_changes_nothing_but_colour():
    """The coloured report is the plain one with escape sequences."""
    colored = mixed().render(color=True)
    assert "\x1b[31mFAIL\x1b[0m judge" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == EXPECTED


def test_each_part_of_a_combined_gate_has_its_line_and_warnings_follow():
    """A reader sees which part passed, and what to mistrust."""
    report = mixed(target_should_not_fail() & pass_rate_should_be_at_least(0.05, confidence=0.95))
    lines = report.render(color=False).splitlines()
    assert lines[2] == "gate      FAIL the agent failed in 1 of 7 attempts, 1 could not be prepared"
    assert lines[3].startswith(
        "          PASS pass rate 0.29 over 7 attempts (5 cases, 1 to 3 runs each), at least 0.10"
    )
    assert lines[4].startswith("          warning: 7 results come from 5 cases")


def test_another_reply_in_the_trace_and_notes_are_shown():
    """What was returned and what the trace ends with are both there where they differ."""
    made = attempt(judge=Failed("curt"), traced_reply="Not at all!", notes=("a trace of its own joined by session id",))
    text = Report(attempts=(made,), gate=all_cases_should_pass().decide([made])).render(color=False)
    assert "  reply: No.\n  the trace's last text: Not at all!\n" in text
    assert "  note: a trace of its own joined by session id\n" in text


def test_results_of_one_check_are_told_apart_by_their_evaluators():
    """Two label judges have the same check: the line ends with the evaluator's id, where it is needed."""
    refs = [EvaluatorRef(id=name, check="label-judge") for name in ("polite", "grounded")]
    results = tuple(Result(evaluator=ref, outcome=Failed("so it is")) for ref in refs)
    made = attempt(judge=Failed("x"), results=results)
    lines = Report(attempts=(made,), gate=all_cases_should_pass().decide([made])).render(color=False).splitlines()
    assert lines[-2:] == ["  FAIL label-judge: so it is [polite]", "  FAIL label-judge: so it is [grounded]"]


def test_a_reply_cannot_draw_on_the_terminal():
    """Control characters of a reply are shown as what they are: something that cannot be printed."""
    made = attempt(judge=Failed("x"), interaction=None, reply="fine\x1b[2J\x07\nPASS everything")
    text = Report(attempts=(made,), gate=all_cases_should_pass().decide([made])).render(color=False)
    assert "  reply: fine\ufffd[2J\ufffd PASS everything\n" in text


def test_results_describe_themselves_in_order():
    """report.results is flat, in the order of attempts."""
    described = [result.describe() for result in mixed().results[:4]]
    assert described[0] == "PASS tools: called"
    assert described[3] == "FAIL judge: polite enough: scored 0.10, needed 0.50 — it is curt"


def test_check_raises_with_the_whole_report():
    """A test that asserts the gate shows the report when it fails, and gets the report back when not."""
    with pytest.raises(GateNotPassed, match="FAIL target: ValueError: boom"):
        mixed().check()
    fine = attempt(judge=Passed("ok"))
    report = Report(attempts=(fine,), gate=all_cases_should_pass().decide([fine]))
    assert report.check() is report


def test_json_comes_back_and_keeps_to_the_schema():
    """Writing and reading loses nothing that a gate, a renderer or a person needs."""
    report = mixed(all_cases_should_pass() & pass_rate_should_be_at_least(0.5, of="judge", confidence=0.9))
    text = report.to_json()
    Draft202012Validator.check_schema(schema())
    Draft202012Validator(schema()).validate(json.loads(text))
    back = Report.from_json(text)
    assert back == report
    assert back.render(color=False) == report.render(color=False)
    assert to_dict(back) == to_dict(report)
    assert to_dict(report)["summary"] == {"attempts": 7, "passed": 2, "failed": 2, "error": 1, "inconclusive": 2}


def test_an_empty_report_keeps_to_the_schema_too():
    """No case at all is a report as well: one whose gate did not pass."""
    empty = Report(attempts=(), gate=all_cases_should_pass().decide([]))
    Draft202012Validator(schema()).validate(json.loads(empty.to_json()))
    assert not Report.from_json(empty.to_json()).passed
    assert "attempts  0 of 0 passed" in empty.render(color=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "lacks"),
        ('{"format": "other"}', "lacks"),
        ('{"format": "otel-eval-report", "version": 2}', "reads up to version 1"),
        ('{"format": "otel-eval-report", "version": 1, "name": "x"}', "gate"),
    ],
)
def test_what_is_no_report_is_refused(text, message):
    """The error says what is wrong with the file."""
    with pytest.raises(UnreadableReport, match=message):
        Report.from_json(text)


def test_unknown_keys_are_ignored():
    """A later version may add keys without an older reader failing."""
    report = mixed()
    value = json.loads(report.to_json())
    value["new"] = value["attempts"][0]["new"] = value["attempts"][0]["results"][1]["judge_calls"][0]["new"] = 1
    assert Report.from_json(json.dumps(value)) == report


def test_junit_has_a_test_case_for_each_attempt_and_the_gate():
    """CI systems show failures, errors and skips, with the description as the message."""
    report = mixed()
    suite = ElementTree.fromstring(report.to_junit())[0]
    assert suite.attrib["tests"] == "8"
    assert (suite.attrib["failures"], suite.attrib["errors"], suite.attrib["skipped"]) == ("3", "1", "2")
    kinds = {case.attrib["name"]: [child.tag for child in case] for case in suite}
    assert kinds["refund run 1"] == []
    assert kinds["refund run 2"] == ["failure"]
    assert kinds["unready run 1"] == ["error"]
    assert kinds["silent run 1"] == ["skipped"]
    assert kinds["gate"] == ["failure"]
    assert suite.find(".//testcase[@name='refund run 2']/failure").attrib["message"].startswith("FAIL judge: polite")


def test_junit_survives_what_xml_cannot_hold():
    """A reply with a NUL and an escape does not make the file unreadable."""
    made = Attempt(case_id="a\x00b", run=1, command="c\x1b")
    ElementTree.fromstring(Report(attempts=(made,), gate=all_cases_should_pass().decide([made])).to_junit())


def test_evaluators_that_only_were_to_judge_are_listed():
    """An evaluator that never came to it is visible, in the order of the plan."""
    assert [ref.id for ref in mixed().evaluators] == ["looks-up-the-order", "polite"]


def test_half_a_character_in_a_reply_spoils_neither_json_nor_junit():
    """A stream that was cut within an emoji leaves a surrogate, which no encoding can write."""
    report = Report(attempts=(Attempt(case_id="a", run=1, command="c", reply="done \ud83d"),), gate=GATE)
    assert Report.from_json(report.to_json().encode()).attempts[0].reply == "done \ufffd"
    report.to_junit().encode()
    report.render().encode()


def test_what_was_not_captured_of_a_tool_reads_so():
    """Not as null, which a tool may well return."""
    gaps = tuple(Gap(field=name, kind=GapKind.NOT_CAPTURED) for name in ("arguments", "result"))
    calls = [ToolCall(name="unseen", gaps=gaps), ToolCall(name="nothing")]
    seen = interaction(tool_calls=calls)
    report = Report(attempts=(Attempt(case_id="a", run=1, command="c", interaction=seen),), gate=GATE)
    assert "    unseen (not captured) -> (not captured)\n    nothing -> null" in report.render(color=False)


def test_the_first_line_of_a_failed_check_says_what_was_not_reached():
    """A test runner's summary shows that line alone."""
    gate = pass_rate_should_be_at_least(0.9).decide([])
    with pytest.raises(GateNotPassed) as raised:
        Report(attempts=(), gate=gate).check()
    assert str(raised.value).splitlines()[0] == "no attempt was made, so the pass rate cannot be read"


@pytest.mark.parametrize(
    ("terminal", "environ", "colored"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_color_is_for_terminals_that_want_it(monkeypatch, terminal, environ, colored):
    """A pipe, a dumb terminal and NO_COLOR get plain text."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in ({"TERM": "xterm"} | environ).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    assert ("\x1b[" in Report(attempts=(), gate=GATE).render()) is colored
