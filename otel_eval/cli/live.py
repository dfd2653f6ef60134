"""What `serve` prints on a terminal: an Interaction with its verdicts, and what its telemetry left out."""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Console
from rich.markup import escape

from otel_eval.cli.shown import printable
from otel_eval.cli.streams import silence
from otel_eval.dispatch import Accepted
from otel_eval.dispatch.bindings import Reason
from otel_eval.interaction import Interaction
from otel_eval.ledger.model import Stored
from otel_eval.record import EvaluationRecord

log = logging.getLogger("otel_eval.cli")

SHORT = 100
NO_NAME = "(no name)"
REMEMBERED = 10_000
MOST_WAITING = 200
"""What a terminal that does not keep up (or is paused by Ctrl-S) may be behind by; what comes then is left out."""
LAST_LINES_S = 1.0
"""How long a process that ends waits for what is still to be printed."""
COLOURS = {"passed": "green", "failed": "red", "inconclusive": "yellow", "error": "magenta"}


class LiveLines:
    """Prints as things happen. Records of a judge come later than their Interaction, and name it again.

    A decoration: in a thread of its own, so that nobody waits for a terminal, and for as long as there is one. The thread
    writes to the descriptor itself: one that hangs there holds no lock that ending the process needs.
    """

    def __init__(self, console: Console | None = None) -> None:
        """``console`` prints to something that has a descriptor; by default standard output."""
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._descriptor = self._console.file.fileno()
        self._awaited: OrderedDict[str, str] = OrderedDict()
        self._waiting: queue.Queue[Callable[[], None] | None] = queue.Queue(MOST_WAITING)
        self._left_out = 0
        self._thread = threading.Thread(target=self._run, name="otel-eval-live", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def accepted(self, accepted: Sequence[Accepted]) -> None:
        """An Interaction was stored. Returns at once, and raises nothing."""
        self._put(partial(self._print_accepted, tuple(accepted)))

    def stored(self, stored: tuple[Stored, ...]) -> None:
        """Records were stored: those that were waited for are printed here, the others came with their Interaction."""
        self._put(partial(self._print_stored, stored))

    def close(self) -> None:
        """Print what is left, for a second at most. May be called twice."""
        if self._thread.is_alive():
            self._put(None)
            self._thread.join(LAST_LINES_S)

    def _put(self, printing: Callable[[], None] | None) -> None:
        if not self._thread.is_alive():
            return
        try:
            self._waiting.put_nowait(printing)
        except queue.Full:
            self._left_out += 1

    def _run(self) -> None:
        try:
            while (printing := self._waiting.get()) is not None:
                with self._console.capture() as captured:
                    self._print_left_out()
                    printing()
                self._write(captured.get())
        except (OSError, ValueError) as error:
            silence(self._console.file)
            log.warning("nothing more is shown on the terminal, the server goes on: %s", error)

    def _write(self, text: str) -> None:
        rest = memoryview(text.encode(self._console.encoding, errors="replace"))
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def _print_left_out(self) -> None:
        count, self._left_out = self._left_out, 0
        if count:
            self._console.print(f"[yellow]…[/] the terminal did not keep up: {count} messages are left out")

    def _print_accepted(self, accepted: Sequence[Accepted]) -> None:
        for each in accepted:
            self._console.print(headline(each))
            for line in details(each.interaction):
                self._console.print(f"    {line}")
            for record in each.records:
                self._console.print(f"    {verdict(record)}")
            self._awaited.update((waiting.evaluation_id, each.interaction.agent or NO_NAME) for waiting in each.waiting)
        while len(self._awaited) > REMEMBERED:
            self._awaited.popitem(last=False)

    def _print_stored(self, stored: tuple[Stored, ...]) -> None:
        for each in stored:
            agent = self._awaited.pop(each.record.id, None)
            if agent is not None:
                self._console.print(f"  {short(agent)} {each.record.interaction_id[:8]}… {verdict(each.record)}")


def headline(accepted: Accepted) -> str:
    """Who was asked, and what became of it; "failed" is the Interaction here, also where it is not judged for that."""
    interaction = accepted.interaction
    agent = interaction.agent or NO_NAME
    later = f" revision {accepted.revision}" if accepted.revision > 1 else ""
    state = "[red]failed[/] " if interaction.failed else ""
    became = "not judged" if accepted.disposition == Reason.FAILED else accepted.disposition
    return f"[bold]{short(agent)}[/] {interaction.id}{later} {state}[dim]{became}[/]"


def details(interaction: Interaction) -> list[str]:
    """Asked, tools, reply, and the gaps with the switch that closes them."""
    lines = [f"asked   {short(interaction.asked)}"]
    if interaction.tool_calls:
        tools = ", ".join(f"{call.name}{' ✗' if call.error else ''}" for call in interaction.tool_calls)
        lines.append(f"tools   {short(tools, 200)}")
    lines.append(f"replied {short(str(interaction.failure) if interaction.failed else interaction.reply)}")
    lines += [f"[yellow]gap[/]     {escape(printable(line))}" for line in gaps(interaction)]
    return lines


def gaps(interaction: Interaction) -> list[str]:
    """One line for each kind of gap and setting, with the fields that it is about."""
    fields: dict[tuple[str, str | None], list[str]] = {}
    for gap in interaction.all_gaps():
        fields.setdefault((gap.kind.value.replace("_", " "), gap.setting), []).append(gap.field)
    return [
        f"{', '.join(names)}: {kind}" + (f"; {setting}" if setting else "") for (kind, setting), names in fields.items()
    ]


def verdict(record: EvaluationRecord) -> str:
    """The evaluator's id and the outcome on one line."""
    colour = COLOURS[record.outcome.name]
    word, _, rest = record.describe().partition(" ")
    return f"[{colour}]{word}[/] {escape(printable(record.evaluator))}: {short(rest, 200)}"


def short(text: str | None, limit: int = SHORT) -> str:
    """One line of it, marked where it is cut."""
    if text is None:
        return "[dim](not captured)[/]"
    line = printable(" ".join(text.split()))
    return escape(line if len(line) <= limit else line[: limit - 1] + "…")
