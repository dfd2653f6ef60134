"""What a judge is shown of an Interaction, as a digest: while it stays the same, a verdict stands."""

from __future__ import annotations

import json

from otel_eval.identity import digest
from otel_eval.interaction import Interaction
from otel_eval.interaction_json import to_json

_SHOWN = ("agent", "asked", "reply", "failure", "tool_calls", "system", "history", "attachments", "gaps", "complete")
_SHOWN_OF_CALLS = ("name", "arguments", "result", "error", "gaps")


def evidence_digest(interaction: Interaction) -> str:
    """The same for Interactions that differ only in what no judge sees: times, usage, ids of spans, links."""
    whole = to_json(interaction)
    shown = {key: whole[key] for key in _SHOWN}
    calls = whole["tool_calls"]
    assert isinstance(calls, list)
    shown["tool_calls"] = [{key: call[key] for key in _SHOWN_OF_CALLS} for call in calls if isinstance(call, dict)]
    return digest(json.dumps(shown, sort_keys=True, default=str))
