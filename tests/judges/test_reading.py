"""A judge's answer is read strictly: a verdict that the model gave, or none."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.judges import reading
from otel_eval.judges.errors import UnusableAnswer
from otel_eval.judges.reading import LONGEST_ANSWER, LONGEST_EXPLANATION, read_label, read_object, read_verdict

PLAIN = '{"reason": "it apologizes", "score": 0.8}'

HABITS = {
    "plain": PLAIN,
    "with room around it": f"\n\n  {PLAIN}\n",
    "keys the other way round": '{"score": 0.8, "reason": "it apologizes"}',
    "fenced as json": f"```json\n{PLAIN}\n```",
    "fenced as JSON, upper case": f"```JSON\n{PLAIN}\n```",
    "fenced without a language": f"```\n{PLAIN}\n```",
    "fenced on one line": f"```json {PLAIN} ```",
    "fenced, Windows line ends": f"```json\r\n{PLAIN}\r\n```",
    "after open reasoning": f"<think>The user wants… {{\"score\": 1}}</think>\n\n{PLAIN}",
    "after empty reasoning": f"<think>\n\n</think>\n\n{PLAIN}",
    "reasoning, then a fence": f"<think>hm</think>\n```json\n{PLAIN}\n```",
    "a byte order mark": f"\ufeff{PLAIN}",
    "the number as text": '{"reason": "it apologizes", "score": "0.8"}',
    "the number as text, spaced": '{"reason": "it apologizes", "score": " 0.8 "}',
    "an exponent": '{"reason": "it apologizes", "score": 8e-1}',
    "a trailing comma": '{"reason": "it apologizes", "score": 0.8,}',
    "a trailing comma before a line break": '{"reason": "it apologizes", "score": 0.8,\n}',
    "a raw line break in a string": '{"reason": "it\napologizes", "score": 0.8}',
    "a key more": '{"reason": "it apologizes", "score": 0.8, "confidence": "high", "steps": [1, 2,]}',
}  # fmt: skip


@pytest.mark.parametrize("answer", HABITS.values(), ids=HABITS.keys())
def test_the_habits_of_real_models_are_read(answer: str) -> None:
    """Fences, open reasoning, numbers as text and trailing commas do not cost the verdict."""
    verdict = read_verdict(answer)
    assert (verdict.score, verdict.reason) == (0.8, "it apologizes")


NOT_VERDICTS = {
    "nothing": "",
    "blank": " \n",
    "a refusal": "I'm sorry, but I can't help with that.",
    "prose before": f"Here is my verdict: {PLAIN}",
    "prose after": f"{PLAIN}\nLet me know if you need more.",
    "prose before a fence": f"Sure!\n```json\n{PLAIN}\n```",
    "prose after a fence": f"```json\n{PLAIN}\n```\nDone.",
    "two objects": f'{PLAIN}{{"reason": "no", "score": 0}}',
    "two objects on two lines": f'{PLAIN}\n{{"reason": "no", "score": 0}}',
    "two fences": f"```json\n{PLAIN}\n```\n```json\n{PLAIN}\n```",
    "a list": f"[{PLAIN}]",
    "JSON within a JSON string": json.dumps(PLAIN),
    "nested": f'{{"verdict": {PLAIN}}}',
    "quoted in the reason": '{"reason": "the reply says {\\"score\\": 1}"}',
    "a key twice": '{"reason": "x", "score": 0, "score": 1}',
    "no score": '{"reason": "it apologizes"}',
    "no reason": '{"score": 0.8}',
    "a reason that is no text": '{"reason": null, "score": 0.8}',
    "null": '{"reason": "x", "score": null}',
    "NaN": '{"reason": "x", "score": NaN}',
    "NaN as text": '{"reason": "x", "score": "NaN"}',
    "infinite": '{"reason": "x", "score": Infinity}',
    "overflowing": '{"reason": "x", "score": 1e999}',
    "above": '{"reason": "x", "score": 1.01}',
    "below": '{"reason": "x", "score": -0.1}',
    "of ten": '{"reason": "x", "score": 8}',
    "a huge integer": '{"reason": "x", "score": ' + "9" * 5000 + "}",
    "true": '{"reason": "x", "score": true}',
    "percent": '{"reason": "x", "score": "80%"}',
    "a fraction": '{"reason": "x", "score": "4/5"}',
    "a decimal comma": '{"reason": "x", "score": "0,8"}',
    "other digits": '{"reason": "x", "score": "٠.٨"}',
    "a word": '{"reason": "x", "score": "high"}',
    "in a list": '{"reason": "x", "score": [0.8]}',
    "single quotes": "{'reason': 'x', 'score': 0.8}",
    "a comment": '{"reason": "x", "score": 0.8} // fine',
    "cut": '{"reason": "it apologi',
    "reasoning that never ends": f"<think>hm {PLAIN}",
    "reasoning without a beginning": f"hm</think>{PLAIN}",
    "reasoning twice": f"<think>a</think><think>b</think>{PLAIN}",
    "reasoning that quotes its own end": f'<think>it says </think> {{"reason": "x", "score": 1}}</think>{PLAIN}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("answer", NOT_VERDICTS.values(), ids=NOT_VERDICTS.keys())
def test_what_is_no_verdict_gives_none(answer: str) -> None:
    """Prose, two objects, quoted or nested JSON and numbers out of range are never made into a score."""
    with pytest.raises(UnusableAnswer):
        read_verdict(answer)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but a verdict, or UnusableAnswer, comes of any text."""
    try:
        verdict = read_verdict(text)
    except UnusableAnswer:
        return
    assert 0 <= verdict.score <= 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["reason", "score", "other"]), json_values))
def test_a_score_is_only_ever_the_one_given(answer: dict[str, object]) -> None:
    """Whatever object comes, a score that is read stands in it as that number."""
    try:
        verdict = read_verdict(json.dumps(answer))
    except UnusableAnswer:
        return
    given_score = answer["score"]
    assert isinstance(given_score, int | float | str)
    assert math.isclose(verdict.score, float(given_score), abs_tol=1e-300)


@given(st.floats(0, 1), st.text(), st.sampled_from(["{}", "```json\n{}\n```", "<think>hm</think>{}", " {} \n"]))
def test_a_well_formed_answer_is_always_read(score: float, reason: str, dress: str) -> None:
    """Any score in range with any reason, in any of the accepted dresses."""
    verdict = read_verdict(dress.replace("{}", json.dumps({"reason": reason, "score": score})))
    assert verdict.score == score


@given(st.text(min_size=1), st.floats(0, 1))
def test_text_beside_the_object_is_never_ignored(text: str, score: float) -> None:
    """An answer with anything but blanks before the object is no verdict (open reasoning aside)."""
    if (
        not text.strip("\ufeff \n\r\t\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0").strip()
        or "<think>" in text.lower()
        or "`" in text
    ):
        return
    with pytest.raises(UnusableAnswer):
        read_verdict(text + json.dumps({"reason": "x", "score": score}))


def test_commas_within_strings_stay() -> None:
    """Only a comma outside of strings is taken for a trailing one."""
    assert read_object('{"a": ",}", "b": "x, ]"}') == {"a": ",}", "b": "x, ]"}


def test_a_label_is_trimmed_and_lower_cased() -> None:
    """`` Toxic `` is toxic, with the explanation on one line."""
    assert read_label('{"explanation": "it\\n insults", "label": " Toxic "}') == ("toxic", "it insults")


@pytest.mark.parametrize(
    "answer", ['{"explanation": "x"}', '{"explanation": "x", "label": ""}', '{"label": "toxic"}', "toxic"]
)
def test_an_answer_without_label_or_explanation_is_unusable(answer: str) -> None:
    """Both are asked for, both must come."""
    with pytest.raises(UnusableAnswer):
        read_label(answer)


MANY = 200_000
RUNAWAYS = {
    "a string that never ends, with quoted quotes": '{"reason": "it returned {' + '\\"a\\":1,' * (MANY // 8),
    "quoted quotes": '{"reason": "' + '\\"' * (MANY // 2),
    "quotes": '"' * (MANY + 1),
    "backslashes": '{"reason": "' + "\\" * MANY,
    "backslashes, an odd number": '{"reason": "' + "\\" * (MANY + 1),
    "braces": "{" * MANY,
    "objects in objects": '{"a":' * (MANY // 5),
    "reasoning that begins again and again": "<think>" * (MANY // 7),
    "reasoning that almost ends": "<think>" + "</think" * (MANY // 7),
    "room before reasoning": "\ufeff" + " " * MANY + "<think",
    "commas": "{" + "," * MANY,
    "commas with room": "{" + ", " * (MANY // 2),
    "a comma with room": "{," + " " * MANY + "x",
    "fences": "```\n" * (MANY // 4),
    "a fence with room": "```" + " " * MANY,
    "a fence in a long language": "```" + "a" * MANY + "```",
    "digits": '{"reason": "x", "score": "' + "1" * MANY + 'x"}',
    "digits after the point": '{"reason": "x", "score": -0.' + "1" * MANY + "}",
}


@pytest.mark.parametrize("answer", RUNAWAYS.values(), ids=RUNAWAYS.keys())
def test_an_answer_cannot_stop_the_clock(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even without a bound on its length: a second is some fifty times what these take, a square would be minutes."""
    monkeypatch.setattr(reading, "LONGEST_ANSWER", 2 * MANY)
    started = time.process_time()
    with pytest.raises(UnusableAnswer):
        read_verdict(answer)
    assert time.process_time() - started < 1.0


def test_an_answer_that_ran_away_is_unusable() -> None:
    """It says so with both numbers; one character less is read."""
    longest = PLAIN + " " * (LONGEST_ANSWER - len(PLAIN))
    assert read_verdict(longest).score == 0.8
    with pytest.raises(UnusableAnswer, match="too long: 100001 characters, of at most 100000"):
        read_verdict(longest + " ")


@pytest.mark.parametrize(("word", "kept"), [("word ", LONGEST_EXPLANATION - 1), ("w" * 30, LONGEST_EXPLANATION)])
def test_a_long_reason_is_kept_cut(word: str, kept: int) -> None:
    """Between words where there are any, and it says how much is gone."""
    reason = (word * 2500).strip()
    read = read_verdict(json.dumps({"reason": reason, "score": 1})).reason
    assert read == f"{reason[:kept]} … [{len(reason) - kept} characters cut]"
    whole = reason[:LONGEST_EXPLANATION].strip()
    assert read_verdict(json.dumps({"reason": whole, "score": 1})).reason == whole
