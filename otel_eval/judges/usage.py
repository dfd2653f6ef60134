"""How many tokens a call used, as the provider told it: what it cannot have counted is unknown, and fails no call."""

from __future__ import annotations

from typing import Any

_MOST_TOKENS = 100_000_000
"""About ten times the largest context window on litellm's list: a larger count is a mistake of whoever counted."""


def told(count: object, *, at_least: int) -> int | None:
    """The count, or None where it cannot be what the provider counted."""
    return count if isinstance(count, int) and at_least <= count <= _MOST_TOKENS else None


def leave_out_what_is_no_count(response: object) -> None:
    """Take out of a response in JSON what litellm would refuse the whole of it for: counts of tokens that are no counts.

    Gateways that average or share usage out tell fractions of tokens (``80.5``). litellm raises a server's error then, which
    would be taken for an outage, for an answer that came and was paid for.
    """
    if isinstance(response, dict) and "usage" in response:
        usage = response["usage"]
        if isinstance(usage, dict):
            response["usage"] = _counts(usage)
        elif usage is not None:
            del response["usage"]


def _counts(usage: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in usage.items():
        if name.endswith("_details"):
            if isinstance(value, dict):
                kept[name] = _counts(value)
        elif not name.endswith("_tokens") or _is_count(value):
            kept[name] = value
    return kept


def _is_count(value: object) -> bool:
    return value is None or isinstance(value, int) or (isinstance(value, float) and value.is_integer())
