"""What the reply says: ``reply-contains``, ``reply-lacks``, ``reply-matches`` and ``reply-does-not-match``."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.evidence import Decided, forbidding, requiring
from otel_eval.evaluators.exact import ExactEvaluator, some_texts
from otel_eval.evaluators.patterns import a_pattern, compiled
from otel_eval.evaluators.text_evidence import reply_of
from otel_eval.evaluators.values import clip, show
from otel_eval.interaction import Interaction
from otel_eval.outcome import Inconclusive


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _ReplyTexts(ExactEvaluator):
    texts: tuple[str, ...]

    def _arguments(self) -> tuple[str, ...]:
        return self.texts

    @functools.cached_property
    def _folded(self) -> tuple[str, ...]:
        return tuple(text.casefold() for text in self.texts)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReplyContains(_ReplyTexts):
    """Requires every text to be in the reply, ignoring case as Unicode folds it."""

    check = "reply-contains"
    factory = "reply_should_contain"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        reply = reply_of(interaction)
        if isinstance(reply, Inconclusive):
            return reply
        missing = [text for text, folded in zip(self.texts, self._folded, strict=True) if not reply.contains(folded)]
        return requiring(
            None if missing else f"contains {_listed(self.texts)}",
            f"expected {_listed(missing)}, was {_quoted(reply.text)}",
            reply.lacking,
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReplyLacks(_ReplyTexts):
    """Forbids each of the texts in the reply, ignoring case as Unicode folds it."""

    check = "reply-lacks"
    factory = "reply_should_not_contain"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        reply = reply_of(interaction)
        if isinstance(reply, Inconclusive):
            return reply
        found = [text for text, folded in zip(self.texts, self._folded, strict=True) if reply.contains(folded)]
        return forbidding(
            f"expected no {_listed(found)}, was {_quoted(reply.text)}" if found else None,
            f"no {_listed(self.texts)}",
            reply.lacking,
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReplyMatches(ExactEvaluator):
    """Requires the pattern to match somewhere in the reply."""

    pattern: str
    check = "reply-matches"
    factory = "reply_should_match"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        reply = reply_of(interaction)
        if isinstance(reply, Inconclusive):
            return reply
        found = compiled(self.pattern).found_in(reply)
        return requiring(
            None if found is None else f"/{self.pattern}/ matches {_quoted(found)}",
            f"expected a match of /{self.pattern}/, was {_quoted(reply.text)}",
            reply.lacking,
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReplyDoesNotMatch(ExactEvaluator):
    """Forbids the pattern to match anywhere in the reply."""

    pattern: str
    check = "reply-does-not-match"
    factory = "reply_should_not_match"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        reply = reply_of(interaction)
        if isinstance(reply, Inconclusive):
            return reply
        found = compiled(self.pattern).found_in(reply)
        return forbidding(
            None if found is None else f"expected no match of /{self.pattern}/, was {_quoted(found)}",
            f"no match of /{self.pattern}/",
            reply.lacking,
        )


def reply_should_contain(*texts: str) -> ReplyContains:
    """Passes when the reply contains every text, ignoring case. Inconclusive when the reply was not captured."""
    return ReplyContains(texts=some_texts("reply_should_contain", "text", texts))


def reply_should_not_contain(*texts: str) -> ReplyLacks:
    """Passes when the reply contains none of the texts, ignoring case. Inconclusive when the reply was not captured."""
    return ReplyLacks(texts=some_texts("reply_should_not_contain", "text", texts))


def reply_should_match(regex: str) -> ReplyMatches:
    """Passes when the regular expression matches anywhere in the reply; its dot matches line breaks."""
    return ReplyMatches(pattern=a_pattern("reply_should_match", regex))


def reply_should_not_match(regex: str) -> ReplyDoesNotMatch:
    """Passes when the regular expression matches nowhere in the reply; its dot matches line breaks."""
    return ReplyDoesNotMatch(pattern=a_pattern("reply_should_not_match", regex))


def _listed(texts: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f'"{show(text)}"' if not show(text).startswith('"') else show(text) for text in texts)


def _quoted(text: str) -> str:
    return f'"{clip(text)}"'
