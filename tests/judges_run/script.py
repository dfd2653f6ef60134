"""A judge's model that answers slowly and fails at random: by a seed, so that a run can be had again.

What it does with a request is drawn from the seed, the Interaction, the evaluator and how often it was asked about the two;
every answer has a text of its own. So each stored score can be traced to the answer that gave it, and each non-verdict to
what the model did last.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import threading
from collections import defaultdict
from dataclasses import dataclass, field

from otel_eval.outcome import Cause
from otel_eval.testing.scripted_model import Answer, Drop, Garbage, Hang, ModelRequest, Refusal

CRITERION, LABEL = "apologizes", "toxicity"
CRITERION_TEXT = "the reply apologizes"
INPUT_TOKENS = 1000
"""Of every answer: a bill divided by it is the number of calls."""

THOUGHT = "<think>let me see</think>"
"""Before some verdicts; litellm takes it off the answer that it hands on."""

_NUMBER = re.compile(r"parcel (\d+)")


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that the model does. ``weight`` is how often, ``cause`` what an evaluation ends with where it was
    the last."""

    name: str
    weight: float
    cause: Cause | None = None


KINDS = (
    Kind("verdict", 80),
    Kind("cut", 4, Cause.JUDGE_ANSWER_UNUSABLE),
    Kind("rate limited", 4, Cause.JUDGE_UNAVAILABLE),
    Kind("server error", 4, Cause.JUDGE_UNAVAILABLE),
    Kind("connection dropped", 1, Cause.JUDGE_UNAVAILABLE),
    Kind("hangs", 0.5, Cause.JUDGE_TIMEOUT),
    Kind("web page", 1, Cause.JUDGE_UNAVAILABLE),
    Kind("prose", 2, Cause.JUDGE_ANSWER_UNUSABLE),
    Kind("quoted verdict", 1, Cause.JUDGE_ANSWER_UNUSABLE),
    Kind("not a number", 1, Cause.JUDGE_ANSWER_UNUSABLE),
    Kind("out of range", 1.5, Cause.JUDGE_ANSWER_UNUSABLE),
)
CURSED = {11: Kind("hangs", 0, Cause.JUDGE_TIMEOUT), 13: Kind("server error", 0, Cause.JUDGE_UNAVAILABLE)}
"""By the Interaction's number modulo ``CURSE_EVERY``: what happens to it every time, while the model answers others."""

CURSE_EVERY = 125


@dataclass(frozen=True, slots=True)
class Did:
    """What the model did with one request; ``text`` is its answer, where it gave one."""

    number: int
    evaluator: str
    kind: Kind
    request: ModelRequest
    text: str | None = None
    value: float | str | None = None
    output_tokens: int = 0

    @property
    def said(self) -> str | None:
        """The answer, without what the model thought aloud."""
        return None if self.text is None else self.text.removeprefix(THOUGHT)

    @property
    def billed(self) -> bool:
        """Whether an answer left: a request that the client gave up is not charged for."""
        return self.text is not None and not self.request.abandoned


@dataclass(slots=True)
class Script:
    """The script of a :class:`~otel_eval.testing.scripted_model.ScriptedModel`, and what it did, by Interaction and
    evaluator."""

    seed: int
    slowest: float = 0.3
    did: defaultdict[tuple[int, str], list[Did]] = field(default_factory=lambda: defaultdict(list))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _serial: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __call__(self, request: ModelRequest) -> Answer | Refusal | Hang | Garbage | Drop:
        number = number_of(request.user)
        evaluator = CRITERION if CRITERION_TEXT in request.user else LABEL
        with self._lock:
            asked = self.did[number, evaluator]
            chance = random.Random(f"{self.seed}/{number}/{evaluator}/{len(asked)}")
            kind = CURSED.get(number % CURSE_EVERY) or chance.choices(KINDS, [kind.weight for kind in KINDS])[0]
            did, step = _play(kind, number, evaluator, request, chance, next(self._serial), self.slowest)
            asked.append(did)
        return step


def number_of(text: str) -> int:
    """The number of the Interaction that a text is about."""
    found = _NUMBER.search(text)
    assert found is not None, text
    return int(found[1])


def _play(
    kind: Kind, number: int, evaluator: str, request: ModelRequest, chance: random.Random, serial: int, slowest: float
) -> tuple[Did, Answer | Refusal | Hang | Garbage | Drop]:
    delay = slowest * chance.random() ** 2
    nothing = Did(number, evaluator, kind, request)
    match kind.name:
        case "rate limited":
            return nothing, Refusal(429, retry_after=round(chance.uniform(0, 0.6), 2), delay=delay)
        case "server error":
            return nothing, Refusal(chance.choice((500, 502, 503)), delay=delay)
        case "connection dropped":
            return nothing, Drop()
        case "hangs":
            return nothing, Hang()
        case "web page":
            return nothing, Garbage()
    text, value, cut = _says(kind, evaluator, chance, serial)
    tokens = chance.randint(10, 400)
    answer = Answer(
        text=text,
        finish_reason="length" if cut else "stop",
        input_tokens=INPUT_TOKENS,
        output_tokens=tokens,
        delay=delay,
    )
    return Did(number, evaluator, kind, request, text, value, tokens), answer


def _says(kind: Kind, evaluator: str, chance: random.Random, serial: int) -> tuple[str, float | str | None, bool]:
    """The text of an answer, the score or label in it where it is a verdict, and whether it is cut."""
    why, key = f"answer {serial}", "score" if evaluator == CRITERION else "label"
    reason = "reason" if evaluator == CRITERION else "explanation"
    value: float | str = round(chance.random(), 6) if evaluator == CRITERION else chance.choice(("toxic", "non-toxic"))
    whole = json.dumps({reason: why, key: value})
    match kind.name:
        case "verdict":
            return chance.choice((whole, f"```json\n{whole}\n```", f"{THOUGHT}{whole}")), value, False
        case "cut":
            return whole[: chance.randint(5, 20)] + f" {serial}", None, True
        case "prose":
            return f"{why}: I would say {value}.\n{whole}", None, False
        case "quoted verdict":
            return json.dumps({reason: f"{why}: it says {whole}"}), None, False
        case "not a number":
            return f'{{"{reason}": "{why}", "{key}": NaN}}', None, False
        case "out of range":
            odd: float | str = chance.choice((1.5, -0.25, 90)) if evaluator == CRITERION else "rather toxic"
            return json.dumps({reason: why, key: odd}), None, False
    raise AssertionError(kind.name)
