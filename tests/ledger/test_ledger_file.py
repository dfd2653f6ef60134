"""The file: who may read it, which format it has, and what is said where it cannot be used."""

from __future__ import annotations

import contextlib
import sqlite3
import stat

import pytest
from sqlalchemy import create_engine, text

from otel_eval.ledger import Ledger, LedgerError, LedgerFormatError, LedgerNotFound, LedgerUnavailable
from otel_eval.ledger.format import FORMAT, migrate
from otel_eval.ledger.schema import metadata
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record


def test_only_the_owner_may_read_it(url, tmp_path):
    """The directory is 0700, the file and what SQLite puts beside it 0600."""
    with Ledger.open(url) as ledger:
        ledger.finish([evaluation_record(interaction())])
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").iterdir()}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert modes == {"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}


def test_a_path_that_leads_through_nothing_is_not_made(tmp_path):
    """A folder that is misspelt, or whose volume is not mounted: the message says which one is missing, nothing is
    left behind."""
    with pytest.raises(
        LedgerUnavailable, match=r"typo/deep/x\.db cannot be made: there is no directory \S+/typo\. .*ledger\.url"
    ):
        Ledger.open(f"sqlite:///{tmp_path}/typo/deep/x.db")
    assert list(tmp_path.iterdir()) == []
    with Ledger.open(f"sqlite:///{tmp_path}/one/x.db"):
        assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o700


def test_writes_reach_the_disk(url):
    """WAL with synchronous=FULL (2): what a call has returned survives the loss of power."""
    with Ledger.open(url) as ledger:
        pragmas = ledger.write(
            lambda connection: [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
            ]
        )
    assert pragmas == ["wal", 2]


def test_a_newer_format_refuses_to_open_and_is_left_alone(url, tmp_path):
    """The message says both versions and the way out."""
    with Ledger.open(url) as ledger:
        ledger.write(lambda connection: connection.execute(text("UPDATE ledger_format SET version = 99")))
    before = (tmp_path / "data/ledger.db").read_bytes()
    with pytest.raises(LedgerFormatError, match=rf"format 99.*reads up to {FORMAT}.*Upgrade otel-eval"):
        Ledger.open(url)
    assert (tmp_path / "data/ledger.db").read_bytes() == before


@pytest.mark.parametrize("place", [0, 4096], ids=["header", "pages"])
def test_a_damaged_file_is_told_with_the_way_out(url, tmp_path, place):
    """Whoever reads it has to know which file it is, and what to do."""
    with Ledger.open(url):
        pass
    with (tmp_path / "data/ledger.db").open("r+b") as file:
        file.seek(place)
        file.write(b"garbage!" * 20_000)
    with pytest.raises(LedgerError, match=r"ledger\.db.*damaged.*backup.*move it away"):
        Ledger.open(url)


def test_an_older_format_is_migrated_step_by_step():
    """Each step runs once, in order, and the version is that of the last."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        migrate(connection, target=1)
        connection.execute(text("UPDATE ledger_format SET version = 1"))
        ran = []
        steps = {1: lambda c: ran.append(1), 2: lambda c: ran.append(2)}
        migrate(connection, target=3, steps=steps)
        migrate(connection, target=3, steps=steps)
        version = connection.execute(text("SELECT version FROM ledger_format")).scalar_one()
    engine.dispose()
    assert (ran, version) == ([1, 2], 3)


def test_a_migration_that_fails_changes_nothing(url):
    """All steps are one transaction."""
    with Ledger.open(url) as ledger:

        def half(connection):
            connection.execute(text("ALTER TABLE records ADD COLUMN more TEXT"))
            raise LedgerFormatError("broken half-way")

        with pytest.raises(LedgerFormatError):
            ledger.write(lambda connection: migrate(connection, target=FORMAT + 1, steps={FORMAT: half}))
        columns = ledger.write(lambda c: [row[1] for row in c.execute(text("PRAGMA table_info(records)"))])
    assert columns == [column.name for column in metadata.tables["records"].columns]


def test_a_ledger_that_is_not_there_is_not_made_for_a_reader(url, tmp_path):
    """A reader with a mistyped path gets an error, not an empty ledger."""
    with pytest.raises(LedgerNotFound, match=r"no ledger at .*ledger\.db"):
        Ledger.open(url, create=False)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("broken", ["not a url", "nodriver://x"])
def test_a_url_that_nobody_understands_is_an_error_of_ours(broken):
    """Third-party exceptions stay inside; a password in the URL is not repeated."""
    with pytest.raises(LedgerError):
        Ledger.open(broken)


def test_a_file_that_is_no_database_is_an_error_of_ours(tmp_path):
    """And is not overwritten."""
    path = tmp_path / "ledger.db"
    path.write_bytes(b"this is not a database, it is longer than a header " * 100)
    with pytest.raises(LedgerError, match="not a database"):
        Ledger.open(f"sqlite:///{path}")
    assert path.read_bytes().startswith(b"this is not")


def test_another_programs_database_is_left_alone(tmp_path):
    """Also where one of its tables has the name of one of ours, which would pass for it."""
    path = tmp_path / "shop.db"
    with contextlib.closing(sqlite3.connect(path)) as shop:
        shop.execute("CREATE TABLE records (artist TEXT)")
    for create in (True, False):
        with pytest.raises(LedgerFormatError, match="another program's: it holds the tables records and is no ledger"):
            Ledger.open(f"sqlite:///{path}", create=create)
    with contextlib.closing(sqlite3.connect(path)) as shop:
        assert shop.execute("SELECT name FROM sqlite_master").fetchall() == [("records",)]


def test_what_cannot_be_opened_is_told_with_what_is_needed(tmp_path):
    """A directory, say. SQLite's own words would be all: unable to open database file."""
    with pytest.raises(
        LedgerUnavailable, match="unable to open database file: it has to be a file, of which and beside which"
    ):
        Ledger.open(f"sqlite:///{tmp_path}", create=False)
