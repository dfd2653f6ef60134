"""Spans of tools below no agent's: whose calls they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_eval.assemble.bare_loops import Loop
from otel_eval.assemble.detached import asked_ids, encloses, is_detached
from otel_eval.assemble.evidence import Evidence
from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tool_spans import tool_spans
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.reading.messages import asked_for


def place_tools(tools: Sequence[Node], loops: Sequence[Loop], told: Iterable[Evidence], trees: dict[str, Tree]) -> None:
    """A tool's span goes to the loop, or the detached agent around it, that asked for that call, else to the only
    loop around."""
    if not tools:
        return
    places = _Places(loops, [found for found in told if is_detached(found)])
    for node in tools:
        tree = trees[node.trace_id]
        if any(above.kind() is Kind.TOOL and not places.is_around(above) for above in tree.ancestors(node)):
            continue
        asking = places.asking(node)
        around = places.around(node, tree) if len(asking) != 1 else []
        if len(asking) == 1 and isinstance(asking[0], Evidence):
            asking[0].tools = [*asking[0].tools, *tool_spans([node], tree, set())]
        elif len(asking) == 1 and isinstance(asking[0], Loop):
            asking[0].tools.append(node)
        elif len(around) == 1:
            around[0].tools.append(node)


class _Places:
    """Who asked for a call, and which loops are below which spans."""

    def __init__(self, loops: Sequence[Loop], detached: Sequence[Evidence]) -> None:
        self._asking: dict[str, list[Loop | Evidence]] = {}
        self._below: dict[tuple[str, str | None], list[Loop]] = {}
        self._on_path = {(loop.trace_id, span_id) for loop in loops for span_id in loop.path}
        for loop in loops:
            self._below.setdefault((loop.trace_id, loop.path[-1] if loop.path else None), []).append(loop)
            self._note(loop, {part.call_id for call in loop.calls for part in asked_for(call.output)})
        for found in detached:
            self._note(found, asked_ids(found))

    def _note(self, place: Loop | Evidence, call_ids: Iterable[str | None]) -> None:
        for call_id in call_ids:
            if call_id is not None:
                self._asking.setdefault(call_id, []).append(place)

    def is_around(self, node: Node) -> bool:
        """Whether a loop is below that span."""
        return node.key in self._on_path

    def asking(self, node: Node) -> list[Loop | Evidence]:
        """Those that asked for the call; of detached agents those around it."""
        call_id = node.facts.call_id if node.facts is not None else None
        found = self._asking.get(call_id, []) if call_id is not None else []
        return [place for place in found if isinstance(place, Loop) or encloses(place, node)]

    def around(self, node: Node, tree: Tree) -> list[Loop]:
        """The loops of its trace that are below a span that it is below, too, or below none."""
        ends = (None, *tree.path_ids(node))
        return [loop for end in ends for loop in self._below.get((node.trace_id, end), ())]
