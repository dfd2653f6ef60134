"""Spans of a client that calls the model until its answer will do: a call where nothing else tells of one, else a frame.

Instructor asks again when the object does not validate. Its span has what was asked and the object in the end; where
the provider's client is instrumented as well, the calls are below it. What they ask for as a call of a tool is the
object, under a name that its span need not have (``IterableOrder`` of a ``list``).
"""

from __future__ import annotations

from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.reading.messages import asked_for
from otel_eval.frozen import changed


def framed(tree: Tree) -> Tree:
    """The tree with such spans as workflows, where calls are below them; the same tree where there is none."""
    frames = {
        node.span_id: _as_frame(node, tree)
        for node in tree.by_id.values()
        if _asks(node) and tree.has_below(node, Kind.MODEL)
    }
    return Tree(frames.get(node.span_id, node) for node in tree.given) if frames else tree


def _asks(node: Node) -> bool:
    return node.facts is not None and node.facts.kind is Kind.MODEL and node.facts.aggregated


def _as_frame(node: Node, tree: Tree) -> Node:
    outputs = (below.facts.output or () for below in tree.below(node) if below.facts is not None)
    names = (call.name for output in outputs for call in asked_for(output))
    told = tuple(dict.fromkeys(name for name in names if name))
    return changed(node, facts=changed(node.facts, kind=Kind.WORKFLOW, pseudo_tools=told))
