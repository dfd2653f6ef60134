"""Attempts and reports made by hand, for tests of what is done with them."""

from __future__ import annotations

from otel_eval.experiment.gates import Gate, all_cases_should_pass
from otel_eval.experiment.report import Report
from otel_eval.experiment.results import SETUP, TARGET, TELEMETRY, Attempt, EvaluatorRef, Result
from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Outcome, Passed
from otel_eval.record import JudgeCall
from otel_eval.testing.interactions import interaction, tool_call

JUDGE = EvaluatorRef(id="polite", check="judge", version="v1")
TOOLS = EvaluatorRef(id="looks-up-the-order", check="tools", version="v2")
SECOND = 1_000_000_000
CALLED = Passed("called")


def judge_call(cost: float | None = 0.001) -> JudgeCall:
    return JudgeCall(
        conversation_id="e-judge", requested_model="m", input_tokens=90, output_tokens=10, cost_usd=cost,
        started_ns=0, ended_ns=SECOND // 2,
    )  # fmt: skip


def attempt(case: str = "refund", run: int = 1, *, judge: Outcome, tools: Outcome = CALLED, **fields) -> Attempt:
    results = (
        Result(evaluator=TOOLS, outcome=tools),
        Result(evaluator=JUDGE, outcome=judge, judge_calls=(judge_call(),)),
    )
    found = {
        "results": results,
        "planned": (TOOLS, JUDGE),
        "command": "I want my money back.",
        "interaction": interaction(
            asked="I want my money back.",
            reply="No.",
            tool_calls=[
                tool_call("getOrder", {"orderId": "o_9"}, {"status": "delivered"}),
                tool_call("pay", error="declined"),
            ],
        ),
        "reply": "No.",
        "started_ns": 0,
        "ended_ns": 2 * SECOND,
    }
    return Attempt(case_id=case, run=run, **{**found, **fields})


def own(case: str, check: str) -> Attempt:
    outcomes = {
        TARGET: Failed("ValueError: boom"),
        SETUP: Errored("no database", "OSError"),
        TELEMETRY: Inconclusive("no provider", Cause.NO_TELEMETRY),
    }
    result = Result(evaluator=EvaluatorRef(id=check, check=check), outcome=outcomes[check])
    return attempt(case, judge=Passed(""), results=(result,), interaction=None, reply=None)


def mixed(gate: Gate | None = None) -> Report:
    attempts = (
        attempt(run=1, judge=Passed("polite enough: scored 0.90, needed 0.50", 0.9)),
        attempt(run=2, judge=Failed("polite enough: scored 0.10, needed 0.50 — it is curt", 0.1, "rude", {"votes": 3})),
        attempt(
            run=3, judge=Passed("polite enough: scored 0.80, needed 0.50", 0.8), traced_reply="No!", notes=("a note",)
        ),
        attempt("hello", judge=Inconclusive("no usable verdict", Cause.JUDGE_ANSWER_UNUSABLE)),
        own("broken", TARGET),
        own("unready", SETUP),
        own("silent", TELEMETRY),
    )
    return Report(name="support", attempts=attempts, gate=(gate or all_cases_should_pass()).decide(attempts))
