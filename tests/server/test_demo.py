"""The first thing that a newcomer runs."""

from __future__ import annotations

import os
import subprocess
import sys


def test_the_demo_shows_passes_and_failures_and_what_went_back_out() -> None:
    """Exit status 0, every recording with its verdicts, said plainly that no model was asked."""
    done = subprocess.run(
        [sys.executable, "-m", "otel_eval", "demo"],
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no model is asked" in done.stdout
    for framework in ("google-adk", "openai-agents", "openai-loop", "pydantic-ai", "strands-agents", "vercel-ai7"):
        assert framework in done.stdout
    assert "FAIL tools-work: no-tool-errors: expected no tool to fail, was [flaky_tool failed" in done.stdout
    assert "scored 0.10, needed 0.50 — the reply does not apologize" in done.stdout
    assert "pass" in done.stdout
    assert "evaluation spans in the agents' own traces" in done.stdout
