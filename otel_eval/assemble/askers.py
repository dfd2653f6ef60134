"""Spans of a client that calls the model until its answer will do: a call where nothing else tells of one, else a frame.

Instructor asks again when the object does not validate. Its span has what was asked and the object in the end; where
the provider's client is instrumented as well, the calls are below it.
"""

from __future__ import annotations

from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind
from otel_eval.frozen import changed


def framed(tree: Tree) -> Tree:
    """The tree with such spans as workflows, where calls are below them; the same tree where there is none."""
    frames = {node.span_id for node in tree.by_id.values() if _asks(node) and tree.has_below(node, Kind.MODEL)}
    return Tree(_as_frame(node) if node.span_id in frames else node for node in tree.given) if frames else tree


def _asks(node: Node) -> bool:
    return node.facts is not None and node.facts.kind is Kind.MODEL and node.facts.aggregated


def _as_frame(node: Node) -> Node:
    return changed(node, facts=changed(node.facts, kind=Kind.WORKFLOW))
