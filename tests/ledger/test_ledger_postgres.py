"""The same ledger on PostgreSQL, by URL alone: on one that the machine has, or that OTEL_EVAL_TEST_POSTGRES_URL names.

The tables of a ledger in the database that is named are emptied.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from otel_eval.ledger import (
    AsyncLedger,
    Batch,
    Change,
    Ledger,
    LedgerFormatError,
    LedgerRefused,
    LedgerUnavailable,
    StoredInteraction,
    WaitingEvaluation,
)
from otel_eval.ledger.format import FORMAT
from otel_eval.outcome import Failed
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record
from tests.ledger.test_forgotten import race
from tests.ledger.test_ledger import finds_long_keys
from tests.ledger.test_ledger_follow import back_to_format_1, follow

psycopg = pytest.importorskip("psycopg", reason="needs psycopg: pip install 'otel-eval[postgres]'")


def tool(name: str) -> str | None:
    """A program of PostgreSQL, which distributions keep off the PATH."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or (str(places[0]) if places else None)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL whose ledger tables may be emptied."""
    if given := os.environ.get("OTEL_EVAL_TEST_POSTGRES_URL"):
        yield given
        return
    initdb, pg_ctl = tool("initdb"), tool("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("needs PostgreSQL's initdb and pg_ctl, or OTEL_EVAL_TEST_POSTGRES_URL")
    as_user: list[str] = []
    directory = Path(tempfile.mkdtemp(prefix="otel-eval-pg-"))
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        shutil.chown(directory, "nobody")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(*command: str) -> None:
        subprocess.run([*as_user, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    try:
        run(initdb, "-D", f"{directory}/data", "-A", "trust", "-U", "postgres", "--no-sync")
        options = f"-p {port} -k {directory} -c listen_addresses=127.0.0.1 -c fsync=off"
        run(pg_ctl, "-D", f"{directory}/data", "-o", options, "-l", f"{directory}/log", "-w", "start")
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        run(pg_ctl, "-D", f"{directory}/data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def ledger(server) -> Iterator[Ledger]:
    """An empty ledger there."""
    with Ledger.open(server) as opened:
        tables = "interactions, aliases, records, waiting, outbox, budget"
        opened.write(lambda connection: connection.exec_driver_sql(f"TRUNCATE {tables}"))
        yield opened


def stored(one, revision=1):
    return StoredInteraction(interaction=one, revision=revision, digest=f"d{revision}")


def test_what_is_stored_comes_back(ledger):
    """An Interaction with times and texts that columns do not take, its record and its place in the outbox."""
    one = interaction(started_ns=2**64 - 2_000_000_000, reply="nul \x00", agent="a\x00b")
    record = evaluation_record(one, started_ns=1)
    ledger.commit(Batch(interactions=(stored(one),), records=(record,)))
    assert ledger.interaction(one.id) == one
    assert ledger.evaluations(one.id) == (record,)
    assert [entry.record for entry in ledger.unexported()] == [record]


@pytest.fixture
def sorted_by_language(server) -> Iterator[Ledger]:
    """A ledger in a database that sorts by a language's rules, as those of most distributions and images do."""
    engine = create_engine(server.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        try:
            connection.exec_driver_sql(
                "CREATE DATABASE by_language TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
            )
        except DBAPIError as error:
            pytest.skip(f"needs PostgreSQL 15 or newer, with ICU: {error.orig}")
        with Ledger.open(f"{server.rpartition('/')[0]}/by_language") as opened:
            yield opened
        connection.exec_driver_sql("DROP DATABASE by_language WITH (FORCE)")
    engine.dispose()


def test_the_interactions_of_a_trace_are_found_however_texts_are_sorted(sorted_by_language):
    """By a language's rules a tilde comes before digits, and not after letters as in ASCII."""
    ledger, found = sorted_by_language, [interaction(trace_id="ab" * 16) for _ in range(3)]
    ledger.commit(Batch(interactions=tuple(map(stored, (*found, interaction())))))
    assert ledger.told_of(["ab" * 16, "f" * 32]) == {"ab" * 16: {one.id: "d1" for one in found}}


def test_sessions_and_users_of_any_length_are_stored_and_found(ledger):
    """An entry of an index has a limit here, above which nothing of a batch was stored, and so nothing ever again."""
    finds_long_keys(ledger)


def test_data_that_no_row_can_hold_is_refused_for_good(ledger):
    """It is not that the database cannot be reached: trying again would hold up all that comes behind it."""
    endless = WaitingEvaluation(
        evaluation_id=secrets.token_hex(10_000), interaction_id="i", evaluator="e", evaluator_version="1", check="c",
        enqueued_ns=0,
    )  # fmt: skip
    with pytest.raises(LedgerRefused, match="index row"):
        ledger.commit(Batch(waiting=(endless,)))


def test_revisions_aliases_and_the_current_record(ledger):
    """The same rules as on SQLite."""
    old, new = interaction(), interaction()
    ledger.commit(Batch(interactions=(stored(old),), records=(evaluation_record(old),)))
    ledger.commit(Batch(interactions=(stored(new, 2),), aliases={old.id: new.id}))
    (done,) = ledger.finish([evaluation_record(new, outcome=Failed(explanation="no"), revision=2)])
    assert (done.change, done.previous) == (Change.REVISED, "passed")
    assert ledger.interaction(old.id) == new
    assert [record.revision for record in ledger.current()] == [2]
    assert ledger.next_revisions({old.id: "d2"}) == {old.id: (2, False)}


def test_what_waits_and_what_is_exported(ledger):
    """Order, paging, postponement; marking empties the outbox; budgets add up."""
    rows = [
        WaitingEvaluation(
            evaluation_id=name, interaction_id="i", evaluator="e", evaluator_version="1", check="judge", enqueued_ns=n
        )
        for n, name in enumerate("abc")
    ]
    ledger.commit(Batch(waiting=tuple(rows)))
    ledger.postpone(["b"], 9)
    assert [row.evaluation_id for row in ledger.waiting(after=(0, "a"), due_ns=5)] == ["c"]
    assert ledger.backlog().count == 3
    ledger.finish([evaluation_record(interaction())])
    ledger.mark_exported(entry.sequence for entry in ledger.unexported())
    assert ledger.outbox_size() == 0
    ledger.add("m", "d", 0.25, 1)
    ledger.add("m", "d", 0.5, 3)
    assert ledger.spent("m", "d") == (0.75, 4)


async def test_many_writers_share_it(ledger):
    """Concurrent commits of the pipeline all arrive."""
    async with AsyncLedger(ledger) as shared:
        ones = [interaction() for _ in range(100)]
        await asyncio.gather(
            *(shared.commit(Batch(interactions=(stored(one),), records=(evaluation_record(one),))) for one in ones)
        )
        assert await shared.outbox_size() == 100


def test_deleting_races_storing(ledger):
    """Row locks order what SQLite's one writer orders by itself."""
    race(ledger)


def test_two_writers_are_followed_without_a_gap(server, ledger):
    """Numbers are seen in their order, though two processes take them: whoever follows misses nothing, nothing comes
    twice."""
    begun = ledger.place().sequence
    names = [[f"{writer}-{number}" for number in range(30)] for writer in range(2)]

    def write(mine: list[str]) -> None:
        with Ledger.open(server) as other:
            for name in mine:
                other.finish([evaluation_record(interaction(), name)])

    threads = [threading.Thread(target=write, args=(mine,)) for mine in names]
    for thread in threads:
        thread.start()
    seen: list[str] = []
    after = begun
    while any(thread.is_alive() for thread in threads):
        found, after = follow(ledger, after)
        seen += found
    found, after = follow(ledger, after)
    seen += found
    assert sorted(seen) == sorted(name for mine in names for name in mine)


def test_an_older_ledger_is_followed_from_now_on(server, ledger):
    """The step from format 1, in PostgreSQL's words."""
    ledger.finish([evaluation_record(interaction(), "old")])
    back_to_format_1(ledger)
    with Ledger.open(server) as migrated:
        migrated.finish([evaluation_record(interaction(), "new")])
        assert follow(migrated, 0)[0] == ["new"]
        given = migrated.place()
        with Ledger.open(server):  # which gives it another identity
            assert migrated.place_now(given) == migrated.place() != given


def test_what_is_older_than_it_is_kept_goes(ledger):
    """The same rules as on SQLite: what waits or is not exported yet stays."""
    old, held, young = (interaction(started_ns=0, seconds=seconds) for seconds in (1, 1, 100))
    ledger.commit(Batch(interactions=tuple(stored(one) for one in (old, held, young))))
    ledger.finish([evaluation_record(held)])
    step = ledger.expire(50_000_000_000)
    assert (step.deleted.interactions, step.kept, step.after) == (1, 1, None)
    assert {one.id for one in ledger.interactions()} == {held.id, young.id}


def test_a_newer_format_refuses_to_open(server, ledger):
    """As on SQLite; the version is in the database."""
    ledger.write(lambda connection: connection.exec_driver_sql("UPDATE ledger_format SET version = 99"))
    try:
        with pytest.raises(LedgerFormatError, match="format 99"):
            Ledger.open(server)
    finally:
        ledger.write(lambda connection: connection.exec_driver_sql(f"UPDATE ledger_format SET version = {FORMAT}"))


def test_a_schema_is_shared_unless_names_collide(server):
    """Another program's tables beside ours are its own business; one by a name of ours would pass for it."""
    shared = f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3Dotel_eval_shared"
    with psycopg.connect(shared, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA otel_eval_shared")
        try:
            connection.execute("CREATE TABLE artists (name TEXT)")
            connection.execute("CREATE TABLE records (artist TEXT)")
            with pytest.raises(LedgerFormatError, match="it holds the tables records and is no ledger"):
                Ledger.open(shared)
            connection.execute("DROP TABLE records")
            with Ledger.open(shared) as ledger:
                ledger.finish([evaluation_record(interaction(), "ours")])
        finally:
            connection.execute("DROP SCHEMA otel_eval_shared CASCADE")


def test_a_database_that_is_not_there_is_an_error_without_the_password():
    """Nothing secret in what may be logged."""
    with pytest.raises(LedgerUnavailable) as raised:
        Ledger.open("postgresql://user:s3cret@127.0.0.1:1/ledger")
    assert "s3cret" not in str(raised.value)
