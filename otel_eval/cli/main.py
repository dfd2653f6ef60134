"""`otel-eval`: the table of commands. A command's module is imported only when it runs, so that `--help` is quick."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from importlib import metadata
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from otel_eval.cli.exits import MISUSED
from otel_eval.cli.streams import Outlet, outlets


class Entry(NamedTuple):
    """One line of ``otel-eval --help``. ``target`` is ``module:function``, or ``module:app`` for a group."""

    target: str
    help: str


COMMANDS = {
    "serve": Entry("serve:serve", "Receive OTLP, judge what arrives, send verdicts back out."),
    "demo": Entry("demo:demo", "Start a real server, send it recorded agent exports, show the verdicts."),
    "init": Entry("init:init", "Write a commented starter configuration."),
    "interactions": Entry("interactions:interactions", "Print the Interactions in recorded telemetry."),
    "evaluate": Entry("evaluate:evaluate", "Judge recorded telemetry offline, with no server."),
    "evaluations": Entry("evaluations:evaluations", "Print the evaluation records of a ledger."),
    "gate": Entry("gate:gate", "Turn outcomes into an exit status, for CI and deployments."),
    "show": Entry("show:show", "Show one Interaction with its records, as the judge sees it."),
    "rerun": Entry("rerun:rerun", "Have a running server judge stored Interactions again."),
    "config": Entry("config:app", "Check a configuration file, or print its JSON schema."),
    "delete": Entry("delete:delete", "Delete what is stored of an Interaction, a session, a user or a time."),
}


class Commands(TyperGroup):
    """Lists the table without importing anything; imports the one command that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=entry.help) for name, entry in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return (name, load(name) if name in COMMANDS else command, rest)


def load(name: str) -> Any:
    """The real command of that name, with its options."""
    module, attribute = COMMANDS[name].target.split(":")
    target = getattr(importlib.import_module(f"otel_eval.cli.{module}"), attribute)
    if isinstance(target, typer.Typer):
        command: Any = typer.main.get_command(target)
    else:
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        single.command(name)(target)
        command = typer.main.get_command(single)
    command.name = name
    return command


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"otel-eval {metadata.version('otel-eval')}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Trace-driven evaluation of AI agents: OTLP in, verdicts out into the telemetry pipeline.",
    epilog="Start with: otel-eval demo",
)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that hold for every command."""


def main() -> None:
    """The console script. A reader that goes away (``| head -1``) changes no status; a full disk is MISUSED."""
    outlets()
    for argument in sys.argv[1:]:
        if not _is_text(argument) and not os.path.exists(argument):
            _end(f"an argument is not UTF-8 text, and the name of no file: {argument!r}")
    try:
        app(prog_name="otel-eval")
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        if isinstance(sys.stdout, Outlet) and sys.stdout.failure is not None:
            _end(f"what is printed cannot be written: {sys.stdout.failure.strerror}")


def _is_text(argument: str) -> bool:
    return argument.isascii() or not any("\ud800" <= char <= "\udfff" for char in argument)


def _end(message: str) -> NoReturn:
    print(f"otel-eval: {message}", file=sys.stderr, flush=True)
    sys.exit(MISUSED)
