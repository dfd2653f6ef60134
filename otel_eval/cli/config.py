"""``otel-eval config``: check a configuration before anything is started with it, or print its JSON schema."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from otel_eval.cli.exits import MISUSED
from otel_eval.config import Config, ConfigError
from otel_eval.config.load import DEFAULT_FILE
from otel_eval.config.reference import schema as json_schema
from otel_eval.config.starting import load_to_start
from otel_eval.emit.endpoints import shown
from otel_eval.emit.settings import ExporterSettings, targets
from otel_eval.wording import number_of

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
    files: Annotated[
        bool,
        typer.Option(
            "--files/--no-files",
            help="Look for the files that `*_file` keys name, at the storage directory and at the ledger's file.",
        ),
    ] = True,
) -> None:
    """Say every mistake that would keep a server from starting, of the configuration and of this machine's environment.

    Exit status 0: none, 2: some.
    """
    try:
        loaded = load_to_start(config, imports=imports, files=files)
    except ConfigError as error:
        for mistake in error.mistakes:
            typer.echo(str(mistake), err=True)
        typer.echo(number_of(len(error.mistakes), "mistake"), err=True)
        raise typer.Exit(MISUSED) from None
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
    return f"{name}: ok ({len(on)} evaluators, {bound} bound to agents; verdicts go to {_destination(config)})"


def _destination(config: Config) -> str:
    """Where verdicts go, and by which word where it is not the configuration's."""
    otlp = config.exporters.otlp
    settings = None if otlp is None else ExporterSettings(endpoint=otlp.endpoint, protocol=otlp.protocol)
    endpoints = [target.endpoint for target in targets(settings, os.environ) if target.signal != "metrics"]
    if not endpoints:
        return "the ledger alone" if otlp is None else "the ledger alone, as OTEL_SDK_DISABLED says"
    if otlp is not None:
        return shown(otlp.endpoint)
    return f"{' and '.join(dict.fromkeys(map(shown, endpoints)))}, as OTEL_EXPORTER_OTLP_* says"
