"""What the receiving and the judging process say to each other, beside what the journal's two sides do.

::

    receiving                      judging
        Begin  ------------------>              the configuration is checked, evaluators are made
               <------------------  Prepared
        Go     ------------------>              the directory is ours, the journal is open
               <------------------  Ready
        Counted  (now and then) ->
               <------------------  Alive       once a second: its event loop turns
               <------------------  StopAsked   it was told to stop: that is for the other to do
        Stop   ------------------>              stages are closed in order, then it exits

``CannotStart`` comes in place of Prepared or Ready, ``Died`` before it exits because a stage broke.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from otel_eval.config import Config
from otel_eval.server.tally import Measurement

if TYPE_CHECKING:
    from otel_eval.server.watching import Watching  # imports the stages, which the receiving process does without

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""What asks either process, and so the server, to stop."""

Setup: TypeAlias = "Callable[[], Watching]"
"""A function of a module, since it goes by its name: called in the judging process before anything else is done there."""


@dataclass(frozen=True, slots=True)
class Begin:
    """What to run."""

    config: Config
    setup: Setup | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Nothing is wrong with what is to run, as far as that shows without the directory."""


@dataclass(frozen=True, slots=True)
class Go:
    """The journal in that directory is open. ``api``: where the API of an earlier life listened."""

    directory: Path
    api: str | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """Every stage runs. See :class:`otel_eval.server.judging.Judging` for the fields."""

    destinations: Mapping[str, str]
    exports_to: tuple[str, ...]
    api: str | None = None


@dataclass(frozen=True, slots=True)
class CannotStart:
    """Why; can be shown to a user as it is."""

    message: str


@dataclass(frozen=True, slots=True)
class Died:
    """A stage broke; the message is StageDied's."""

    message: str


@dataclass(frozen=True, slots=True)
class StopAsked:
    """It got SIGTERM or SIGINT."""


@dataclass(frozen=True, slots=True)
class Alive:
    """Its event loop turns. Where nothing is heard, something does not give way."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What the receiving process counted since the last time."""

    measurements: tuple[Measurement, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """Close everything and exit."""


Message: TypeAlias = Begin | Prepared | Go | Ready | CannotStart | Died | StopAsked | Alive | Counted | Stop
