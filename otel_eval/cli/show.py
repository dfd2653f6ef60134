"""``otel-eval show``: one Interaction with what was said of it, as the judge sees it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, TextIO

import typer

from otel_eval.cli.exits import fail
from otel_eval.cli.formats import Format, FormatOption
from otel_eval.cli.shown import printable
from otel_eval.cli.stored import ConfigOption, LedgerOption, configuration, opened, print_json
from otel_eval.config import Config, ConfigError, build_evaluators
from otel_eval.dispatch.bindings import Bindings, Reason
from otel_eval.interaction import Interaction
from otel_eval.interaction_json import to_json
from otel_eval.judges.evidence import prepare
from otel_eval.judges.rendering import default_user_message
from otel_eval.ledger import Ledger
from otel_eval.record import EvaluationRecord, JudgeCall
from otel_eval.record_json import to_line
from otel_eval.redaction import Redaction

NOT_FOUND = 1
_INDENT = "    "


def show(
    id: Annotated[
        str, typer.Argument(help="An Interaction's id, an alias of it, or an evaluation's id.", metavar="ID")
    ],
    format: FormatOption = Format.TABLE,
    ledger: LedgerOption = None,
    config: ConfigOption = None,
) -> None:
    """Show one Interaction with its records: what the judge is sent, what was missing and which setting would close it.

    Texts are redacted and cut as they are for a judge; --format json prints what is stored.
    Exit status: 0; 1 where there is no such Interaction; 2 for a wrong option, configuration or ledger.

    Example: otel-eval show 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7
    """
    settings = configuration(config)
    with opened(ledger, settings) as store:
        try:
            interaction = _interaction(store, id)
        except KeyError as error:
            raise fail(f"no Interaction {id} in the ledger", NOT_FOUND) from error
        records = store.evaluations(interaction.id)
        waiting = sorted(each.evaluator for each in store.waiting(interaction_id=interaction.id))
    unjudged = _unjudged(settings, interaction, {*waiting, *(record.evaluator for record in records)})
    if format is not Format.TABLE:
        whole = {"interaction": to_json(interaction), "evaluations": [to_line(record) for record in records]}
        whole |= {"waiting": waiting, "unjudged": unjudged}
        print_json([whole], format, sys.stdout)
        return
    redaction = Redaction(settings.redaction.builtin, dict(settings.redaction.patterns))
    write(interaction, records, redaction, settings.judges.max_input_chars, sys.stdout, waiting, unjudged)


def write(
    interaction: Interaction,
    records: Sequence[EvaluationRecord],
    redaction: Redaction,
    max_chars: int,
    out: TextIO,
    waiting: Sequence[str] = (),
    unjudged: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Print it for people: who and when, the evidence, the gaps, the records with the judge's calls, who judges it
    not (yet)."""
    evidence, cut = prepare(interaction, redaction, max_chars)
    sections = [
        "\n".join(_facts(evidence)),
        # The criterion comes first in what a judge is sent; here it differs by record.
        default_user_message("-", evidence).partition("\n\n")[2],
    ]
    if cut:
        sections.append(f"Cut to the judge's {max_chars} characters: {', '.join(cut)}")
    sections += ["\n".join(_gaps(interaction)), "\n".join(_records(records, redaction))]
    if waiting:
        sections.append(f"Waiting to be judged by: {', '.join(waiting)}")
    if unjudged:
        sections.append("Not judged by:\n" + "\n".join(f"- {name}: {reason}" for name, reason in unjudged.items()))
    out.write(printable("\n\n".join(section for section in sections if section)) + "\n")


def _unjudged(settings: Config, interaction: Interaction, judged: Collection[str]) -> dict[str, str]:
    """The evaluators of the configuration that did not judge it and will not, each with the reason, as it stands now."""
    try:
        evaluators = build_evaluators(settings)
    except ConfigError:  # what `use:` names cannot be imported here
        evaluators = {}
    decisions = Bindings(settings.evaluators, settings.roles, evaluators).decide(interaction)
    return {
        each.evaluator: "bound to its agent since then" if each.reason is Reason.EVALUATED else each.reason.value
        for each in decisions
        if each.evaluator not in judged
    }


def _interaction(store: Ledger, known_as: str) -> Interaction:
    try:
        return store.interaction(known_as)
    except KeyError:
        return store.interaction(store.record(known_as).interaction_id)


def _facts(interaction: Interaction) -> Iterator[str]:
    facts = {
        "Interaction": interaction.id,
        "nested in": interaction.parent_id,
        "agent": interaction.agent,
        "role": interaction.role,
        "session": interaction.session,
        "user": interaction.user_id,
        "service": " ".join(filter(None, (interaction.service_name, interaction.service_version))) or None,
        "environment": interaction.environment,
        "model": interaction.model,
        "took": None if interaction.duration_ns is None else f"{interaction.duration_ns / 1e9:.2f} s",
        "tokens": interaction.totals.usage.total_tokens,
        "failed": None if interaction.failure is None else str(interaction.failure),
        "incomplete": None if interaction.complete else "the agent's own span never came, or has not ended",
        "told by": ", ".join(interaction.conventions) or None,
    }
    return (f"{name + ':':<13}{value}" for name, value in facts.items() if value is not None)


def _gaps(interaction: Interaction) -> Iterator[str]:
    gaps = list(interaction.all_gaps())
    if gaps:
        yield "What the telemetry does not carry:"
    for gap in gaps:
        kind = gap.kind.value.replace("_", " ")
        yield f"- {gap.field}: {kind}" + ("" if gap.setting is None else f"; closed by {gap.setting}")


def _records(records: Sequence[EvaluationRecord], redaction: Redaction) -> Iterator[str]:
    yield "Evaluations, newest first:" if records else "No evaluation has ended."
    for record in records:
        which = [f"revision {record.revision}"] if record.revision > 1 else []
        which += [f"attempt {record.attempt}"] if record.attempt else []
        which += [record.origin.value] if record.origin.value != "live" else []
        yield f"- {record.evaluator}" + (f" ({', '.join(which)})" if which else "")
        yield _INDENT + redaction.text(record.describe())
        for call in record.judge_calls:
            yield _INDENT + _call(call)


def _call(call: JudgeCall) -> str:
    counts = ["?" if count is None else str(count) for count in (call.input_tokens, call.output_tokens)]
    tokens = f"{' + '.join(counts)} tokens"
    cost = "" if call.cost_usd is None else f", ${call.cost_usd:.4f}"
    failed = "" if call.error is None else f", failed: {' '.join(call.error.split())}"
    return f"asked {call.answered_model or call.requested_model}: {tokens}{cost}{failed}"
