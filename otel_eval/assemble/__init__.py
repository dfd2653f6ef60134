"""Spans into Interactions: the pure assembler, and what a live driver asks of it.

The way of :func:`~otel_eval.assemble.assembler.assemble_nodes`::

    nodes                                       spans and log records, reduced to what is needed of them
    deliveries, threads                         what a message bus carried, and what a service's threads kept, to its agents
    tree                                        the spans of a trace as a tree; then what makes it the one that was meant:
      streamed_agents, retrying_clients,          spans that ended too early, that stand around several calls, whose parent
      orphans, duplicate_agents                   never came, that two instrumentations wrote
    runs, bare_loops                            which spans make one invocation; model calls that no agent's span is above
      calls, tool_spans, tool_owners,             their model calls and tool calls, each once; whose they are
      unattached_calls, duplicate_calls
    detached, handoffs                          agents whose context was lost; one agent passing on to another
    evidence                                    all that one Interaction is made of
    interactions                                one Interaction:
      transcript, turns, replies                  this turn's question and answer, and what was said before
      requested_calls, tool_call, tools           the tool calls of messages and of spans, joined
      gaps, lost_calls                            what the telemetry does not carry
    totals                                      counts over an Interaction and those nested in it

Live only: ``completion`` and ``group`` (when an Interaction is complete), ``digest`` (what makes a revision), ``trace_ties``
(which traces belong together), ``closed_traces`` (kept for late spans), ``own_telemetry`` (left out before all else).
"""
