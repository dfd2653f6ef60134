"""What a request asks, checked: whatever is wrong is told with the field's path, before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from google.protobuf.timestamp_pb2 import Timestamp

from otel_eval.api.failures import InvalidArgument, TooMuch
from otel_eval.api.messages import ORIGINS, nanoseconds_of
from otel_eval.v1 import evaluations_pb2 as pb

MOST_IDS = 1_000
"""Evaluations that are asked for at a time."""
MOST_EVALUATIONS = 10_000
"""Evaluations that are started at a time: they are queued in one transaction, while the pipeline waits."""
MOST_INTERACTIONS = 1_000
"""Interactions that a filter may match, where the request does not say."""

Wanted: TypeAlias = dict[str, Any]
"""Keyword arguments of the ledger's listings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is to be judged again, by whom: ``ids``, or what ``wanted`` matches, at most ``limit`` of them."""

    evaluators: tuple[str, ...]
    ids: tuple[str, ...]
    wanted: Wanted | None
    limit: int


def interactions(given: pb.InteractionFilter, field: str = "filter") -> Wanted:
    """What Interactions are asked for."""
    return {
        **_texts(given, field, "agent", "session"),
        **_times(
            given.since if given.HasField("since") else None, given.until if given.HasField("until") else None, field
        ),
    }


def evaluations(given: pb.EvaluationFilter) -> Wanted:
    """What evaluations are asked for, whenever they ended."""
    wanted = _texts(given, "filter", "interaction_id", "evaluator", "agent", "session")
    if given.origin == pb.ORIGIN_UNSPECIFIED:
        return wanted
    if given.origin not in ORIGINS:
        raise InvalidArgument("filter.origin", f"{given.origin} is none that is known here")
    return {**wanted, "origin": ORIGINS[given.origin]}


def ended(given: pb.ListEvaluationsRequest) -> Wanted:
    """The same, with when they ended."""
    since, until = (getattr(given, name) if given.HasField(name) else None for name in ("since", "until"))
    return {**evaluations(given.filter), **_times(since, until, "")}


def page_size(given: int, *, default: int, most: int) -> int:
    """How many: the default for 0, and no more than there may be."""
    if given < 0:
        raise InvalidArgument("page_size", "is not negative")
    return min(given or default, most)


def some_id(field: str, given: str) -> str:
    """An id that is not blank."""
    if not given.strip():
        raise InvalidArgument(field, "is missing")
    return given


def evaluation_ids(given: Sequence[str]) -> tuple[str, ...]:
    """Each once."""
    ids = _once("evaluation_ids", given)
    if not ids:
        raise InvalidArgument("evaluation_ids", "is missing: one id or more")
    if len(ids) > MOST_IDS:
        raise InvalidArgument("evaluation_ids", f"are {len(ids)}: {MOST_IDS} at a time")
    return ids


def start(given: pb.StartEvaluationRequest, known: Collection[str]) -> Start:
    """What is to be judged again. ``known``: the evaluators that there are."""
    evaluators = _once("evaluators", given.evaluators)
    if not evaluators:
        raise InvalidArgument("evaluators", "is missing: one evaluator's id or more")
    for index, name in enumerate(given.evaluators):
        if name not in known:
            raise InvalidArgument(
                f"evaluators[{index}]", f"no such evaluator is switched on; there are: {_some(known)}"
            )
    ids = _once("interaction_ids", given.interaction_ids)
    wanted = interactions(given.filter) if given.HasField("filter") else None
    if bool(ids) == (wanted is not None):
        raise InvalidArgument("interaction_ids", "either these are given, or filter")
    if wanted == {}:
        raise InvalidArgument("filter", "is empty: it would match every Interaction; since is enough")
    if given.max_interactions < 0:
        raise InvalidArgument("max_interactions", "is not negative")
    limit = given.max_interactions or MOST_INTERACTIONS
    if len(ids) * len(evaluators) > MOST_EVALUATIONS:
        raise TooMuch(f"{len(ids) * len(evaluators)} evaluations: {MOST_EVALUATIONS} are started at a time")
    return Start(evaluators=evaluators, ids=ids, wanted=wanted, limit=min(limit, MOST_EVALUATIONS // len(evaluators)))


def _some(names: Collection[str]) -> str:
    shown = sorted(names)[:20]
    return ", ".join(shown + ["…"] * (len(names) > len(shown))) or "none"


def _once(field: str, given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(some_id(f"{field}[{index}]", each) for index, each in enumerate(given)))


def _texts(given: Any, field: str, *names: str) -> Wanted:
    wanted = {name: getattr(given, name) for name in names if given.HasField(name)}
    for name, value in wanted.items():
        if not value:
            raise InvalidArgument(f"{field}.{name}", "is empty: leave it out to ask for all")
    return wanted


def _times(since: Timestamp | None, until: Timestamp | None, field: str) -> Wanted:
    above = f"{field}." if field else ""
    wanted = {}
    for name, moment in (("since", since), ("until", until)):
        if moment is not None:
            if not (0 <= moment.seconds <= 253_402_300_799 and 0 <= moment.nanos < 1_000_000_000):
                raise InvalidArgument(f"{above}{name}", "is no time between 1970 and 9999")
            wanted[f"{name}_ns"] = min(nanoseconds_of(moment), 2**63 - 1)  # the columns' last
    if since is not None and until is not None and wanted["since_ns"] >= wanted["until_ns"]:
        raise InvalidArgument(f"{above}until", "is not after since")
    return wanted
