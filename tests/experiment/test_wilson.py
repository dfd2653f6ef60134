import pytest

from otel_eval.experiment.wilson import lower_bound, results_needed


@pytest.mark.parametrize(
    ("passed", "total", "confidence", "bound"),
    [(10, 10, 0.95, 0.7871), (0, 10, 0.95, 0.0), (9, 10, 0.95, 0.6523), (90, 100, 0.95, 0.8397), (5, 10, 0.5, 0.5)],
)
def test_the_bound_is_wilsons(passed, total, confidence, bound):
    """Reference values of the one-sided Wilson score bound."""
    assert lower_bound(passed, total, confidence) == pytest.approx(bound, abs=2e-4)


@pytest.mark.parametrize("required", [0.5, 0.75, 0.9, 0.99])
def test_the_number_needed_is_the_smallest_that_reaches_the_rate(required):
    """With so many results the bound reaches the rate, with one fewer it does not."""
    needed = results_needed(1.0, required, 0.95)
    assert lower_bound(needed, needed, 0.95) >= required
    assert lower_bound(needed - 1, needed - 1, 0.95) < required


@pytest.mark.parametrize(("rate", "required"), [(0.9, 0.9), (0.5, 0.9), (1.0, 1.0)])
def test_no_number_of_results_helps_a_rate_that_is_not_above(rate, required):
    """A bound lies below its rate, so the rate itself can never be the bound."""
    assert results_needed(rate, required, 0.95) is None


def test_nothing_has_no_bound():
    """A rate over nothing cannot be read."""
    with pytest.raises(ValueError, match="no results"):
        lower_bound(0, 0, 0.95)


def test_the_bound_is_where_the_score_test_just_rejects():
    """Independent check: at the bound, the observed rate lies exactly z standard errors above."""
    bound = lower_bound(17, 20, 0.95)
    assert (0.85 - bound) / (bound * (1 - bound) / 20) ** 0.5 == pytest.approx(1.6448536, abs=1e-6)
