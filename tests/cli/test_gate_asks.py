"""``gate`` judges what it is asked about and no more, and refuses what it could not keep: before anything is paid for."""

import json

import pytest
from typer.testing import CliRunner

from otel_eval.cli.main import app
from otel_eval.evaluators.custom import evaluator
from otel_eval.outcome import Passed
from otel_eval.record_json import to_json, to_line
from otel_eval.signals import Resource
from otel_eval.testing.interactions import interaction
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.records import evaluation_record
from otel_eval.testing.spans import conversation


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def polite():
    return evaluation_record(interaction(), "polite", Passed("p"), check="costly")


ASKED = []


@evaluator(check="costly")
def costly(interaction):
    """As a judge does, it costs each time; the list says how often."""
    ASKED.append(interaction.agent)
    return Passed("paid")


@evaluator(check="costly-too")
def costly_too(interaction):
    """Another one."""
    return costly.function(interaction)


@pytest.fixture
def costing(run, tmp_path):
    """Two Interactions of one agent and one of another, which two evaluators would judge at a cost; and a file of records."""
    ASKED.clear()
    (tmp_path / "otel-eval.yaml").write_text(f"""
evaluators:
  first: {{use: "{__name__}:costly", agents: ["*"]}}
  second: {{use: "{__name__}:costly_too", agents: ["*"]}}
  off: {{use: "{__name__}:costly", agents: ["*"], enabled: false}}
""")
    spans = [
        *conversation(),
        *conversation(),
        *conversation(agent="sales-agent", resource=Resource(attributes={"service.name": "s"})),
    ]
    (tmp_path / "00000-traces.pb").write_bytes(otlp_request(spans))
    record = polite()
    (tmp_path / "lines.jsonl").write_text(json.dumps(to_line(record)) + "\n")
    whole = [to_json(polite()) | {"service": service} for service in ("a", "b", None)]
    (tmp_path / "whole.json").write_text(json.dumps(whole))
    return run


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("00000-traces.pb", "--pass-rate", "0.9", "--evaluator", "typo"),
         "no evaluator is called typo, and none has that check; there are first, second, off"),
        (("00000-traces.pb", "--pass-rate", "0.9", "--evaluator", "off"), "off is switched off"),
        (("00000-traces.pb", "--pass-rate", "90", "--evaluator", "first"), "rate is a number from 0 to 1"),
        (("00000-traces.pb",), "--pass-rate is needed"),
        (("00000-traces.pb", "nothing.json", "--pass-rate", "0.9"), "nothing.json"),
        (("00000-traces.pb", "lines.jsonl", "--pass-rate", "0.9", "--service", "shop"), "--service: lines.jsonl does not say it"),
        (("lines.jsonl", "--pass-rate", "0.9", "--environment", "prod"), "--environment: lines.jsonl does not say it"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_before_anything_is_judged(costing, arguments, says):
    """Judging recordings may cost money; a gate that cannot decide in the end costs nothing."""
    result = costing("gate", *arguments)
    assert (result.exit_code, says in result.output, ASKED) == (2, True, []), result.output


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ((), ["support-agent"] * 4 + ["sales-agent"] * 2),
        (("--evaluator", "first"), ["support-agent"] * 2 + ["sales-agent"]),
        (("--evaluator", "costly-too"), ["support-agent"] * 2 + ["sales-agent"]),
        (("--evaluator", "first", "--agent", "sales-agent"), ["sales-agent"]),
        (("--evaluator", "first", "--service", "s"), ["sales-agent"]),
        (("--evaluator", "first", "--environment", "prod"), []),
    ],
)
def test_only_what_is_asked_for_is_judged(costing, arguments, asked):
    """By evaluator or its check, agent, service and environment."""
    result = costing("gate", "00000-traces.pb", "--pass-rate", "0.9", *arguments)
    assert (result.exit_code, sorted(ASKED)) == (0 if asked else 3, sorted(asked)), result.output


def test_records_that_say_their_service_are_chosen_by_it(costing):
    """As the whole record has it; one that has none is of no service."""
    result = costing("gate", "whole.json", "--pass-rate", "0.9", "--evaluator", "polite", "--service", "a")
    assert result.output == "PASS pass rate of polite 1.00 over 1 result (1 case, 1 run), required 0.9\n"


def test_lines_of_records_are_known_by_their_content(costing, tmp_path):
    """Whatever the file is called."""
    (tmp_path / "lines.json").write_text((tmp_path / "lines.jsonl").read_text() * 2)
    assert costing("gate", "lines.json", "--pass-rate", "0.9", "--evaluator", "polite").exit_code == 0
