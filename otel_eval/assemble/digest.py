"""A revision is a new digest of an Interaction's evidence: what arrived without changing it is none."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import orjson

from otel_eval.interaction import Interaction
from otel_eval.interaction_json import to_json

_NOT_EVIDENCE = ("role", "resource")


def evidence_digest(interaction: Interaction) -> str:
    """SHA-256 in hex over everything that the telemetry says about the Interaction.

    Equal for the same evidence, in whatever order, batches or copies it came. Ordinary spans (an HTTP call, a query) are
    no part of it; neither is ``role``, which comes from the configuration, nor ``resource``, which judges are not shown.
    """
    value = to_json(interaction)
    for key in _NOT_EVIDENCE:
        del value[key]
    return hashlib.sha256(_canonical(value)).hexdigest()


def _canonical(value: Any) -> bytes:
    """JSON with sorted keys. orjson refuses integers beyond 64 bits and lone surrogates, which a tool's JSON may hold."""
    try:
        return orjson.dumps(value, default=repr, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return json.dumps(_keyed(value), sort_keys=True, default=repr).encode()


def _keyed(value: Any) -> Any:
    """The value with texts for keys: keys of several types cannot be sorted."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(key): _keyed(item) for key, item in value.items()}
    return [_keyed(item) for item in value] if isinstance(value, (list, tuple)) else value
