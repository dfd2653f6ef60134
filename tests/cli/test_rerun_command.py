"""`otel-eval rerun` before it asks anybody."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from otel_eval.api.questions import MOST_EVALUATIONS
from otel_eval.cli.formats import Format
from otel_eval.cli.main import app
from otel_eval.cli.rerun import MOST, _print_queued, _status, _where
from otel_eval.config import parse
from otel_eval.outcome import Errored, Failed, Inconclusive, Outcome, Passed
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record
from otel_eval.v1 import evaluations_pb2 as pb

NOBODY = "127.0.0.1:1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name Interactions by --interaction"),
        (("--interaction", "i", "--agent", "a"), "name Interactions by --interaction"),
        (("--agent", "a", "--since", "soon"), "--since: "),
        (("--agent", "a", "--timeout", "long"), "--timeout: "),
        (("--agent", "a", "--token-env", "NOT_SET"), "NOT_SET is not set"),
        (("--agent", "a", "--api", "http://x/y"), "is not host:port"),
        (("--agent", "a", "--api", "nowhere"), "is not host:port"),
        (("--agent", "a", "--api", NOBODY, "--ca-file", "none.pem"), "none.pem"),
        (("--agent", "a", "--api", NOBODY), "does not answer"),
    ],
)
def test_what_cannot_be_asked_is_said(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 2, and a line that says what to do."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["rerun", "--evaluator", "e", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("geheim-ä", "no header can hold (the environment variable OTEL_EVAL_API_TOKEN holds"),
        ("two\nlines", "no header can hold"),
        ("two ends\n\n", "no header can hold"),
        ("as a file has it\n", "does not answer"),
        ("as a file of Windows has it\r\n", "does not answer"),
    ],
)
def test_a_token_that_no_header_can_hold_is_told(token: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without showing it; the end of a line behind it is none of it."""
    monkeypatch.setenv("OTEL_EVAL_API_TOKEN", token)
    done = CliRunner().invoke(app, ["rerun", "--evaluator", "e", "--agent", "a", "--api", NOBODY])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert token.strip() not in done.stderr


@pytest.mark.parametrize("most", ["0", str(MOST + 1), "99999999999"])
def test_how_many_has_bounds(most: str) -> None:
    """Those of the service: more than it starts at a time it does not take."""
    assert MOST == MOST_EVALUATIONS
    done = CliRunner().invoke(app, ["rerun", "--evaluator", "e", "--agent", "a", "--api", NOBODY, "--max", most])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--max" in done.stderr


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        ("127.0.0.1:9", "127.0.0.1:9"),
        ("0.0.0.0:9", "127.0.0.1:9"),
        ("[::]:9", "[::1]:9"),
        ("ledger.internal:9", "ledger.internal:9"),
    ],
)
def test_the_configuration_says_where_the_api_is(endpoint: str, address: str) -> None:
    """All interfaces are reached by the loopback one."""
    assert _where(None, parse({"api": {"endpoint": endpoint}})) == (address, False)
    assert _where("https://a.b:9", None) == ("a.b:9", True)


PASSED, FAILED, NOTHING, BROKEN = Passed(""), Failed(""), Inconclusive(""), Errored("")


@pytest.mark.parametrize(
    ("outcomes", "missing", "status"),
    [
        ([PASSED, PASSED], 0, 0),
        ([PASSED, FAILED, BROKEN], 1, 1),
        ([PASSED, NOTHING], 0, 3),
        ([PASSED, BROKEN], 0, 3),
        ([PASSED], 1, 3),
    ],
)
def test_the_exit_status_says_how_it_went(outcomes: list[Outcome], missing: int, status: int) -> None:
    """A failure is 1; without one, whatever gave no verdict is 3."""
    records = [evaluation_record(interaction(), outcome=outcome) for outcome in outcomes]
    assert _status(records, missing) == status


@pytest.mark.parametrize(
    ("format", "printed"),
    [
        (Format.TABLE, "e judges i again, attempt 2\n1 evaluation queued\n"),
        (
            Format.JSONL,
            '{"evaluation_id": "x", "interaction_id": "i", "evaluator": "e", "revision": 1, "attempt": 2}\n',
        ),
    ],
)
def test_what_was_queued_is_printed(format: Format, printed: str) -> None:
    """Nothing is a status of its own, so that a script with a mistyped name does not go on."""
    out = io.StringIO()
    one = pb.StartedEvaluation(evaluation_id="x", interaction_id="i", evaluator="e", revision=1, attempt=2)
    assert _print_queued(pb.StartEvaluationResponse(evaluations=[one]), format, out) == 0
    assert out.getvalue() == printed
    assert _print_queued(pb.StartEvaluationResponse(), format, out) == 3
