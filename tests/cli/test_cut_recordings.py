"""A recording that is still being written: what is whole is read, and the rest is told on standard error."""

import pytest
from google.protobuf import json_format
from typer.testing import CliRunner

from otel_eval.cli.main import app
from otel_eval.testing.otlp import trace_request
from otel_eval.testing.spans import conversation


@pytest.mark.parametrize("command", ["interactions", "evaluate"])
def test_a_cut_last_line_is_told_beside_what_was_read(tmp_path, monkeypatch, command):
    """Standard output has the rest, and the command comes to its end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "otel-eval.yaml").write_text("evaluators: {ok: {check: should_not_fail, agents: ['*']}}")
    lines = [json_format.MessageToJson(trace_request(conversation()), indent=None) for _ in range(2)]
    (tmp_path / "traces.json").write_text(f"{lines[0]}\n{lines[1][:200]}")
    result = CliRunner().invoke(app, [command, "--format", "jsonl", "traces.json"])
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1), result.output
    assert result.stderr == "otel-eval: traces.json: line 2, the last one, is cut and left out\n"
