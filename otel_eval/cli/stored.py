"""What the commands over a ledger share: where it is, since when, and how to print."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeAlias

import typer

from otel_eval.cli.exits import fail
from otel_eval.cli.formats import Format
from otel_eval.cli.streams import Outlet
from otel_eval.config import Config, ConfigError
from otel_eval.config.load import load
from otel_eval.durations import parse_duration_ns
from otel_eval.ledger import Ledger, LedgerError

ConfigOption: TypeAlias = Annotated[
    Path | None, typer.Option("--config", help="The configuration that names the ledger.  [default: ./otel-eval.yaml]")
]
LedgerOption: TypeAlias = Annotated[
    str | None, typer.Option("--ledger", help="The ledger itself: an SQLAlchemy URL, or the path of an SQLite file.")
]


def configuration(path: Path | None) -> Config:
    """The configuration, or the defaults where there is no file. Exits with MISUSED and every mistake in it."""
    try:
        return load(path)
    except ConfigError as error:
        raise fail(str(error)) from error


def url_of(ledger: str) -> str:
    """What ``--ledger`` says. Exits with MISUSED where that is nothing, as of a variable that is not set."""
    if not ledger.strip():
        raise fail("--ledger: give an SQLAlchemy URL, or the path of an SQLite file, and not a blank one")
    return ledger if "://" in ledger else f"sqlite:///{ledger}"


@contextmanager
def opened(ledger: str | None, config: Config) -> Iterator[Ledger]:
    """The ledger of ``--ledger``, else of the configuration; never makes one. Exits with MISUSED where it cannot be read."""
    url = config.ledger_url if ledger is None else url_of(ledger)
    try:
        with Ledger.open(url, create=False) as found:
            yield found
    except LedgerError as error:
        raise fail(str(error)) from error


def since_ns(since: str | None) -> int | None:
    """The moment that long ago. Exits with MISUSED for what is no duration."""
    if since is None:
        return None
    try:
        return time.time_ns() - parse_duration_ns(since)
    except ValueError as error:
        raise fail(f"--since: {error}") from error


def print_json(values: Iterable[Mapping[str, Any]], format: Format, out: TextIO) -> None:
    """One object a line; with ``json`` as one array, written as it comes, as long as somebody reads."""
    between = "\n" if format is Format.JSONL else ",\n"
    opening, closing = ("", "") if format is Format.JSONL else ("[", "]\n")
    out.write(opening)
    last = ""
    for number, value in enumerate(values):
        if isinstance(out, Outlet) and out.gone:
            return
        out.write((between if number else "") + json.dumps(value))
        last = "\n" if format is Format.JSONL else ""
    out.write(last + closing)
