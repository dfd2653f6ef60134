"""What criterion judges and label judges share: what must be there to judge, votes, and what becomes of trouble."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.evidence import AGENT_SPAN_MISSING, from_gap, name_of
from otel_eval.faults import told
from otel_eval.interaction import Gap, GapKind, Interaction
from otel_eval.judges.conversation import Conversation, holding
from otel_eval.judges.errors import JudgeError, JudgeUnavailable
from otel_eval.outcome import AttributeValue, Cause, Inconclusive

Vote = TypeVar("Vote")

REQUIRABLE = (
    "asked", "reply", "tool_calls", "tool_arguments", "tool_results", "system", "history", "session", "usage",
)  # fmt: skip
"""What ``requires`` may name."""

_TEXTS = ("asked", "system", "session")
_SHOW_NOTHING = "\u115f\u1160\u2800\u3164\uffa0"

CUT_ATTRIBUTE = "otel_eval.judge.cut"
"""The fields, comma-separated, of which the judge was shown only a part."""

VOTES_ATTRIBUTE = "otel_eval.judge.votes"
"""All usable votes (scores, or labels), comma-separated, where more than one was asked for."""


@dataclass(frozen=True, slots=True)
class Ballot(Generic[Vote]):
    """The usable votes, the trouble of the others, and the fields that were cut."""

    usable: tuple[Vote, ...]
    trouble: tuple[Exception, ...]
    cut: frozenset[str]

    def attributes(self) -> dict[str, AttributeValue]:
        """What the evaluation says of its input."""
        return {CUT_ATTRIBUTE: ",".join(sorted(self.cut))} if self.cut else {}


def checked_votes(votes: int) -> int:
    """Raises EvaluatorDefinitionError for anything but an odd number from 1."""
    if isinstance(votes, bool) or not isinstance(votes, int) or votes < 1 or votes % 2 == 0:
        raise EvaluatorDefinitionError(f"votes is an odd number from 1, not {votes!r}")
    return votes


def checked_requires(requires: Iterable[str]) -> tuple[str, ...]:
    """Raises EvaluatorDefinitionError for a field that cannot be required."""
    fields = tuple(requires)
    for field in fields:
        if field not in REQUIRABLE:
            raise EvaluatorDefinitionError(f"requires takes {', '.join(REQUIRABLE)}, not {field!r}")
    return fields


def lacking(interaction: Interaction, requires: Iterable[str]) -> Inconclusive | None:
    """Why there is nothing to judge, or None: the reply blank or not captured, a required field a gap."""
    if is_blank(interaction.reply):
        gap = interaction.gap("reply")
        if gap is not None:
            return from_gap(gap, name_of(gap, interaction))
        if interaction.failure is not None:
            return Inconclusive(f"no reply to judge: the agent failed: {interaction.failure}", Cause.INTERACTION_FAILED)
        return Inconclusive("no reply to judge", Cause.NOTHING_TO_JUDGE)
    fields = tuple(requires)
    gap = next((gap for field in fields for gap in _gaps_of(interaction, field)), None)
    if gap is not None:
        return from_gap(gap, name_of(gap, interaction))
    absent = next((field for field in fields if field in _TEXTS and getattr(interaction, field) is None), None)
    if absent is not None:
        return from_gap(Gap(field=absent, kind=GapKind.NOT_CAPTURED), absent)
    if not interaction.complete and any(field.startswith("tool_") for field in fields):
        return AGENT_SPAN_MISSING
    return None


def is_blank(text: str | None) -> bool:
    """Whether there is nothing to see in it: missing, or white space and characters that show nothing."""
    if text is None or not text.strip():
        return True
    return not text.isascii() and all(
        char.isspace() or char in _SHOW_NOTHING or unicodedata.category(char) in ("Cf", "Cc", "Mn") for char in text
    )


async def ballot(ask: Callable[[], Awaitable[Vote]], votes: int, kind: str, context: EvaluationContext) -> Ballot[Vote]:
    """Ask that often, at the same time, each vote in a conversation of its own; judge calls go on the record in order.

    Raises JudgeUnavailable where the votes do not suffice and waiting may help, CancelledError when cancelled.
    """
    conversations = [
        Conversation(
            evaluation_id=context.evaluation_id, kind=kind, vote=number, judges=context.judges, timeout=context.timeout
        )
        for number in range(1, votes + 1)
    ]
    asked = [_in_conversation(ask, conversation) for conversation in conversations]
    try:
        # Most evaluations have one vote, which needs no task beside the evaluation's own.
        results = [await asked[0]] if votes == 1 else await asyncio.gather(*asked)
    finally:
        for conversation in conversations:
            context.judge_calls.extend(conversation.calls)
    usable = tuple(result for result in results if not isinstance(result, _Trouble))
    trouble = tuple(result.error for result in results if isinstance(result, _Trouble))
    if len(usable) < majority(votes):
        for error in trouble:
            if isinstance(error, JudgeUnavailable):
                raise error
    return Ballot(usable, trouble, frozenset(field for conversation in conversations for field in conversation.cut))


def majority(votes: int) -> int:
    """How many votes must be usable."""
    return votes // 2 + 1


def inconclusive_for(trouble: tuple[Exception, ...], votes: int) -> Inconclusive:
    """Why there are too few usable votes, in the words of the first trouble."""
    error = trouble[0]
    if isinstance(error, JudgeError):
        reason, cause = str(error), error.cause
    elif isinstance(error, TimeoutError):
        reason, cause = "the judge timed out", Cause.JUDGE_TIMEOUT
    else:
        reason, cause = f"the judge raised {told(error)}", Cause.JUDGE_ERROR
    if votes == 1:
        return Inconclusive(reason, cause)
    return Inconclusive(f"{votes - len(trouble)} of {votes} votes usable: {reason}", Cause.JUDGE_VOTES_UNUSABLE)


@dataclass(frozen=True, slots=True)
class _Trouble:
    error: Exception


async def _in_conversation(ask: Callable[[], Awaitable[Vote]], conversation: Conversation) -> Vote | _Trouble:
    with holding(conversation):
        try:
            return await ask()
        except Exception as error:  # noqa: BLE001 - a judge that raises gives no verdict, which is an outcome of its own
            return _Trouble(error)


def _gaps_of(interaction: Interaction, field: str) -> Iterator[Gap]:
    if field in ("tool_arguments", "tool_results"):
        name = field.removeprefix("tool_").removesuffix("s") if field == "tool_results" else "arguments"
        yield from (gap for gap in interaction.gaps if gap.field == "tool_calls")
        yield from (gap for gap in interaction.all_gaps() if gap.field.endswith(f"].{name}"))
        return
    yield from (gap for gap in interaction.gaps if gap.field == field)
