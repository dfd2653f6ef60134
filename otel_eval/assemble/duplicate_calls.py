"""Model calls, and whole runs, that two instrumentations wrote beside each other because the context between them was lost.

LangChain's callbacks run in other tasks than the model's client, so that OpenInference's span of the model is not above the
client's; and two tracers of one framework write two trees (Langfuse's callbacks beside OpenInference's). Three things
together tell one call: different instrumentations wrote it, at the same time, and the same was asked and came out. Most write
no id of the response for it. Where one of them does not tell what came out, the tokens must be the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from otel_eval.assemble.calls import Call
from otel_eval.assemble.evidence import Evidence
from otel_eval.assemble.requested_calls import canonical
from otel_eval.assemble.tool_spans import ToolSpan
from otel_eval.assemble.transcript import asked_at, system_in
from otel_eval.conventions.facts import fill
from otel_eval.conventions.reading.messages import asked_for
from otel_eval.identity import digest


def once(calls: Sequence[Call]) -> list[Call]:
    """The calls in their order, each once."""
    if len(_scopes(calls)) < 2:  # as nearly always
        return list(calls)
    found = _Found()
    for call in calls:
        found.put(call)
    return found.calls


def beside_runs(calls: Sequence[Call], told: Iterable[Evidence]) -> list[Call]:
    """Without those that are a call of a run that is told already: what they say more is added to it."""
    told = list(told)
    known = [call for run in told for call in (*run.calls, *run.inner_calls)]
    if not known or len(_scopes((*calls, *known))) < 2:
        return list(calls)
    found = _Found(known)
    left = [call for call in calls if not found.add(call)]
    _tell(told, found)
    return left


def without_copies(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Without the runs all of whose model calls are another's, written by another instrumentation.

    The one with more calls stays, then the one that names its agent and has more within, then the first.
    """
    if len({node.scope for found in evidence for node in found.frames}) < 2:
        return list(evidence)
    trees = _trees(evidence)
    kept: list[tuple[set[str], list[Evidence], _Found]] = []
    for tree in sorted(trees, key=_rank):
        mine = [call for run in tree for call in (*run.calls, *run.inner_calls)]
        scopes = {node.scope for run in tree for node in (*run.frames, *run.nodes) if node.scope}
        for others, runs, found in kept if mine else ():
            if scopes.isdisjoint(others) and found.add_all(mine):
                _tell(runs, found)
                _join(_same_run(tree[0], runs), tree[0])
                others |= scopes
                break
        else:
            kept.append((scopes, tree, _Found(mine)))
    stay = {id(run) for _, tree, _ in kept for run in tree}
    return [run for run in evidence if id(run) in stay]


class _Found:
    """Calls, and what stands for each: found again by what was asked and came out."""

    def __init__(self, calls: Iterable[Call] = ()) -> None:
        self.calls: list[Call] = []
        self.place: dict[tuple[str, str], int] = {}
        self._alike: dict[str, list[int]] = {}
        self._counted: dict[tuple[int, int], list[int]] = {}
        for call in calls:
            self._new(call, _key(call))

    def put(self, call: Call) -> None:
        """One more, or more of one that is known."""
        if not self.add(call):
            self._new(call, _key(call))

    def add(self, call: Call) -> bool:
        """Whether it is one of them, of which it now tells more."""
        at = self._twin(call, frozenset())
        if at is not None:
            self._both(at, call)
        return at is not None

    def add_all(self, calls: Sequence[Call]) -> bool:
        """Whether each is one of them, each another: all are added, or none."""
        pairs: dict[int, Call] = {}
        for call in calls:
            at = self._twin(call, pairs.keys())
            if at is None:
                return False
            pairs[at] = call
        for at, call in pairs.items():
            self._both(at, call)
        return True

    def _new(self, call: Call, key: str | None) -> None:
        self.place[call.node.key] = len(self.calls)
        if key is not None:
            self._alike.setdefault(key, []).append(len(self.calls))
        if (tokens := _tokens(call)) is not None:
            self._counted.setdefault(tokens, []).append(len(self.calls))
        self.calls.append(call)

    def _both(self, at: int, call: Call) -> None:
        known = self.calls[at]
        self.calls[at] = Call(node=known.node, facts=fill(known.facts, call.facts), spans=(*known.spans, *call.spans))

    def _twin(self, call: Call, taken: Collection[int]) -> int | None:
        """Of several at once the one that ended first after it: they were all given the same."""
        key = _key(call)
        alike = self._alike.get(key, ()) if key is not None else ()
        there = [at for at in alike if at not in taken and _beside(self.calls[at], call)]
        if not there and (tokens := _tokens(call)) is not None:
            there = [
                at
                for at in self._counted.get(tokens, ())
                if at not in taken and _beside(self.calls[at], call) and _within(self.calls[at], call, key)
            ]
        ended = call.node.ended_ns

        def order(at: int) -> tuple[bool, int, int]:
            end = self.calls[at].node.ended_ns
            return end < ended, abs(end - ended), at

        return min(there, key=order, default=None)


def _key(call: Call) -> str | None:
    """The same for calls that were asked the same and gave the same; None where that is not known."""
    wanted = list(asked_for(call.output))
    ids = sorted(part.call_id for part in wanted if part.call_id)
    if ids and len(ids) == len(wanted):
        return digest("calls", *ids)
    asked = _asked(call)
    if asked is None:
        return None
    if wanted:
        return digest("unnamed", asked, *sorted(f"{part.name}{canonical(part.arguments)}" for part in wanted))
    if call.facts.failure is not None:
        return digest("failed", asked)
    return digest("said", asked, call.answer.strip()) if call.answer else None


def _tokens(call: Call) -> tuple[int, int] | None:
    """What it took and gave, where both are told; none of either for one that failed."""
    usage = call.facts.usage
    if call.facts.failure is not None:
        return usage.input_tokens or 0, usage.output_tokens or 0
    return (usage.input_tokens, usage.output_tokens) if usage.input_tokens and usage.output_tokens else None


def _within(known: Call, call: Call, key: str | None) -> bool:
    """Whether one of two that used the same is within the time of the other, in its trace (nothing else ties the two), and
    one tells no answer, nor that another was asked."""
    outer, inner = sorted((known.node, call.node), key=lambda node: node.ended_ns - node.started_ns, reverse=True)
    if outer.trace_id != inner.trace_id or inner.started_ns < outer.started_ns or outer.ended_ns < inner.ended_ns:
        return False
    asked = {said for each in (known, call) if (said := _asked(each)) is not None}
    return (key is None or _key(known) is None) and len(asked) < 2


def _asked(call: Call) -> str | None:
    index = asked_at(call.input)
    return None if index is None else (call.input[index].text or "").strip()


def _beside(known: Call, call: Call) -> bool:
    """Whether other instrumentations wrote it at the same time, in the same program, and neither the id of the response nor
    the system prompt says that it is another."""
    a, b = known.node, call.node
    ids = {known.facts.response_id, call.facts.response_id} - {None}
    systems = {told.strip() for told in (_system(known), _system(call)) if told}
    return (
        a.overlaps(b)
        and len(ids) < 2
        and len(systems) < 2
        and _scopes([known]).isdisjoint(_scopes([call]))
        and a.resource.attributes.get("service.name") == b.resource.attributes.get("service.name")
    )


def _system(call: Call) -> str | None:
    return call.facts.system or system_in(call.input)


def _scopes(calls: Iterable[Call]) -> set[str]:
    return {span.scope for call in calls for span in call.spans}


def _tell(runs: Iterable[Evidence], found: _Found) -> None:
    for run in runs:
        run.calls = [found.calls[found.place[call.node.key]] for call in run.calls]
        run.inner_calls = [found.calls[found.place[call.node.key]] for call in run.inner_calls]


def _trees(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    """Each topmost run with all that are nested in it, itself first."""
    known = {run.id: run for run in evidence}
    trees: dict[str, list[Evidence]] = {}
    for run in evidence:
        top = run
        while top.parent_id in known:
            top = known[top.parent_id]
        tree = trees.setdefault(top.id, [])
        tree.insert(0 if run is top else len(tree), run)
    return list(trees.values())


def _rank(tree: Sequence[Evidence]) -> tuple[int, bool, int, int, str]:
    calls = sum(len(run.calls) + len(run.inner_calls) for run in tree)
    tools = sum(len(run.tools) for run in tree)
    return -calls, tree[0].agent is None, -len(tree) - tools, tree[0].frames[0].started_ns, tree[0].id


def _same_run(copy: Evidence, runs: Sequence[Evidence]) -> Evidence:
    """Which of the runs that one is a copy of: the one that has its calls."""
    spans = {span.key for call in copy.calls for span in call.spans}
    return next((run for run in runs if any(span.key in spans for call in run.calls for span in call.spans)), runs[0])


def _join(run: Evidence, copy: Evidence) -> None:
    """What the copy says more."""
    run.frames = [*run.frames, *copy.frames]
    run.agent = run.agent or copy.agent
    if not run.tools:
        run.tools = copy.tools
    elif [span.facts.tool for span in run.tools] == [span.facts.tool for span in copy.tools]:
        pairs = zip(run.tools, copy.tools, strict=True)
        run.tools = [ToolSpan(node=mine.node, facts=fill(mine.facts, theirs.facts)) for mine, theirs in pairs]
