import pytest

from otel_eval.experiment.errors import InvalidExperiment
from otel_eval.experiment.gates import (
    Gate,
    GateResult,
    all_cases_should_pass,
    pass_rate_should_be_at_least,
    target_should_not_fail,
)
from otel_eval.experiment.results import SETUP, TARGET, Attempt, EvaluatorRef, Result
from otel_eval.outcome import Errored, Failed, Inconclusive, Passed

OUTCOMES = {"P": Passed("ok"), "F": Failed("no"), "E": Errored("broke"), "I": Inconclusive("nothing")}
JUDGE = EvaluatorRef(id="polite", check="judge")


def runs(**cases: str) -> list[Attempt]:
    """``runs(a="PPF")``: case a passed twice and failed once; ``-`` is an attempt that the judge never came to."""
    attempts = []
    for case_id, letters in cases.items():
        for run, letter in enumerate(letters, 1):
            results = () if letter == "-" else (Result(evaluator=JUDGE, outcome=OUTCOMES[letter]),)
            attempts.append(Attempt(case_id=case_id, run=run, command="c", results=results, planned=(JUDGE,)))
    return attempts


RATE = pass_rate_should_be_at_least


@pytest.mark.parametrize(
    ("gate", "attempts", "passed", "detail"),
    [
        (all_cases_should_pass(), runs(a="PP", b="P"), True, "2 of 2 cases passed, required all"),
        (all_cases_should_pass(), runs(a="PF", b="P", c="I"), False,
         "1 of 3 cases passed, required all; not passed: a INCONSISTENT, c INCONCLUSIVE"),
        (all_cases_should_pass(), [], False, "no case ran"),
        (RATE(0.75), runs(a="PPPF"), True, "pass rate 0.75 over 4 attempts (1 case, 4 runs), required 0.75"),
        (RATE(0.8), runs(a="PPPF"), False, "pass rate 0.75 over 4 attempts (1 case, 4 runs), required 0.8"),
        (RATE(0.5), runs(a="PE", b="I-"), False, "pass rate 0.25 over 4 attempts (2 cases, 2 runs each), required 0.5"),
        (RATE(1), runs(a="P"), True, "pass rate 1.00 over 1 attempt (1 case, 1 run), required 1"),
        (RATE(0), runs(a="IE"), False,
         "pass rate 0.00 over 2 attempts (1 case, 2 runs), required 0; 0 conclusive attempts, required 1"),
        (RATE(0.1, min_conclusive=3), runs(a="PFI"), False,
         "pass rate 0.33 over 3 attempts (1 case, 3 runs), required 0.1; 2 conclusive attempts, required 3"),
        (RATE(0.1, min_coverage=0.9), runs(a="PFI"), False,
         "pass rate 0.33 over 3 attempts (1 case, 3 runs), required 0.1; 0.67 of them conclusive, required 0.9"),
        (RATE(0), [], False, "no attempt was made, so the pass rate cannot be read"),
        (RATE(0.9, of="judge"), runs(a="IE"), False,
         "judge judged no case, so its rate cannot be read; not counted: 1 inconclusive, 1 error"),
        (RATE(0.9, of="judge"), [], False, "judge judged no case, so its rate cannot be read"),
        (RATE(0.6, of="polite"), runs(a="PPF", b="EI-"), True,
         "pass rate of polite 0.67 over 3 results (1 case, 3 runs), required 0.6; "
         "not counted: 1 inconclusive, 1 error, 1 not run"),
        (RATE(0.5, of="judge", min_conclusive=3), runs(a="PP"), False,
         "judge has 2 conclusive results, required 3"),
        (RATE(0.5, of="judge", min_coverage=0.8), runs(a="PPI-"), False,
         "judge covers 0.50, required 0.8; not counted: 1 inconclusive, 1 not run"),
        (RATE(0.8, confidence=0.95), runs(**{f"c{n}": "P" for n in range(10)}), False,
         "pass rate 1.00 over 10 attempts (10 cases, 1 run each), at least 0.79 with confidence 0.95, required 0.8: "
         "at this rate it would need 11 conclusive results"),
        (RATE(0.5, of="judge", confidence=0.95), runs(**{f"c{n}": "P" for n in range(10)}), True,
         "pass rate of judge 1.00 over 10 results (10 cases, 1 run each), at least 0.79 with confidence 0.95, "
         "required 0.5"),
        (RATE(0.9, confidence=0.95), runs(a="P", b="F"), False,
         "pass rate 0.50 over 2 attempts (2 cases, 1 run each), at least 0.12 with confidence 0.95, required 0.9: "
         "no number of conclusive results at this rate would reach it"),
        (target_should_not_fail(), runs(a="FF"), True, "the agent failed in 0 of 2 attempts"),
        (target_should_not_fail(), [], False, "no attempt was made"),
    ],
)  # fmt: skip
def test_each_gate_decides_and_says_why(gate, attempts, passed, detail):
    """The truth table of the gates, with the words of their details."""
    result = gate.decide(attempts)
    assert (result.passed, result.detail) == (passed, detail)


@pytest.mark.parametrize(
    ("gate", "attempts", "decided"),
    [
        (RATE(0.9), [], False),
        (RATE(0.9), runs(a="IE"), False),
        (RATE(0.9), runs(a="IF"), True),
        (RATE(0.9, of="judge"), runs(a="I"), False),
        (RATE(0.9, of="judge"), runs(a="F"), True),
        (RATE(0.9, of="judge", min_conclusive=2), runs(a="F"), False),
        (RATE(0.9, of="judge") & RATE(0.9), runs(a="I"), False),
        (all_cases_should_pass(), runs(a="I"), False),
        (all_cases_should_pass(), runs(a="F"), True),
    ],
)
def test_too_little_evidence_is_told_apart_from_failure(gate, attempts, decided):
    """Not passed for want of evidence is not decided: the command line exits 3 instead of 1."""
    result = gate.decide(attempts)
    assert not result.passed
    assert result.decided is decided


@pytest.mark.parametrize("check", [TARGET, SETUP])
def test_a_target_or_setup_result_stops_the_target_gate(check):
    """Either is a run that says nothing about the agent's answers."""
    outcome = Failed("boom") if check == TARGET else Errored("no database")
    broken = Attempt(
        case_id="a",
        run=1,
        command="c",
        results=(Result(evaluator=EvaluatorRef(id=check, check=check), outcome=outcome),),
    )
    assert not target_should_not_fail().decide([broken, *runs(b="P")]).passed


def test_gates_combine_and_name_the_part_that_did_not_pass():
    """All parts have to pass; the detail of those that did not is the detail of the whole."""
    both = RATE(0.5) & RATE(0.9, of="polite") & target_should_not_fail()
    result = both.decide(runs(a="PPPF"))
    assert not result.passed
    assert result.detail == "pass rate of polite 0.75 over 4 results (1 case, 4 runs), required 0.9"
    assert [part.passed for part in result.parts] == [True, False, True]
    assert both.decide(runs(a="PPPP")).passed


def test_repeats_that_pretend_to_be_independent_are_warned_about():
    """A bound over 20 runs of one case is no bound over 20 cases."""
    result = RATE(0.8, confidence=0.95).decide(runs(a="P" * 20))
    assert result.passed
    assert "20 results come from 1 case run more than once" in result.warnings[0]
    assert RATE(0.8).decide(runs(a="P" * 20)).warnings == ()


def test_a_rate_just_below_is_not_rounded_up_to_it():
    """0.8999 is not shown as 0.90 beside a required 0.9."""
    attempts = runs(a="P" * 899 + "F" * 100)
    assert "pass rate 0.8999 over" in RATE(0.9).decide(attempts).detail


@pytest.mark.parametrize(
    "make",
    [
        lambda: RATE(90),
        lambda: RATE(-0.1),
        lambda: RATE(True),
        lambda: RATE(0.5, of="x", min_coverage=50),
        lambda: RATE(0.5, of="x", min_conclusive=0),
        lambda: RATE(0.5, confidence=95),
        lambda: RATE(0.5, confidence=1.0),
    ],
)
def test_numbers_out_of_range_are_refused(make):
    """10 is not 10 %, and a setting that would be ignored is a mistake."""
    with pytest.raises(InvalidExperiment):
        make()


def test_a_gate_of_ones_own_combines_with_ours():
    """Gate is a class to derive from."""

    class AtMost(Gate):
        name = "at most three attempts"

        def decide(self, attempts):
            return GateResult(gate=self.name, passed=len(attempts) <= 3, detail=f"{len(attempts)} attempts")

    assert (all_cases_should_pass() & AtMost()).decide(runs(a="PPP")).passed
    assert (AtMost() & all_cases_should_pass()).decide(runs(a="PPPP")).detail == "4 attempts"
