"""Recorded exports of real frameworks come out as the Interactions that were read and approved once.

``OTEL_EVAL_WRITE_GOLDEN=1 pytest tests/assemble/test_golden.py`` writes them anew: read the difference before committing it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction_json import from_json, to_json
from otel_eval.receive.files import read_path

RECORDINGS = Path(__file__).parent / "recordings"
GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.name for path in RECORDINGS.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_gives_the_approved_interactions(name: str) -> None:
    """Every field of every Interaction is as approved, gaps and totals included."""
    recording = read_path(RECORDINGS / name)
    found = [to_json(interaction) for interaction in assemble(recording.spans, recording.logs)]
    golden = GOLDEN / f"{name}.json"
    if os.environ.get("OTEL_EVAL_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    assert found == json.loads(golden.read_text())


@pytest.mark.parametrize("name", NAMES)
def test_a_real_interaction_survives_json(name: str) -> None:
    """What the ledger stores of a real export reads back equal."""
    recording = read_path(RECORDINGS / name)
    for interaction in assemble(recording.spans, recording.logs):
        assert from_json(json.loads(json.dumps(to_json(interaction)))) == interaction
