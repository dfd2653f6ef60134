"""``otel-eval delete``: what is stored of an Interaction, a session, a user or a time, wherever it is stored."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from otel_eval.cli.exits import FAILED, fail
from otel_eval.cli.formats import Format, FormatOption
from otel_eval.cli.stored import ConfigOption, LedgerOption, configuration, url_of
from otel_eval.clock import Clock, SystemClock
from otel_eval.config import Config
from otel_eval.durations import parse_duration_ns
from otel_eval.journal import Journal, JournalError, JournalLocked
from otel_eval.journal.schema import FILE
from otel_eval.ledger import AsyncLedger, Ledger, LedgerError, LedgerFormatError, LedgerNotFound
from otel_eval.pipeline.forgetting import Forgotten, Wanted, forget
from otel_eval.server.control import ControlError, NobodyListens, ask
from otel_eval.wording import moment

PATIENCE_S = 30.0
"""How long is waited for whoever holds the directory and does not listen: the longest pause before a judging process is
started again, and that start twice over."""
_NO_LONGER_TIMES = 1 << 63
"""Nanoseconds since 1970 as ledgers hold them: signed, of 64 bits."""
AGAIN_S = 0.2
"""After what time it is asked again: nothing tells of a socket that is there."""


def delete(
    interaction: Annotated[str | None, typer.Option(help="This Interaction, by its id or an alias.")] = None,
    session: Annotated[str | None, typer.Option(help="Every Interaction of this session (conversation id).")] = None,
    user: Annotated[str | None, typer.Option(help="Every Interaction of this user.")] = None,
    before: Annotated[
        str | None,
        typer.Option(help="Every Interaction that ended before: a time ago (30d) or a date (2026-11-30, UTC)."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    format: FormatOption = Format.TABLE,
    ledger: LedgerOption = None,
    config: ConfigOption = None,
) -> None:
    """Delete what is stored of an Interaction, a session, a user or a time: exactly one of the four.

    Nested Interactions go along, with evaluation records, evaluations that wait, verdicts that are not yet exported, the
    telemetry in the journal (by whole traces) and in quarantine. It cannot be undone, and does not reach what was
    exported or forwarded already.

    While a server holds the storage directory, it is asked to do it, so that its memory forgets as well; it must run on
    this machine, and may be busy with a judge whose record still comes: repeat the command then. While it starts, or starts
    its judging process again, it is waited for, for half a minute. Of several replicas, run it beside each: they may share
    a ledger, never a journal. With --ledger that ledger alone is touched.

    Exit status: 0, also where there was nothing; 1 where it was not confirmed, or not all of it could be deleted (do it
    again); 2 for a wrong option, configuration or ledger.

    Example: otel-eval delete --user ada --yes
    """
    wanted = _wanted(interaction, session, user, before)
    loaded = configuration(config)
    if not yes:
        _confirm(wanted)
    with Console(stderr=True).status("deleting …"):  # animated on a terminal, silent elsewhere
        try:
            forgotten = asyncio.run(_delete(wanted, loaded, ledger))
        except (LedgerNotFound, LedgerFormatError) as error:
            raise fail(str(error)) from error
        except (ControlError, JournalError, LedgerError) as error:
            raise fail(f"not all of it was deleted, do it again: {error}", status=FAILED) from error
    if format is Format.TABLE:
        typer.echo(_said(forgotten))
    else:
        typer.echo(json.dumps(asdict(forgotten)))


def _wanted(interaction: str | None, session: str | None, user: str | None, before: str | None) -> Wanted:
    given = [value for value in (interaction, session, user, before) if value is not None]
    if len(given) != 1 or not given[0].strip():
        raise fail("give exactly one of --interaction, --session, --user and --before, and not a blank one")
    return Wanted(
        interaction=interaction, session=session, user=user, before_ns=None if before is None else _moment_ns(before)
    )


def _moment_ns(text: str) -> int:
    """That long ago, or the beginning of that day, or that moment. Exits with MISUSED for what is neither."""
    try:
        return time.time_ns() - parse_duration_ns(text)
    except ValueError:
        pass
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise fail(f"--before: {text!r} is no duration (30d, 12h) and no date (2026-11-30)") from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)
    time_ns = int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000
    if not 0 <= time_ns < _NO_LONGER_TIMES:
        raise fail(f"--before: {text!r} is not between 1970 and 2262")
    return time_ns


def _confirm(wanted: Wanted) -> None:
    if not sys.stdin.isatty():
        raise fail("say --yes to delete where nobody can be asked", status=FAILED)
    ((by, value),) = wanted.given().items()
    what = f"that ended before {moment(value)}" if by == "before_ns" else f"with {by} {value!r}"
    if not typer.confirm(f"Delete all that is stored of the Interactions {what}?", err=True):
        raise fail("nothing was deleted", status=FAILED)


async def _delete(wanted: Wanted, config: Config, ledger: str | None) -> Forgotten:
    if ledger is not None:
        return await _from_ledger(wanted, url_of(ledger), None)
    directory = config.storage_directory
    if not (directory / FILE).exists():
        return await _from_ledger(wanted, config.ledger_url, None)
    opened = await _opened_or_done(wanted, directory, SystemClock())
    if isinstance(opened, Forgotten):
        return opened
    async with opened as journal:
        return await _from_ledger(wanted, config.ledger_url, journal)


async def _opened_or_done(wanted: Wanted, directory: Path, clock: Clock) -> Journal | Forgotten:
    """The journal where nobody holds it, or what its holder deleted. One that does not listen may begin to, or let go."""
    deadline = clock.monotonic() + PATIENCE_S
    while True:
        try:
            return await Journal.open(directory, clock=clock)
        except JournalLocked:
            try:
                return await ask(directory, wanted)
            except NobodyListens:
                if clock.monotonic() >= deadline:
                    raise
        await clock.sleep_until(clock.monotonic() + AGAIN_S)


async def _from_ledger(wanted: Wanted, url: str, journal: Journal | None) -> Forgotten:
    async with AsyncLedger(await asyncio.to_thread(Ledger.open, url, create=False)) as ledger:
        return await forget(wanted, ledger=ledger, journal=journal)


def _said(forgotten: Forgotten) -> str:
    if not any(asdict(forgotten).values()):
        return "nothing is stored of it"
    return (
        f"deleted: {forgotten.interactions} Interactions with {forgotten.evaluations} evaluations; "
        f"telemetry of {forgotten.traces} traces ({forgotten.requests} requests in the journal, "
        f"{forgotten.quarantined} in quarantine)"
    )
