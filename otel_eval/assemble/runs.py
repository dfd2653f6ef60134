"""Which spans make one invocation of an agent.

* The topmost agent span received is the Interaction's own, whatever ordinary spans are above it.
* A frame (a workflow, or an agent's span without a name) with exactly one agent below it is one run with it. With several
  agents in a row (handoffs) it is one run with the first; the others are runs of their own nested in it. The reply is the
  last agent's.
* A frame around several invocations of one and the same agent, each asked something else, is no run: each is. So is each
  that was answered, none handing over, of one agent or of several, where the frame itself says nothing.
* Runs beside one another of which each asked for the tools whose results the next is given are one run.
* An agent below a tool, or below an agent of another name, is a run of its own, nested.
* Model calls below a tool that name another agent, which has no span, are no part of the run: they are a loop in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from otel_eval.assemble.calls import follows
from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.reading.messages import asked_for, results_in


@dataclass(slots=True)
class Run:
    """One invocation: its own span, the frames and agent spans merged into it, and all its spans.

    ``members`` are in tree order, without ``root`` and without nested runs; ``inside_tool`` are those below a tool's
    span, or a check's. ``in_a_row`` are the later agents of the same frame, ``within`` the agents nested in it outside its
    tools, ``in_tools`` those in its tools; ``parent`` is the run that it is nested in.
    """

    tree: Tree
    root: Node
    parts: list[Node] = field(default_factory=list)
    members: list[Node] = field(default_factory=list)
    inside_tool: set[str] = field(default_factory=set)
    parent: Run | None = None
    in_a_row: list[Run] = field(default_factory=list)
    within: list[Run] = field(default_factory=list)
    in_tools: list[Run] = field(default_factory=list)

    @property
    def frames(self) -> list[Node]:
        """The spans that stand for the invocation as a whole, outermost first."""
        return [self.root, *self.parts]

    def name(self) -> str | None:
        """The name of the agent: its own, or the first that one of its frames has; a workflow's name at last, unless the
        agent's span is lost.

        A frame's agent that another one called is not the first: what was done before it names that other one.
        """
        for node in self.frames:
            if node.facts is not None and node.facts.agent and node.kind() is Kind.AGENT:
                if node is self.root:
                    return node.facts.agent
                return self._caller(node) or (None if self.lacks_agent() else node.facts.agent)
        for node in (*self.frames, *self.members):
            if node.facts is not None and node.facts.agent and node.span_id not in self.inside_tool:
                return node.facts.agent
        if self.lacks_agent():
            return None
        return next(
            (node.facts.weak_agent for node in reversed(self._first()) if node.facts and node.facts.weak_agent), None
        )

    def lacks_agent(self) -> bool:
        """Whether it is a workflow's around spans whose parent never came, before any agent's, or ran itself within an agent
        whose span is lost: what never came is the agent's span, as like as not."""
        adopted, root = self.tree.adopted, self.root
        if not adopted or root.kind() is Kind.AGENT:
            return False
        first = next((part for part in self.parts if part.kind() is Kind.AGENT), None)
        if first is None and root.span_id in adopted:
            return True
        return any(
            adopted.get(node.span_id) == root.span_id and (first is None or node.order < first.order)
            for node in self.members
            if node.facts is not None
        )

    def _caller(self, part: Node) -> str | None:
        """Who was at work before that part of the run began."""
        before = [
            node
            for node in self.members
            if node.kind() in (Kind.MODEL, Kind.STEP) and node.order < part.order and node.facts and node.facts.agent
        ]
        first = min(before, key=lambda node: node.order, default=None)
        return first.facts.agent if first is not None and first.facts is not None else None

    def _first(self) -> list[Node]:
        """The frames from the outermost down to the first agent: what comes after it in a row stands beside it."""
        chain = [self.root]
        for part in self.parts:
            if not any(above.span_id == chain[-1].span_id for above in self.tree.ancestors(part)):
                break
            chain.append(part)
        return chain


def runs_of(tree: Tree, asked: Callable[[Run], str | None], answers: Callable[[Run, Sequence[str]], bool]) -> list[Run]:
    """The runs of one trace, outer before inner.

    ``asked`` reads what a run was asked, ``answers`` whether it came to an answer of its own, beside agents of those names:
    that tells turns and stages from handoffs.
    """
    finder = _Finder(tree, asked, answers)
    for root in tree.roots:
        finder.visit(root)
    return _joined(finder.runs)


def _joined(runs: list[Run]) -> list[Run]:
    """Without runs that go on with one beside them: a loop of the program's own, each pass of which is an agent's span.

    The first ended by asking for tools, which the program ran, and the next is given what they gave (the Vercel AI SDK's
    manual loop). They are one run under the first's span.
    """
    joined: list[Run] = []
    waiting: dict[tuple[str | None, str | None, str], Run] = {}
    for run in runs:
        first = run.root
        beside = (first.parent_id, run.name())
        before = None
        if run.parent is None and first.parent_id is not None and waiting:
            found = (waiting.get((*beside, call_id)) for call_id in _given(first))
            before = next((one for one in found if one and one.frames[-1].ended_ns <= first.started_ns), None)
        if before is None:
            joined.append(run)
        else:
            _add(before, run)
        if run.parent is None:
            waiting |= {(*beside, call_id): before or run for call_id in _asked_of_others(run.frames[-1])}
    return joined


def _given(node: Node) -> list[str]:
    """The ids of the calls whose results went in last."""
    messages = node.facts.input if node.facts is not None else None
    last = takewhile(results_in, reversed(messages or ()))
    return [part.call_id for message in last for part in results_in(message) if part.call_id is not None]


def _asked_of_others(node: Node) -> list[str]:
    """The ids of the calls that came out."""
    messages = node.facts.output if node.facts is not None else None
    return [part.call_id for part in asked_for(messages or ()) if part.call_id is not None]


def _add(run: Run, later: Run) -> None:
    run.parts += later.frames
    run.members += later.members
    run.inside_tool |= later.inside_tool
    run.in_a_row += later.in_a_row
    run.within += later.within
    run.in_tools += later.in_tools
    for inner in (*later.in_a_row, *later.within, *later.in_tools):
        inner.parent = run


class _Finder:
    def __init__(
        self, tree: Tree, asked: Callable[[Run], str | None], answers: Callable[[Run, Sequence[str]], bool]
    ) -> None:
        self.tree = tree
        self.asked = asked
        self.answers = answers
        self.runs: list[Run] = []
        self._unfilled: list[tuple[Run, Node | None, set[str]]] = []
        self._inner: dict[int, list[Run]] = {}

    def visit(self, top: Node) -> None:
        """Opens the runs below a node that is in none, each before those within it; ordinary spans are passed through."""
        waiting = [top]
        while waiting:
            node = waiting.pop()
            if self._starts(node, None, False):
                opened = self._open(node, None)
                self._fill_all()
                while opened:
                    run = opened.pop(0)
                    self.runs.append(run)
                    opened[:0] = self._inner.pop(id(run), ())
            else:
                waiting.extend(reversed(self.tree.children.get(node.span_id, ())))

    def _fill_all(self) -> None:
        """One after another, not one within another: agents that hand over in a circle nest as deep as they like."""
        while self._unfilled:
            self._fill(*self._unfilled.pop())

    def _starts(self, node: Node, run: Run | None, in_tool: bool) -> bool:
        kind = node.kind()
        if kind is Kind.AGENT:
            return run is None or in_tool or not self._same(node, run)
        if kind is Kind.WORKFLOW and (run is None or in_tool):
            return self.tree.has_below(node, Kind.AGENT, Kind.MODEL) or (
                run is None and self.tree.has_below(node, Kind.TOOL)
            )
        return False

    @staticmethod
    def _same(node: Node, run: Run) -> bool:
        """Whether an agent's span below a run's is the same invocation, written twice."""
        name = node.facts.agent if node.facts else None
        names = {
            part.facts.agent for part in run.frames if part.facts and part.facts.agent and part.kind() is Kind.AGENT
        }
        return name is None or name in names

    def _open(self, node: Node, parent: Run | None) -> list[Run]:
        """The runs that begin at that node, yet to be filled: one, or of a frame's turns and stages one for each."""
        agents = self._agents_below(node) if _is_frame(node) else []
        if len(agents) > 1 and (self._are_turns(node, agents) or self._are_stages(node, agents)):
            return [run for agent in agents for run in self._open(agent, parent)]
        run = Run(tree=self.tree, root=node, parent=parent)
        first, later = (agents[0], agents[1:]) if agents else (None, [])
        self._unfilled.append((run, first, {agent.span_id for agent in later}))
        return [run]

    def _fill(self, run: Run, first: Node | None, later: set[str]) -> None:
        names = {first.facts.agent} if first is not None and first.facts is not None else set()
        own = {frame.facts.agent for frame in (run.root, first) if frame is not None and frame.facts is not None}
        waiting = [(child, False, False) for child in reversed(self.tree.children.get(run.root.span_id, ()))]
        checked: set[str] = set()
        while waiting:
            node, in_tool, foreign = waiting.pop()
            if node.kind() is Kind.CHECK and not in_tool:
                in_tool = True
                checked |= {below.span_id for below in self.tree.below(node)}
            if in_tool and node.kind() is Kind.MODEL and self._goes_on(node, run):
                in_tool = foreign = False
            if node.span_id in later and not (node.facts is not None and node.facts.agent in names):
                inner = self._nested(node, run)
                run.in_a_row.extend(inner)
                continue
            merged = node is first or (node.span_id in later)
            if not merged and self._starts(node, run, in_tool):
                inner = self._nested(node, run)
                (run.in_tools if in_tool else run.within).extend(inner)
                continue
            if not foreign:
                self._take(run, node, in_tool)
            if node.kind() is Kind.TOOL and not in_tool:
                in_tool, foreign = True, self._is_anothers(node, own - {None})
            waiting.extend((child, in_tool, foreign) for child in reversed(self.tree.children.get(node.span_id, ())))
        speaks = (node.kind() is Kind.MODEL and node.span_id not in run.inside_tool for node in run.members)
        if checked and not run.within and not any(speaks):
            run.inside_tool -= checked  # a guard around the agent's own call

    def _goes_on(self, call: Node, run: Run) -> bool:
        """Whether a model's call below a tool's span is given what that tool gave: a loop that calls itself."""
        for above in self.tree.ancestors(call):
            if above is run.root:
                return False
            if above.kind() is Kind.MODEL:
                return follows(call, above)
        return False

    def _is_anothers(self, tool: Node, own: set[str | None]) -> bool:
        """Whether the model calls below a tool's span, in no agent's own, name their agent: another than these."""
        named: set[str | None] = set()
        waiting = list(self.tree.children.get(tool.span_id, ()))
        while waiting:
            node = waiting.pop()
            if node.kind() is Kind.MODEL and node.facts is not None:
                named.add(node.facts.agent)
            if node.kind() not in (Kind.AGENT, Kind.WORKFLOW, Kind.TOOL):
                waiting.extend(self.tree.children.get(node.span_id, ()))
        return bool(own) and bool(named - {None}) and own.isdisjoint(named)

    def _nested(self, node: Node, run: Run) -> list[Run]:
        opened = self._open(node, run)
        self._inner.setdefault(id(run), []).extend(opened)
        return opened

    def _take(self, run: Run, node: Node, in_tool: bool) -> None:
        frames = node.kind() is Kind.AGENT or (node.kind() is Kind.WORKFLOW and self.tree.has_below(node, Kind.AGENT))
        if frames and not in_tool:
            run.parts.append(node)
        else:
            run.members.append(node)
        if in_tool:
            run.inside_tool.add(node.span_id)

    def _agents_below(self, frame: Node) -> list[Node]:
        """The nearest agents' spans below a frame, not through a tool; an unnamed one around others is a frame too."""
        found: list[Node] = []
        waiting = list(reversed(self.tree.children.get(frame.span_id, ())))
        while waiting:
            node = waiting.pop()
            if node.kind() is Kind.AGENT and not (_is_frame(node) and self._has_agents_below(node)):
                found.append(node)
            elif node.kind() is not Kind.TOOL:
                waiting.extend(reversed(self.tree.children.get(node.span_id, ())))
        return sorted(found, key=lambda node: node.order)

    def _has_agents_below(self, frame: Node) -> bool:
        waiting = list(self.tree.children.get(frame.span_id, ()))
        while waiting:
            node = waiting.pop()
            if node.kind() is Kind.AGENT:
                return True
            if node.kind() is not Kind.TOOL:
                waiting.extend(self.tree.children.get(node.span_id, ()))
        return False

    def _are_turns(self, frame: Node, agents: Sequence[Node]) -> bool:
        """Whether one agent was asked several times: each time something else, or the same again after it had answered."""
        names = {agent.facts.agent for agent in agents if agent.facts is not None}
        if len(names) != 1 or None in names:
            return False
        runs = [self._alone(agent) for agent in agents]
        questions = [self.asked(run) for run in runs]
        if None in questions:
            return False
        return len(set(questions)) == len(questions) or (
            not _tells(frame) and all(self.answers(run, ()) for run in runs)
        )

    def _are_stages(self, frame: Node, agents: Sequence[Node]) -> bool:
        """Whether different agents did their own work one after another, in a frame that tells of no work of its own."""
        names = [agent.facts.agent for agent in agents if agent.facts is not None and agent.facts.agent]
        if len(set(names)) < len(agents) or _tells(frame) or self.tree.has_below(frame, Kind.HANDOFF):
            return False
        return all(self.answers(self._alone(agent), names) for agent in agents[:-1])

    def _alone(self, agent: Node) -> Run:
        run = Run(tree=self.tree, root=agent)
        finder = _Finder(self.tree, self.asked, self.answers)
        finder._fill(run, None, set())
        finder._fill_all()
        return run


def _is_frame(node: Node) -> bool:
    """A workflow, or an agent's span that does not say whose it is."""
    return node.kind() is Kind.WORKFLOW or (
        node.kind() is Kind.AGENT and node.facts is not None and not node.facts.agent
    )


def _tells(frame: Node) -> bool:
    facts = frame.facts
    return facts is not None and any(
        said is not None for said in (facts.input, facts.output, facts.asked, facts.reply, facts.prompt)
    )
