"""Agents whose content a message bus carries, in traces that links alone join."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.closed_traces import dump, load
from otel_eval.assemble.completion import Completion, CompletionSettings
from otel_eval.assemble.nodes import observe
from otel_eval.frozen import changed
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Scope, Span, SpanLink
from otel_eval.testing.spans import SECOND_NS, START_NS, message, model_span, span

BUS = Scope("autogen SingleThreadedAgentRuntime")
NATIVE = Scope("autogen-core")
USED = {"prompt_tokens": 10, "completion_tokens": 5}


@dataclass
class Team:
    """A team's runtime, as AutoGen writes it: each delivery a trace of its own, linked to where it was sent."""

    id: str
    start_ns: int = START_NS
    step_ns: int = SECOND_NS
    spans: list[Span] = field(default_factory=list)
    agents: dict[str, Span] = field(default_factory=dict)
    _now: int = 0

    def tick(self) -> int:
        """The next moment."""
        self._now += 1
        return self.start_ns + self._now * self.step_ns

    def address(self, name: str) -> str:
        """An agent's id."""
        return f"{name}_{self.id}/{self.id}"

    def sent(self, below: Span | None) -> Span:
        """The span in which a message is sent."""
        return self._kept(span("autogen create", parent=below, scope=BUS, started_ns=self.tick(), seconds=0))

    def delivered(self, sent: Span, to: str, message: Mapping[str, Any], sender: str = "Manager") -> Span:
        """The span of a delivery, below one of its own that says nothing."""
        linked = (SpanLink(sent.trace_id, sent.span_id),)
        outer = self._kept(span("autogen publish", scope=BUS, started_ns=self.tick(), seconds=0, links=linked))
        attributes = {
            "messaging.operation": "process",
            "messaging.destination": f"{to}_{self.id}.({self.id})-A",
            "recipient_agent_class": "Manager" if to == "Manager" else "ChatAgentContainer",
            "message_context": json.dumps({"sender": self.address(sender), "is_rpc": sender == "None"}),
            "message": json.dumps(message),
        }
        return self._kept(
            span(
                "autogen process", parent=outer, started_ns=self.tick(), seconds=0, links=linked, attributes=attributes
            )
        )

    def asked(self, task: str, *names: str) -> Span:
        """A task for the team, relayed to its agents; returns the manager's delivery."""
        manager = self.delivered(self.sent(None), "Manager", {"messages": [text(task)]}, "None")
        relayed = self.sent(manager)
        for name in names:
            self.delivered(relayed, name, {"messages": [text(task)]})
        return manager

    def turn(
        self, manager: Span, name: str, reply: str, *others: str, tool: str | None = None, bare: bool = False
    ) -> Span:
        """One agent's turn, called by the manager: its answer goes to the others and to the manager, whose delivery
        is returned."""
        called = self.delivered(self.sent(manager), name, {})
        agent = (
            called
            if bare
            else span(
                "invoke_agent " + name,
                parent=called,
                scope=NATIVE,
                started_ns=self.tick(),
                attributes={
                    "gen_ai.operation.name": "invoke_agent",
                    "gen_ai.agent.name": name,
                    "gen_ai.agent.id": self.address(name),
                },
            )
        )
        inner = []
        if tool is not None:
            inner = [
                {"type": "ToolCallRequestEvent", "content": [{"id": tool, "name": "look", "arguments": '{"at": 1}'}]},
                {"type": "ToolCallExecutionEvent", "content": [{"call_id": tool, "name": "look", "content": "seen"}]},
            ]
            for event in inner:
                self.delivered(self.sent(agent), "Manager", {"message": event}, name)
        self.delivered(self.sent(agent), "Manager", {"message": text(reply)}, name)
        answered = self.sent(agent)
        agent = changed(agent, ended_ns=self.tick())
        self.agents[reply] = agent if bare else self._kept(agent)
        answer = {"response": {"chat_message": {**text(reply), "models_usage": USED}, "inner_messages": inner}}
        for other in others:
            self.delivered(answered, other, answer, name)
        return self.delivered(answered, "Manager", answer, name)

    def _kept(self, made: Span) -> Span:
        self.spans.append(made)
        return made


def text(content: str) -> dict[str, Any]:
    """A message of text."""
    return {"type": "TextMessage", "source": "somebody", "content": content}


def review(team: Team, task: str, tag: str = "") -> Team:
    """A writer, a critic, and the writer again."""
    manager = team.asked(task, "writer", "critic")
    manager = team.turn(manager, "writer", f"{tag}draft 1", "critic", tool=f"{tag}call")
    manager = team.turn(manager, "critic", f"{tag}too long", "writer")
    team.turn(manager, "writer", f"{tag}draft 2", "critic")
    return team


def summary(found: Iterable[Interaction]) -> list[tuple[Any, ...]]:
    """Who was asked what, knew what, and replied."""
    return [
        (
            each.agent,
            each.asked,
            [said.text for said in each.history],
            each.reply,
            [call.name for call in each.tool_calls],
        )
        for each in sorted(found, key=lambda each: each.started_ns or 0)
    ]


def review_of(task: str, tag: str = "") -> list[tuple[Any, ...]]:
    """What such a review tells."""
    return [
        ("writer", task, [], f"{tag}draft 1", ["look"]),
        ("critic", f"{tag}draft 1", [task], f"{tag}too long", []),
        ("writer", f"{tag}too long", [task, f"{tag}draft 1"], f"{tag}draft 2", []),
    ]


def live(
    batches: Iterable[tuple[float, Sequence[Span]]], settings: CompletionSettings | None = None
) -> list[Interaction]:
    """What a server would have stored in the end."""
    completion, stored = Completion(settings), {}

    def until(moment: float) -> None:
        while (deadline := completion.next_deadline()) is not None and deadline <= moment:
            stored.update({each.interaction.id: each.interaction for each in completion.due(deadline).ready})

    for moment, spans in batches:
        until(moment)
        completion.add([observe(each) for each in spans], [], now=moment)
    until(1e9)
    assert completion.open_traces == 0
    return list(stored.values())


def test_a_team_is_told_with_all_that_its_bus_delivered() -> None:
    """What each agent was asked, what it knew by then, its reply, its tools and its tokens."""
    found = assemble(review(Team("t"), "Write.").spans)
    assert summary(found) == review_of("Write.")
    first = found[0]
    assert [(call.name, call.arguments, call.result) for call in first.tool_calls] == [("look", {"at": 1}, "seen")]
    assert (first.usage.total_tokens, first.parent_id, first.gap("asked"), first.gap("reply")) == (15, None, None, None)


def test_an_agent_without_a_span_of_its_own_is_the_delivery_that_asked_it() -> None:
    """Until 0.6.1; it is told once its answer was delivered."""
    team = Team("t")
    team.turn(team.asked("Write.", "writer"), "writer", "draft 1", "critic", tool="c1", bare=True)
    assert summary(assemble(team.spans)) == [("writer", "Write.", [], "draft 1", ["look"])]
    unanswered = [each for each in team.spans if '"response"' not in str(each.attributes.get("message"))]
    assert assemble(unanswered) == ()
    assert summary(live([(place / 9, team.spans[place::9]) for place in range(9)])) == summary(assemble(team.spans))


def test_what_a_manager_asks_a_model_is_the_managers() -> None:
    """As who is to speak next: below the delivery to it, and no agent's of the team."""
    team = Team("t")
    manager = team.asked("Write.", "writer")
    team.turn(manager, "writer", "draft 1")
    asked = [message("user", "Who is next?")]
    call = model_span(parent=manager, messages=asked, output=[message("assistant", "writer")])
    spans = [*team.spans, call]
    assert summary(assemble(spans)) == [
        ("Manager", "Who is next?", [], "writer", []),
        ("writer", "Write.", [], "draft 1", []),
    ]
    assert summary(live([(place / 9, spans[place::9]) for place in range(9)])) == summary(assemble(spans))


def test_an_answer_in_pieces_is_told_where_it_never_came_whole() -> None:
    """The run ended, or the last delivery was lost: what the agent gave one by one is there."""
    team = review(Team("t"), "Write.")
    spans = [each for each in team.spans if '"response"' not in str(each.attributes.get("message"))]
    found = assemble(spans)
    assert [(each.reply, len(each.tool_calls)) for each in found] == [("draft 1", 1), ("too long", 0), ("draft 2", 0)]


def test_a_task_opens_a_conversation_anew() -> None:
    """The next run of the same team, at the same addresses, begins without what was said before."""
    team = review(review(Team("t"), "Write."), "Again.", "new ")
    assert summary(assemble(team.spans)) == review_of("Write.") + review_of("Again.", "new ")


def test_in_one_trace() -> None:
    """As below a server's span: all are in its trace, and nothing changes."""
    team = review(Team("t"), "Write.")
    names = {each.span_id: f"{place:016x}" for place, each in enumerate(team.spans, 1)}
    spans = [
        changed(
            each,
            trace_id="a" * 32,
            span_id=names[each.span_id],
            parent_id=names.get(each.parent_id or ""),
            links=tuple(SpanLink("a" * 32, names[link.span_id]) for link in each.links),
        )
        for each in team.spans
    ]
    assert summary(assemble(spans)) == review_of("Write.")


def test_content_that_a_bus_did_not_carry_is_a_gap_with_its_switch() -> None:
    """The runtime's tracing can be turned off; where it is on, nothing would add to it."""
    team = review(Team("t"), "Write.")
    bare = assemble([each for each in team.spans if each.scope != BUS])
    assert {(gap.field, gap.setting) for each in bare for gap in each.gaps} >= {
        ("asked", "AUTOGEN_DISABLE_RUNTIME_TRACING=false"),
        ("reply", "AUTOGEN_DISABLE_RUNTIME_TRACING=false"),
    }
    assert not any(gap.setting for each in assemble(team.spans) for gap in each.gaps)


def test_a_cut_message_makes_its_field_a_gap() -> None:
    """A text of which nothing is left is neither asked nor replied."""
    team = review(Team("t"), "Write.")
    cut = [
        changed(each, attributes={**each.attributes, "message": str(each.attributes["message"])[:40]})
        if "response" in str(each.attributes.get("message")) or "messages" in str(each.attributes.get("message"))
        else each
        for each in team.spans
    ]
    first = assemble(cut)[0]
    gap = first.gap("asked")
    assert (first.asked, gap and gap.kind) == (None, GapKind.TRUNCATED)
    assert first.reply == "draft 1"  # its pieces are whole


@pytest.mark.parametrize("lost", ["publish", "create"])
def test_what_nothing_links_is_nobodys(lost: str) -> None:
    """Deliveries whose links lead nowhere, and those that have none, tell nothing of any agent."""
    team = review(Team("t"), "Write.")
    if lost == "create":
        spans = [each for each in team.spans if each.name != "autogen create"]
        assert {(each.reply, len(each.tool_calls)) for each in assemble(spans)} == {(None, 0)}
    else:
        spans = [changed(each, links=()) for each in team.spans]
        assert {(each.asked, each.reply) for each in assemble(spans)} == {(None, None)}


@given(seed=st.integers(0, 10_000), lost=st.floats(0, 0.9), unlinked=st.floats(0, 0.5), same=st.booleans())
def test_teams_side_by_side_are_never_mixed(seed: int, lost: float, unlinked: float, same: bool) -> None:
    """Two teams at once, even at the same addresses, with spans and links lost: each tells of itself or says nothing."""
    chance = random.Random(seed)
    teams = [
        review(Team("t", START_NS + 7), "Write A.", "A "),
        review(Team("t" if same else "u", START_NS), "Write B.", "B "),
    ]
    spans = [
        changed(each, links=() if chance.random() < unlinked else each.links)
        for team in teams
        for each in team.spans
        if each.name.startswith("invoke_agent") or chance.random() >= lost
    ]
    chance.shuffle(spans)
    found = assemble(spans)
    assert len(found) == 6
    for tag, team in zip("AB", teams, strict=True):
        own = {each.span_id: reply for reply, each in team.agents.items()}
        for each in (one for one in found if one.span_id in own):
            said = [each.asked, each.reply, *(message.text for message in each.history)]
            assert all(tag in one for one in said if one), (tag, said)
            assert each.reply in (None, own[each.span_id])


@given(seed=st.integers(0, 10_000))
def test_live_tells_what_a_folder_tells(seed: int) -> None:
    """Two teams at once in any batches and any order, some of it twice, and agents that take their time."""
    chance = random.Random(seed)
    spans = (
        review(Team("t", START_NS), "Write A.", "A ").spans + review(Team("u", START_NS + 5), "Write B.", "B ").spans
    )
    offline = summary(assemble(spans))
    quick = [*spans, *chance.sample(spans, 9)]
    chance.shuffle(quick)
    batches = [(place / 9, quick[place::9]) for place in range(9)]
    assert summary(live(batches)) == offline == summary(assemble(quick))
    slow = sorted(spans, key=lambda each: each.ended_ns)
    pace = chance.choice([0.2, 1.0, 6.0])
    assert summary(live((pace * ((each.ended_ns - START_NS) // SECOND_NS), [each]) for each in slow)) == offline


def test_a_run_is_let_go_at_once_and_told_once() -> None:
    """What remained of a bus would tell less than was told before."""
    completion = Completion()
    completion.add([observe(each) for each in review(Team("t"), "Write.").spans], [], now=0)
    told = []
    while (deadline := completion.next_deadline()) is not None:
        told += [(deadline, each.interaction.id) for each in completion.due(deadline).ready]
    assert len(told) == len({id_ for _, id_ in told}) == 3
    assert max(moment for moment, _ in told) < 10


def test_a_late_span_takes_nothing_back() -> None:
    """It brings back the trace of its agent alone, long after the bus was quiet."""
    team = review(Team("t"), "Write.")
    agent = team.agents["draft 1"]
    completion, kept = Completion(), {}
    completion.add([observe(each) for each in team.spans], [], now=0)
    while (deadline := completion.next_deadline()) is not None:
        kept.update({each.trace_id: load(dump(each)) for each in completion.due(deadline).closed})
    late = span(
        "execute_tool", parent=agent, attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "late"}
    )
    completion.reopen(kept[agent.trace_id], now=400)
    completion.add([observe(late)], [], now=400)
    told = []
    while (deadline := completion.next_deadline()) is not None:
        told += [each.interaction for each in completion.due(deadline).ready]
    assert [(each.asked, each.reply, [call.name for call in each.tool_calls]) for each in told] == [
        ("Write.", "draft 1", ["look", "late"])
    ]


def test_a_bus_without_an_end_is_let_go_by_age() -> None:
    """A team that talks for days does not fill the memory."""
    team = Team("t")
    manager = team.asked("Write.", "writer")
    completion, most = Completion(CompletionSettings(max_age=60.0)), 0
    done = 0
    for turn in range(200):
        manager = team.turn(manager, "writer", f"draft {turn}")
        completion.add([observe(each) for each in team.spans[done:]], [], now=turn * 5.0)
        done = len(team.spans)
        while (deadline := completion.next_deadline()) is not None and deadline <= turn * 5.0:
            completion.due(deadline)
        most = max(most, completion.open_traces)
    assert most < 150
