"""``otel-eval interactions`` prints what recordings hold."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from otel_eval.cli.interactions import Format, write
from otel_eval.cli.main import app
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.spans import Tool, conversation

KEYS = {
    "source", "id", "trace_id", "span_id", "parent_id", "agent", "role", "session", "asked", "reply", "failed", "failure",
    "tool_calls", "model_calls", "usage", "gaps", "conventions", "started_ns", "ended_ns",
}  # fmt: skip


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """One request with one conversation."""
    spans = conversation(asked="hi [bold]", reply="hello", tools=[Tool(name="look", arguments={"a": 1}, error="down")])
    path = tmp_path / "a-traces.pb"
    path.write_bytes(otlp_request(spans))
    return path


def printed(path: Path, format: Format) -> str:
    """What the command prints."""
    out = io.StringIO()
    write([path], format, out)
    return out.getvalue()


@pytest.mark.parametrize("role", ["{agents: [supp*]}", "{attributes: {tenant.tier: gold}}"])
def test_roles_are_told_where_a_configuration_names_them(tmp_path: Path, role: str) -> None:
    """By the agent's name and by attributes of its span; without --config there is none."""
    first, *others = conversation(agent="support")
    spans = [dataclasses.replace(first, attributes={**first.attributes, "tenant.tier": "gold"}), *others]
    (tmp_path / "a.pb").write_bytes(otlp_request(spans))
    (tmp_path / "c.yaml").write_text(f"roles: {{first-line: {role}}}")
    run = CliRunner().invoke
    command = ["interactions", "--format", "jsonl", str(tmp_path / "a.pb")]
    assert json.loads(run(app, command).output)["role"] is None
    told = run(app, [*command, "--config", str(tmp_path / "c.yaml")])
    assert json.loads(told.output)["role"] == "first-line"
    wrong = run(app, [*command, "--config", str(tmp_path / "none.yaml")])
    assert wrong.exit_code == 2


def test_jsonl_has_one_line_per_interaction_with_the_documented_keys(recording: Path) -> None:
    """Every key of the contract, and a failed call with its error and no result."""
    (line,) = printed(recording, Format.JSONL).splitlines()
    found = json.loads(line)
    assert found.keys() >= KEYS
    assert (found["source"], found["asked"], found["reply"], found["failed"]) == (
        str(recording),
        "hi [bold]",
        "hello",
        False,
    )
    (call,) = found["tool_calls"]
    assert (call["name"], call["arguments"], call["result"]) == ("look", {"a": 1}, None)
    assert "down" in call["error"]


def test_json_is_one_array_of_the_same(recording: Path) -> None:
    """The lines of jsonl, as one JSON array."""
    assert json.loads(printed(recording, Format.JSON)) == [json.loads(printed(recording, Format.JSONL))]


def test_the_table_shows_text_as_it_stands(recording: Path) -> None:
    """What looks like markup in a message is not taken for markup."""
    assert "[bold]" in printed(recording, Format.TABLE)


def test_an_unreadable_path_ends_with_status_2(tmp_path: Path) -> None:
    """The error names the file."""
    bad = tmp_path / "bad.pb"
    bad.write_bytes(b"\xff\xff")
    run = subprocess.run(
        [sys.executable, "-m", "otel_eval.cli.interactions", str(bad)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "bad.pb" in run.stderr


@pytest.mark.parametrize("format", ["jsonl", "table"])
def test_a_bar_is_on_the_terminal_alone(recording: Path, tmp_path: Path, format: str) -> None:
    """Several recordings show how far it is on standard error; what is printed has nothing of it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "otel_eval", "interactions", "--format", format, str(recording), str(recording)]
    with open(ours, "rb", buffering=0) as terminal:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=True, timeout=60)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed: all is read
            while more := terminal.read(4096):
                shown += more
    assert b"recordings" in shown
    assert b"recordings" not in done.stdout
    assert done.stdout.count(b"look") == 2
