"""A closed trace as bytes, so that late spans make a right revision, also after a restart.

Pickled: written and read by the same installation within ``late_window``. Reading admits this package's own values alone,
and a trace that another version wrote is given up (its late spans are then counted as late).
"""

from __future__ import annotations

import io
import pickle
from importlib import metadata
from typing import Any

from otel_eval.assemble.completion import Closed
from otel_eval.assemble.nodes import Node
from otel_eval.frozen import reader_of

_MODULES = ("otel_eval.assemble.", "otel_eval.conventions.facts", "otel_eval.interaction", "otel_eval.signals")
_NAMES, _values_of = reader_of(Node)
_VERSION = metadata.version("otel-eval").encode() + b"\0"


class UnreadableTrace(ValueError):
    """Not a trace that this version kept."""


def dump(closed: Closed) -> bytes:
    """The trace as bytes. Ordinary nodes go as tuples: a third of the time, and there are ten for each other."""
    ordinary = [_values_of(node) for node in closed.nodes if node.facts is None]
    others = [node for node in closed.nodes if node.facts is not None]
    return _VERSION + pickle.dumps((closed.trace_id, ordinary, others, closed.notes, dict(closed.told)), protocol=5)


def load(blob: bytes) -> Closed:
    """What :func:`dump` was given. Raises UnreadableTrace."""
    if not blob.startswith(_VERSION):
        raise UnreadableTrace("another version of otel-eval kept this trace")
    try:
        trace_id, ordinary, others, notes, told = _Reader(io.BytesIO(blob[len(_VERSION) :])).load()
        nodes = (*(Node(**dict(zip(_NAMES, values, strict=True))) for values in ordinary), *others)
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError) as error:
        raise UnreadableTrace(f"a kept trace cannot be read: {error}") from error
    return Closed(trace_id=trace_id, nodes=nodes, notes=notes, told=told)


class _Reader(pickle.Unpickler):
    """Makes values of the domain and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith(_MODULES) or (module, name) == ("copyreg", "_reconstructor"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a trace")
