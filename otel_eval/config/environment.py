"""``${env:NAME}`` and ``${env:NAME:-default}`` in values, as the OpenTelemetry Collector writes them; ``$$`` is a ``$``.

A value that is one reference and nothing else, and comes out empty, counts as not given. Keys are never expanded.

Source: opentelemetry-collector, ``docs/rfcs/env-vars.md`` (``:-`` as in POSIX: used where the variable is unset *or*
empty).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_eval.config.errors import Path

_TOKEN = re.compile(r"\$\$|\$\{(?P<body>[^{}]*)\}")
_REFERENCE = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<default>:-.*)?", re.DOTALL)


@dataclass(slots=True)
class Expansion:
    """A tree with its references replaced, and what stood in the way: ``unset`` variables apart from ``malformed`` text.

    A value with a variable that is not set is left as it was written.
    """

    value: Any = None
    unset: dict[Path, str] = field(default_factory=dict)
    malformed: dict[Path, str] = field(default_factory=dict)


def expand(tree: Any, environ: Mapping[str, str]) -> Expansion:
    """Replace the references in every text of the tree. The tree itself is not changed."""
    expansion = Expansion()
    expansion.value = _expand(tree, (), environ, expansion)
    return expansion


def _expand(value: Any, path: Path, environ: Mapping[str, str], expansion: Expansion) -> Any:
    if isinstance(value, dict):
        return {key: _expand(item, (*path, key), environ, expansion) for key, item in value.items()}
    if isinstance(value, list):
        return [_expand(item, (*path, index), environ, expansion) for index, item in enumerate(value)]
    if isinstance(value, str) and "$" in value:
        return _text(value, path, environ, expansion)
    return value


def _text(text: str, path: Path, environ: Mapping[str, str], expansion: Expansion) -> str | None:
    def replace(match: re.Match[str]) -> str:
        if match["body"] is None:
            return "$"
        reference = _REFERENCE.fullmatch(match["body"])
        if reference is None:
            expansion.malformed[path] = match[0]
            return match[0]
        given = environ.get(reference["name"])
        if reference["default"] is not None:
            return given or reference["default"].removeprefix(":-")
        if given is None:
            expansion.unset[path] = reference["name"]
            return match[0]
        return given

    expanded = _TOKEN.sub(replace, text)
    if expanded == "" and _TOKEN.fullmatch(text):
        return None
    return expanded
