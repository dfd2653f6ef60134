"""Whether the reply is JSON, and of the asked shape: the check ``reply-json``."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.evidence import Decided
from otel_eval.evaluators.exact import ExactEvaluator
from otel_eval.evaluators.text_evidence import reply_of
from otel_eval.evaluators.values import clip, compact, plain
from otel_eval.interaction import Interaction, JsonValue
from otel_eval.outcome import Cause, Failed, Inconclusive, Passed

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Schema = dict[str, JsonValue] | bool

_LONGEST_INTEGER = 4_000
_SHOWN_ERRORS = 3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReplyIsJson(ExactEvaluator):
    """Wants the whole reply to be one JSON value, white space around it aside, that the schema (if any) allows.

    A value in a code fence is not JSON: whoever reads the reply by program would trip over the fence.
    """

    schema: Schema | None = None
    check = "reply-json"
    factory = "reply_should_be_json"

    def _arguments(self) -> tuple[Any, ...]:
        return () if self.schema is None else (self.schema,)

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        reply = reply_of(interaction)
        if isinstance(reply, Inconclusive):
            return reply
        if reply.lacking is not None:
            return reply.lacking
        try:
            value = _read(reply.text)
        except ValueError as error:
            return Failed(f'expected JSON, was "{clip(reply.text)}": {error}')
        except RecursionError:
            return Inconclusive(reason="the reply is nested too deeply to be read", cause=Cause.OTHER)
        if self.schema is None:
            return Passed("is JSON")
        errors = [
            f"{error.json_path}: {clip(error.message)}" for error in _validator(compact(self.schema)).iter_errors(value)
        ]
        if not errors:
            return Passed("is JSON that the schema allows")
        rest = f" (and {len(errors) - _SHOWN_ERRORS} more)" if len(errors) > _SHOWN_ERRORS else ""
        return Failed(f'{"; ".join(sorted(errors)[:_SHOWN_ERRORS])}{rest}, was "{clip(reply.text)}"')


def reply_should_be_json(schema: Mapping[str, JsonValue] | bool | None = None) -> ReplyIsJson:
    """Passes when the whole reply is JSON, and as the JSON schema says where one is given (2020-12 unless it names another).

    ``format`` is not enforced and nothing is fetched: a schema that refers beyond itself is refused.
    """
    if schema is None:
        return ReplyIsJson()
    factory = "reply_should_be_json"
    if not isinstance(schema, Mapping | bool):
        raise EvaluatorDefinitionError(f"{factory}: schema is a JSON schema, an object, not {schema!r}")
    try:
        own: Any = plain(schema)
    except ValueError as error:
        raise EvaluatorDefinitionError(f"{factory}: schema: {error}") from None
    _refuse_outside(factory, own)
    _refuse_broken(factory, own)
    return ReplyIsJson(schema=own)


def _read(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant, parse_int=_integer)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    """Python reads no integer of more digits than 4,300, so as not to be slowed down; JSON has no such limit."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


@functools.lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    # Imported here: it takes 0.1 s, and most configurations have no schema.
    import referencing
    from jsonschema.validators import Draft202012Validator, extend, validator_for

    from otel_eval.evaluators.schema_keywords import KEYWORDS

    own = json.loads(schema)
    cls = Draft202012Validator if isinstance(own, bool) else validator_for(own, default=Draft202012Validator)
    # An empty registry: the default one would fetch what a $ref names from the network.
    make: Any = extend
    bounded: Callable[..., Validator] = make(
        cls, {name: check for name, check in KEYWORDS.items() if name in cls.VALIDATORS}
    )
    return bounded(own, registry=referencing.Registry())


def _refuse_broken(factory: str, schema: Schema) -> None:
    from jsonschema.exceptions import SchemaError

    if isinstance(schema, bool):
        return
    try:
        _validator(compact(schema)).check_schema(schema)
    except SchemaError as error:
        raise EvaluatorDefinitionError(f"{factory}: schema{error.json_path[1:]}: {error.message}") from None


def _refuse_outside(factory: str, schema: JsonValue) -> None:
    """Refuse a reference that leaves the schema, and a local one that leads nowhere."""
    own_ids = {item["$id"] for item in _objects(schema) if isinstance(item.get("$id"), str)}
    for item in _objects(schema):
        target = item.get("$ref")
        if not isinstance(target, str) or own_ids:
            continue
        if not target.startswith("#"):
            raise EvaluatorDefinitionError(
                f"{factory}: schema: $ref {target!r} leads out of the schema; put it under $defs"
            )
        if target.startswith("#/") and not _leads_somewhere(schema, target[2:]):
            raise EvaluatorDefinitionError(f"{factory}: schema: $ref {target!r} leads nowhere")


def _leads_somewhere(schema: Any, pointer: str) -> bool:
    place = schema
    for raw in pointer.split("/"):
        step = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(place, list) and step.isdigit() and int(step) < len(place):
            place = place[int(step)]
        elif isinstance(place, dict) and step in place:
            place = place[step]
        else:
            return False
    return True


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(item)
