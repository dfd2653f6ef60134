"""``otel-eval interactions``: what recorded telemetry holds, one Interaction a line."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from otel_eval.assemble.assembler import assemble
from otel_eval.cli.exits import fail
from otel_eval.cli.formats import Format, FormatOption
from otel_eval.cli.shown import printable
from otel_eval.interaction import Interaction
from otel_eval.interaction_json import to_json
from otel_eval.json_text import dumps
from otel_eval.receive.files import Recording, UnreadableRecording, read_path

if TYPE_CHECKING:
    from otel_eval.config import Config


def interactions(
    paths: Annotated[
        list[Path], typer.Argument(help="Files or folders of OTLP requests: .pb, .json, .jsonl.", metavar="PATH...")
    ],
    format: FormatOption = Format.TABLE,
    config: Annotated[
        Path | None, typer.Option("--config", help="A configuration, for the roles of its agents.", metavar="FILE")
    ] = None,
) -> None:
    """Put recorded telemetry back together: one Interaction for each invocation of an agent.

    Each PATH is a stream of its own; a folder is read as one stream in the order of its names. An agent's role comes from
    a configuration: it is told where --config names one.

    Example: otel-eval interactions --format jsonl recordings/
    """
    try:
        write(paths, format, sys.stdout, None if config is None else _configuration(config))
    except UnreadableRecording as error:
        raise fail(str(error)) from error


def _configuration(path: Path) -> Config:
    from otel_eval.cli.stored import configuration  # with the ledger: not needed without a configuration

    return configuration(path)


def write(paths: Sequence[Path], format: Format, out: TextIO, config: Config | None = None) -> None:
    """Prints the Interactions of the paths, with the roles of that configuration. Raises UnreadableRecording."""
    found = _read(paths) if config is None else _with_roles(paths, config)
    if format is Format.TABLE or not out.isatty():  # else the lines themselves show how far it is
        found = _shown(found, paths, at_once=format is Format.TABLE)
    if format is Format.JSONL:
        for source, interaction in found:
            out.write(_line(source, interaction) + "\n")
    elif format is Format.JSON:
        out.write("[" + ",\n".join(_line(source, interaction) for source, interaction in found) + "]\n")
    else:
        _table(list(found), out)


def _shown(
    found: Iterator[tuple[Path, Interaction]], paths: Sequence[Path], at_once: bool
) -> Iterator[tuple[Path, Interaction]]:
    """The same, with a bar of the paths on standard error where that is a terminal; ``at_once``: when the bar is gone."""
    if len(paths) < 2 or not sys.stderr.isatty():
        yield from found
        return
    from otel_eval.experiment.progress import bar

    kept = []
    with bar(len(paths), "recordings") as advance:
        begun: Path | None = None
        for path, interaction in found:
            if path != begun:
                begun = path
                advance(str(path))
            if at_once:
                kept.append((path, interaction))
            else:
                yield path, interaction
    yield from kept


def recorded(path: Path) -> Recording:
    """What the path holds; what of it could not be read is told on standard error. Raises UnreadableRecording."""
    recording = read_path(path)
    for warning in recording.warnings:
        typer.echo(f"otel-eval: {warning}", err=True)
    return recording


def _read(paths: Iterable[Path], keep: Collection[str] = ()) -> Iterator[tuple[Path, Interaction]]:
    for path in paths:
        recording = recorded(path)
        for interaction in assemble(recording.spans, recording.logs, keep):
            yield path, interaction


def _with_roles(paths: Iterable[Path], config: Config) -> Iterator[tuple[Path, Interaction]]:
    from otel_eval.dispatch.roles import Roles

    roles = Roles(config.roles)
    for path, interaction in _read(paths, config.role_attributes):
        first = next(iter(roles.of(interaction)), None)
        yield path, interaction if first is None else replace(interaction, role=first)


def _line(source: Path, interaction: Interaction) -> str:
    return dumps({"source": str(source), **to_json(interaction)}).decode()


def _table(found: list[tuple[Path, Interaction]], out: TextIO) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("agent", "asked", "reply", "tools", "gaps"):
        table.add_column(title, overflow="fold")
    for _, interaction in found:
        tools = [call.name + (" (failed)" if call.error is not None else "") for call in interaction.tool_calls]
        gaps = [f"{gap.field}: {gap.kind}" for gap in interaction.all_gaps() if gap.field not in ("session", "system")]
        indent = "  " if interaction.parent_id else ""
        cells = (
            indent + (interaction.agent or "-"),
            _short(interaction.asked),
            f"failed: {interaction.failure}" if interaction.failure is not None else _short(interaction.reply),
            ", ".join(tools),
            ", ".join(gaps),
        )
        table.add_row(*(escape(printable(cell)) for cell in cells))
    Console(file=out).print(table)


def _short(text: str | None, limit: int = 120) -> str:
    if text is None:
        return "(not captured)"
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


if __name__ == "__main__":
    typer.run(interactions)
