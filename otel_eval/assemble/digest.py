"""A revision is a new digest of an Interaction's evidence: what arrived without changing it is none."""

from __future__ import annotations

import hashlib

from otel_eval.interaction import Interaction
from otel_eval.interaction_json import to_json
from otel_eval.json_text import dumps

_NOT_EVIDENCE = ("role", "resource")


def revision_digest(interaction: Interaction) -> str:
    """SHA-256 in hex over everything that the telemetry says about the Interaction.

    Equal for the same evidence, in whatever order, batches or copies it came. Ordinary spans (an HTTP call, a query) are
    no part of it; neither is ``role``, which comes from the configuration, nor ``resource``, which judges are not shown.
    """
    value = to_json(interaction)
    for key in _NOT_EVIDENCE:
        del value[key]
    return hashlib.sha256(dumps(value, default=repr, sort_keys=True)).hexdigest()
