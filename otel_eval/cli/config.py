"""``otel-eval config``: check a configuration before anything is started with it, or print its JSON schema."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from otel_eval.config import Config, ConfigError, build_evaluators, load, missing_judge_models
from otel_eval.config.load import DEFAULT_FILE
from otel_eval.config.reference import schema as json_schema

USAGE_ERROR = 2

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Check a configuration file, or print its JSON schema.",
    epilog="Example: otel-eval config check --config otel-eval.yaml",
)

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help=f"The configuration; else ./{DEFAULT_FILE}."),
]


@app.command(epilog="Example: otel-eval config check --config otel-eval.yaml")
def check(
    config: ConfigFile = None,
    imports: Annotated[
        bool, typer.Option("--imports/--no-imports", help="Import what `use:` names, as a start would.")
    ] = True,
) -> None:
    """Say every mistake in a configuration. Exit status 0: none, 2: some."""
    try:
        loaded = load(config)
        missing = missing_judge_models(loaded)
        if missing:
            raise ConfigError(missing)
        if imports:
            build_evaluators(loaded)
    except ConfigError as error:
        for mistake in error.mistakes:
            typer.echo(str(mistake), err=True)
        count = len(error.mistakes)
        typer.echo(f"{count} mistake{'s' if count > 1 else ''}", err=True)
        raise typer.Exit(USAGE_ERROR) from None
    typer.echo(_summary(loaded, config))


@app.command(epilog="Example: otel-eval config schema > otel-eval.schema.json")
def schema() -> None:
    """Print the JSON schema of the configuration, for an editor that completes and checks it."""
    typer.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


def _summary(config: Config, path: Path | None) -> str:
    """One line: which file, and what it would start."""
    name = str(path) if path is not None else DEFAULT_FILE if os.path.exists(DEFAULT_FILE) else "no file: the defaults"
    on = [entry for entry in config.evaluators.values() if entry.enabled]
    bound = sum(bool(entry.agents or entry.agent_roles) for entry in on)
    where = "the ledger alone" if config.exporters.otlp is None else config.exporters.otlp.endpoint
    return f"{name}: ok ({len(on)} evaluators, {bound} bound to agents; verdicts go to {where})"
