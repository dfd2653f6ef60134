"""What the ledger holds, as messages, and back: nothing is lost, and nothing becomes something else."""

from __future__ import annotations

import dataclasses
import json

import pytest

from otel_eval import interaction as domain
from otel_eval.api.interactions import interaction as message_of
from otel_eval.api.messages import evaluation, nanoseconds_of
from otel_eval.api.records import record as record_of
from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Outcome, Passed
from otel_eval.record import EvaluationRecord, JudgeCall, Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record
from otel_eval.v1 import evaluations_pb2 as pb

OUTCOMES: list[Outcome] = [
    Passed(explanation="well", score=0.0, label="", attributes={"words": 4, "rate": 0.5, "ok": False, "who": "me"}),
    Failed(explanation=""),
    Inconclusive(reason="nothing there", cause=Cause.NOT_CAPTURED),
    Errored(reason="broke", error_type="KeyError", cause=Cause.EVALUATOR_ERROR),
]
CALLS = (
    JudgeCall(
        conversation_id="e-judge",
        requested_model="m",
        answer="{}",
        input_tokens=0,
        cost_usd=0.0,
        started_ns=1,
        ended_ns=2,
    ),
    JudgeCall(conversation_id="e-judge", requested_model="m", error="Timeout"),
)
WHOLE = interaction(
    tool_calls=[domain.ToolCall(name="pay", arguments={"cents": 2**60 + 1}, result=[None], call_id="c", started_ns=3)],
    failure=domain.Failure(type="E"),
    history=(
        domain.Message(
            role="assistant",
            parts=(
                domain.TextPart(text="hi"),
                domain.ReasoningPart(text="hm"),
                domain.ToolCallPart(name="pay", arguments="raw", call_id="c"),
                domain.ToolResultPart(call_id="c", name="pay", result=False, failed=True),
                domain.Attachment(modality="image", size=9),
            ),
        ),
    ),
    attachments=(domain.Attachment(modality="file", mime_type="text/plain", name="a.txt"),),
    links=(domain.Link(trace_id="a" * 32, span_id="b" * 16),),
    gaps=(domain.Gap(field="usage", kind=domain.GapKind.DROPPED, setting="MORE=1"),),
    parent_id="p",
    role="r",
    session="s",
    user_id="u",
    model="m",
    system="be kind",
    attributes={"tier": "gold"},
    conventions=("genai",),
    complete=False,
)


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.name)
def test_a_record_comes_back_as_it_was(outcome: Outcome) -> None:
    """Each of the four outcomes; a score of 0 and an empty label are there, and a missing one is not."""
    record = evaluation_record(
        interaction(agent=None),
        outcome=outcome,
        origin=Origin.RERUN,
        attempt=2,
        revision=3,
        threshold=0.0,
        judge_calls=CALLS,
    )
    message = pb.Evaluation.FromString(evaluation(record, judge_calls=True).SerializeToString())
    assert message.WhichOneof("outcome") == outcome.name
    assert record_of(message) == record
    assert record_of(evaluation(record, judge_calls=False)) == dataclasses.replace(record, judge_calls=())


def test_what_no_message_holds_is_made_to_fit() -> None:
    """Lone surrogates, numbers beyond 64 bits and times beyond the calendar cost themselves, never the answer."""
    record = evaluation_record(
        interaction(agent="a\ud800b"),
        outcome=Passed(explanation="\udfff", attributes={"big": 10**400, "long": 2**70, "\ud800": "x"}),
        ended_ns=2**64,
    )
    message = evaluation(record, judge_calls=True)
    assert (message.agent, message.passed.explanation) == ("a?b", "?")
    assert message.passed.attributes["big"].double_value == float("inf")
    assert message.passed.attributes["long"].double_value == float(2**70)
    assert nanoseconds_of(message.end_time) == 2**64
    assert evaluation(dataclasses.replace(record, ended_ns=-1), judge_calls=False).end_time.seconds == 0


@pytest.mark.parametrize(
    ("kind", "message", "renamed"),
    [
        (domain.Interaction, pb.Interaction, {"resource": "resource_json", "attributes": "attributes_json"}),
        (domain.ToolCall, pb.ToolCall, {"arguments": "arguments_json", "result": "result_json"}),
        (domain.ModelCall, pb.ModelCall, {}),
        (domain.Usage, pb.Usage, {}),
        (domain.Totals, pb.Totals, {}),
        (domain.Gap, pb.Gap, {}),
        (domain.Attachment, pb.Attachment, {}),
        (domain.ToolResultPart, pb.ToolResultPart, {"result": "result_json"}),
        (EvaluationRecord, pb.Evaluation, {}),
        (JudgeCall, pb.JudgeCall, {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_every_field_of_the_domain_has_one_in_the_protocol(kind: type, message: type, renamed: dict[str, str]) -> None:
    """A field that is added to the domain is not forgotten here."""
    renamed = {"started_ns": "start_time", "ended_ns": "end_time", **renamed}
    fields = {renamed.get(field.name, field.name) for field in dataclasses.fields(kind)}
    assert fields - {*message.DESCRIPTOR.fields_by_name, *message.DESCRIPTOR.oneofs_by_name} == set()


def test_an_interaction_is_told_whole() -> None:
    """Every field of it; JSON keeps its digits and its types."""
    message = pb.Interaction.FromString(message_of(WHOLE).SerializeToString())
    unset = {field.name for field in message.DESCRIPTOR.fields} - {field.name for field, _ in message.ListFields()}
    assert unset == {"complete"}  # which is false
    assert json.loads(message.tool_calls[0].arguments_json) == {"cents": 2**60 + 1}
    assert (message.tool_calls[0].result_json, message.tool_calls[0].HasField("error")) == ("[null]", False)
    parts = message.history[0].parts
    assert [part.WhichOneof("part") for part in parts] == [
        "text",
        "reasoning",
        "tool_call",
        "tool_result",
        "attachment",
    ]
    assert (parts[2].tool_call.arguments_json, parts[3].tool_result.result_json) == ('"raw"', "false")
    assert nanoseconds_of(message.end_time) == WHOLE.ended_ns
    assert json.loads(message.attributes_json) == {"tier": "gold"}
