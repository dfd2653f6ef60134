"""``make llm``: judges ask a small real model about recorded Interactions; what they record is held against what it said.

The model is far too small to judge well. What is proven is that nothing is made up: each outcome is a verdict that it
gave, or inconclusive (or, for an unknown label, an error) for the reason that its raw answer shows.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from otel_eval.assemble.assembler import assemble
from otel_eval.config import Config, parse
from otel_eval.evaluators.label_judge import BUILTIN
from otel_eval.experiment.offline import judge
from otel_eval.experiment.plan import Configured
from otel_eval.interaction import Interaction
from otel_eval.outcome import Evaluation
from otel_eval.receive.files import read_path
from otel_eval.record import EvaluationRecord
from tests.llm.server import MODEL, small_model
from tests.llm.truth import untrue

RECORDINGS = Path(__file__).parents[2] / "otel_eval" / "demo" / "recordings"


def main() -> int:
    """0 where every record is true, 1 where one is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=0, help="so many Interactions at most; 0 takes all")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    more = os.environ.get("OTEL_EVAL_CORPUS")
    interactions = recorded([RECORDINGS] if not more else [RECORDINGS, Path(more)])[: given.limit or None]
    began = time.monotonic()
    with small_model(given.threads) as base_url:
        config = configuration(base_url)
        found = asyncio.run(judged(interactions, config))
    labels = {name: (*each.passing, *each.failing) for name, each in BUILTIN.items()}
    lies = [
        f"{record.evaluator} of {interaction.agent}: {lie}"
        for interaction, record in found
        if (lie := untrue(record, interaction, labels.get(record.evaluator, ())))
    ]
    show([record for _, record in found], time.monotonic() - began, len(interactions))
    print(f"{len(lies)} records do not say what the model said", *lies, sep="\n")
    return 1 if lies else 0


def recorded(folders: list[Path]) -> list[Interaction]:
    """The Interactions of every recording in these folders."""
    paths = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_dir()]
    return [one for path in paths for one in _interactions(path)]


def configuration(base_url: str) -> Config:
    """The criterion judge and the three label judges, for every agent."""
    everyone = {"*": {"nested": True, "trigger_on_failure": True, "trigger_on_incomplete": True}}
    model = {
        "model": f"openai/{MODEL}", "api_base": base_url, "api_key": "none", "max_concurrency": 1, "timeout": "5m",
        "max_output_tokens": 200, "max_retries": 1, "temperature": 0,
    }  # fmt: skip
    evaluators = {name: {"builtin": name, "agents": everyone} for name in BUILTIN}
    criterion = {"judge": {"criterion": "the reply answers what was asked"}, "agents": everyone}
    return parse({"judge_models": {"default": model}, "evaluators": {"answers": criterion, **evaluators}}, {})


async def judged(interactions: list[Interaction], config: Config) -> list[tuple[Interaction, EvaluationRecord]]:
    """All records, with the Interaction that each is about."""
    configured = Configured.of(config)
    found: list[tuple[Interaction, EvaluationRecord]] = []
    try:
        async for interaction, records, _ in judge(interactions, configured, concurrency=1):
            found += [(interaction, record) for record in records]
            print(f"{len(found)} evaluations", end="\r", file=sys.stderr, flush=True)
    finally:
        await configured.aclose()
    return found


def show(records: list[EvaluationRecord], seconds: float, interactions: int) -> None:
    """A table of what became of them."""
    table = Table("evaluator", "outcome", "reason", "evaluations", "an answer")
    counts = Counter(_key(record) for record in records)
    for key, count in sorted(counts.items()):
        example = next(record for record in records if _key(record) == key)
        answer = next((call.answer for call in reversed(example.judge_calls) if call.answer), "")
        table.add_row(*key, str(count), " ".join(answer.split())[:80])
    Console(width=160).print(table)
    calls = [call for record in records for call in record.judge_calls]
    sent = sum(call.input_tokens or 0 for call in calls)
    given = sum(call.output_tokens or 0 for call in calls)
    print(f"{len(records)} evaluations of {interactions} Interactions, {len(calls)} calls, ", end="")
    print(f"{sent} tokens in, {given} out, {seconds:.0f} s")


def _key(record: EvaluationRecord) -> tuple[str, str, str]:
    outcome = record.outcome
    return record.evaluator, outcome.name, "" if isinstance(outcome, Evaluation) else outcome.cause.value


def _interactions(path: Path) -> tuple[Interaction, ...]:
    recording = read_path(path)
    return tuple(assemble(recording.spans, recording.logs))


if __name__ == "__main__":
    sys.exit(main())
