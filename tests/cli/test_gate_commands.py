"""``gate`` and ``evaluate``: exit statuses that scripts can use, over a ledger, reports, records and recordings."""

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from otel_eval.cli.main import app
from otel_eval.experiment.gates import pass_rate_should_be_at_least
from otel_eval.experiment.report import Report
from otel_eval.experiment.results import Attempt, EvaluatorRef, Result
from otel_eval.ledger import Batch, Ledger, StoredInteraction
from otel_eval.loop_guard import LoopGuard
from otel_eval.outcome import Errored, Failed, Inconclusive, Passed
from otel_eval.record import Origin
from otel_eval.record_json import LINE_KEYS
from otel_eval.testing.interactions import interaction
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.records import evaluation_record
from otel_eval.testing.spans import conversation

HOUR_NS = 3_600_000_000_000
CONFIG = """
evaluators:
  looks-up-the-order:
    check: {should_call_tool: getOrder}
    agents: [support-agent]
  refuses:
    check: {reply_should_contain: sorry}
    agents: [support-agent]
  sampled-out:
    check: should_not_fail
    agents: {support-agent: {sampling_ratio: 0}}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, arguments)


@pytest.fixture
def ledger(run):
    """polite: 3 passed, 1 failed, 1 inconclusive now; 2 failed of an older version; 1 failed long ago; 2 failed re-runs."""
    now = time.time_ns()
    found = [interaction(resource={"deployment.environment.name": "prod" if n % 2 else "test"}) for n in range(9)]
    outcomes = [Passed("a"), Passed("b"), Passed("c"), Failed("d"), Inconclusive("e")]
    records = [
        evaluation_record(one, "polite", outcome, started_ns=now, evaluator_version="v2")
        for one, outcome in zip(found, outcomes, strict=False)
    ]
    records += [
        evaluation_record(one, "polite", Failed("old"), started_ns=now - 9, evaluator_version="v1") for one in found[:2]
    ]
    records += [
        evaluation_record(found[6], "polite", Failed("then"), started_ns=now - 9 * HOUR_NS, evaluator_version="v2")
    ]
    records += [
        evaluation_record(one, "polite", Failed("again"), started_ns=now, evaluator_version="v2", origin=Origin.RERUN)
        for one in found[7:]
    ]
    records += [evaluation_record(found[0], "broken", Errored("boom"), started_ns=now)]
    with Ledger.open("sqlite:///otel-eval-data/ledger.db") as store:
        stored = tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in found)
        store.commit(Batch(interactions=stored, records=tuple(records), aliases={}))
    return run


POLITE = ("gate", "--evaluator", "polite", "--since", "1h")


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        ((*POLITE, "--pass-rate", "0.75"), 0,
         "PASS pass rate of polite 0.75 over 4 results (4 cases, 1 run each), required 0.75; not counted: 1 inconclusive"),
        ((*POLITE, "--pass-rate", "0.9"), 1, "FAIL pass rate of polite 0.75"),
        ((*POLITE, "--pass-rate", "0.5", "--min-conclusive", "5"), 3, "UNDECIDED polite has 4 conclusive results, required 5"),
        ((*POLITE, "--pass-rate", "0.5", "--min-coverage", "0.9"), 3, "UNDECIDED polite covers 0.80, required 0.9"),
        ((*POLITE, "--pass-rate", "0.5", "--confidence", "0.95"), 1, "at this rate it would need 11 conclusive results"),
        ((*POLITE, "--pass-rate", "0.1", "--environment", "prod"), 0, "over 2 results"),
        ((*POLITE, "--pass-rate", "0.1", "--agent", "nobody"), 3, "polite judged no case, so its rate cannot be read"),
        (("gate", "--evaluator", "polite", "--pass-rate", "0.1"), 0, "pass rate of polite 0.60 over 5 results"),
        ((*POLITE, "--pass-rate", "0.1", "--origin", "rerun"), 1, "pass rate of polite 0.00 over 2 results"),
        (("gate", "--evaluator", "broken", "--pass-rate", "0.1"), 3, "not counted: 1 error"),
        ((*POLITE, "--pass-rate", "90"), 2, "rate is a number from 0 to 1"),
        (POLITE, 2, "--pass-rate is needed"),
        (("gate",), 2, "--pass-rate is needed"),
        ((*POLITE, "--pass-rate", "0.9", "--ledger", "nowhere.db"), 2, "nowhere.db"),
        (("gate", "nothing.json", "--pass-rate", "0.9"), 2, "nothing.json"),
    ],
)  # fmt: skip
def test_a_ledgers_newest_records_decide(ledger, arguments, status, says):
    """Live ones of the newest version, by rate, coverage and time; each ending has its exit status."""
    result = ledger(*arguments)
    assert (result.exit_code, says in result.output) == (status, True), result.output


def test_a_gate_that_does_not_pass_names_what_did_not(ledger):
    """What failed before what is an error or inconclusive; each with its Interaction and what it says. Passed ones never."""
    lines = ledger(*POLITE, "--pass-rate", "0.9").output.splitlines()
    failed, inconclusive = (line.strip() for line in lines if line.strip().startswith(("failed:", "inconclusive:")))
    assert failed.startswith("failed: polite of ")
    assert failed.endswith(": d")
    assert inconclusive.endswith(": e")
    of = failed.removeprefix("failed: polite of ").removesuffix(": d")
    assert ledger("show", of).exit_code == 0
    found = json.loads(ledger(*POLITE, "--pass-rate", "0.9", "--format", "jsonl").output)
    assert found["examples"][0] == {"case": of, "run": 1, "evaluator": "polite", "outcome": "failed", "why": "d"}
    assert "failed:" not in ledger(*POLITE, "--pass-rate", "0.75").output


def test_other_versions_are_shown_and_not_mixed(ledger):
    """Two results of v1 are told, in words and in JSON."""
    result = ledger(*POLITE, "--pass-rate", "0.75")
    assert "not counted: 2 results of polite version v1, which is not the newest" in result.output
    (line,) = ledger(*POLITE, "--pass-rate", "0.75", "--format", "jsonl").output.splitlines()
    found = json.loads(line)
    assert (found["passed"], found["decided"]) == (True, True)
    assert found["other_versions"] == [{"evaluator": "polite", "version": "v1", "results": 2}]


def report_file(path: Path, *outcomes) -> Path:
    ref = EvaluatorRef(id="polite", check="judge")
    attempts = tuple(
        Attempt(case_id="a", run=run, command="c", results=(Result(evaluator=ref, outcome=outcome),), planned=(ref,))
        for run, outcome in enumerate(outcomes, 1)
    )
    gate = pass_rate_should_be_at_least(0.5).decide(attempts)
    path.write_text(Report(attempts=attempts, gate=gate).to_json())
    return path


def test_a_report_is_decided_by_its_own_gate_or_by_another(run, tmp_path):
    """Without --pass-rate the gate that it ran with; several reports have to pass each."""
    good = report_file(tmp_path / "good.json", Passed("a"), Failed("b"))
    bad = report_file(tmp_path / "bad.json", Failed("b"))
    none = report_file(tmp_path / "none.json", Inconclusive("b"))
    assert run("gate", str(good)).exit_code == 0
    assert run("gate", str(bad)).exit_code == 1
    assert run("gate", str(none)).exit_code == 3
    assert run("gate", str(good), str(bad)).exit_code == 1
    assert run("gate", str(good), "--evaluator", "polite", "--pass-rate", "0.9").exit_code == 1
    assert run("gate", str(good), str(none), "--evaluator", "judge", "--pass-rate", "0.5").exit_code == 0


def test_a_gate_is_over_one_evaluator(run, tmp_path):
    """The last of several would decide, and the others look as if they had."""
    good = report_file(tmp_path / "good.json", Passed("a"))
    result = run("gate", str(good), "--evaluator", "strict", "--evaluator", "polite", "--pass-rate", "0.5")
    assert (result.exit_code, "--evaluator is given 2 times" in result.output) == (2, True)


@pytest.fixture
def recorded(run, tmp_path):
    """Two Interactions: one that looks the order up, one that does not; both decline politely."""
    (tmp_path / "otel-eval.yaml").write_text(CONFIG)
    spans = [*conversation(reply="I am sorry.", tools=["getOrder"]), *conversation(reply="So sorry.")]
    (tmp_path / "00000-traces.pb").write_bytes(otlp_request(spans))
    return run


def test_recordings_are_judged_offline(recorded):
    """A record for each evaluation that the bindings ask for, with the contract's keys; what was not made is told."""
    result = recorded("evaluate", "--format", "jsonl", "00000-traces.pb")
    assert result.exit_code == 0
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert {tuple(line) for line in found} == {LINE_KEYS}
    assert sorted((line["evaluator"], line["outcome"], line["origin"]) for line in found) == [
        ("looks-up-the-order", "failed", "offline"),
        ("looks-up-the-order", "passed", "offline"),
        ("refuses", "passed", "offline"),
        ("refuses", "passed", "offline"),
    ]
    assert "evaluations that were not made: 2 sampled out" in result.stderr


@pytest.mark.parametrize("kept_in", ["configuration", "directory"])
def test_our_own_judges_calls_are_not_judged(recorded, tmp_path, kept_in):
    """Known by the configured key, or by the one that a server left in the storage directory."""
    keys = f"storage: {{directory: {tmp_path}/data}}\n"
    if kept_in == "configuration":
        keys += "loop_guard: {key: a passphrase of ours}\n"
        guard = LoopGuard.from_text("a passphrase of ours")
    else:
        (tmp_path / "data").mkdir()
        guard = LoopGuard.from_file(tmp_path / "data/loop-guard.key")
    (tmp_path / "otel-eval.yaml").write_text(CONFIG + keys)
    ours = conversation(trace_id=guard.trace_id("some evaluation"), reply="0.9")
    (tmp_path / "00000-traces.pb").write_bytes(otlp_request([*conversation(reply="So sorry."), *ours]))
    found = recorded("evaluate", "--format", "jsonl", "--evaluator", "refuses", "00000-traces.pb").stdout.splitlines()
    assert [json.loads(line)["evaluator"] for line in found] == ["refuses"]


def test_some_evaluators_and_what_is_sampled_out(recorded):
    """--evaluator chooses, --unsampled judges all that is bound; a wrong name is a mistake that names the right ones."""
    one = recorded("evaluate", "--format", "jsonl", "--evaluator", "sampled-out", "--unsampled", "00000-traces.pb")
    assert [json.loads(line)["outcome"] for line in one.stdout.splitlines()] == ["passed", "passed"]
    wrong = recorded("evaluate", "--evaluator", "typo", "00000-traces.pb")
    assert wrong.exit_code == 2
    assert "no evaluator is called typo; there are looks-up-the-order, refuses, sampled-out" in wrong.output


@pytest.mark.parametrize("direct", [True, False])
def test_a_judged_batch_is_gated(recorded, tmp_path, direct):
    """From recordings at once, or from the records that evaluate printed."""
    path = tmp_path / "00000-traces.pb"
    if not direct:
        path = tmp_path / "records.jsonl"
        path.write_text(recorded("evaluate", "--format", "jsonl", "00000-traces.pb").stdout)
    passed = recorded("gate", str(path), "--evaluator", "refuses", "--pass-rate", "1")
    assert (passed.exit_code, passed.output) == (
        0, "PASS pass rate of refuses 1.00 over 2 results (2 cases, 1 run each), required 1\n",
    )  # fmt: skip
    assert recorded("gate", str(path), "--evaluator", "looks-up-the-order", "--pass-rate", "0.9").exit_code == 1


def test_a_recordings_custom_evaluator_that_hangs_is_an_error(recorded, tmp_path, monkeypatch):
    """Within the configuration's time, as in the server; the command comes to its end."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "hangs_on_recordings.py").write_text(
        "import threading\nfrom otel_eval import evaluator\n"
        "@evaluator(check='hangs')\ndef hangs(interaction):\n    threading.Event().wait()\n"
    )
    (tmp_path / "hang.yaml").write_text(
        "dispatch: {evaluator_timeout: 50ms}\n"
        "evaluators: {mine: {use: 'hangs_on_recordings:hangs', agents: [support-agent]}}"
    )
    result = recorded("evaluate", "--config", "hang.yaml", "--format", "jsonl", "00000-traces.pb")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["outcome"], line["reason"]) for line in found] == [("error", "took longer than 0.05 s")] * 2


def test_what_cannot_be_read_ends_with_two(recorded, tmp_path):
    """A file that is no recording, and a configuration with mistakes."""
    (tmp_path / "x.txt").write_text("hello")
    assert recorded("evaluate", "x.txt").exit_code == 2
    (tmp_path / "otel-eval.yaml").write_text("evaluators: {a: {check: no_such_check}}")
    assert recorded("evaluate", "00000-traces.pb").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--since", "1h", "--pass-rate", "0.1"), "--since: only of a ledger"),
        (("--origin", "rerun", "--pass-rate", "0.1"), "--origin: only of a ledger"),
        (("--ledger", "x.db", "--pass-rate", "0.1"), "--ledger: only of a ledger"),
        (("--min-coverage", "0.9"), "--min-coverage: only with --pass-rate"),
        (("--min-conclusive", "9"), "--min-conclusive: only with --pass-rate"),
        (("--agent", "a", "--service", "s"), "--agent, --service: only with --pass-rate"),
    ],
)
def test_a_condition_that_nothing_would_read_is_refused(run, tmp_path, arguments, says):
    """A gate that passes must have kept every condition that it was given."""
    result = run("gate", str(report_file(tmp_path / "good.json", Passed("a"))), *arguments)
    assert (result.exit_code, says in result.output) == (2, True), result.output


@pytest.mark.parametrize(
    ("name", "content", "status", "says"),
    [
        ("empty.jsonl", "", 0, "the recordings hold no Interaction of an agent"),
        ("metrics.json", '{"resourceMetrics": []}', 0, "the recordings hold no Interaction of an agent"),
        ("else.json", '{"format": "something"}', 2, "else.json: no OTLP request"),
        ("else.jsonl", '{"a": 1}\n', 2, "else.jsonl: no OTLP request"),
        ("broken.jsonl", "{", 2, "line 1: not JSON"),
    ],
)
def test_what_holds_nothing_to_judge_says_so(recorded, tmp_path, name, content, status, says):
    """Nothing to judge is told from a file that is something else altogether."""
    (tmp_path / name).write_text(content)
    result = recorded("evaluate", name)
    assert (result.exit_code, says in result.stderr) == (status, True), result.output


def test_why_nothing_was_judged_is_told(recorded, tmp_path):
    """No evaluators at all, and none that is bound to the agent, are different mistakes; so are the reasons for
    leaving out."""
    (tmp_path / "other.yaml").write_text("evaluators: {a: {check: should_not_fail, agents: [somebody]}}")
    assert (
        "bound to the agents of the 2 Interactions"
        in recorded("evaluate", "--config", "other.yaml", "00000-traces.pb").stderr
    )
    (tmp_path / "none.yaml").write_text("")
    result = recorded("evaluate", "--config", "none.yaml", "--format", "jsonl", "00000-traces.pb")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "the configuration has no evaluators" in result.stderr
    left_out = recorded("evaluate", "--evaluator", "sampled-out", "00000-traces.pb")
    assert "2 sampled out (--unsampled judges them)" in left_out.stderr
