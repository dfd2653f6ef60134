"""Our own telemetry among what comes in: left out before anything else is made of it (see :mod:`otel_eval.loop_guard`)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace

from otel_eval.assemble.nodes import Node, observe
from otel_eval.loop_guard import BAGGAGE_KEY, SCOPE_NAME, LoopGuard
from otel_eval.signals import OrdinarySpan, Span

REMEMBERED = 50_000
"""Spans of ours, and traces asked about, that are remembered: what descends from one may come in a later batch."""


class OwnTelemetry:
    """Knows our spans, and all that descends from them, in any order within a batch and in order between batches."""

    def __init__(self, guard: LoopGuard, observe: Callable[[Span | OrdinarySpan], Node] = observe) -> None:
        """``observe`` makes a node of a span."""
        self._guard = guard
        self._observe = observe
        self._traces: OrderedDict[str, bool] = OrderedDict()
        self._spans: OrderedDict[tuple[str, str], None] = OrderedDict()

    def observe(self, spans: Iterable[Span | OrdinarySpan]) -> tuple[list[Node], int]:
        """The spans as nodes, and how many were left out for being in a trace of ours.

        Spans of ours in somebody else's trace come as nodes that are left out with all that is below them.
        """
        nodes: list[Node] = []
        ours: set[tuple[str, str]] = set()
        dropped = 0
        for span in spans:
            if self._owns_trace(span.trace_id):
                dropped += 1
                continue
            node = self._observe(span)
            if (node.left_out or node.facts is not None or self._spans) and self._is_ours(span, node):
                ours.add(node.key)
                node = replace(node, facts=None, left_out=True)
            nodes.append(node)
        if ours:
            self._remember(nodes, ours)
        return nodes, dropped

    def _owns_trace(self, trace_id: str) -> bool:
        known = self._traces.get(trace_id)
        if known is None:
            known = self._traces[trace_id] = self._guard.owns_trace(trace_id)
            if len(self._traces) > REMEMBERED:
                self._traces.popitem(last=False)
        return known

    def _is_ours(self, span: Span | OrdinarySpan, node: Node) -> bool:
        if span.scope.name == SCOPE_NAME or (node.trace_id, node.parent_id) in self._spans:
            return True
        if node.facts is None or not isinstance(span, Span):
            return False
        return (
            BAGGAGE_KEY in span.attributes
            or self._guard.owns_span(node.span_id)
            or (node.parent_id is not None and self._guard.owns_span(node.parent_id))
        )

    def _remember(self, nodes: Iterable[Node], ours: set[tuple[str, str]]) -> None:
        below: dict[tuple[str, str | None], list[Node]] = {}
        for node in nodes:
            below.setdefault((node.trace_id, node.parent_id), []).append(node)
        waiting = list(ours)
        while waiting:
            key = waiting.pop()
            self._spans[key] = None
            waiting.extend(node.key for node in below.get(key, ()) if node.key not in self._spans)
        while len(self._spans) > REMEMBERED:
            self._spans.popitem(last=False)
