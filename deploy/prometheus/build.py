"""Writes rules/recording.yaml: the same few rules for every window. Run it after a change: ``python deploy/prometheus/build.py``.

The alerts (rules/alerts.yaml) and the floors (rules/floors.yaml) are written by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

TARGET = Path(__file__).parent / "rules" / "recording.yaml"
WINDOWS = ("5m", "30m", "1h", "6h", "1d", "3d")
BY = "gen_ai_evaluation_name, gen_ai_agent_name, otel_eval_target_service, otel_eval_target_environment"
LIVE = 'otel_eval_origin="live"'
Z = 1.6449
"""One-sided 95 %: a bound is wrong one time in twenty on its side."""

HEADER = """\
# Made by deploy/prometheus/build.py; change that, not this.
#
# Pass rate, and what it rests on, by evaluator, agent, service and environment. Live evaluations only: a re-run is never
# counted. Passed and failed are the rate; inconclusive and error are in the coverage beside it.
#
#   otel_eval:ended:increase<window>        evaluations that ended, of all four outcomes
#   otel_eval:conclusive:increase<window>   passed or failed
#   otel_eval:pass_rate:ratio<window>       passed / (passed + failed); no series where nothing was conclusive
#   otel_eval:pass_rate_lower:ratio<window> and _upper: the Wilson bounds of the pass rate, 95 % on each side
#   otel_eval:coverage:ratio<window>        (passed + failed) / ended
groups:
"""


def group(window: str) -> str:
    """The rules of one window, in the order in which they build on one another."""
    conclusive = f"otel_eval:conclusive:increase{window}"
    ended = f"otel_eval:ended:increase{window}"
    rate = f"otel_eval:pass_rate:ratio{window}"
    spread = f"{Z} * sqrt(clamp_min({conclusive} * {rate} * (1 - {rate}), 0) + {Z * Z / 4:.4f})"
    centre = f"{conclusive} * {rate} + {Z * Z / 2:.4f}"
    rules = [
        (ended, f"sum by ({BY}) (increase(otel_eval_evaluations_total{{{LIVE}}}[{window}]))"),
        (
            conclusive,
            f'sum by ({BY}) (increase(otel_eval_evaluations_total{{{LIVE}, otel_eval_outcome=~"passed|failed"}}[{window}]))',
        ),
        (
            rate,
            f'(sum by ({BY}) (increase(otel_eval_evaluations_total{{{LIVE}, otel_eval_outcome="passed"}}[{window}]))'
            f" or 0 * {conclusive}) / ({conclusive} > 0)",
        ),
        (f"otel_eval:pass_rate_lower:ratio{window}", f"({centre} - {spread}) / ({conclusive} + {Z * Z:.4f})"),
        (f"otel_eval:pass_rate_upper:ratio{window}", f"({centre} + {spread}) / ({conclusive} + {Z * Z:.4f})"),
        (f"otel_eval:coverage:ratio{window}", f"({conclusive} or 0 * {ended}) / ({ended} > 0)"),
    ]
    lines = [f"  - name: otel-eval-{window}", "    rules:"]
    for name, expression in rules:
        lines += [f"      - record: {name}", "        expr: >-", f"          {expression}"]
    return "\n".join(lines) + "\n"


def render() -> str:
    """The whole file."""
    return HEADER + "".join(group(window) for window in WINDOWS)


if __name__ == "__main__":
    TARGET.write_text(render())
    sys.stdout.write(f"wrote {TARGET}\n")
