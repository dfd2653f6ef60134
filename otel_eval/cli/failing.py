"""How every command says that it cannot go on."""

from __future__ import annotations

import typer

MISUSED = 2
"""The exit status for a wrong option, configuration or ledger."""


def fail(message: str, status: int = MISUSED) -> typer.Exit:
    """Say it on standard error; raise what this returns."""
    typer.echo(f"otel-eval: {message}", err=True)
    return typer.Exit(status)
