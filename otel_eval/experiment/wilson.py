"""How much a pass rate over few results says.

Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference" (1927); the bound inverts the
one-sided score test, which is why the number of results that would be needed has a closed form.
"""

from __future__ import annotations

import math
from statistics import NormalDist


def lower_bound(passed: int, total: int, confidence: float) -> float:
    """The rate that, with this one-sided confidence, is at least met. Raises ValueError for a total of 0."""
    if total <= 0:
        raise ValueError("no results, no bound")
    z = NormalDist().inv_cdf(confidence)
    rate = passed / total
    centre = rate + z * z / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return min(rate, max(0.0, (centre - spread) / (1 + z * z / total)))


def results_needed(rate: float, required: float, confidence: float) -> int | None:
    """How many results with this pass rate make the bound reach ``required``; None where no number does."""
    if required <= 0:
        return 1
    if rate <= required:
        return None
    z = NormalDist().inv_cdf(confidence)
    exact = z * z * required * (1 - required) / (rate - required) ** 2
    return max(1, math.ceil(exact - 1e-9))
