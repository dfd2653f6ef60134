"""Help is where people look for it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from otel_eval.cli.main import app


@pytest.mark.parametrize("command", [[], ["serve"], ["config", "check"]], ids=["itself", "a command", "of a group"])
def test_short_and_long_help_are_one(command: list[str]) -> None:
    """Of every command, also of those that are imported only when they run."""
    short, long = (CliRunner().invoke(app, [*command, option]) for option in ("-h", "--help"))
    assert (short.exit_code, short.output) == (0, long.output)
    assert "Usage: " in short.output
