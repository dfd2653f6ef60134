"""``otel-eval init``: a configuration to start from, with what can be said in it as comments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from otel_eval.config.load import DEFAULT_FILE
from otel_eval.config.starter import STARTER

USAGE_ERROR = 2


def init(
    path: Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to write it; - for standard output.")] = Path(
        DEFAULT_FILE
    ),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a commented starter configuration.

    Example: otel-eval init && otel-eval config check
    """
    if str(path) == "-":
        typer.echo(STARTER, nl=False)
        return
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(STARTER)
    except FileExistsError:
        typer.echo(f"{path} is there already: --force overwrites it", err=True)
        raise typer.Exit(USAGE_ERROR) from None
    except OSError as error:
        typer.echo(f"{path}: {error.strerror}", err=True)
        raise typer.Exit(USAGE_ERROR) from None
    typer.echo(f"Wrote {path}. Next: otel-eval config check --config {path}, then otel-eval serve --config {path}")
