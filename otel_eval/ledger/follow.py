"""Following the ledger: its records in the order in which they are stored, from any place on.

Nothing is passed over: numbers are taken under a lock that is held until the transaction is on disk, so that whoever sees
a number sees all below it. And nothing comes twice: a record is stored once, under one number.
"""

from __future__ import annotations

from sqlalchemy import Connection, and_, exists, or_, select

from otel_eval import record_json
from otel_eval.ledger import body
from otel_eval.ledger.model import Arrivals, Place
from otel_eval.ledger.read import RecordFilter, fields, of_canonical
from otel_eval.ledger.schema import former, records, storing


def last_place(connection: Connection) -> Place:
    """Where the ledger is now."""
    row = connection.execute(select(storing.c.identity, storing.c.last)).one()
    return Place(row.identity, row.last)


def place_now(connection: Connection, place: Place) -> Place | None:
    """That place under the identity of now; None where this ledger never was there.

    Under an identity that it had it came as far as its next one begins: beyond that lies what a restore took back.
    """
    here = last_place(connection)
    query = select(former.c.last).where(former.c.identity == place.identity)
    last = here.sequence if place.identity == here.identity else connection.execute(query).scalar()
    return Place(here.identity, place.sequence) if last is not None and 0 <= place.sequence <= last else None


def arrivals(connection: Connection, after: int, wanted: RecordFilter, limit: int) -> Arrivals:
    """The next ``limit`` records behind that number which match, and which no later attempt or revision has replaced."""
    here = last_place(connection)  # before the records: all up to there can be seen by now
    newer = records.alias()
    replaced = exists().where(
        newer.c.canonical_id == records.c.canonical_id,
        newer.c.evaluator == records.c.evaluator,
        newer.c.evaluator_version == records.c.evaluator_version,
        or_(
            newer.c.revision > records.c.revision,
            and_(newer.c.revision == records.c.revision, newer.c.attempt > records.c.attempt),
        ),
    )
    query = (
        select(records.c.sequence, records.c.body)
        .where(records.c.sequence > after, records.c.sequence <= here.sequence, ~replaced)
        .where(*fields(of_canonical(connection, wanted)))
        .order_by(records.c.sequence)
        .limit(limit)
    )
    found = tuple((row.sequence, record_json.from_json(body.load(row.body))) for row in connection.execute(query))
    reached = found[-1][0] if len(found) == limit else max(after, here.sequence)
    return Arrivals(records=found, reached=Place(here.identity, reached))
