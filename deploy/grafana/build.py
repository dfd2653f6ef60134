"""Writes dashboards/*.json. Run it after a change: ``python deploy/grafana/build.py`` (needs grafana-foundation-sdk)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import evaluator
import operations
import overview
from grafana_foundation_sdk.cog.encoder import JSONEncoder

TARGET = Path(__file__).parent / "dashboards"


def render() -> dict[str, str]:
    """File name to content."""
    built = {"overview": overview.build(), "evaluator": evaluator.build(), "operations": operations.build()}
    return {
        f"{name}.json": json.dumps(each.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"
        for name, each in built.items()
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    for file, content in render().items():
        (folder / file).write_text(content)
        sys.stdout.write(f"wrote {folder / file}\n")
