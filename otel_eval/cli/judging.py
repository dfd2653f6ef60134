"""What `serve` has set up wherever it judges, in its own process or in the judging one: logging, and whom to tell."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from otel_eval.cli.streams import outlive_streams

if TYPE_CHECKING:
    from otel_eval.server.watching import Watching

# Functions import what they need: the receiving process only names them, and does without the stages, and without rich.


def quietly() -> Watching:
    """Warnings and errors, on standard error."""
    from otel_eval.server.watching import Watching

    log_to_stderr()
    return Watching()


def on_terminal() -> Watching:
    """A line per Interaction as well, on standard output."""
    from otel_eval.cli.live import LiveLines
    from otel_eval.server.watching import Watching

    log_to_stderr()
    lines = LiveLines()
    return Watching(accepted=lines.accepted, stored=lines.stored)


def log_to_stderr() -> None:
    """The same in every process: of libraries what they warn of, of ours also what ends a trouble, and what was deleted.

    Where nobody reads along, this process goes on all the same.
    """
    outlive_streams()
    logging.getLogger("otel_eval").setLevel(logging.INFO)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
