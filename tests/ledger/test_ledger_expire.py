"""What is older than it is to be kept goes, a little at a time; what is not judged or not exported yet stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_eval.interaction import Interaction
from otel_eval.ledger import AsyncLedger, Batch, Expired, Ledger, StoredInteraction, WaitingEvaluation
from otel_eval.ledger.expire import expire
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record

SECOND = 1_000_000_000
BEFORE = 100 * SECOND
OLD, YOUNG = 10, 200


def ended_at(seconds: int, **fields: object) -> Interaction:
    """An Interaction that ended then."""
    return interaction(started_ns=0, ended_ns=seconds * SECOND, **fields)  # type: ignore[arg-type]


def store(ledger: Ledger, *ones: Interaction, exported: bool = True) -> None:
    """With a record each, exported or not."""
    stored = tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in ones)
    ledger.commit(Batch(interactions=stored, records=tuple(evaluation_record(one) for one in ones)))
    if exported:
        ledger.mark_exported(entry.sequence for entry in ledger.unexported())


def waits(one: str) -> WaitingEvaluation:
    return WaitingEvaluation(
        evaluation_id=f"w-{one}", interaction_id=one, evaluator="e", evaluator_version="1", check="judge"
    )


def left(ledger: Ledger) -> set[str]:
    """The ids of the Interactions that are still there."""
    return {one.id for one in ledger.interactions()}


def sweep(ledger: Ledger, limit: int = 100) -> list[Expired]:
    """Every step until nothing is left to look at."""
    steps: list[Expired] = []
    while not steps or steps[-1].after is not None:
        after = steps[-1].after if steps else None
        steps.append(
            ledger.write(
                lambda connection, after=after: expire(
                    connection, BEFORE, after=after, exporting=ledger.outbox, limit=limit
                )
            )
        )
    return steps


def test_what_is_old_goes_with_its_records_and_what_is_young_stays(ledger: Ledger) -> None:
    """By the end of the Interaction; one that never got an end by its start."""
    old, young, endless = ended_at(OLD), ended_at(YOUNG), interaction(started_ns=5, ended_ns=None)
    store(ledger, old, young, endless)
    (step,) = sweep(ledger)
    assert (step.deleted.interactions, step.deleted.evaluations, step.kept) == (2, 2, 0)
    assert left(ledger) == {young.id}
    assert {record.interaction_id for record in ledger.records()} == {young.id}


@pytest.mark.parametrize("alias", [False, True])
def test_what_waits_to_be_judged_stays(ledger: Ledger, alias: bool) -> None:
    """Also where it waits under an id that became an alias; it goes once it is judged."""
    one, before = ended_at(OLD), ended_at(OLD)
    store(ledger, one)
    ledger.commit(Batch(waiting=(waits(before.id if alias else one.id),), aliases={before.id: one.id} if alias else {}))
    (step,) = sweep(ledger)
    assert (step.kept, left(ledger)) == (1, {one.id})
    ledger.discard_waiting([row.evaluation_id for row in ledger.waiting()])
    sweep(ledger)
    assert left(ledger) == set()


def test_what_is_not_exported_yet_stays(ledger: Ledger) -> None:
    """Until the endpoint has taken it."""
    one = ended_at(OLD)
    store(ledger, one, exported=False)
    sweep(ledger)
    assert left(ledger) == {one.id}
    ledger.mark_exported(entry.sequence for entry in ledger.unexported())
    sweep(ledger)
    assert left(ledger) == set()


def test_an_outbox_that_nobody_exports_holds_nothing_up(url: str) -> None:
    """The exporter was taken out of the configuration: what it left behind goes with the rest."""
    with Ledger.open(url) as exporting:
        store(exporting, ended_at(OLD), exported=False)
    with Ledger.open(url, outbox=False) as ledger:
        sweep(ledger)
        assert (left(ledger), ledger.outbox_size()) == (set(), 0)


def test_what_was_judged_again_stays_as_long_as_its_verdict(ledger: Ledger) -> None:
    """A re-run over last month's Interactions is this month's evidence."""
    one = ended_at(OLD)
    store(ledger, one)
    ledger.finish([evaluation_record(one, attempt=1, origin=Origin.RERUN, started_ns=YOUNG * SECOND)])
    ledger.mark_exported(entry.sequence for entry in ledger.unexported())
    sweep(ledger)
    assert left(ledger) == {one.id}


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_family_goes_together_or_not_at_all(ledger: Ledger, which: int) -> None:
    """What holds one of the nested Interactions holds all of them, and nobody else's."""
    root = ended_at(OLD)
    child = ended_at(OLD, parent_id=root.id)
    family = [root, child, ended_at(OLD, parent_id=child.id)]
    other = ended_at(OLD)
    store(ledger, *family, other)
    ledger.commit(Batch(waiting=(waits(family[which].id),)))
    (step,) = sweep(ledger)
    assert (step.kept, left(ledger)) == (3, {one.id for one in family})
    ledger.discard_waiting([f"w-{family[which].id}"])
    sweep(ledger)
    assert left(ledger) == set()


def test_a_nested_one_whose_parent_never_came_goes_by_itself(ledger: Ledger) -> None:
    """Nobody else would take it along."""
    store(ledger, ended_at(OLD, parent_id=interaction().id))
    sweep(ledger)
    assert left(ledger) == set()


def test_many_go_in_small_steps(ledger: Ledger) -> None:
    """Each a transaction of its own; what is held up is passed over, also where many ended at the same moment."""
    held = [ended_at(OLD) for _ in range(3)]
    store(ledger, *held, *(ended_at(OLD) for _ in range(10)), *(ended_at(OLD + number) for number in range(10)))
    ledger.commit(Batch(waiting=tuple(waits(one.id) for one in held)))
    steps = sweep(ledger, limit=4)
    assert all(step.deleted.interactions <= 4 for step in steps)
    assert (sum(step.deleted.interactions for step in steps), sum(step.kept for step in steps)) == (20, 3)
    assert left(ledger) == {one.id for one in held}


def test_records_without_their_interaction_go_by_their_own_end(ledger: Ledger) -> None:
    """As an experiment stores them; in steps as well."""
    old = [replace(evaluation_record(ended_at(OLD)), origin=Origin.OFFLINE) for _ in range(5)]
    ledger.finish([*old, replace(evaluation_record(ended_at(YOUNG)), origin=Origin.OFFLINE)])
    steps = sweep(ledger, limit=2)
    assert [step.deleted.evaluations for step in steps] == [2, 2, 1]
    assert len(list(ledger.records())) == 1


async def test_it_goes_through_the_writer(ledger: Ledger) -> None:
    """So that no reader is told of what has gone meanwhile."""
    store(ledger, ended_at(OLD))
    async with AsyncLedger(ledger) as shared:
        before = shared.changes
        assert (await shared.expire(BEFORE)).deleted.interactions == 1
        assert shared.changes == before + 1
        await shared.expire(BEFORE)
        assert shared.changes == before + 1
        await shared.vacate()
