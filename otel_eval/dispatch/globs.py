"""Names with wildcards, as bindings and roles have them: ``*``, ``?`` and ``[…]``, upper and lower case told apart."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable

_WILDCARD = re.compile(r"[*?[]")


def is_glob(name: str) -> bool:
    """Whether the name has a wildcard in it."""
    return _WILDCARD.search(name) is not None


def literal_length(glob: str) -> int:
    """How many characters a glob spells out: the more, the more specific it is."""
    return len(re.sub(r"\[[^\]]*\]|[*?]", "", glob))


class Globs:
    """Several names or globs; one that matches is enough."""

    def __init__(self, patterns: Iterable[str]) -> None:
        given = tuple(patterns)
        self._names = frozenset(name for name in given if not is_glob(name))
        self._globs = tuple(re.compile(fnmatch.translate(name)) for name in given if is_glob(name))

    def match(self, name: str | None) -> bool:
        """Whether the name is one of them. None is no name, and nothing matches it."""
        if name is None:
            return False
        return name in self._names or any(glob.match(name) for glob in self._globs)
