"""What models cost: from litellm's prices where it is imported, else from the list that it ships.

The list is read as data, since importing litellm takes seconds. Once it is imported, what the user registered there
(``litellm.register_model``) counts, too.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otel_eval.judges.settings import Prices

_TABLE = "model_prices_and_context_window_backup.json"


def price_known(model: str) -> bool:
    """Whether a budget in dollars can be kept on that litellm model without a price of the user's."""
    return known_prices(model) is not None


def known_prices(model: str) -> Prices | None:
    """The price of a litellm model, with or without its provider's prefix; None where litellm has none."""
    for table in (_in_use(), _table()):
        for name in (model, model.partition("/")[2]):
            prices = _prices(table.get(name))
            if prices is not None:
                return prices
    return None


def _prices(entry: object) -> Prices | None:
    """An entry's prices; None where it has none, or something that is no number."""
    per_input = entry.get("input_cost_per_token") if isinstance(entry, dict) else None
    if not isinstance(per_input, int | float):
        return None
    per_output = entry.get("output_cost_per_token") if isinstance(entry, dict) else None
    return Prices(
        input_per_million=float(per_input) * 1_000_000,
        output_per_million=float(per_output) * 1_000_000 if isinstance(per_output, int | float) else 0.0,
    )


def _in_use() -> Mapping[str, Any]:
    """litellm's prices, where somebody imported it: with those that were registered; else nothing."""
    return getattr(sys.modules.get("litellm"), "model_cost", {})


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
