"""``python -m tests.judges_run``: a long run, its figures, and what does not hold."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from tests.judges_run.proofs import figures, findings
from tests.judges_run.run import Plan, judged_run


def main() -> int:
    """0 where everything holds, 1 where not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interactions", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--patience", type=float, default=3600, help="seconds that each third may take")
    given = parser.parse_args()
    plan = Plan(
        interactions=given.interactions, seed=given.seed, concurrency=given.concurrency, patience=given.patience
    )
    with tempfile.TemporaryDirectory(prefix="otel-eval-judges-") as directory:
        run = asyncio.run(judged_run(Path(directory), plan))
    found = findings(run)
    print(json.dumps(figures(run), indent=2))
    print(f"{len(found)} findings", *found[:40], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
