"""reply-json, with and without a schema."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from otel_eval import reply_should_be_json
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.interaction import Gap, GapKind
from otel_eval.outcome import Inconclusive, describe
from otel_eval.testing.interactions import interaction

AMOUNT = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}


@pytest.mark.parametrize("reply", ['{"a": 1}', " [1, 2]\n", "12", '"text"', "null", "1" * 5000])
async def test_json_passes(reply: str, context: EvaluationContext) -> None:
    """Any JSON value, white space around it aside."""
    assert (await run(reply_should_be_json(), interaction(reply=reply), context)).word == "PASS"


@pytest.mark.parametrize(
    "reply", ["", "text", "{'a': 1}", '{"a": 1} and', "NaN", '```json\n{"a": 1}\n```', "[1,]", "{}{}"]
)
async def test_what_is_no_json_fails(reply: str, context: EvaluationContext) -> None:
    """The whole reply must be JSON, strictly: no fence, no prose, no NaN."""
    outcome = await run(reply_should_be_json(), interaction(reply=reply), context)
    assert describe("c", outcome).startswith(f'FAIL c: expected JSON, was "{" ".join(reply.split())}": ')


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"amount": 49.99}', "PASS c: is JSON that the schema allows"),
        ('{"amount": "49"}', """FAIL c: $.amount: '49' is not of type 'number', was "{"amount": "49"}\""""),
        ("{}", "FAIL c: $: 'amount' is a required property, was \"{}\""),
        ("3", "FAIL c: $: 3 is not of type 'object', was \"3\""),
    ],
)
async def test_a_schema_decides(reply: str, said: str, context: EvaluationContext) -> None:
    """The detail says where in the reply, and what was wrong there."""
    assert describe("c", await run(reply_should_be_json(AMOUNT), interaction(reply=reply), context)) == said


async def test_many_errors_are_counted(context: EvaluationContext) -> None:
    """Three are shown, in a stable order, and the rest counted."""
    outcome = await run(reply_should_be_json({"items": {"type": "string"}}), interaction(reply="[1,2,3,4,5]"), context)
    assert "; $[2]: 3 is not of type 'string' (and 2 more), was" in describe("c", outcome)


@pytest.mark.parametrize(
    "judged",
    [
        interaction(reply='{"a": 1', gaps=(Gap(field="reply", kind=GapKind.TRUNCATED),)),
        interaction(reply="12", gaps=(Gap(field="reply", kind=GapKind.TRUNCATED),)),
        interaction(reply='{"a": [REDACTED]}'),
        interaction(reply='{"a": "[REDACTED:email]"}'),
        interaction(reply='{"a": 1}', complete=False),
        interaction(reply="[" * 100_000),
    ],
    ids=["cut", "cut but JSON", "hole", "hole but JSON", "incomplete", "deep"],
)
async def test_only_a_whole_reply_is_judged(judged: Any, context: EvaluationContext) -> None:
    """A part of a reply is inconclusive, JSON or not; so is one that nests too deeply to be read."""
    assert isinstance(await run(reply_should_be_json(), judged, context), Inconclusive)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "objekt"}, r"schema\.type: 'objekt' is not valid"),
        ({"properties": {"a": {"minimum": "1"}}}, r"schema\.properties\.a\.minimum: '1' is not of type 'number'"),
        ("object", "schema is a JSON schema, an object, not 'object'"),
        ({"$ref": "http://127.0.0.1/s.json"}, r"schema: \$ref 'http://127.0.0.1/s.json' leads out of the schema"),
        ({"$ref": "#/$defs/a"}, r"schema: \$ref '#/\$defs/a' leads nowhere"),
        ({"const": float("nan")}, "schema: nan is no JSON value"),
    ],
)
def test_a_broken_schema_is_refused_when_it_is_given(schema: Any, message: str) -> None:
    """The error names the place in the schema."""
    with pytest.raises(EvaluatorDefinitionError, match=f"reply_should_be_json: {message}"):
        reply_should_be_json(schema)


async def test_a_schema_may_refer_within_itself(context: EvaluationContext) -> None:
    """``$defs`` work, by pointer and through arrays."""
    schema = {"$defs": {"n/a": {"anyOf": [{"type": "integer"}]}}, "items": {"$ref": "#/$defs/n~1a/anyOf/0"}}
    assert (await run(reply_should_be_json(schema), interaction(reply="[1]"), context)).word == "PASS"
    assert (await run(reply_should_be_json(schema), interaction(reply='["1"]'), context)).word == "FAIL"


async def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch, context: EvaluationContext) -> None:
    """A schema whose reference cannot be seen to leave it ends as an error, not as a request to somewhere."""
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("asked the network"))
    schema = {"$id": "http://127.0.0.1:9/here", "$ref": "http://127.0.0.1:9/elsewhere"}
    assert (await run(reply_should_be_json(schema), interaction(reply="1"), context)).word == "ERROR"


def test_the_schema_is_part_of_the_version() -> None:
    """Another schema is another definition; the same one in another order of keys is not."""
    turned = dict(reversed(list(AMOUNT.items())))
    assert reply_should_be_json(AMOUNT).version == reply_should_be_json(turned).version
    assert reply_should_be_json(AMOUNT).version != reply_should_be_json().version


@pytest.mark.parametrize(
    ("schema", "reply"),
    [
        ({"pattern": "(a|aa)+$"}, '"' + "a" * 5000 + 'b"'),
        ({"patternProperties": {"(a|aa)+$": {}}}, '{"' + "a" * 5000 + 'b": 1}'),
        ({"patternProperties": {"(a|aa)+$": {}}, "additionalProperties": False}, '{"' + "a" * 5000 + 'b": 1}'),
    ],
)
async def test_a_pattern_of_a_schema_has_a_time_limit(schema: Any, reply: str, context: EvaluationContext) -> None:
    """A reply that makes it backtrack ends as an error, and does not hold every other evaluation."""
    outcome = await run(reply_should_be_json(schema), interaction(reply=reply), context)
    assert describe("c", outcome).startswith(
        "ERROR c: PatternTooSlow: the schema's pattern (a|aa)+$ took more than 1 s"
    )


async def test_unique_items_are_told_apart_in_one_pass(context: EvaluationContext) -> None:
    """Each compared with each other, ten thousand objects would take minutes."""
    reply = json.dumps([{"a": number, "b": [number]} for number in range(10_000)])
    started = time.process_time()
    outcome = await run(reply_should_be_json({"uniqueItems": True}), interaction(reply=reply), context)
    assert outcome.name == "passed"
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("schema", "reply", "word"),
    [
        ({"uniqueItems": True}, "[1, 1.0]", "FAIL"),
        ({"uniqueItems": True}, '[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', "FAIL"),
        ({"uniqueItems": True}, '[1, true, "1", [1]]', "PASS"),
        ({"pattern": "^a+$"}, '"aab"', "FAIL"),
        ({"pattern": "^a+$"}, '"aa"', "PASS"),
        ({"pattern": "^a+$"}, "1", "PASS"),
        ({"patternProperties": {"^n_": {"type": "number"}}}, '{"n_a": "x"}', "FAIL"),
        ({"patternProperties": {"^n_": {}}, "additionalProperties": False}, '{"n_a": 1}', "PASS"),
        ({"patternProperties": {"^n_": {}}, "additionalProperties": False}, '{"n_a": 1, "m": 1}', "FAIL"),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "number"}}, '{"a": "x", "b": "x"}', "FAIL"),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "number"}}, '{"a": "x", "b": 1}', "PASS"),
    ],
)
async def test_the_keywords_done_here_mean_what_they_mean(
    schema: Any, reply: str, word: str, context: EvaluationContext
) -> None:
    """As in JSON Schema."""
    assert (await run(reply_should_be_json(schema), interaction(reply=reply), context)).word == word
