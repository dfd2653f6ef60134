import itertools

import pytest

from otel_eval.experiment.gates import pass_rate_should_be_at_least
from otel_eval.experiment.results import (
    Attempt,
    EvaluatorRef,
    Result,
    Status,
    Tally,
    attempt_status,
    case_status,
    tally,
)
from otel_eval.outcome import Errored, Failed, Inconclusive, Passed

P, F, E, I = Status.PASSED, Status.FAILED, Status.ERROR, Status.INCONCLUSIVE  # noqa: E741
passed, failed, errored, inconclusive = Passed("ok"), Failed("no"), Errored("broke"), Inconclusive("nothing")


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ([], I),
        ([passed], P),
        ([passed, passed], P),
        ([passed, failed], F),
        ([failed, errored, inconclusive], F),
        ([passed, errored], E),
        ([errored, inconclusive], E),
        ([passed, inconclusive], I),
    ],
)
def test_an_attempt_by_its_results(outcomes, status):
    """Failed wins over error, error over inconclusive, and no result at all is inconclusive; order does not matter."""
    for order in itertools.permutations(outcomes):
        assert attempt_status(order) is status


@pytest.mark.parametrize(
    ("attempts", "status"),
    [
        ([P], P),
        ([P, P], P),
        ([P, F], Status.INCONSISTENT),
        ([P, F, E, I], Status.INCONSISTENT),
        ([F], F),
        ([F, E], F),
        ([F, I], F),
        ([P, E], E),
        ([E, I], E),
        ([P, I], I),
        ([I], I),
        ([], I),
    ],
)
def test_a_case_by_its_attempts(attempts, status):
    """Passed and failed together are inconsistent; a case passes only where every attempt did."""
    for order in itertools.permutations(attempts):
        assert case_status(order) is status


class Judging:
    check = "judge"


class Strict(Judging):
    pass


def attempt(*outcomes, planned=1, check="judge", kind=Strict, run=1):
    ref = EvaluatorRef(id="polite", check=check, kind=kind)
    return Attempt(
        case_id="a",
        run=run,
        command="c",
        results=tuple(Result(evaluator=ref, outcome=outcome) for outcome in outcomes),
        planned=(ref,) * planned,
    )


@pytest.mark.parametrize("of", ["polite", "judge", Judging, Strict])
def test_a_tally_is_by_id_check_or_class(of):
    """Each way of naming the evaluator finds it, a class also through those that derive from it."""
    attempts = [attempt(passed), attempt(failed), attempt(errored), attempt(inconclusive), attempt()]
    assert tally(attempts, of) == Tally(passed=1, failed=1, inconclusive=1, errors=1, not_run=1)


def test_an_evaluator_that_is_called_as_a_check_is_counted_alone():
    """Its id comes before the check: in an attempt that it is no part of, too. Without one of that id the check counts."""
    judge, polite = (EvaluatorRef(id=name, check="judge") for name in ("judge", "polite"))
    first, second = (
        Attempt(
            case_id=case, run=1, command="c", planned=refs,
            results=tuple(Result(evaluator=ref, outcome=passed if ref is judge else failed) for ref in refs),
        )
        for case, refs in (("a", (judge, polite)), ("b", (polite,)))
    )  # fmt: skip
    assert tally([first, second], "judge") == Tally(passed=1)
    assert tally([second], "judge") == Tally(failed=1)
    gate = pass_rate_should_be_at_least(1, of="judge").decide([first, second])
    assert gate.detail == "pass rate of judge 1.00 over 1 result (1 case, 1 run), required 1"


def test_a_tally_of_another_evaluator_is_empty():
    """Neither another id nor another class counts, and an empty tally has no rate."""
    empty = tally([attempt(passed)], "other")
    assert empty == Tally() == tally([attempt(passed)], int)
    assert empty.rate is None
    assert empty.coverage is None


def test_the_experiments_own_results_are_in_no_tally():
    """A pass rate of the check `target` would count agents, not evaluators."""
    assert tally([attempt(failed, check="target", kind=None, planned=0)], "target") == Tally()


def test_a_class_is_found_by_its_check_in_a_report_that_was_read():
    """A report from a file knows no classes, only checks."""
    assert tally([attempt(passed, kind=None)], Judging).passed == 1


def test_coverage_counts_what_was_to_be_judged():
    """Attempts that no evaluator came to make the coverage smaller, never the rate larger without a word."""
    counted = tally([attempt(passed), attempt(), attempt(), attempt(inconclusive)], "judge")
    assert counted.rate == 1.0
    assert counted.coverage == 0.25
