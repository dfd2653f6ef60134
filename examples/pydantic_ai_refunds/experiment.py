"""Four runs of one case: three are right, and that is not good enough."""

from __future__ import annotations

import sys
from typing import Any

from agent import agent

from otel_eval import (
    EvalCase,
    Experiment,
    Interaction,
    Judge,
    Verdict,
    pass_rate_should_be_at_least,
    reply_should_contain,
    should_call_tool_with,
    should_call_tools_in_order,
    target_should_not_fail,
)


def apologizes(criterion: str, interaction: Interaction) -> Verdict:
    """A judge without a model, so that the example runs anywhere: ModelJudge(model=…) takes its place."""
    sorry = "sorry" in (interaction.reply or "")
    return Verdict(1.0 if sorry else 0.0, "it says sorry" if sorry else "no word of regret")


async def ask(command: str) -> Any:
    return await agent.run(command)


experiment = Experiment(
    name="refunds",
    cases=[
        EvalCase(
            "broken-order",
            "Order o_9 arrived broken. I want my money back.",
            should_call_tools_in_order("getOrder", "issueRefund"),
            should_call_tool_with("issueRefund", "amountCents", 4999),
            reply_should_contain("49.99"),
        ),
    ],
    agent=ask,
    reply=lambda run: run.output,
    evaluators=[Judge.of(apologizes).should_satisfy("the reply apologizes")],
    repeat=4,
    gate=pass_rate_should_be_at_least(0.9) & target_should_not_fail(),
)

if __name__ == "__main__":
    report = experiment.run()
    print(report.render())
    sys.exit(0 if report.passed else 1)
