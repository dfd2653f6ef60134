"""The wording of gates' details: counts, rates beside what is required, what was left out, and what would be enough."""

from __future__ import annotations

from collections.abc import Sequence

from otel_eval.experiment.results import OWN_CHECKS, Attempt, Tally, cases_of
from otel_eval.experiment.wilson import results_needed
from otel_eval.wording import number_of


def readable(value: float, required: float) -> str:
    """Two decimals, more where two would read as the other side of what is required."""
    for digits in range(2, 7):
        shown = f"{value:.{digits}f}"
        if (float(shown) >= required) == (value >= required):
            return shown
    return repr(value)


def spread(attempts: Sequence[Attempt]) -> str:
    """How many cases the attempts are of, and how often each ran."""
    sizes = [len(case.attempts) for case in cases_of(attempts)]
    fewest, most = min(sizes), max(sizes)
    runs = number_of(most, "run") if fewest == most else f"{fewest} to {most} runs"
    each = " each" if len(sizes) > 1 else ""
    return f"{number_of(len(sizes), 'case')}, {runs}{each}"


def not_counted(counted: Tally) -> str:
    """What the rate leaves out, as the end of a detail; empty where that is nothing."""
    named = [
        (counted.inconclusive, "inconclusive"),
        (counted.errors, "error" if counted.errors == 1 else "errors"),
        (counted.not_run, "not run"),
        (counted.waiting, "waiting"),
        (counted.sampled_out, "sampled out"),
    ]
    aside = [f"{count} {name}" for count, name in named if count]
    return f"; not counted: {', '.join(aside)}" if aside else ""


def with_confidence(confidence: float | None) -> str:
    """The end of a gate's name."""
    return "" if confidence is None else f" with confidence {confidence:g}"


def results_still_needed(rate: float, required: float, confidence: float) -> str:
    """How many conclusive results would be enough, were the rate to stay as it is."""
    needed = results_needed(rate, required, confidence)
    if needed is None:
        return "no number of conclusive results at this rate would reach it"
    return f"at this rate it would need {number_of(needed, 'conclusive result')}"


def dependence(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """The warning that repeats of a case are no new evidence for a bound."""
    cases = len({attempt.case_id for attempt in attempts})
    if cases == len(attempts):
        return ()
    return (
        f"{len(attempts)} results come from {number_of(cases, 'case')} run more than once: repeats of one case are not "
        "independent, so the bound is narrower than the evidence; add cases rather than repeats",
    )


def known_evaluators(attempts: Sequence[Attempt], of: str | type) -> str:
    """The evaluators that there are, where none is called so: a slip of the pen must not read like missing evidence."""
    refs = {ref.id: ref for attempt in attempts for ref in attempt.planned}
    refs |= {result.evaluator.id: result.evaluator for attempt in attempts for result in attempt.results}
    refs = {name: ref for name, ref in refs.items() if ref.check not in OWN_CHECKS}
    if not refs or any(ref.matches(of) for ref in refs.values()):
        return ""
    names = list(refs)
    return f"; there were {', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
