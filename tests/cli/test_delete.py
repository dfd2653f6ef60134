"""``delete``: what it takes, how it ends, and that nothing of it is found anywhere afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from otel_eval.cli.main import app
from otel_eval.clock import SystemClock
from otel_eval.journal import ClosedTrace, Journal, Request
from otel_eval.ledger import Batch, Ledger, StoredInteraction, WaitingEvaluation
from otel_eval.outcome import Passed
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.otlp import otlp_logs_request, otlp_request
from otel_eval.testing.records import evaluation_record
from otel_eval.testing.spans import agent_span, conversation, log_record

DAY_NS = 86_400_000_000_000
LEDGER = "sqlite:///otel-eval-data/ledger.db"
NOW_NS = time.time_ns()


def stored(secret: str, **fields: Any) -> Any:
    return interaction(asked=f"My secret is {secret}", **fields)


ANN = stored("SECRET-ANN", session="s-ann", user_id="ann", ended_ns=NOW_NS - 40 * DAY_NS)
BOB = stored("SECRET-BOB", session="s-bob", user_id="bob", ended_ns=NOW_NS - 2 * DAY_NS)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Run a command where a ledger holds one Interaction of Ann's and one of Bob's, each with all that can hang on one."""
    monkeypatch.chdir(tmp_path)
    with Ledger.open(LEDGER) as ledger:
        for number, one in enumerate((ANN, BOB)):
            waiting = WaitingEvaluation(
                evaluation_id=f"w{number}", interaction_id=one.id, evaluator="kind", evaluator_version="1", check="judge",
                revision=1, attempt=0, origin=Origin.LIVE, enqueued_ns=1, not_before_ns=1,
            )  # fmt: skip
            record = evaluation_record(one, "polite", Passed(explanation=f"quotes {one.asked}"), started_ns=NOW_NS)
            ledger.commit(
                Batch(
                    interactions=(StoredInteraction(interaction=one, revision=1, digest="d"),),
                    records=(record,),
                    waiting=(waiting,),
                    aliases={f"alias-of-{number}": one.id},
                )
            )
    return lambda *arguments, **more: CliRunner().invoke(app, ["delete", *arguments], **more)


def left() -> tuple[set[str], int, int, int]:
    """Which Interactions are left, and how many records, waiting evaluations and verdicts to export."""
    with Ledger.open(LEDGER, create=False) as ledger:
        ids = {one.id for one in (ANN, BOB) if _has(ledger, one.id)}
        return ids, len(list(ledger.records())), len(ledger.waiting()), ledger.outbox_size()


def _has(ledger: Ledger, interaction_id: str) -> bool:
    try:
        ledger.interaction(interaction_id)
    except KeyError:
        return False
    return True


def found_on_disk(text: str) -> list[str]:
    """The files below the storage directory that hold the text."""
    files = (path for path in Path("otel-eval-data").rglob("*") if path.is_file())
    return [path.name for path in files if text.encode() in path.read_bytes()]


OF_ANN = [
    ["--interaction", ANN.id],
    ["--interaction", "alias-of-0"],
    ["--session", "s-ann"],
    ["--user", "ann"],
    ["--before", "30d"],
    ["--before", time.strftime("%Y-%m-%d", time.gmtime((NOW_NS - 20 * DAY_NS) / 1e9))],
    ["--before", time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime((NOW_NS - 20 * DAY_NS) / 1e9))],
]


@pytest.mark.parametrize("options", OF_ANN, ids=lambda options: " ".join(options[:1]))
def test_all_of_one_goes_and_nothing_of_another(run: Callable[..., Any], options: list[str]) -> None:
    """From the ledger, the outbox and what waits; its words are in no file any more."""
    assert found_on_disk("SECRET-ANN") != []
    result = run(*options, "--yes", "--format", "json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "interactions": 1, "evaluations": 1, "traces": 1, "requests": 0, "quarantined": 0
    }  # fmt: skip
    assert left() == ({BOB.id}, 1, 1, 1)
    assert found_on_disk("SECRET-ANN") == []
    assert found_on_disk("SECRET-BOB") != []


MISUSES: list[tuple[list[str], str]] = [
    ([], "exactly one"),
    (["--user", "ann", "--session", "s-ann"], "exactly one"),
    (["--user", " "], "blank"),
    (["--before", "yesterday"], "30d"),
    (["--before", "30"], "30d"),
    (["--before", "0001-01-01"], "1970"),
    (["--before", "9999-12-31"], "2262"),
    (["--user", "ann", "--ledger", ""], "not a blank one"),
    (["--user", "ann", "--ledger", "newer.db"], "newer otel-eval"),
    (["--user", "ann", "--ledger", "gone.db"], "no ledger at gone.db"),
    (["--user", "ann", "--config", "gone.yaml"], "gone.yaml"),
]


@pytest.mark.parametrize(("options", "says"), MISUSES, ids=[" ".join(options) or "none" for options, _ in MISUSES])
def test_a_misuse_ends_with_2_and_deletes_nothing(run: Callable[..., Any], options: list[str], says: str) -> None:
    """And says what is wrong."""
    with contextlib.closing(sqlite3.connect("newer.db", isolation_level=None)) as newer:
        newer.execute("CREATE TABLE ledger_format (version INTEGER NOT NULL)")
        newer.execute("INSERT INTO ledger_format VALUES (999)")
    result = run(*options, "--yes")
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert len(left()[0]) == 2


def test_where_nobody_can_be_asked_it_wants_yes(run: Callable[..., Any]) -> None:
    """A script that forgot --yes deletes nothing, and ends with 1."""
    result = run("--user", "ann")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--yes" in result.stderr
    assert len(left()[0]) == 2


def test_nothing_to_delete_is_no_mistake(run: Callable[..., Any]) -> None:
    """Deleting twice is fine."""
    result = run("--user", "nobody", "--yes")
    assert (result.exit_code, result.stdout) == (0, "nothing is stored of it\n")


def test_help_says_what_it_reaches_and_how_to_call_it() -> None:
    """With an example, and what happens beside a running server."""
    text = CliRunner().invoke(app, ["delete", "--help"], env={"COLUMNS": "200"}).output
    assert "Example: otel-eval delete --user ada --yes" in text
    assert "While a server holds the storage directory" in text


async def fill_journal() -> None:
    """What a server left when it stopped: entries of open traces, a closed trace that is kept, a request in quarantine."""
    async with await Journal.open(Path("otel-eval-data"), clock=SystemClock()) as journal:
        mine = conversation(asked="SECRET-ANN", session="s-open", trace_id="a" * 32)
        theirs = conversation(asked="SECRET-BOB", session="s-bob")
        quarantined = Request(
            signal="traces", encoding="protobuf", body=b"SECRET-ANN" + bytes.fromhex(mine[0].trace_id)
        )
        await journal.quarantine(await journal.append(quarantined), "broken")
        await journal.append(Request(signal="traces", encoding="protobuf", body=otlp_request([*mine, *theirs])))
        log = log_record("gen_ai.choice", span=mine[0], body="SECRET-ANN")
        await journal.append(Request(signal="logs", encoding="protobuf", body=otlp_logs_request([log])))
        ann = ANN.trace_id
        await journal.keep_all([ClosedTrace(trace_id=ann, until_ns=NOW_NS + DAY_NS, blob=b"SECRET-ANN " * 9)])


@pytest.mark.parametrize("options", [["--session", "s-open"], ["--interaction", "a" * 32 + "-" + "b" * 16]])
def test_what_is_not_put_together_yet_goes_from_the_journal(run: Callable[..., Any], options: list[str]) -> None:
    """Entries are written again without its spans and log records; other traces stay; quarantine is searched."""
    asyncio.run(fill_journal())
    assert run("--user", "ann", "--yes").exit_code == 0
    assert set(found_on_disk("SECRET-ANN")) <= {"journal.db", "journal.db-wal", "000000000001-traces.pb"}
    result = run(*options, "--yes", "--format", "json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "interactions": 0, "evaluations": 0, "traces": 1, "requests": 2, "quarantined": 1
    }  # fmt: skip
    assert found_on_disk("SECRET-ANN") == []
    assert found_on_disk("SECRET-BOB") != []


def unreadable(asked: str, session: str, user: str) -> Request:
    """One whose only span is no protobuf, as a text in it is not UTF-8: it cannot be said what it holds."""
    spans = [agent_span(asked=f"{asked} NOT-UTF8", session=session, attributes={"user.id": user})]
    body = otlp_request(spans).replace(b"NOT-UTF8", b"\xff" * 8)
    return Request(signal="traces", encoding="protobuf", body=body)


async def fill_with_unreadable() -> None:
    """In quarantine, and in the journal where they wait to be forwarded. One session has more than 127 letters."""
    async with await Journal.open(Path("otel-eval-data"), clock=SystemClock()) as journal:
        for asked, session, user in (("SECRET-CY", "s" * 200, "cy"), ("SECRET-DEE", "s-dee", "cynthia")):
            seq = await journal.append(unreadable(asked, session, user))
            await journal.quarantine(seq, "broken", release=False)


@pytest.mark.parametrize(
    ("options", "gone", "left"),
    [
        (["--session", "s" * 200], 1, ["SECRET-DEE"]),
        (["--user", "cy"], 1, ["SECRET-DEE"]),
        (["--user", "cynthi"], 0, ["SECRET-CY", "SECRET-DEE"]),
        (["--before", "0s"], 2, []),
    ],
)  # fmt: skip
def test_what_cannot_be_read_goes_as_a_whole(
    run: Callable[..., Any], options: list[str], gone: int, left: list[str]
) -> None:
    """From the journal and from quarantine, by the whole value that stands in it, or by when it came."""
    asyncio.run(fill_with_unreadable())
    result = json.loads(run(*options, "--yes", "--format", "json").stdout)
    assert (result["requests"], result["quarantined"]) == (gone, gone)
    assert [text for text in ("SECRET-CY", "SECRET-DEE") if found_on_disk(text)] == left


def test_with_ledger_that_ledger_alone_is_touched(run: Callable[..., Any]) -> None:
    """As the help says."""
    asyncio.run(fill_journal())
    assert run("--user", "ann", "--yes", "--ledger", "otel-eval-data/ledger.db").exit_code == 0
    assert left()[0] == {BOB.id}
    assert "journal.db" in found_on_disk("SECRET-ANN")
