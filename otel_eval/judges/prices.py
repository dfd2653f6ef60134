"""What models cost, from the list that litellm ships: read as data, since importing litellm takes seconds."""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path
from typing import Any

from otel_eval.judges.settings import Prices

_TABLE = "model_prices_and_context_window_backup.json"


def price_known(model: str) -> bool:
    """Whether a budget in dollars can be kept on that litellm model without a price of the user's."""
    return known_prices(model) is not None


def known_prices(model: str) -> Prices | None:
    """The list price of a litellm model, with or without its provider's prefix; None where the list has none."""
    table = _table()
    for name in (model, model.partition("/")[2]):
        entry = table.get(name)
        if entry is not None and "input_cost_per_token" in entry:
            per_output = entry.get("output_cost_per_token") or 0.0
            return Prices(
                input_per_million=float(entry["input_cost_per_token"]) * 1_000_000,
                output_per_million=float(per_output) * 1_000_000,
            )
    return None


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    """Empty where litellm or its list is not there."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        table = json.loads((Path(spec.origin).parent / _TABLE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: entry for name, entry in table.items() if isinstance(entry, dict)}
