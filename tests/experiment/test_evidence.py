import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.experiment.evidence import Attribution, Evidence
from otel_eval.testing.spans import log_record, new_span_id, new_trace_id, span


def evidence(session: str, *, exclusive: bool = False) -> Evidence:
    return Evidence(
        trace_id=new_trace_id(), root_span_id=new_span_id(), session=session, exclusive=exclusive, on_change=lambda: None
    )  # fmt: skip


def work(of: Evidence) -> list:
    """Three spans in the attempt's own trace, and three and a log record in another; one of those names the session."""
    own = [span("own", trace_id=of.trace_id, parent_id=of.root_span_id) for _ in range(3)]
    first = span("else", attributes={"session.id": of.session})
    other = [span("else", parent=first), first, span("else", parent=first)]
    return [*own, *other, log_record("gen_ai.choice", span=first)]


@given(order=st.permutations(range(14)))
def test_each_attempt_gets_its_own_in_any_order(order):
    """Two attempts at a time, spans and log records in any order: nothing is lost, nothing is the other's."""
    attribution = Attribution()
    attempts = [evidence("a"), evidence("b")]
    for each in attempts:
        attribution.watch(each)
    signals = [(each, signal) for each in attempts for signal in work(each)]
    for _, signal in (signals[index] for index in order):
        attribution.logged(signal) if hasattr(signal, "event_name") else attribution.ended(signal)
    for each in attempts:
        attribution.release(each)
        expected = {signal.span_id for owner, signal in signals if owner is each and hasattr(signal, "parent_id")}
        assert {found.span_id for found in each.spans} == expected
        assert len(each.spans) == 6
        assert len(each.logs) == 1
        assert each.root_span_id not in {found.parent_id for found in each.spans}
        assert each.strays == 0


@pytest.mark.parametrize(
    "name", ["gen_ai.conversation.id", "gen_ai.session.id", "genkit:sessionId", "ai.settings.context.threadId"]
)
def test_a_trace_is_known_by_its_session_under_every_name_that_conventions_read(name: str):
    """What is a session live is one in an experiment."""
    attribution = Attribution()
    mine, other = evidence("mine"), evidence("other")
    attribution.watch(mine)
    attribution.watch(other)
    attribution.ended(span("run", attributes={name: "mine"}))
    attribution.release(mine)
    attribution.release(other)
    assert ([found.name for found in mine.spans], other.spans) == (["run"], [])


def test_nothing_is_kept_while_no_attempt_runs():
    """Between attempts there is nobody to collect for."""
    attribution = Attribution()
    attribution.started("t", "s", {})
    attribution.ended(span(trace_id="t"))
    only = evidence("a", exclusive=True)
    attribution.watch(only)
    attribution.release(only)
    assert (only.spans, only.open, only.strays) == ([], set(), 0)


def test_strays_have_an_end():
    """A service that is busy meanwhile does not fill the memory."""
    attribution = Attribution()
    attempts = [evidence("a"), evidence("b")]
    for each in attempts:
        attribution.watch(each)
    for _ in range(1000):
        attribution.ended(span("of somebody else"))
    attribution.release(attempts[0])
    assert attempts[0].strays == 256


def test_a_log_record_without_a_trace_is_found_by_session_or_alone_by_time():
    """Some frameworks log outside of any span."""
    attribution = Attribution()
    alone = evidence("a", exclusive=True)
    attribution.watch(alone)
    attribution.logged(log_record("gen_ai.choice"))
    attribution.release(alone)
    pair = [evidence("b"), evidence("c")]
    for each in pair:
        attribution.watch(each)
    attribution.logged(log_record("gen_ai.choice"))
    attribution.logged(log_record("gen_ai.choice", attributes={"session.id": "c"}))
    assert [len(each.logs) for each in (alone, *pair)] == [1, 0, 1]
