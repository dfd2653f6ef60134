"""The tool calls that spans tell of, each once, however many instrumentations wrote a span of it."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import MISSING, Facts, Kind, fill


@dataclass(frozen=True, slots=True)
class ToolSpan:
    """A tool call as its spans have it: those of one call (a client's and a server's) are one."""

    node: Node
    facts: Facts


def tool_spans(
    nodes: Iterable[Node],
    tree: Tree,
    inside_tool: set[str],
    elsewhere: Iterable[ToolSpan] = (),
    in_tools: Iterable[ToolSpan] = (),
) -> list[ToolSpan]:
    """The calls that spans tell of: none that a tool made itself, each once. ``elsewhere``: those of agents within,
    ``in_tools`` of those within its tools."""
    found: list[ToolSpan] = []
    for node in nodes:
        if node.kind() is not Kind.TOOL or node.span_id in inside_tool or node.facts is None:
            continue
        facts = node.facts
        for child in tree.below(node):
            if child.facts is not None and child.kind() is Kind.TOOL and _is_part(child.facts, facts):
                facts = fill(facts, child.facts)
        found.append(ToolSpan(node=node, facts=facts))
    elsewhere = list(elsewhere)
    found = _by_others(found, [*elsewhere, *in_tools])
    return _once(found, elsewhere) if found else found


def _is_part(inner: Facts, outer: Facts) -> bool:
    return (inner.call_id is not None and inner.call_id == outer.call_id) or alike(inner.tool, outer.tool)


def _by_others(found: list[ToolSpan], elsewhere: Sequence[ToolSpan]) -> list[ToolSpan]:
    """Without the spans that another instrumentation wrote of the same call: none may name it, both beside each other.

    At the same time, of the same tool, with the same arguments and result as far as they are told; one for each.
    """
    if len({span.node.scope for span in (*elsewhere, *found)}) < 2:  # as nearly always
        return found
    mine = {span.node.key for span in found}
    whole: dict[tuple[str, str], ToolSpan] = {}
    scopes: dict[tuple[str, str], set[str]] = {}
    named: dict[str, list[tuple[str, str]]] = {}
    for span in (*elsewhere, *sorted(found, key=lambda span: span.node.order)):
        key, same = span.node.key, named.setdefault(letters(span.facts.tool or ""), [])
        same[:] = [other for other in same if other not in mine or whole[other].node.ended_ns > span.node.started_ns]
        twins = [
            other
            for other in same
            if span.node.scope not in scopes[other] and key in mine and _twins(whole[other], span)
        ]
        if not twins:
            same.append(key)
            whole[key], scopes[key] = span, {span.node.scope}
            continue
        twin = min(twins, key=lambda other: abs(whole[other].node.started_ns - span.node.started_ns))
        whole[twin] = ToolSpan(node=whole[twin].node, facts=fill(whole[twin].facts, span.facts))
        scopes[twin].add(span.node.scope)
    return [whole[span.node.key] for span in found if span.node.key in whole]


def _twins(one: ToolSpan, other: ToolSpan) -> bool:
    a, b = one.facts, other.facts
    return (
        alike(a.tool, b.tool)
        and one.node.overlaps(other.node)
        and (None in (a.call_id, b.call_id) or a.call_id == b.call_id)
        and (a.arguments is MISSING or b.arguments is MISSING or a.arguments == b.arguments)
        and (type(a.result) is not type(b.result) or a.result == b.result)
    )


def _once(found: Sequence[ToolSpan], elsewhere: Sequence[ToolSpan]) -> list[ToolSpan]:
    """Without the spans that lie beside another of the same call, where the context between the two was lost.

    Two instrumentations write the same call id at the same time; an MCP server writes the tool's own name, within the time
    of a span whose name has the server's before it (``mcp__shop__get_order``) and which names the call.
    """
    ids = [span.facts.call_id for span in (*found, *elsewhere)]
    if None not in ids and len(set(ids)) == len(ids):  # as nearly always
        return list(found)
    whole = {span.node.key: span for span in found}
    if all(span.facts.call_id is None for span in found):
        others = {span.node.key: span for span in elsewhere if span.facts.call_id is not None}
        if not others:
            return list(found)
    else:
        others = {span.node.key: span for span in elsewhere}
    served: set[tuple[str, str]] = set()  # the calls whose server's span was found
    running = _Running()
    for span in sorted([*found, *others.values()], key=lambda span: span.node.order):
        key, of_server = span.node.key, span.facts.call_id is None
        running.until(span.node.started_ns)
        outer = None
        if key in whole:
            keys = (
                running.calls() if of_server else [other for other in running.of(span.facts.call_id) if other in whole]
            )
            at_once = (whole.get(other) or others[other] for other in keys)
            outer = next((other for other in at_once if _same(other, span, served)), None)
        if outer is None:
            running.add(span)
            continue
        del whole[key]
        if outer.node.key in whole:
            whole[outer.node.key] = ToolSpan(node=outer.node, facts=fill(outer.facts, span.facts))
        if of_server:
            served.add(outer.node.key)
    return list(whole.values())


class _Running:
    """The calls that are under way at one time, by their ids, in the order of their start: thousands may run at once."""

    def __init__(self) -> None:
        self._ends: list[tuple[int, tuple[str, str], str]] = []
        self._by_id: dict[str, dict[tuple[str, str], None]] = {}

    def add(self, span: ToolSpan) -> None:
        """Remember the span of a call that has an id. Only such spans can enclose another of the same call."""
        call_id = span.facts.call_id
        if call_id is not None:
            self._by_id.setdefault(call_id, {})[span.node.key] = None
            heapq.heappush(self._ends, (span.node.ended_ns, span.node.key, call_id))

    def until(self, now_ns: int) -> None:
        """Let go of those that have ended by then."""
        while self._ends and self._ends[0][0] <= now_ns:
            _, key, call_id = heapq.heappop(self._ends)
            keys = self._by_id.get(call_id, {})
            keys.pop(key, None)
            if not keys:
                self._by_id.pop(call_id, None)

    def of(self, call_id: str | None) -> Iterable[tuple[str, str]]:
        """Those of that call."""
        return self._by_id.get(call_id, ()) if call_id is not None else ()

    def calls(self) -> Iterator[tuple[str, str]]:
        """All of them."""
        return (key for keys in self._by_id.values() for key in keys)


def _same(outer: ToolSpan, inner: ToolSpan, served: set[tuple[str, str]]) -> bool:
    a, b = outer.facts, inner.facts
    if not (outer.node.order < inner.node.order and inner.node.started_ns < outer.node.ended_ns):
        return False
    if b.call_id is not None:
        return b.call_id == a.call_id and (
            a.tool is None
            or b.tool is None
            or _named_alike(a.tool, b.tool)
            or of_one_id(a.call_id, a.tool, b.tool, (a.arguments, b.arguments))
        )
    return (
        a.call_id is not None
        and outer.node.key not in served
        and inner.node.ended_ns <= outer.node.ended_ns
        and a.tool is not None
        and b.tool is not None
        and b.tool != a.tool
        and _named_alike(a.tool, b.tool)
        and (a.arguments is MISSING or b.arguments is MISSING or a.arguments == b.arguments)
    )


def _named_alike(long: str, short: str) -> bool:
    """Whether the names are the same but for a server's or plugin's before one of them."""
    if len(long) < len(short):
        long, short = short, long
    before = long[: len(long) - len(short)]
    return alike(long, short) or (long.endswith(short) and not before[-1:].isalnum())


def alike(a: str | None, b: str | None) -> bool:
    """Whether two names are the same but for case and punctuation."""
    return a is not None and b is not None and (a == b or letters(a) == letters(b))


def of_one_id(call_id: str | None, a: str, b: str, given: tuple[object, object] = (None, None)) -> bool:
    """Whether two names may be of the one call whose id both have: alike, or one of them is cut, or a tool goes by two names.

    Ids that are numbers in a turn come again with other calls: a short name that another begins with is another tool's,
    unless both were ``given`` the same arguments. An id that looks random is nobody else's, whatever the names.
    """
    return (
        alike(a, b)
        or _is_cut(a, b)
        or _is_cut(b, a)
        or (call_id is not None and _RANDOM.search(call_id) is not None)
        or (bool(given[0]) and isinstance(given[0], dict) and given[0] == given[1])
    )


_RANDOM = re.compile(r"(?<![0-9A-Za-z])(?=[0-9A-Za-z]*[0-9])(?=[0-9A-Za-z]*[A-Za-z])[0-9A-Za-z]{12,}(?![0-9A-Za-z])")
"""OpenAI's, Anthropic's, Bedrock's ids, and those made of UUIDs."""


def _is_cut(name: str, whole: str) -> bool:
    kept = name.rstrip(".…")
    return whole.startswith(kept) and (len(kept) >= _SHORTEST_CUT or 0 < len(kept) < len(name))


_SHORTEST_CUT = 16
"""Characters that are left of a cut name, where nothing else says that it is cut."""


@lru_cache(maxsize=10_000)
def letters(name: str) -> str:
    """A name without case and punctuation: a tool's title and its name in the model's request differ in those."""
    return "".join(filter(str.isalnum, name)).lower()
