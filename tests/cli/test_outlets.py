"""What a command prints to a reader that goes away, to a full disk, to nowhere: the status stays what it means."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from otel_eval.ledger import Batch, Ledger, StoredInteraction
from otel_eval.outcome import Failed, Passed
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record

FULL = Path("/dev/full")


@pytest.fixture
def run(tmp_path):
    """Run the console script beside a ledger with one record that passed and one that failed."""
    one = interaction()
    records = (
        evaluation_record(one, "polite", Passed(explanation="fine, …")),
        evaluation_record(one, "exact", Failed(explanation="wrong")),
    )
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        ledger.commit(
            Batch(interactions=(StoredInteraction(interaction=one, revision=1, digest="d"),), records=records)
        )

    def command(*arguments: str | bytes, streams: str = "", stdout: int = subprocess.PIPE, **environ: str):
        shell = ["sh", "-c", f'exec "$0" -m otel_eval "$@" --ledger ledger.db {streams}', sys.executable, *arguments]
        environ = {**os.environ, **environ}
        return subprocess.run(shell, stdout=stdout, stderr=subprocess.PIPE, timeout=120, cwd=tmp_path, env=environ)

    return command


def gate(evaluator: str) -> tuple[str, ...]:
    return ("gate", "--evaluator", evaluator, "--pass-rate", "0.9")


@pytest.fixture
def unread():
    """A pipe that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.mark.parametrize("buffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_reader_that_goes_away_changes_no_status(run, unread, buffered) -> None:
    """A gate that passed would be one that failed."""
    for arguments, status in ((gate("polite"), 0), (gate("exact"), 1), (("evaluations", "--format", "jsonl"), 0)):
        ended = run(*arguments, stdout=unread, PYTHONUNBUFFERED=buffered)
        assert (ended.returncode, ended.stderr) == (status, b"")


def test_without_standard_streams_the_status_is_the_same(run) -> None:
    for arguments, status in ((gate("polite"), 0), (gate("exact"), 1), (("evaluations",), 0), (("show", "nothing"), 1)):
        assert run(*arguments, streams=">&- 2>&-").returncode == status


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_what_cannot_be_written_is_told_and_is_no_verdict(run, buffered) -> None:
    for arguments in (gate("polite"), ("evaluations",), ("evaluations", "--format", "jsonl")):
        with FULL.open("w") as full:
            ended = run(*arguments, stdout=full.fileno(), PYTHONUNBUFFERED=buffered)
        assert ended.stderr == b"otel-eval: what is printed cannot be written: No space left on device\n"
        assert ended.returncode == 2


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_log_that_is_full_changes_no_status(run) -> None:
    assert run("show", "nothing", streams="2>/dev/full").returncode == 1


def test_what_a_terminal_cannot_encode_is_written_out(run) -> None:
    ended = run("evaluations", "--evaluator", "polite", PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert rb"fine, \u2026" in ended.stdout


def test_an_argument_that_is_no_text_is_refused(run) -> None:
    ended = run("evaluations", "--agent", b"a\xff")
    expected = b"otel-eval: an argument is not UTF-8 text, and the name of no file: 'a\\udcff'\n"
    assert (ended.returncode, ended.stderr) == (2, expected)
