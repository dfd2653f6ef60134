"""The spans of one trace as a tree: parents that never came, loops of parents and forests are all allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from otel_eval.assemble.nodes import Node
from otel_eval.conventions.facts import Kind
from otel_eval.frozen import changed


class Tree:
    """One trace, without what is ours or an evaluator's. Children stand in the total order of their nodes.

    ``adopted``: of spans whose own parent never came the one that they were put below.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        given = self.given = tuple(sorted(nodes, key=lambda node: node.order))
        self.known = frozenset(node.span_id for node in given)
        by_id = {node.span_id: node for node in given}
        if any(node.left_out for node in given):
            by_id = {id_: node for id_, node in by_id.items() if not (node.left_out or _below_left_out(node, by_id))}
        self.by_id = by_id
        self.adopted: Mapping[str, str] = {}
        self._parents = {node.span_id: by_id.get(node.parent_id or "") for node in by_id.values()}
        self._link()
        if not self._is_whole():
            self._parents = {node.span_id: self._safe_parent(node) for node in by_id.values()}
            self._link()

    def _link(self) -> None:
        self.children: dict[str, list[Node]] = {}
        self.roots: list[Node] = []
        for node in self.by_id.values():
            parent = self._parents[node.span_id]
            if parent is None:
                self.roots.append(node)
            else:
                self.children.setdefault(parent.span_id, []).append(node)

    def _is_whole(self) -> bool:
        """Whether every node hangs below a root: else some are one another's parents."""
        reached, level = 0, self.roots
        while level:
            reached += len(level)
            level = [child for node in level for child in self.children.get(node.span_id, ())]
        return reached == len(self.by_id)

    def _safe_parent(self, node: Node) -> Node | None:
        """The parent; of spans that are one another's parents the first, an agent's if there is one, is a root."""
        parent = self.by_id.get(node.parent_id) if node.parent_id is not None else None
        circle, seen, above = [node], {node.span_id}, parent
        while above is not None and above.span_id not in seen:
            seen.add(above.span_id)
            circle.append(above)
            above = self.by_id.get(above.parent_id) if above.parent_id is not None else None
        if above is node and min(circle, key=_rank) is node:
            return None
        return parent

    def moved(self, parents: Mapping[str, str]) -> Tree:
        """The same spans, those by whose ids ``parents`` gives another parent's below that one; itself where it gives none."""
        if not parents:
            return self
        tree = Tree(
            changed(node, parent_id=parents[node.span_id]) if node.span_id in parents else node for node in self.given
        )
        tree.adopted = self.adopted
        return tree

    def parent(self, node: Node) -> Node | None:
        """The parent, or None where there is none or it has not arrived."""
        return self._parents.get(node.span_id)

    def ancestors(self, node: Node) -> Iterator[Node]:
        """From the parent upwards."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def below(self, node: Node) -> Iterator[Node]:
        """All descendants, parents before children."""
        waiting = list(reversed(self.children.get(node.span_id, ())))
        while waiting:
            child = waiting.pop()
            yield child
            waiting.extend(reversed(self.children.get(child.span_id, ())))

    def has_below(self, node: Node, *kinds: Kind) -> bool:
        """Whether a descendant is of one of the kinds."""
        return any(child.kind() in kinds for child in self.below(node))

    def path_ids(self, node: Node) -> list[str]:
        """The span ids from the top to the parent, the top being a parent that has not arrived where there is one."""
        path = [above.span_id for above in self.ancestors(node)]
        top = self.by_id[path[-1]] if path else node
        if top.parent_id is not None and top.parent_id not in self.known:
            path.append(top.parent_id)
        return path[::-1]


def _rank(node: Node) -> tuple[bool, tuple[int, int, str, str]]:
    return node.kind() not in (Kind.AGENT, Kind.WORKFLOW), node.order


def _below_left_out(node: Node, by_id: dict[str, Node]) -> bool:
    seen: set[str] = set()
    above = by_id.get(node.parent_id) if node.parent_id is not None else None
    while above is not None and above.span_id not in seen:
        if above.left_out:
            return True
        seen.add(above.span_id)
        above = by_id.get(above.parent_id) if above.parent_id is not None else None
    return False
