"""Every recorded run comes out as the agent program wrote it down itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.check_corpus import check
from tests.corpus.known import KNOWN
from tests.corpus.recordings import names, put_together

SETS = sorted({name.split("/")[0] for name in names()})
Interactions = list[dict[str, Any]]


@pytest.mark.parametrize("framework", SETS)
def test_what_comes_out_is_what_the_program_recorded(corpus: Path, framework: str) -> None:
    """Each field of each Interaction is true or, where the telemetry does not carry it, null; known holes still are."""
    captures = sorted(path.parent for path in (corpus / framework).glob("*/expected.json"))
    found = put_together(captures)
    verdicts = {f"{framework}/{each.name}": check(each, found[f"{framework}/{each.name}"]).faults for each in captures}
    wrong = {name: faults for name, faults in verdicts.items() if faults and name not in KNOWN}
    assert wrong == {}
    healed = [name for name, faults in verdicts.items() if name in KNOWN and not faults]
    assert healed == [], "right by now: take it out of known.py"


def test_known_holes_are_captures() -> None:
    """The table names nothing that is not there."""
    assert set(KNOWN) <= set(names())


def _without_the_reply(found: Interactions) -> None:
    found[0]["reply"] = None


def _with_another_result(found: Interactions) -> None:
    found[0]["tool_calls"][0]["result"] = "lost"


def _with_tools_swapped(found: Interactions) -> None:
    found[0]["tool_calls"].reverse()


def _with_an_error(found: Interactions) -> None:
    found[0]["tool_calls"][1]["error"] = "none happened"


def _twice(found: Interactions) -> None:
    found.append({**found[0], "id": "another"})


def _failed(found: Interactions) -> None:
    found[0]["failed"] = True


def _with_another_agent(found: Interactions) -> None:
    found[0]["agent"] = "somebody"


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (_without_the_reply, "reply 'None'"),
        (_with_another_result, "get_order.result 'lost'"),
        (_with_tools_swapped, "tools ['issue_refund', 'get_order']"),
        (_with_an_error, "issue_refund.error invented"),
        (_twice, "1 interaction(s) too many"),
        (_failed, "failed True"),
        (_with_another_agent, "agent 'somebody'"),
        (list.clear, "no interaction for"),
    ],
)
def test_a_wrong_reading_is_noticed(corpus: Path, spoil: Callable[[Interactions], None], fault: str) -> None:
    """The checker itself: what is spoilt on purpose is told."""
    capture = corpus / "pydantic-ai--native" / "refund"
    found = put_together([capture])["pydantic-ai--native/refund"]
    assert check(capture, found).faults == ()
    spoil(found)
    assert any(each.startswith(fault) for each in check(capture, found).faults)
