"""Which evaluators judge an Interaction, and the reason where one does not."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.config import parse
from otel_eval.dispatch.bindings import Bindings, Decision, Reason, disposition
from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.identity import sampling_fraction
from otel_eval.interaction import Interaction
from otel_eval.outcome import Outcome, Passed
from otel_eval.testing.interactions import interaction

ROLES = {
    "customer-facing": {"agents": ["support-*", "sales-agent"]},
    "premium": {"attributes": {"tier": "gold", "service.name": "shop*"}},
}


class Always(Evaluator):
    """Passes."""

    check = "always"

    def __init__(self, trigger_on_failure: bool = False) -> None:
        self.trigger_on_failure = trigger_on_failure

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        return Passed("as ever")


def bindings(declares: bool = False, **entry: Any) -> Bindings:
    config = parse({"roles": ROLES, "evaluators": {"e": {"check": "should_not_fail", **entry}}}, {})
    return Bindings(config.evaluators, config.roles, {"e": Always(declares)})


def decide(given: Bindings, **fields: Any) -> Decision:
    (decision,) = given.decide(interaction(**fields))
    return decision


ON, OFF = {}, {"enabled": False}
SPECIFICITY = [
    ("an exact name comes before a glob", {"agents": {"support-*": ON, "support-agent": ON}}, "agents.support-agent"),
    ("a glob comes before a role", {"agent_roles": {"customer-facing": ON}, "agents": {"s*": ON}}, "agents.s*"),
    ("the glob that spells out most wins", {"agents": {"s*": ON, "support-*": ON, "*-agent": ON}}, "agents.support-*"),
    ("globs as specific stay in the file's order", {"agents": {"*-agent": ON, "suppor*": ON}}, "agents.*-agent"),
    ("a role comes before any role", {"agent_roles": {"*": ON, "customer-facing": ON}}, "agent_roles.customer-facing"),
    ("any role comes before any agent", {"agents": {"*": ON}, "agent_roles": {"*": ON}}, "agent_roles.*"),
    ("any agent comes last", {"agents": {"other": ON, "*": ON}}, "agents.*"),
    ("roles stay in the file's order", {"agent_roles": {"premium": ON, "customer-facing": ON}}, "agent_roles.premium"),
    ("an entry of another service is not there", {"agents": {"support-agent": {"service": "b"}, "*": ON}}, "agents.*"),
    ("an entry of another environment is not there", {"agents": {"s*": {"environment": "x"}, "*": ON}}, "agents.*"),
    ("case is told apart", {"agents": {"Support-*": ON, "*": ON}}, "agents.*"),
]


@pytest.mark.parametrize(("entry", "expected"), [row[1:] for row in SPECIFICITY], ids=[row[0] for row in SPECIFICITY])
def test_the_most_specific_entry_decides(entry: dict[str, Any], expected: str) -> None:
    """Exact name, glob, role, any role, any agent; entries are not merged."""
    decision = decide(bindings(**entry), agent="support-agent", attributes={"tier": "gold"})
    assert (decision.reason, decision.entry) == (Reason.EVALUATED, expected)


NESTED = {"parent_id": "a" * 32 + "-" + "b" * 16}
REASONS = [
    ("bound and switched on", {"agents": ["support-agent"]}, {}, Reason.EVALUATED),
    ("no entry for that agent", {"agents": ["other"]}, {}, Reason.NOT_BOUND),
    ("no entries at all", {}, {}, Reason.NOT_BOUND),
    ("no such role", {"agent_roles": ["customer-facing"]}, {"agent": "billing"}, Reason.NOT_BOUND),
    ("no role at all", {"agent_roles": ["*"]}, {"agent": "billing"}, Reason.NOT_BOUND),
    ("an agent without a name is any agent", {"agents": ["*"]}, {"agent": None}, Reason.EVALUATED),
    ("an agent without a name matches no glob", {"agents": ["?*", "[a-z]*"]}, {"agent": None}, Reason.NOT_BOUND),
    ("the evaluator is switched off", {"agents": ["*"], "enabled": False}, {}, Reason.DISABLED),
    ("the entry is switched off", {"agents": {"support-agent": OFF, "*": ON}}, {}, Reason.DISABLED),
    ("nested, through *", {"agents": ["*"]}, NESTED, Reason.NESTED),
    ("nested, through a role", {"agent_roles": ["*"]}, NESTED, Reason.NESTED),
    ("nested, and asked for", {"agents": {"*": {"nested": True}}}, NESTED, Reason.EVALUATED),
    ("nested, and named", {"agents": ["support-agent"]}, NESTED, Reason.EVALUATED),
    ("nested, and named by a glob", {"agents": ["support-*"]}, NESTED, Reason.EVALUATED),
    ("incomplete", {"agents": ["*"]}, {"complete": False}, Reason.INCOMPLETE),
    (
        "incomplete, asked for",
        {"agents": {"*": {"trigger_on_incomplete": True}}},
        {"complete": False},
        Reason.EVALUATED,
    ),
    ("failed", {"agents": ["*"]}, {"failure": "boom"}, Reason.FAILED),
    ("failed, and asked for", {"agents": {"*": {"trigger_on_failure": True}}}, {"failure": "boom"}, Reason.EVALUATED),
    ("sampled out", {"agents": {"*": {"sampling_ratio": 0}}}, {}, Reason.SAMPLED_OUT),
    ("its service", {"agents": {"*": {"service": ["a", "sh*"]}}}, {}, Reason.EVALUATED),
    ("its environment is not told", {"agents": {"*": {"environment": "*"}}}, {}, Reason.NOT_BOUND),
]


@pytest.mark.parametrize(("entry", "fields", "expected"), [row[1:] for row in REASONS], ids=[row[0] for row in REASONS])
def test_every_interaction_has_a_reason(entry: dict[str, Any], fields: dict[str, Any], expected: Reason) -> None:
    """Whatever becomes of an evaluator on an Interaction, the decision says why."""
    assert decide(bindings(**entry), **fields).reason is expected


def test_an_evaluator_may_declare_that_it_judges_failures() -> None:
    """Where the binding does not say, what the evaluator declares holds; the binding's word comes first."""
    assert decide(bindings(declares=True, agents=["*"]), failure="boom").reason is Reason.EVALUATED
    silent = bindings(declares=True, agents={"*": {"trigger_on_failure": False}})
    assert decide(silent, failure="boom").reason is Reason.FAILED


def test_attributes_give_a_role_only_together() -> None:
    """All attributes of a role must match; the span's own come before the resource's."""
    premium = bindings(agent_roles=["premium"])
    assert decide(premium, agent="x", attributes={"tier": "gold"}).reason is Reason.EVALUATED
    assert decide(premium, agent="x").reason is Reason.NOT_BOUND
    assert decide(premium, agent="x", attributes={"tier": "gold", "service.name": "bank"}).reason is Reason.NOT_BOUND


def test_an_experiment_asks_only_what_is_bound() -> None:
    """Sampling, failures and nesting are for live traffic; what is switched off or bound elsewhere stays out."""
    sampled = bindings(agents={"*": {"sampling_ratio": 0}})
    assert sampled.bound(interaction(failure="boom", **NESTED)) == ("e",)
    assert bindings(agents={"support-agent": OFF, "*": ON}).bound(interaction()) == ()
    assert bindings(agents=["*"], enabled=False).bound(interaction()) == ()
    assert bindings(agents=["other"]).bound(interaction()) == ()


def test_sampling_is_the_published_fraction() -> None:
    """An Interaction is in exactly where the documented hash is below the ratio: every replica agrees."""
    sampled = bindings(agents={"*": {"sampling_ratio": 0.3}})
    traffic = [interaction() for _ in range(2000)]
    judged = {one.id for one in traffic if sampled.decide(one)[0].reason is Reason.EVALUATED}
    assert judged == {one.id for one in traffic if sampling_fraction("e", one.id) < 0.3}
    assert 450 < len(judged) < 750


@pytest.mark.parametrize(("sample_by", "same"), [("trace", {"trace_id": "ab" * 16}), ("session", {"session": "s-7"})])
def test_sampling_keeps_together_what_belongs_together(sample_by: str, same: dict[str, str]) -> None:
    """By trace or session, all Interactions of one are in, or all are out."""
    sampled = bindings(agents={"*": {"sampling_ratio": 0.5, "sample_by": sample_by}})
    assert len({decide(sampled, **same).reason for _ in range(50)}) == 1


def test_a_sampling_group_samples_alike() -> None:
    """Evaluators of one group judge the same Interactions; those without one sample for themselves."""
    entry = {"check": "should_not_fail", "agents": {"*": {"sampling_ratio": 0.5, "sampling_group": "g"}}}
    alone = {"check": "should_not_fail", "agents": {"*": {"sampling_ratio": 0.5}}}
    config = parse({"evaluators": {"a": entry, "b": entry, "c": alone}}, {})
    given = Bindings(config.evaluators, config.roles, {})
    rows = [[decision.reason for decision in given.decide(interaction())] for _ in range(200)]
    assert all(a is b for a, b, _ in rows)
    assert any(a is not c for a, _, c in rows)


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        ([Reason.NOT_BOUND, Reason.SAMPLED_OUT, Reason.EVALUATED], "evaluated"),
        ([Reason.BUDGET_SPENT, Reason.EVALUATED], "evaluated"),
        ([Reason.SAMPLED_OUT, Reason.BUDGET_SPENT], "budget"),
        ([Reason.FAILED, Reason.SAMPLED_OUT], "sampled out"),
        ([Reason.INCOMPLETE, Reason.FAILED], "failed"),
        ([Reason.DISABLED, Reason.INCOMPLETE], "incomplete"),
        ([Reason.DISABLED, Reason.NESTED], "not bound"),
        ([Reason.NOT_BOUND, Reason.STOPPED], "dropped"),
        ([], "not bound"),
    ],
)
def test_the_disposition_of_an_interaction(reasons: list[Reason], expected: str) -> None:
    """One word for the whole Interaction: the reason nearest to being judged."""
    assert disposition(Decision(evaluator="e", reason=reason) for reason in reasons) == expected
