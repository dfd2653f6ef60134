"""Page tokens and cursors: places in a listing and in the order of storing, as text that clients hand back as it is."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from google.protobuf.message import Message

from otel_eval.api.failures import InvalidArgument
from otel_eval.identity import digest
from otel_eval.ledger import Place

LONGEST = 4096
"""Characters of a token that is looked at: ours are far shorter, unless an id is long."""


def page_token(of: Message, after: tuple[int, str]) -> str:
    """The page behind that (end, id), for the same question."""
    return _packed([_question(of), *after])


def after_of(token: str, of: Message) -> tuple[int, str] | None:
    """Where the page begins; None at the beginning. Raises InvalidArgument for the token of another question."""
    if not token:
        return None
    match _unpacked("page_token", token):
        case [str(question), int(ended_ns), str(id)]:
            if question != _question(of):
                raise InvalidArgument("page_token", "is of another question: filters stay the same from page to page")
            return ended_ns, id
    raise InvalidArgument("page_token", "is no page token of ours")


def cursor(place: Place) -> str:
    """That place in the order of storing."""
    return _packed([place.identity, place.sequence])


def place_of(given: str) -> Place | None:
    """The place that a cursor says, of whatever ledger; None where there is none. Raises InvalidArgument."""
    if not given:
        return None
    match _unpacked("cursor", given):
        case [str(identity), int(sequence)] if identity.isascii() and identity.isprintable():
            return Place(identity, sequence)
    raise InvalidArgument("cursor", "is no cursor of ours")


def _question(of: Message) -> str:
    """What a listing asks for, whatever its page and its size."""
    same = type(of)()
    same.CopyFrom(of)
    for name in ("page_token", "page_size", "include_judge_calls"):
        if name in same.DESCRIPTOR.fields_by_name:
            same.ClearField(name)
    # With its kind: a message without fields set is the same bytes for each.
    return digest(f"{of.DESCRIPTOR.full_name} {same.SerializeToString(deterministic=True).hex()}")[:16]


def _packed(value: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


def _unpacked(field: str, given: str) -> Any:
    try:
        if len(given) > LONGEST:
            raise ValueError("longer than any of ours")
        return json.loads(base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise InvalidArgument(field, "was not handed out by this service") from error
