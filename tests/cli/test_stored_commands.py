"""``evaluations`` and ``show``: what they print of a ledger, and how they end where they cannot."""

from __future__ import annotations

import json
import time

import pytest
from typer.testing import CliRunner

from otel_eval.cli.main import app
from otel_eval.interaction import Gap, GapKind
from otel_eval.interaction_json import from_json
from otel_eval.ledger import Batch, Ledger, StoredInteraction, WaitingEvaluation
from otel_eval.outcome import Errored, Failed, Inconclusive, Passed
from otel_eval.record import JudgeCall, Origin
from otel_eval.record_json import LINE_KEYS
from otel_eval.testing.interactions import interaction, tool_call
from otel_eval.testing.records import evaluation_record

HOUR_NS = 3_600_000_000_000
ONE = interaction(
    asked="Where is o_9?",
    reply="Write to ann@example.com \x1b[2J",
    tool_calls=[
        tool_call(
            "getOrder",
            {"orderId": "o_9"},
            gaps=(Gap(field="result", kind=GapKind.NOT_CAPTURED, setting="CAPTURE_CONTENT=true"),),
        )
    ],
)
CALL = JudgeCall(
    conversation_id="c", requested_model="openai/gpt-4o-mini", input_tokens=120, output_tokens=9, cost_usd=0.0012
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in a directory whose default ledger holds four records of ONE and one of another agent's."""
    monkeypatch.chdir(tmp_path)
    now = time.time_ns()
    other = interaction(agent="sales")
    records = (
        evaluation_record(ONE, "polite", Failed(explanation="rude to bob@example.com", score=0.25), started_ns=now - 5),
        evaluation_record(ONE, "toxicity", Passed(explanation="kind", label="non-toxic"), started_ns=now - 9 * HOUR_NS),
        evaluation_record(ONE, "sums", Inconclusive(reason="no document"), started_ns=now - 7),
        evaluation_record(
            ONE, "polite", Passed(explanation="fine"), started_ns=now, judge_calls=(CALL,), revision=2,
            attempt=1, origin=Origin.RERUN,
        ),
        evaluation_record(other, "broken", Errored(reason="boom"), started_ns=now - 8),
    )  # fmt: skip
    with Ledger.open("sqlite:///otel-eval-data/ledger.db") as ledger:
        stored = tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in (ONE, other))
        ledger.commit(Batch(interactions=stored, records=records, aliases={"an-older-id": ONE.id}))
    return lambda *arguments: CliRunner().invoke(app, arguments)


def lines(result):
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.output.splitlines()]


def test_each_record_is_a_line_with_the_contracts_keys(run):
    """Newest first, exactly those keys."""
    found = lines(run("evaluations", "--format", "jsonl"))
    assert [line["evaluator"] for line in found] == ["polite", "polite", "sums", "broken", "toxicity"]
    assert {tuple(line) for line in found} == {LINE_KEYS}


FILTERS = [
    (["--interaction", ONE.id], {"polite", "toxicity", "sums"}),
    (["--interaction", "an-older-id"], {"polite", "toxicity", "sums"}),
    (["--evaluator", "toxicity"], {"toxicity"}),
    (["--agent", "sales"], {"broken"}),
    (["--since", "1h"], {"polite", "sums", "broken"}),
    (["--origin", "rerun"], {"polite"}),
    (["--session", "nobody's"], set()),
]


@pytest.mark.parametrize(
    ("options", "evaluators"), FILTERS, ids=lambda value: value[0] if isinstance(value, list) else ""
)
def test_records_are_filtered(run, options, evaluators):
    """Each filter of the contract, and an alias where an id is asked for."""
    assert {line["evaluator"] for line in lines(run("evaluations", "--format", "jsonl", *options))} == evaluators


def test_current_and_limit(run):
    """The newest revision alone; the newest so many."""
    current = lines(run("evaluations", "--format", "jsonl", "--current", "--evaluator", "polite"))
    assert [(line["revision"], line["attempt"]) for line in current] == [(2, 1)]
    assert len(lines(run("evaluations", "--format", "jsonl", "--limit", "2"))) == 2
    assert len(lines(run("evaluations", "--format", "jsonl", "--limit", str(10**30)))) == 5


def test_json_is_one_array(run):
    """Also where nothing matches."""
    assert len(json.loads(run("evaluations", "--format", "json").output)) == 5
    assert json.loads(run("evaluations", "--format", "json", "--agent", "nobody").output) == []


def test_the_table_ends_with_all_four_outcomes(run):
    """No rate without what it leaves out."""
    result = run("evaluations")
    assert result.exit_code == 0
    assert "rude to bob@example.com" in result.output
    assert result.output.splitlines()[-1] == "5 evaluations: 2 passed, 1 failed, 1 inconclusive, 1 error"
    assert run("evaluations", "--agent", "nobody").output == "no evaluations match\n"


def test_a_label_stands_before_its_explanation(run):
    """The explanation need not name it."""
    row = next(line for line in run("evaluations", "--evaluator", "toxicity").output.splitlines() if "passed" in line)
    assert " non-toxic — kind " in row


MISTAKES = [
    (["evaluations", "--since", "30"], "30' is not a duration"),
    (["evaluations", "--ledger", "gone.db"], "there is no ledger at gone.db"),
    (["evaluations", "--config", "gone.yaml"], "gone.yaml"),
    (["show", ONE.id, "--ledger", "sqlite:///gone.db"], "there is no ledger at gone.db"),
]


@pytest.mark.parametrize(("arguments", "says"), MISTAKES, ids=[says for _, says in MISTAKES])
def test_a_mistake_ends_with_2_and_says_which(run, arguments, says):
    """On standard error, without a traceback, and without making a ledger."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""


def test_the_configuration_names_the_ledger(run, tmp_path):
    """``ledger.url`` of --config, and --ledger before it."""
    (tmp_path / "elsewhere.yaml").write_text("ledger: {url: 'sqlite:///elsewhere.db'}\n")
    with Ledger.open("sqlite:///elsewhere.db"):
        pass
    assert lines(run("evaluations", "--format", "jsonl", "--config", "elsewhere.yaml")) == []
    default = ["--ledger", "otel-eval-data/ledger.db"]
    assert len(lines(run("evaluations", "--format", "jsonl", "--config", "elsewhere.yaml", *default))) == 5


def test_show_prints_what_the_judge_sees(run):
    """Evidence in the judge's layout, redacted; the gap with its setting; records with the judge's calls."""
    output = run("show", ONE.id).output
    for part in (
        "The agent was asked:\nWhere is o_9?\n",
        "The agent replied:\nWrite to [REDACTED:email]",
        "- getOrder {orderId=o_9} -> (not captured)",
        "- tool_calls[0].result: not captured; closed by CAPTURE_CONTENT=true",
        "- polite (revision 2, attempt 1, rerun)\n    PASS judge: fine\n",
        "    asked openai/gpt-4o-mini: 120 + 9 tokens, $0.0012",
        "FAIL judge: rude to [REDACTED:email]",
        "INCONCLUSIVE judge: no document",
    ):
        assert part in output


def test_show_names_who_is_still_to_judge(run):
    """So that nobody takes what waits for what was left out; for people and in JSON."""
    assert "Waiting" not in run("show", ONE.id).output
    with Ledger.open("sqlite:///otel-eval-data/ledger.db") as ledger:
        ledger.commit(
            Batch(
                waiting=tuple(
                    WaitingEvaluation(
                        evaluation_id=name, interaction_id=ONE.id, evaluator=name, evaluator_version="1", check="judge"
                    )
                    for name in ("tone", "facts")
                )
            )
        )
    assert run("show", ONE.id).output.endswith("\n\nWaiting to be judged by: facts, tone\n")
    (whole,) = lines(run("show", ONE.id, "--format", "jsonl"))
    assert whole["waiting"] == ["facts", "tone"]


def test_show_says_why_the_others_did_not_judge(run, tmp_path):
    """Every evaluator of the configuration has a visible reason, by the bindings as they stand."""
    (tmp_path / "otel-eval.yaml").write_text(
        "evaluators:\n"
        "  polite: {builtin: toxicity, agents: ['*']}\n"
        "  rare: {builtin: toxicity, agents: {'*': {sampling_ratio: 0}}}\n"
        "  elsewhere: {check: should_not_fail, agents: [nobody]}\n"
        "  new: {check: should_not_fail, agents: ['*']}\n"
        "  off: {check: should_not_fail, enabled: false}\n"
    )
    output = run("show", ONE.id).output
    assert output.endswith(
        "\n\nNot judged by:\n- rare: sampled out\n- elsewhere: not bound\n- new: bound to its agent since then\n- off: disabled\n"
    )
    (whole,) = lines(run("show", ONE.id, "--format", "jsonl"))
    assert whole["unjudged"]["rare"] == "sampled out"


def test_evidence_cannot_steer_the_terminal(run):
    """Control characters are written out."""
    output = run("show", ONE.id).output
    assert "\x1b" not in output
    assert "\\x1b[2J" in output


@pytest.mark.parametrize(
    "known_as", [ONE.id, "an-older-id", evaluation_record(ONE, "sums").id], ids=["its id", "an alias", "an evaluation"]
)
def test_show_takes_an_alias_or_an_evaluations_id(run, known_as):
    """Whatever an alert or a log line named."""
    (whole,) = lines(run("show", known_as, "--format", "jsonl"))
    assert from_json(whole["interaction"]) == ONE
    assert len(whole["evaluations"]) == 4


def test_show_of_nothing_ends_with_1(run):
    """An unknown id is not a misuse."""
    result = run("show", "unknown")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no Interaction unknown in the ledger" in result.stderr
