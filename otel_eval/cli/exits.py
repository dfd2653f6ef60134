"""The exit statuses of every command, and how one says that it cannot go on."""

from __future__ import annotations

import typer

FAILED = 1
"""What was asked for did not pass, or could not be done."""
MISUSED = 2
"""A wrong option, file, configuration or ledger."""
UNDECIDED = 3
"""Too little evidence to say."""


def fail(message: str, status: int = MISUSED) -> typer.Exit:
    """Say it on standard error; raise what this returns."""
    typer.echo(f"otel-eval: {message}", err=True)
    return typer.Exit(status)
