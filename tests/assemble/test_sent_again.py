"""Log records that are sent again in other batches, and such as are alike."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.completion import Completion
from otel_eval.assemble.nodes import join, observe
from otel_eval.interaction import Interaction
from otel_eval.receive.decode_common import in_order
from otel_eval.signals import LogRecord, Span
from otel_eval.testing.spans import log_record, model_span

TURN = (
    ("gen_ai.user.message", {"content": "Shall I?"}),
    ("gen_ai.assistant.message", {"content": "Yes."}),
    ("gen_ai.user.message", {"content": "And I?"}),
    ("gen_ai.assistant.message", {"content": "Yes."}),
    ("gen_ai.user.message", {"content": "Really?"}),
    ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "Really."}}),
)
"""A call's messages, two of which are the same."""


def call() -> tuple[Span, list[LogRecord]]:
    """A model call whose messages came within one tick of the clock."""
    made = model_span(messages=None, output=None)
    return made, [log_record(name, span=made, body=body) for name, body in TURN]


def told(found: Sequence[Interaction]) -> list[tuple[str | None, list[str | None], str | None]]:
    """What was asked, what came before, and the reply."""
    return [(each.asked, [said.text for said in each.history], each.reply) for each in found]


WHOLE = [("Really?", ["Shall I?", "Yes.", "And I?", "Yes."], "Really.")]


def test_two_that_are_alike_are_both_kept() -> None:
    """In one request, and however often that comes."""
    made, records = call()
    request = list(in_order(records))
    assert told(assemble([made], request)) == WHOLE
    assert told(assemble([made], request * 3)) == WHOLE


@given(seed=st.integers(0, 10_000))
def test_records_that_are_sent_again_in_any_batches_are_the_same(seed: int) -> None:
    """One request had all; others had some of them, in the order of the whole."""
    chance = random.Random(seed)
    made, records = call()
    some = [[record for record in records if chance.random() < 0.5] for _ in range(chance.randint(1, 4))]
    batches = [list(in_order(request)) for request in (records, *some)]
    chance.shuffle(batches)
    assert told(assemble([made], [record for batch in batches for record in batch])) == WHOLE
    assert told(live(made, batches)) == WHOLE


def live(made: Span, batches: Sequence[Sequence[LogRecord]]) -> list[Interaction]:
    """What a server would have stored in the end, the span having come in between."""
    completion, stored = Completion(), {}
    for place, batch in enumerate(batches):
        notes = [note for record in batch if (note := join(record)) is not None]
        completion.add([observe(made)] if place == 1 else [], notes, now=float(place))
    while (deadline := completion.next_deadline()) is not None:
        stored.update({each.interaction.id: each.interaction for each in completion.due(deadline).ready})
    return list(stored.values())
