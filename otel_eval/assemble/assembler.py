"""``assemble``: the spans and log records of any number of traces into Interactions. Pure and deterministic.

The result depends on the set of spans and records alone: not on their order, their batches, or how often each came. Live
traffic, recorded files and experiments all come through here; what is live-only is *when* (``completion.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from otel_eval.assemble.bare_loops import Loop, is_answered, loops_of
from otel_eval.assemble.calls import Call, calls_of
from otel_eval.assemble.deliveries import delivered
from otel_eval.assemble.detached import encloses, is_detached, nest
from otel_eval.assemble.duplicate_agents import written_once
from otel_eval.assemble.duplicate_calls import beside_runs, once, without_copies
from otel_eval.assemble.evidence import Evidence
from otel_eval.assemble.handoffs import handoff_test
from otel_eval.assemble.interactions import interaction_of
from otel_eval.assemble.nodes import Node, is_open, join, observe, telling, unique
from otel_eval.assemble.orphans import adopted
from otel_eval.assemble.replies import answers
from otel_eval.assemble.retrying_clients import framed
from otel_eval.assemble.runs import Run, runs_of
from otel_eval.assemble.streamed_agents import streamed
from otel_eval.assemble.threads import threaded
from otel_eval.assemble.tool_owners import place_tools
from otel_eval.assemble.tool_spans import ToolSpan, tool_spans
from otel_eval.assemble.totals import with_totals
from otel_eval.assemble.transcript import asked_at
from otel_eval.assemble.tree import Tree
from otel_eval.assemble.turns import turn_asked
from otel_eval.conventions.facts import Kind, Note
from otel_eval.conventions.reading.messages import asked_for
from otel_eval.identity import interaction_id
from otel_eval.interaction import Interaction
from otel_eval.signals import LogRecord, Span

_PARTS = (Kind.AGENT, Kind.STEP, Kind.WORKFLOW)


def assemble(
    spans: Iterable[Span], logs: Iterable[LogRecord] = (), keep: Collection[str] = ()
) -> tuple[Interaction, ...]:
    """The Interactions that the spans and log records tell of, in the order of their start, outer before nested.

    ``keep``: names of attributes of agents' spans that the Interactions are to have as they stand.
    """
    notes = [note for record in logs if (note := join(record)) is not None]
    return assemble_nodes([observe(span, keep) for span in spans], notes)


def assemble_nodes(nodes: Iterable[Node], notes: Iterable[Note] = ()) -> tuple[Interaction, ...]:
    """As :func:`assemble`, from what :func:`observe` and :func:`join` kept.

    Give all nodes of a trace; and all traces of a bare loop together (see :func:`otel_eval.assemble.trace_ties.ties`).
    """
    by_trace: dict[str, list[Node]] = {}
    for node in telling(threaded(delivered(unique(nodes, notes)))):
        by_trace.setdefault(node.trace_id, []).append(node)
    trees = {trace_id: _repaired(Tree(members)) for trace_id, members in sorted(by_trace.items())}
    runs = {trace_id: runs_of(tree, _asked_alone, _answers_alone) for trace_id, tree in trees.items()}
    evidence = without_copies([found for trace_runs in runs.values() for found in _evidence_of_runs(trace_runs)])
    evidence += _evidence_of_loops(trees, [run for trace_runs in runs.values() for run in trace_runs], evidence)
    evidence += _evidence_of_steps(trees, evidence)
    nest(evidence, [node for tree in trees.values() for node in tree.by_id.values()])
    return with_totals([(found, interaction_of(found)) for found in _ordered(evidence)])


_REPAIRS = (streamed, framed, adopted, written_once)
"""What makes a tree of what was sent the tree that was meant, in this order."""


def _repaired(tree: Tree) -> Tree:
    for repair in _REPAIRS:
        tree = repair(tree)
    return tree


def _ordered(evidence: Sequence[Evidence]) -> list[Evidence]:
    parents = {found.id: found.parent_id for found in evidence}

    def depth(found: Evidence) -> int:
        levels, above = 0, found.parent_id
        while above is not None and levels < len(parents):
            levels, above = levels + 1, parents.get(above)
        return levels

    def order(found: Evidence) -> tuple[int, int, str, str]:
        started_ns = min(node.started_ns for node in (found.frames or found.nodes))
        return started_ns, depth(found), found.trace_id, found.span_id

    return sorted(evidence, key=order)


def _asked_alone(run: Run) -> str | None:
    return turn_asked(_evidence(run, {}, ())).asked


def _answers_alone(run: Run, names: Sequence[str]) -> bool:
    found = _evidence(run, {}, names)
    wanted = [part.name for call in found.calls for part in asked_for(call.output)]
    used = [span.facts.tool for span in found.tools if span.facts.tool is not None]
    return answers(found) and not any(map(found.is_handoff, (*wanted, *used)))


def _evidence_of_runs(runs: Sequence[Run]) -> list[Evidence]:
    made: dict[int, Evidence] = {}
    names = [name for run in runs if (name := run.name()) is not None]
    for run in reversed(runs):  # inner before outer
        made[id(run)] = _evidence(run, made, names)
    if len(runs) == 1:
        made[id(runs[0])].alone = True
    return [made[id(run)] for run in runs]


def _evidence(run: Run, made: dict[int, Evidence], names: Sequence[str]) -> Evidence:
    own_name = run.name()
    members, inside = run.members, run.inside_tool
    trees = {run.root.trace_id: run.tree}
    calls = once(calls_of(members, trees))
    nested = [made[id(inner)] for inner in (*run.within, *run.in_a_row) if id(inner) in made]
    in_tools = [made[id(inner)] for inner in run.in_tools if id(inner) in made]
    parts = [node.facts for node in (*run.frames, *members) if node.kind() in _PARTS and node.span_id not in inside]
    return Evidence(
        trace_id=run.root.trace_id,
        span_id=run.root.span_id,
        frames=run.frames,
        steps=[node for node in members if node.kind() in (Kind.STEP, Kind.WORKFLOW) and node.span_id not in inside],
        calls=[call for call in calls if call.node.span_id not in inside],
        inner_calls=[call for call in calls if call.node.span_id in inside],
        tools=tool_spans(members, run.tree, inside, _tools_of(nested), _tools_of(in_tools)),
        nodes=members,
        agent=own_name,
        is_handoff=handoff_test(
            names if len(set(names)) > 1 else (),
            [facts.weak_agent for facts in parts if facts is not None and facts.weak_agent],
        ),
        later=[made[id(later)] for later in run.in_a_row if id(later) in made],
        within=[made[id(inner)] for inner in run.within if id(inner) in made],
        around=() if run.parent is not None else [above.facts for above in run.tree.ancestors(run.root) if above.facts],
        complete=not any(map(is_open, run.frames)),
        lacks_agent=run.lacks_agent(),
        parent_id=None if run.parent is None else interaction_id(run.parent.root.trace_id, run.parent.root.span_id),
    )


def _tools_of(runs: Iterable[Evidence]) -> Iterable[ToolSpan]:
    return (span for run in runs for span in run.tools)


def _evidence_of_loops(trees: dict[str, Tree], runs: Sequence[Run], told: Sequence[Evidence]) -> list[Evidence]:
    taken = {node.key: run for run in runs for node in (*run.frames, *run.members)}
    free = [node for tree in trees.values() for node in tree.by_id.values() if node.key not in taken]
    free = _outside_checks(free, trees)
    if not any(node.kind() in (Kind.MODEL, Kind.TOOL) for node in free):
        return []
    known = {call.facts.response_id for found in told for call in (*found.calls, *found.inner_calls)}
    calls = [
        call for call in calls_of(free, trees) if call.facts.response_id is None or call.facts.response_id not in known
    ]
    calls = _adopt(beside_runs(once(calls), told), told)
    loops = loops_of(calls, trees)
    place_tools([node for node in free if node.kind() is Kind.TOOL], loops, told, trees)
    return [_evidence_of_loop(loop, trees, taken) for loop in loops]


def _outside_checks(free: list[Node], trees: dict[str, Tree]) -> list[Node]:
    """Without the models and tools of guardrails, where others are in their trace."""
    if not any(node.kind() is Kind.CHECK for node in free):
        return free
    outside = [
        node for node in free if not any(above.kind() is Kind.CHECK for above in trees[node.trace_id].ancestors(node))
    ]
    answered = {node.trace_id for node in outside if node.kind() is Kind.MODEL}
    kept = {node.key for node in outside}
    return [node for node in free if node.key in kept or node.trace_id not in answered]


def _adopt(calls: Sequence[Call], told: Sequence[Evidence]) -> list[Call]:
    """Calls whose context was lost go to the agent that ran around them and shows no calls of its own.

    Of several such agents it is the one that was asked the same. A call that could be any of several detached agents' is
    none of a loop's, and nobody's.
    """
    silent = [found for found in told if found.parent_id is None and not found.calls and not found.inner_calls]
    left: list[Call] = []
    for call in calls:
        around = [found for found in silent if encloses(found, call.node)]
        if len(around) > 1:
            around = [found for found in around if _asked_the_same(found, call)]
        if len(around) == 1:
            around[0].calls = sorted([*around[0].calls, call], key=lambda call: call.node.order)
        elif not around or not all(is_detached(found) for found in around):
            left.append(call)
    return left


def _asked_the_same(found: Evidence, call: Call) -> bool:
    index = asked_at(call.input)
    asked = turn_asked(replace(found, calls=())).asked
    return index is not None and asked is not None and (call.input[index].text or "").strip() == asked.strip()


def _evidence_of_loop(loop: Loop, trees: dict[str, Tree], taken: Mapping[tuple[str, str], Run]) -> Evidence:
    nodes = sorted([*(span for call in loop.calls for span in call.spans), *loop.tools], key=lambda node: node.order)
    tree = trees[loop.trace_id]
    dangling = bool(loop.path) and loop.path[0] not in tree.by_id
    names = [node.facts.agent for node in nodes if node.facts is not None and node.facts.agent]
    return Evidence(
        trace_id=loop.trace_id,
        span_id=loop.span_id,
        frames=(),
        steps=(),
        calls=loop.calls,
        inner_calls=(),
        tools=[span for node in loop.tools for span in tool_spans([node], trees[node.trace_id], set())],
        nodes=nodes,
        agent=names[0] if names else loop.name,
        parent_id=_parent_of(loop, taken),
        is_handoff=handoff_test(()),
        complete=is_answered(loop) and not dangling and not any(is_open(call.node) for call in loop.calls),
    )


def _parent_of(loop: Loop, taken: Mapping[tuple[str, str], Run]) -> str | None:
    """The loop that it ran within, else the run in whose tool it is."""
    if loop.outer is not None:
        return interaction_id(loop.outer.trace_id, loop.outer.span_id)
    around = [run for span_id in loop.path if (run := taken.get((loop.trace_id, span_id))) is not None]
    return interaction_id(around[-1].root.trace_id, around[-1].root.span_id) if around else None


def _evidence_of_steps(trees: dict[str, Tree], told: Sequence[Evidence]) -> list[Evidence]:
    """An agent whose span never came, and whose steps alone say what it was asked: under the id of the span they miss."""
    known = {(found.trace_id, found.span_id) for found in told}
    lost: dict[tuple[str, str], list[Node]] = {}
    for trace_id, tree in trees.items():
        for top in tree.roots:
            if top.parent_id is not None and (trace_id, top.parent_id) not in known:
                lost.setdefault((trace_id, top.parent_id), []).extend((top, *tree.below(top)))
    taken = {node.key for found in told for node in (*found.frames, *found.nodes)} if lost else set()
    return [
        _evidence_of_lost(key, nodes, trees[key[0]])
        for key, nodes in sorted(lost.items())
        if not any(node.key in taken for node in nodes) and any(_says_asked(node) for node in nodes)
    ]


def _says_asked(node: Node) -> bool:
    facts = node.facts
    if facts is None or facts.kind is not Kind.STEP or facts.detached:
        return False
    return bool(facts.asked) or asked_at(facts.input or ()) is not None


def _evidence_of_lost(key: tuple[str, str], nodes: Sequence[Node], tree: Tree) -> Evidence:
    told = sorted((node for node in nodes if node.facts is not None), key=lambda node: node.order)
    return Evidence(
        trace_id=key[0],
        span_id=key[1],
        frames=(),
        steps=[node for node in told if node.kind() is Kind.STEP],
        calls=(),
        inner_calls=(),
        tools=tool_spans(told, tree, set()),
        nodes=told,
        agent=next((node.facts.agent for node in told if node.facts is not None and node.facts.agent), None),
        is_handoff=handoff_test(()),
        complete=False,
    )
