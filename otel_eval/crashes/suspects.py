"""What was under way at how many deaths without coming to its end in between; kept from one process to the next.

One process holds the directory whenever this is read or written: who takes stock, before the one that judges is started, or
that one itself.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otel_eval import private_files
from otel_eval.crashes import notes

log = logging.getLogger("otel_eval.crashes")

FILE = "suspects.json"
FORMAT = 2

ALONE_FROM = 2
"""Deaths from which on it is done alone. One kill from outside is to slow nothing down."""
DEATHS = 4
"""What was under way at so many is not done again: alone at two of them, after different times."""
KEPT_NS = 24 * 3600 * 1_000_000_000
"""What was not under way at a death for so long is forgotten: its Interaction may be gone, or its evaluator."""

_SHOWN = 5


@dataclass(slots=True)
class Suspect:
    """At how many deaths it was under way, and when (Unix epoch) at the last of them.

    ``alone_s``: the age of the process that did it alone last, in seconds, when that began.
    """

    deaths: int
    last_ns: int
    alone_s: float = 0.0


@dataclass(slots=True, kw_only=True)
class Suspects:
    """``under_way``: by what was under way. ``convicted``: by evaluator, when evaluations of it were found to be deadly."""

    under_way: dict[str, Suspect] = field(default_factory=dict)
    convicted: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def load(cls, directory: Path) -> Suspects:
        """What is kept there; nobody is suspected where nothing is, or nothing that can be read."""
        try:
            content = json.loads((directory / FILE).read_bytes())
            return cls._read(content)
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("%s cannot be read, nothing is suspected: %s", directory / FILE, error)
            return cls()

    def save(self, directory: Path) -> None:
        """Keep it. Where that is not possible it is logged: a suspicion that is forgotten costs some deaths more."""
        path = directory / FILE
        try:
            if not self.under_way and not self.convicted:
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()
                return
            private_files.put(path, json.dumps(self._content()).encode())
        except OSError as error:
            log.warning("%s cannot be written: %s", path, error)

    def count(self, left: Iterable[str], now_ns: int) -> None:
        """A death at which these were under way."""
        for text in left:
            suspect = self.under_way.setdefault(text, Suspect(0, now_ns))
            suspect.deaths += 1
            suspect.last_ns = now_ns

    def at(self, deaths: int, among: Iterable[str]) -> tuple[str, ...]:
        """Of ``among``, the pieces of work that were under way at exactly ``deaths`` crashes."""
        return tuple(text for text in among if self.under_way[text].deaths == deaths)

    def forget(self, before_ns: int) -> None:
        """Drop what is older."""
        self.under_way = {text: each for text, each in self.under_way.items() if each.last_ns >= before_ns}
        recent = {
            evaluator: {name: at_ns for name, at_ns in names.items() if at_ns >= before_ns}
            for evaluator, names in self.convicted.items()
        }
        self.convicted = {evaluator: names for evaluator, names in recent.items() if names}

    @classmethod
    def _read(cls, content: Any) -> Suspects:
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}, not {FORMAT}")
        return cls(
            under_way={
                str(text): Suspect(int(deaths), int(last), float(alone))
                for text, (deaths, last, alone) in content["under_way"].items()
            },
            convicted={
                str(evaluator): {str(name): int(at_ns) for name, at_ns in names.items()}
                for evaluator, names in content["convicted"].items()
            },
        )

    def _content(self) -> dict[str, Any]:
        under_way = {text: [each.deaths, each.last_ns, each.alone_s] for text, each in self.under_way.items()}
        return {"format": FORMAT, "under_way": under_way, "convicted": self.convicted}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What the last process left under way. Since this death, ``suspected`` are done alone, and ``convicted`` not again."""

    under_way: tuple[str, ...] = ()
    suspected: tuple[str, ...] = ()
    convicted: tuple[str, ...] = ()


def take_stock(directory: Path, now_ns: int) -> Stock:
    """Count a death, if the last process that judged there died: what is noted was under way. Blocks; raises nothing.

    Nobody else may use the directory meanwhile. A second call finds nothing.
    """
    left = notes.left(directory)
    if not left:
        return Stock()
    suspects = Suspects.load(directory)
    suspects.forget(now_ns - KEPT_NS)
    suspects.count(left, now_ns)
    suspects.save(directory)
    notes.wipe(directory)
    log.warning("under way when the judging process died: %s", _listed(left, suspects))
    return Stock(under_way=left, suspected=suspects.at(ALONE_FROM, left), convicted=suspects.at(DEATHS, left))


def disregard(directory: Path) -> None:
    """The process that judged there was killed by intent: what was under way has nothing to do with it. Blocks."""
    notes.wipe(directory)


def _listed(left: Iterable[str], suspects: Suspects) -> str:
    """The likeliest first."""
    ranked = sorted(left, key=lambda text: -suspects.under_way[text].deaths)
    told = [
        text.partition("-")[0].replace(":", " ")
        + (f" (at {deaths} deaths)" if (deaths := suspects.under_way[text].deaths) > 1 else "")
        for text in ranked[:_SHOWN]
    ]
    more = len(ranked) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")
