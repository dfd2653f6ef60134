"""Which models litellm knows a price for, read from the table that it ships: importing litellm itself takes seconds."""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path

_TABLE = "model_prices_and_context_window_backup.json"


def is_known_model(name: str) -> bool:
    """Whether litellm's table names that model, with or without its provider's prefix."""
    return name in _models() or name.partition("/")[2] in _models()


def has_known_price(name: str) -> bool:
    """Whether litellm's table has a price for that model."""
    models = _models()
    return models.get(name, False) or models.get(name.partition("/")[2], False)


@functools.cache
def _models() -> dict[str, bool]:
    """Each model of the table, and whether its tokens have a price. Empty where litellm or its table is not there."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        table = json.loads((Path(spec.origin).parent / _TABLE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: "input_cost_per_token" in entry for name, entry in table.items() if isinstance(entry, dict)}
