"""The ledger's tables. Bodies are JSON text without loss; the other columns are what is looked up, filtered or joined.

``canonical_id`` is the Interaction's id after aliases, so that a record stored under an id that became an alias is found
under the id that it means now. ``outbox.sequence`` and ``records.sequence`` are the order of storing; records from before
format 2 have none. Change a table: raise ``FORMAT`` in ``format.py`` and add the step from the format before.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

from otel_eval.ledger import body

metadata = MetaData()


class Key(TypeDecorator[str]):
    """Text of any length that is looked up through an index: stored and compared as :func:`body.key` has it."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return body.key(value)


# SQLite gives rowids only to INTEGER, PostgreSQL wants 64 bits.
_Sequence = BigInteger().with_variant(Integer(), "sqlite")

interactions = Table(
    "interactions",
    metadata,
    Column("id", String, primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("digest", String, nullable=False),
    Column("trace_id", String, nullable=False),
    Column("parent_id", String),
    Column("agent", String),
    Column("session", Key),
    Column("user_id", Key),
    Column("service", String),
    Column("environment", String),
    Column("failed", Boolean, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("response_id", String),
    Column("started_ns", BigInteger),
    Column("ended_ns", BigInteger),
    Column("body", Text, nullable=False),
    Index("interactions_by_end", "ended_ns"),
    Index("interactions_by_session", "session"),
    Index("interactions_by_user", "user_id"),
    Index("interactions_by_parent", "parent_id"),
)

aliases = Table(
    "aliases",
    metadata,
    Column("alias", String, primary_key=True),
    Column("interaction_id", String, nullable=False),
    Index("aliases_by_interaction", "interaction_id"),
)

records = Table(
    "records",
    metadata,
    Column("id", String, primary_key=True),
    Column("canonical_id", String, nullable=False),
    Column("evaluator", String, nullable=False),
    Column("evaluator_version", String, nullable=False),
    Column("check", String, nullable=False),
    Column("agent", String),
    Column("session", Key),
    Column("service", String),
    Column("environment", String),
    Column("revision", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("origin", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("ended_ns", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("sequence", BigInteger),
    Index("records_by_interaction", "canonical_id"),
    Index("records_by_end", "ended_ns", "id"),
    Index("records_in_order", "sequence", unique=True),
)

# One row. Whoever stores records takes their numbers from it first and holds it until he commits: so whoever has seen a
# number has seen all below it, which no database's own sequence promises.
storing = Table(
    "storing",
    metadata,
    Column("identity", String, primary_key=True),  # of this ledger: numbers of another one mean nothing here
    Column("last", BigInteger, nullable=False),
)

# The identities that it had before, and how far it had come under each: whoever opens it to write gives it a new one. So a
# number that was given out after the backup which the ledger was restored from is told from the one that it has now.
former = Table(
    "former",
    metadata,
    Column("identity", String, primary_key=True),
    Column("last", BigInteger, nullable=False),
)

waiting = Table(
    "waiting",
    metadata,
    Column("evaluation_id", String, primary_key=True),
    Column("interaction_id", String, nullable=False),
    Column("evaluator", String, nullable=False),
    Column("evaluator_version", String, nullable=False),
    Column("check", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("origin", String, nullable=False),
    Column("enqueued_ns", BigInteger, nullable=False),
    Column("not_before_ns", BigInteger, nullable=False),
    Index("waiting_in_order", "enqueued_ns", "evaluation_id"),
    Index("waiting_by_interaction", "interaction_id"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("sequence", _Sequence, primary_key=True, autoincrement=True),
    Column("evaluation_id", String, nullable=False, unique=True),
    # As they were when the record was stored: what is exported again after a crash is the same, whatever came meanwhile.
    Column("interaction_ended_ns", BigInteger),
    Column("response_id", String),
    sqlite_autoincrement=True,
)

budget = Table(
    "budget",
    metadata,
    Column("model", String, primary_key=True),
    Column("day", String, primary_key=True),
    Column("usd", Float, nullable=False),
    Column("tokens", BigInteger, nullable=False),
)

ledger_format = Table("ledger_format", metadata, Column("version", Integer, primary_key=True))
