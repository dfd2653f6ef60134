"""Reading a judge's answer, strictly: what the model did not say plainly is never made up.

An answer is usable where, trimmed, it is exactly one JSON object, with these liberties and no others:

* one leading ``<think>…</think>`` is taken off (models that reason in the open), and a byte order mark;
* the object may stand in one code fence (three backticks, with or without a language), nothing before or after it;
* a comma before a closing brace or bracket is forgiven, and a raw line break inside a string;
* a number in a string is that number (``"0.8"``); keys beside the asked ones are ignored.

Everything else is :class:`~otel_eval.judges.errors.UnusableAnswer`: prose around the object, two objects, a key given
twice, an object inside another or inside a string, single quotes, comments, NaN, infinities, percentages, fractions,
and more than :data:`LONGEST_ANSWER` characters. An explanation that is very long is kept cut, and says so.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from otel_eval.judges.errors import UnusableAnswer
from otel_eval.outcome import Verdict

_THINKING = re.compile(r"\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = "```"
_LANGUAGE = re.compile(r"[A-Za-z0-9_+-]*")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# A string that nothing closes is taken up to the end: were it no match, each quote in it would be tried as a beginning, and
# the time would grow with the square of the answer.
_STRING_OR_TRAILING_COMMA = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|,(?=\s*[}\]])', re.DOTALL)

LONGEST_ANSWER = 100_000
"""Characters. A verdict is some hundred; what is longer than this is a model that ran away."""

LONGEST_EXPLANATION = 10_000
"""Characters of a reason or an explanation that are kept; of a longer one its beginning, with a marker."""


def read_verdict(answer: str) -> Verdict:
    """The score and the reason of a criterion judge's answer. Raises UnusableAnswer."""
    found = read_object(answer)
    if "score" not in found:
        raise UnusableAnswer("the answer has no score")
    return Verdict(score=_score(found["score"]), reason=_text(found, "reason"))


def read_label(answer: str) -> tuple[str, str]:
    """The label, trimmed and lower-cased, and the explanation of a label judge's answer. Raises UnusableAnswer."""
    found = read_object(answer)
    label = found.get("label")
    if not isinstance(label, str) or not label.strip():
        raise UnusableAnswer("the answer has no label")
    return label.strip().lower(), _text(found, "explanation")


def read_object(answer: str) -> dict[str, Any]:
    """The one JSON object that the answer is. Raises UnusableAnswer. Takes time in proportion to the answer's length."""
    if len(answer) > LONGEST_ANSWER:
        raise UnusableAnswer(f"the answer is too long: {len(answer)} characters, of at most {LONGEST_ANSWER}")
    text = answer.strip().removeprefix("\ufeff")
    thinking = _THINKING.match(text)
    if thinking is not None:
        text = text[thinking.end() :]
    text = text.strip()
    if not text:
        raise UnusableAnswer("the answer is empty")
    text = _out_of_fence(text)
    text = _STRING_OR_TRAILING_COMMA.sub(lambda match: match.group(1) or "", text)
    try:
        found = json.loads(text, strict=False, parse_constant=_refuse_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise UnusableAnswer("the answer is not one JSON object") from error
    if not isinstance(found, dict):
        raise UnusableAnswer("the answer is not a JSON object")
    return found


def shortened(text: str, longest: int) -> str:
    """The beginning of a text that is longer, with a marker. To be done before redacting, which takes time for each
    character."""
    if len(text) <= longest:
        return text
    kept = text[:longest].rsplit(" ", 1)[0]  # whole words: half a secret would not be known for one
    return f"{kept} … [{len(text) - len(kept)} characters cut]"


def _out_of_fence(text: str) -> str:
    # No regular expression: one that trims both ends takes minutes over an answer of nothing but a fence and spaces.
    if not text.startswith(_FENCE) or not text.endswith(_FENCE) or len(text) < 2 * len(_FENCE):
        return text
    return _LANGUAGE.sub("", text[len(_FENCE) : -len(_FENCE)], count=1).strip()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _score(value: object) -> float:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnusableAnswer("the score is not a number")
    if not 0 <= value <= 1 or math.isnan(value):
        raise UnusableAnswer("the score is not from 0 to 1")
    return float(value) + 0.0


def _text(found: dict[str, Any], key: str) -> str:
    value = found.get(key)
    if not isinstance(value, str):
        raise UnusableAnswer(f"the answer has no {key}")
    return shortened(" ".join(value.split()), LONGEST_EXPLANATION) or f"(no {key} given)"
