"""``gate`` counts what was to be judged and was not: a rate over a denominator that shrank in silence is no evidence."""

import json
import time

import pytest
from typer.testing import CliRunner

from otel_eval.cli.main import app
from otel_eval.identity import sampling_fraction
from otel_eval.ledger import Batch, Ledger, StoredInteraction, WaitingEvaluation
from otel_eval.outcome import Failed, Inconclusive, Passed
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.records import evaluation_record
from otel_eval.testing.spans import conversation

HOUR_NS = 3_600_000_000_000
CONFIG = """
evaluators:
  polite: {check: {reply_should_contain: sorry}, agents: ["*"]}
  sampled: {check: should_not_fail, agents: {"*": {sampling_ratio: 0.5}}}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def gate(run, *arguments):
    """The exit status, what was said, and the counts that are not 0."""
    said = run("gate", "--pass-rate", "0.9", *arguments)
    told = run("gate", "--pass-rate", "0.9", *arguments, "--format", "jsonl")
    assert told.exit_code == said.exit_code
    (line,) = told.output.splitlines()
    found = json.loads(line)
    return said.exit_code, said.output, {name: count for name, count in found["counts"].items() if count}, found


def one(n, now, **given):
    """An Interaction that ended a moment ago."""
    given = {"agent": "support-agent", "ended_ns": now, **given}
    return interaction(id=f"{n:032x}-{n:016x}", trace_id=f"{n:032x}", span_id=f"{n:016x}", **given)


def wait(of, evaluator="polite", check="judge", now=0, **given):
    return WaitingEvaluation(
        evaluation_id=f"w-{evaluator}-{of.id}", interaction_id=of.id, evaluator=evaluator, evaluator_version="v",
        check=check, enqueued_ns=now, **given,
    )  # fmt: skip


def store(interactions, records, waiting=()):
    with Ledger.open("sqlite:///otel-eval-data/ledger.db") as ledger:
        stored = tuple(StoredInteraction(interaction=each, revision=1, digest="d") for each in interactions)
        ledger.commit(Batch(interactions=stored, records=tuple(records), waiting=tuple(waiting)))


def polite(of, outcome, now, **given):
    return evaluation_record(
        of, "polite", outcome, started_ns=now, **{"evaluator_version": "v", "check": "judge", **given}
    )


def test_what_waits_is_not_covered(run):
    """However long it waits; a record of an older attempt is enough not to count as waiting."""
    now = time.time_ns()
    found = [one(n, now) for n in range(1, 6)]
    waiting = [wait(each, now=now) for each in found[2:4]] + [
        wait(found[4], now=now - 9 * HOUR_NS),
        wait(found[0], now=now),
    ]
    store(found, [polite(found[0], Passed("a"), now), polite(found[1], Passed("b"), now)], waiting)
    status, said, counts, _ = gate(run, "--evaluator", "polite", "--since", "1h", "--agent", "support-agent")
    assert (status, counts) == (0, {"eligible": 5, "passed": 2, "waiting": 3})
    assert "not counted: 3 waiting" in said
    status, said, _, found = gate(run, "--evaluator", "polite", "--since", "1h", "--min-coverage", "0.41")
    assert (status, found["decided"], found["coverage"]) == (3, False, 0.4)
    assert said == "UNDECIDED polite covers 0.40, required 0.41; not counted: 3 waiting\n"
    assert gate(run, "--evaluator", "polite", "--agent", "nobody")[2] == {}


def test_an_evaluator_that_is_called_as_a_check_is_decided_alone(run):
    """Neither the verdicts nor the missing records of another one of that check count with its own."""
    now = time.time_ns()
    found = [one(n, now) for n in range(1, 4)]
    own = [evaluation_record(each, "judge", Passed("a"), started_ns=now, check="judge") for each in found]
    store(found, [*own, polite(found[0], Failed("b"), now)], [wait(found[1], now=now)])
    status, said, counts, _ = gate(run, "--evaluator", "judge")
    assert (status, counts) == (0, {"eligible": 3, "passed": 3})
    assert said == "PASS pass rate of judge 1.00 over 3 results (3 cases, 1 run each), required 0.9\n"


def test_nothing_but_waiting_is_undecided_and_says_so(run):
    """An outage of the provider is no failure of the agent."""
    now = time.time_ns()
    found = [one(n, now) for n in range(1, 4)]
    store(found, [], [wait(each, now=now) for each in found])
    assert gate(run, "--evaluator", "polite")[:2] == (
        3, "UNDECIDED polite judged no case, so its rate cannot be read; not counted: 3 waiting\n",
    )  # fmt: skip
    assert gate(run)[:2] == (
        3, "UNDECIDED nothing was judged to its end, so the pass rate cannot be read; not counted: 3 waiting\n",
    )  # fmt: skip


def test_a_whole_attempt_waits_until_all_of_it_is_judged_or_one_has_failed(run):
    """Exact checks that passed at once say nothing of the judge that waits."""
    now = time.time_ns()
    found = [one(n, now) for n in range(1, 5)]
    exact = [
        evaluation_record(each, "exact", outcome, started_ns=now)
        for each, outcome in zip(found, (Passed("a"), Passed("b"), Failed("c"), Passed("d")), strict=True)
    ]
    store(found, [*exact, polite(found[0], Passed("e"), now)], [wait(each, now=now) for each in found[1:]])
    status, said, counts, _ = gate(run)
    assert (status, counts) == (1, {"eligible": 4, "passed": 1, "failed": 1, "waiting": 2})
    assert "pass rate 0.50 over 2 attempts (2 cases, 1 run each), required 0.9; not counted: 2 waiting" in said
    assert gate(run, "--min-coverage", "0.6")[0] == 3


def test_what_waits_may_not_be_left_out_to_pass(run):
    """A judge that is down leaves the few attempts that nothing waits for: no evidence for all of them."""
    now = time.time_ns()
    found = [one(n, now) for n in range(1, 21)]
    exact = [evaluation_record(each, "exact", Passed("a"), started_ns=now) for each in found]
    store(found, exact, [wait(each, now=now) for each in found[:3]])
    assert gate(run)[:2] == (
        3,
        "UNDECIDED pass rate 1.00 over 17 attempts (17 cases, 1 run each), required 0.9, which may come to less by what "
        "waits; not counted: 3 waiting\n",
    )
    store([], [polite(found[0], Failed("b"), now)])
    status, said, *_ = gate(run)
    assert status == 3
    assert said.startswith("UNDECIDED pass rate 0.94 over 18 attempts")
    store([], [polite(found[1], Passed("c"), now)])
    status, said, *_ = gate(run)
    assert (status, said.partition(" over")[0]) == (0, "PASS pass rate 0.95")


def sampled_in(each):
    return sampling_fraction("sampled", each.id) < 0.5


@pytest.fixture
def sampled(run, tmp_path):
    """20 Interactions an hour ago and less, half of them judged by ``sampled``, all by ``polite``; 1 failed, 1 nested."""
    (tmp_path / "otel-eval.yaml").write_text(CONFIG)
    now = time.time_ns()
    found = [one(n, now) for n in range(1, 21)]
    odd = [one(30, now, failure="boom", reply=None), one(31, now, parent_id=found[0].id)]
    records = [polite(each, Passed("p"), now, check="reply-contains") for each in found]
    records += [evaluation_record(each, "sampled", Passed("s"), started_ns=now) for each in found if sampled_in(each)]
    store([*found, *odd], records)
    return run, found


def test_what_was_sampled_out_is_known_by_the_bindings(sampled):
    """The ledger has no row for it. Those that failed count for an evaluator that leaves them alone; nested ones do not."""
    run, found = sampled
    judged = sum(map(sampled_in, found))
    odd = sampled_in(one(30, 0))  # should_not_fail judges what failed
    out, missing = 20 - judged + (not odd), int(odd)
    status, said, counts, _ = gate(run, "--evaluator", "sampled", "--since", "1h")
    expected = {"eligible": 21, "passed": judged, "sampled_out": out, "not_run": missing}
    assert (status, counts) == (0, {name: count for name, count in expected.items() if count})
    assert f"{out} sampled out" in said
    assert gate(run, "--evaluator", "sampled", "--min-coverage", "0.95")[0] == 3
    assert gate(run, "--evaluator", "polite")[2] == {"eligible": 21, "passed": 20, "not_run": 1}


def test_without_the_configuration_what_is_missing_is_counted_as_not_run(sampled, tmp_path):
    """From elsewhere, nothing tells why; that it is not covered is told."""
    run, found = sampled
    (tmp_path / "otel-eval.yaml").unlink()
    judged = sum(map(sampled_in, found))
    status, said, counts, _ = gate(run, "--evaluator", "sampled", "--min-coverage", "0.95")
    assert (status, counts) == (3, {"eligible": 21, "passed": judged, "not_run": 21 - judged})
    assert "no configuration here binds sampled, so what was sampled out is not told" in said


def test_what_came_before_an_evaluator_is_nothing_that_it_missed(run, tmp_path):
    """Nor is what an older version of it judged, or what was asked for again by hand."""
    (tmp_path / "otel-eval.yaml").write_text(CONFIG)
    now = time.time_ns()
    before, old, new = one(1, now - HOUR_NS), one(2, now), one(3, now)
    again = polite(before, Failed("x"), now, origin=Origin.RERUN, attempt=1)
    records = [polite(old, Passed("o"), now - 5, evaluator_version="older"), polite(new, Passed("n"), now), again]
    store([before, old, new], records)
    assert gate(run, "--evaluator", "polite")[2] == {"eligible": 1, "passed": 1}
    assert gate(run, "--evaluator", "polite", "--origin", "rerun")[2] == {"eligible": 1, "failed": 1}


def test_an_agents_clock_does_not_hide_what_it_did(run, tmp_path):
    """What ended long ago by its own clock, and was judged or waits within the time, came within the time."""
    (tmp_path / "otel-eval.yaml").write_text(CONFIG)
    now = time.time_ns()
    found = [one(n, 1_000) for n in range(1, 11)]
    records = [evaluation_record(each, "sampled", Passed("s"), started_ns=now) for each in found if sampled_in(each)]
    store(found, records, [wait(each, now=now) for each in found])
    counts = gate(run, "--evaluator", "sampled", "--since", "1h")[2]
    assert counts == {"eligible": 10, "passed": len(records), "sampled_out": 10 - len(records)}


def test_inconclusive_ones_are_eligible_too(run):
    """Beside what waits."""
    now = time.time_ns()
    found = [one(n, now) for n in range(1, 5)]
    records = [polite(found[0], Passed("a"), now), polite(found[1], Inconclusive("b"), now)]
    store(found, records, [wait(each, now=now) for each in found[2:]])
    _, said, counts, _ = gate(run, "--evaluator", "polite")
    assert counts == {"eligible": 4, "passed": 1, "inconclusive": 1, "waiting": 2}
    assert "not counted: 1 inconclusive, 2 waiting" in said


@pytest.fixture
def recorded(run, tmp_path):
    """Four Interactions, one of which failed."""
    (tmp_path / "otel-eval.yaml").write_text(CONFIG.replace("sampling_ratio: 0.5", "sampling_ratio: 0"))
    spans = [span for n in range(3) for span in conversation(reply="I am sorry.")]
    (tmp_path / "00000-traces.pb").write_bytes(otlp_request([*spans, *conversation(failure="boom")]))
    return run


def test_recordings_have_a_coverage_too(recorded):
    """What their bindings sampled out, and what they leave alone since it failed."""
    assert gate(recorded, "00000-traces.pb", "--evaluator", "polite")[2] == {"eligible": 4, "passed": 3, "not_run": 1}
    assert gate(recorded, "00000-traces.pb", "--evaluator", "polite", "--min-coverage", "0.8")[0] == 3
    status, said, counts, _ = gate(recorded, "00000-traces.pb", "--evaluator", "sampled")
    assert (status, counts) == (3, {"eligible": 4, "sampled_out": 4})
    assert "sampled judged no case, so its rate cannot be read; not counted: 4 sampled out" in said
