"""A stream of OTLP trace requests: a recorded agent's traces, each anew, among the ordinary spans of the same program.

No two traces share an id (of a span, a tool call, a response, a conversation), an order number, an amount or a count of
tokens, so that nothing is read faster than it would be in earnest. What a program repeats is repeated: names, instructions,
definitions of tools, and each conversation from one model call to the next.
"""

from __future__ import annotations

import random
import re
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

RECORDINGS = Path(__file__).parent.parent / "otel_eval" / "demo" / "recordings"
RECORDING = "pydantic-ai--native.refund"
"""Six spans of 3.8 KB on average: an agent, three model calls, two tool calls."""

BATCH = 512
_OWN = re.compile(
    r"\b(?:call_|chatcmpl-)[0-9a-f]{8,}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bo_\d\b|\b49\.?99\b"
)
"""What a trace has to itself, in its texts."""
_ORDINARY: dict[str, str | int] = {
    "http.request.method": "GET",
    "url.full": "http://orders.internal/orders/o_9?expand=items",
    "server.address": "orders.internal",
    "network.protocol.version": "1.1",
    "user_agent.original": "python-httpx/0.28.1",
    "db.system.name": "postgresql",
    "db.query.text": "select * from orders where id = $1",
    "thread.name": "MainThread",
    "http.response.status_code": 200,
    "server.port": 8080,
    "thread.id": 140255,
}


@dataclass(slots=True)
class Stream:
    """Serialized requests and what is in them."""

    requests: list[bytes] = field(default_factory=list)
    spans: int = 0
    agent_spans: int = 0
    interactions: int = 0

    @property
    def size(self) -> int:
        """Bytes of all requests."""
        return sum(map(len, self.requests))


def stream(batches: int, *, agent_share: float = 0.1, recording: str = RECORDING, seed: int = 7) -> Stream:
    """That many requests of :data:`BATCH` spans, ``agent_share`` of them an agent's; 0: ordinary spans alone.

    The last request is longer: every trace that was begun is in the stream as a whole.
    """
    chance = random.Random(seed)
    template = _template(recording)
    made = Stream()
    waiting: deque[tuple[bool, bytes]] = deque()
    for batch in range(batches):
        agents: list[bytes] = []
        ordinary: list[bytes] = []
        while len(agents) + len(ordinary) < BATCH or (batch == batches - 1 and waiting):
            if not waiting:
                waiting.extend(_trace(template, agent_share, chance))
                made.interactions += agent_share > 0
            is_agents, span = waiting.popleft()
            (agents if is_agents else ordinary).append(span)
        made.requests.append(_request(template.head, agents, ordinary))
        made.spans += len(agents) + len(ordinary)
        made.agent_spans += len(agents)
    return made


@dataclass(frozen=True, slots=True)
class _Template:
    head: ExportTraceServiceRequest
    spans: tuple[Span, ...]
    ids: tuple[bytes, ...]


def _template(recording: str) -> _Template:
    request = ExportTraceServiceRequest()
    for file in sorted((RECORDINGS / recording).glob("*traces.pb")):
        request.MergeFromString(file.read_bytes())
    spans = tuple(span for group in request.resource_spans for part in group.scope_spans for span in part.spans)
    ids = dict.fromkeys(each for span in spans for each in (span.trace_id, span.span_id, span.parent_span_id) if each)
    head = ExportTraceServiceRequest(resource_spans=request.resource_spans[:1])
    del head.resource_spans[0].scope_spans[1:]
    del head.resource_spans[0].scope_spans[0].spans[:]
    return _Template(head, spans, tuple(ids))


def _trace(template: _Template, agent_share: float, chance: random.Random) -> list[tuple[bool, bytes]]:
    """A copy of the template with ids and texts of its own, shuffled among ordinary spans."""
    new = {old: chance.randbytes(len(old)) for old in template.ids}
    trace_id = new[template.spans[0].trace_id]
    later = time.time_ns() - max(span.end_time_unix_nano for span in template.spans)
    amount = str(chance.randrange(1000, 10_000_000))
    texts = {"4999": amount, "49.99": f"{amount[:-2]}.{amount[-2:]}"}
    spans: list[tuple[bool, bytes]] = []
    for span in template.spans if agent_share > 0 else ():
        copy = Span()
        copy.CopyFrom(span)
        copy.start_time_unix_nano += later
        copy.end_time_unix_nano += later
        for item in copy.attributes:
            _make_own(item, texts, chance)
        spans.append((True, _replaced(copy.SerializeToString(), new)))
    among = round(len(template.spans) * (1 - agent_share) / agent_share) if agent_share > 0 else 43
    parent = new[template.spans[-1].span_id]
    spans += [(False, _ordinary(trace_id, parent, chance)) for _ in range(among)]
    chance.shuffle(spans)
    return spans


def _make_own(item: KeyValue, texts: dict[str, str], chance: random.Random) -> None:
    """Puts what the trace has to itself in place of what the recorded one had. ``texts``: old to new."""
    if item.key.endswith("_tokens"):
        item.value.int_value += chance.randrange(10_000)
    elif item.value.string_value:
        item.value.string_value = _OWN.sub(
            lambda found: texts.setdefault(found[0], _other_text(found[0], chance)), item.value.string_value
        )


def _replaced(span: bytes, new: dict[bytes, bytes]) -> bytes:
    for old, value in new.items():
        span = span.replace(old, value)
    return span


def _other_text(old: str, chance: random.Random) -> str:
    """Other hexadecimal digits; an order's number has five."""
    if old.startswith("o_"):
        return f"o_{chance.randrange(16**5):05x}"
    name, mark, digits = old.rpartition("_" if "_" in old else "-")
    return name + mark + "".join(chance.choices("0123456789abcdef", k=len(digits)))


def _ordinary(trace_id: bytes, parent: bytes, chance: random.Random) -> bytes:
    """A client's span with the attributes that HTTP and database instrumentations write: 470 bytes."""
    now = time.time_ns()
    return Span(
        trace_id=trace_id,
        span_id=chance.randbytes(8),
        parent_span_id=parent,
        name=chance.choice(("GET /orders/{id}", "SELECT orders", "redis GET", "POST /chat")),
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=now,
        end_time_unix_nano=now + 1_000_000,
        attributes=[KeyValue(key=key, value=_any(value)) for key, value in _ORDINARY.items()],
    ).SerializeToString()


def _any(value: str | int) -> AnyValue:
    return AnyValue(string_value=value) if isinstance(value, str) else AnyValue(int_value=value)


def _request(head: ExportTraceServiceRequest, agents: list[bytes], ordinary: list[bytes]) -> bytes:
    request = ExportTraceServiceRequest()
    request.CopyFrom(head)
    (group,) = request.resource_spans
    group.scope_spans[0].spans.extend(map(Span.FromString, agents))
    group.scope_spans.add().scope.name = "opentelemetry.instrumentation.httpx"
    group.scope_spans[1].spans.extend(map(Span.FromString, ordinary))
    return request.SerializeToString()
