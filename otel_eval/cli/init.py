"""``otel-eval init``: a configuration to start from, with what can be said in it as comments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from otel_eval.cli.exits import fail
from otel_eval.config.load import DEFAULT_FILE
from otel_eval.config.starter import STARTER


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
        raise fail(f"{path} is there already: --force overwrites it") from None
    except OSError as error:
        raise fail(f"{path}: {error.strerror}") from None
    typer.echo(f"Wrote {path}. Next: otel-eval config check --config {path}, then otel-eval serve --config {path}")
