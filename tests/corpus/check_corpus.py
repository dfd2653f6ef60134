"""Hold Interactions against what each recorded agent program wrote down itself.

A field whose true text stands nowhere in a capture cannot be known: there null is right, and anything else is invented.
As a command, ``python -m tests.corpus.check_corpus [GLOB]`` prints the faults of the captures whose name matches, and how
many are right; the exit status is 0 only where all are.
"""

from __future__ import annotations

import fnmatch
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.corpus.capture_text import CaptureText, is_empty, letters
from tests.corpus.recordings import captures, name_of, put_together, truth_of, unpack
from tests.corpus.sameness import same

Object: TypeAlias = Mapping[str, Any]

NOTHING = (None, "", {})
WRAPPING = 2000
"""Letters that a framework's prompt may put around the user's text."""
_HANDOFF = re.compile(r"(transfer|handoff)_to_|.*handoff", re.IGNORECASE)
_HANDOFFS = {"handoff", "transfertoagent", "handofftoagent"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with one capture, and which Interaction was taken for which invocation that the program recorded."""

    faults: tuple[str, ...]
    pairs: tuple[tuple[Object, Object | None], ...] = ()


def check(capture: Path, got: Iterable[Object]) -> Verdict:
    """Each invocation that nobody else's contains must be there once, and nothing beside but sub-agents'."""
    got = list(got)
    if is_empty(capture):
        return Verdict((f"{len(got)} interaction(s) out of nothing",) if got else ())
    truth, text = truth_of(capture), CaptureText(capture)
    wanted = truth["interactions"]
    said = [_plain(each.get(key)) for key in ("user", "reply") for each in wanted]
    inner = [each for each in wanted if each.get("parent")]
    faults: list[str] = []
    pairs: list[tuple[Object, Object | None]] = []
    free = list(got)
    for want in (each for each in wanted if not each.get("parent")):
        below = [each for each in inner if each["parent"] == want.get("agent")]
        if not free:
            faults.append(f"no interaction for {str(want.get('user'))[:60]!r}")
            pairs.append((want, None))
            continue
        best = min(free, key=lambda one: (bool(one.get("parent_id")), len(_faults(want, one, text, said, below))))
        free.remove(best)
        pairs.append((want, best))
        faults += _faults(want, best, text, said, below)
        if best.get("parent_id"):
            faults.append(f"parent_id {best['parent_id']!r} on a top-level interaction")
    for want in inner:  # a sub-agent's own: required only where the capture names that agent
        best_inner = min(free, key=lambda one: len(_faults(want, one, text, said)), default=None)
        if best_inner is None or _faults(want, best_inner, text, said):
            pairs.append((want, None))
        else:
            free.remove(best_inner)
            pairs.append((want, best_inner))
    return Verdict((*faults, *_left(free, got, truth.get("count") == "unknowable")), tuple(pairs))


def _left(free: list[Object], got: list[Object], uncounted: bool) -> list[str]:
    """The faults of Interactions that answer to nothing. ``uncounted``: calls that nothing joins, one or many."""
    ids = {each.get("id") for each in got}
    parents = [each["parent_id"] for each in got if each.get("parent_id")]
    faults = [f"parent_id {parent!r} is no interaction" for parent in parents if parent not in ids]
    extra = [each for each in free if not each.get("parent_id")]
    if uncounted:
        extra = [each for each in extra if each.get("asked") or each.get("reply") or each.get("tool_calls")]
    if extra:
        first = extra[0]
        about = f"agent {first.get('agent')!r} asked {str(first.get('asked'))[:60]!r}"
        faults.append(f"{len(extra)} interaction(s) too many, first: {about}")
    return faults


def _faults(
    want: Object, got: Object, text: CaptureText, said: list[str | None], inner: Iterable[Object] = ()
) -> list[str]:
    unknowable = set(want.get("unknowable") or ())
    faults = [
        fault
        for key, field in (("user", "asked"), ("reply", "reply"))
        for fault in _text_faults(key, field, want, got, text, said)
    ]
    if "failed" not in unknowable and bool(want.get("failed")) != bool(got.get("failed")):
        faults.append(f"failed {got.get('failed')}, expected {want.get('failed')}")
    for key in ("session", "agent"):
        faults += _name_faults(key, want, got, text)
    return faults + _tools_faults(want, got, text, inner)


def _text_faults(
    key: str, field: str, want: Object, got: Object, text: CaptureText, said: list[str | None]
) -> list[str]:
    mine, theirs = _plain(want.get(key)), _plain(got.get(field))
    unknowable = key in (want.get("unknowable") or ())
    if not mine:
        if theirs and key == "reply" and not want.get("failed") and not unknowable:
            return [f"{field} invented: {theirs[:80]!r}"]
        return []
    if unknowable and not theirs:
        return []
    if not text.holds(mine):
        return [f"{field} invented: {theirs[:80]!r}"] if theirs else []
    if mine == theirs or same(mine, theirs) or (key == "user" and _wraps(mine, theirs, said)):
        return []
    return [f"{field} {str(theirs)[:100]!r}, expected {mine[:100]!r}"]


def _wraps(want: str, have: str | None, others: Iterable[str | None]) -> bool:
    """Some frameworks put a prompt of theirs around the user's text: it holds that text, and nobody else's."""
    if not have or want not in have or len(have) > len(want) + WRAPPING:
        return False
    if have.lstrip()[:1] in ("{", "[") or '"role"' in have:
        return False
    return not any(other and other in have and other not in want for other in others)


def _name_faults(key: str, want: Object, got: Object, text: CaptureText) -> list[str]:
    mine, theirs = want.get(key), got.get(key)
    accepted = {mine, *want.get(f"{key}_or", ())}
    if key in (want.get("unknowable") or ()):
        accepted.add(None)
    elif not mine or not text.names(mine):
        return [f"{key} invented: {theirs!r}"] if theirs and not text.names(str(theirs)) else []
    return [] if theirs in accepted else [f"{key} {theirs!r}, expected {mine!r}"]


def _tools_faults(want: Object, got: Object, text: CaptureText, inner: Iterable[Object]) -> list[str]:
    unknowable = set(want.get("unknowable") or ())
    handoffs = _handoffs(want)
    mine = _tools(want, text, handoffs)
    theirs = [call for call in got.get("tool_calls") or () if letters(call.get("name") or "").lower() not in handoffs]
    if "tool_calls" in unknowable and not theirs:
        return []
    if want.get("handoffs") or want.get("siblings"):  # agents in a row: the others' tools may be listed here, or not
        whole = mine + [call for each in inner for call in _tools(each, text, handoffs)]
        if len(theirs) == len(whole):
            mine = whole
        elif want.get("siblings") and not theirs:
            mine = []
    names = [call.get("name") for call in theirs]
    if [call["name"] for call in mine] != names:
        return [f"tools {names}, expected {[call['name'] for call in mine]}"]
    faults: list[str] = []
    for call in mine:  # calls of one tool may come in any order: each takes the best of its name that is left
        of_its_name = [each for each in theirs if each.get("name") == call["name"]]
        best = min(of_its_name, key=lambda each: len(_tool_faults(call, each, text, unknowable)))
        theirs.remove(best)
        faults += _tool_faults(call, best, text, unknowable)
    return faults


def _handoffs(want: Object) -> set[str]:
    """The names, letters alone, of the calls that pass on: they may be listed as tool calls or not."""
    named = {call["name"] for call in want.get("tool_calls", ()) if call.get("handoff") or _HANDOFF.match(call["name"])}
    named |= {each.get("tool", "") for each in want.get("handoffs") or ()}
    return {letters(name).lower() for name in named} | _HANDOFFS


def _tools(want: Object, text: CaptureText, handoffs: set[str]) -> list[Object]:
    calls = want.get("tool_calls", ())
    return [call for call in calls if call["name"] in text.calls and letters(call["name"]).lower() not in handoffs]


def _tool_faults(want: Object, got: Object, text: CaptureText, unknowable: set[str]) -> list[str]:
    name = want["name"]
    faults: list[str] = []
    for key in ("arguments", "result"):
        mine, theirs = want.get(key), got.get(key)
        if mine is None:
            if key == "result" and want.get("error") and theirs not in NOTHING:
                faults.append(f"{name}.result {str(theirs)[:80]!r} beside an error")
        elif theirs in NOTHING and {key, f"{name}.{key}"} & unknowable:
            continue
        elif not text.holds(mine):
            if theirs not in NOTHING and not same(mine, theirs) and key == "result":
                faults.append(f"{name}.result invented: {str(theirs)[:80]!r}")
        elif not same(mine, theirs):
            faults.append(f"{name}.{key} {str(theirs)[:120]!r}, expected {str(mine)[:120]!r}")
    return faults + _error_faults(name, want.get("error"), got.get("error"), text, unknowable)


def _error_faults(name: str, mine: str | None, theirs: Any, text: CaptureText, unknowable: set[str]) -> list[str]:
    if not mine:
        return [f"{name}.error invented: {str(theirs)[:80]!r}"] if theirs else []
    core = mine.split(": ", 1)[-1]
    if core not in text.all or ("error" in unknowable and not theirs):
        return []
    if not theirs:
        return [f"{name}.error missing, expected {mine!r}"]
    return [] if core in str(theirs) else [f"{name}.error {str(theirs)[:80]!r} lacks {core!r}"]


def _plain(text: Any) -> str | None:
    return None if text is None else "\n".join(line.rstrip() for line in str(text).strip().splitlines())


def main(pattern: str = "*") -> int:
    """Print the faults of the captures whose name matches. Gives the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = [each for each in captures(unpack(Path(folder))) if fnmatch.fnmatch(name_of(each), pattern)]
        found = put_together(chosen)
        right: Counter[str] = Counter()
        for capture in chosen:
            faults = check(capture, found[name_of(capture)]).faults
            right[capture.parent.name] += not faults
            for fault in faults:
                print(f"{name_of(capture)}: {fault}")
        print(f"{right.total()} of {len(chosen)} captures right")
        return int(right.total() != len(chosen))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
