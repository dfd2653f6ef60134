"""What `serve` prints on a terminal: an Interaction with its verdicts, and what its telemetry left out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from otel_eval.cli.stored import printable
from otel_eval.dispatch import Accepted
from otel_eval.interaction import Interaction
from otel_eval.ledger.model import Stored
from otel_eval.record import EvaluationRecord

SHORT = 100
NO_NAME = "(no name)"
REMEMBERED = 10_000
COLOURS = {"passed": "green", "failed": "red", "inconclusive": "yellow", "error": "magenta"}


class LiveLines:
    """Prints as things happen. Records of a judge come later than their Interaction, and name it again."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._awaited: OrderedDict[str, str] = OrderedDict()

    def accepted(self, accepted: Sequence[Accepted]) -> None:
        """An Interaction was stored."""
        for each in accepted:
            self._console.print(headline(each))
            for line in details(each.interaction):
                self._console.print(f"    {line}")
            for record in each.records:
                self._console.print(f"    {verdict(record)}")
            self._awaited.update((waiting.evaluation_id, each.interaction.agent or NO_NAME) for waiting in each.waiting)
        while len(self._awaited) > REMEMBERED:
            self._awaited.popitem(last=False)

    def stored(self, stored: tuple[Stored, ...]) -> None:
        """Records were stored: those that were waited for are printed here, the others came with their Interaction."""
        for each in stored:
            agent = self._awaited.pop(each.record.id, None)
            if agent is not None:
                self._console.print(f"  {escape(agent)} {each.record.interaction_id[:8]}… {verdict(each.record)}")


def headline(accepted: Accepted) -> str:
    """Who was asked what."""
    interaction = accepted.interaction
    agent = interaction.agent or NO_NAME
    later = f" revision {accepted.revision}" if accepted.revision > 1 else ""
    state = "[red]failed[/] " if interaction.failed else ""
    return f"[bold]{escape(agent)}[/] {interaction.id}{later} {state}[dim]{accepted.disposition}[/]"


def details(interaction: Interaction) -> list[str]:
    """Asked, tools, reply, and the gaps with the switch that closes them."""
    lines = [f"asked   {short(interaction.asked)}"]
    if interaction.tool_calls:
        tools = ", ".join(f"{call.name}{' ✗' if call.error else ''}" for call in interaction.tool_calls)
        lines.append(f"tools   {escape(tools)}")
    lines.append(f"replied {short(str(interaction.failure) if interaction.failed else interaction.reply)}")
    lines += [f"[yellow]gap[/]     {escape(line)}" for line in gaps(interaction)]
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
    return f"[{colour}]{word}[/] {escape(record.evaluator)}: {short(rest, 200)}"


def short(text: str | None, limit: int = SHORT) -> str:
    """One line of it, marked where it is cut."""
    if text is None:
        return "[dim](not captured)[/]"
    line = printable(" ".join(text.split()))
    return escape(line if len(line) <= limit else line[: limit - 1] + "…")
