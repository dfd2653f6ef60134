"""Evaluators of users: decorated functions and classes, by name and by path."""

from __future__ import annotations

import asyncio
import importlib.metadata
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel_eval import EvaluationContext, Interaction, Outcome, Passed, evaluator
from otel_eval.evaluators import loading
from otel_eval.evaluators.contract import run
from otel_eval.evaluators.errors import EvaluatorDefinitionError, EvaluatorLoadError
from otel_eval.evaluators.loading import load
from otel_eval.outcome import Errored, Failed, Inconclusive
from otel_eval.testing.interactions import interaction


@evaluator
def house_style(interaction: Interaction) -> Outcome:
    """Greets."""
    if interaction.reply is None:
        return Inconclusive("reply not captured")
    return Passed("greets") if interaction.reply.startswith("Hello") else Failed("no greeting")


@evaluator(
    check="context", id="knows-its-context", version="3", threshold=0.5, trigger_on_failure=True, asks_model=True
)
async def with_context(interaction: Interaction, context: EvaluationContext) -> Outcome:
    await asyncio.sleep(0)
    return Passed(f"{context.evaluator_id} on {interaction.reply}")


@evaluator
def is_short(interaction: Interaction, *, most: int = 5) -> bool:
    return len(interaction.reply or "") <= most


async def test_a_decorated_function_is_an_evaluator_and_stays_a_function(context: EvaluationContext) -> None:
    """Its check and id come from its name; called, it is itself."""
    assert (house_style.id, house_style.check) == ("house_style", "house-style")
    assert await run(house_style, interaction(reply="Hello you"), context) == Passed("greets")
    assert house_style(interaction(reply="Bye")) == Failed("no greeting")


async def test_an_async_function_with_a_context(context: EvaluationContext) -> None:
    """What the decorator is told is what the evaluator says."""
    assert await run(with_context, interaction(reply="x"), context) == Passed("under-test on x")
    told = (with_context.id, with_context.check, with_context.version, with_context.threshold)
    assert told == ("knows-its-context", "context", "3", 0.5)
    assert with_context.trigger_on_failure
    assert with_context.asks_model


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [("short", Passed("is_short holds")), ("too long", Failed("is_short does not hold"))],
)
async def test_true_and_false_are_short_for_passed_and_failed(
    reply: str, outcome: Outcome, context: EvaluationContext
) -> None:
    """A boolean says which, the function's name says what."""
    assert await run(is_short, interaction(reply=reply), context) == outcome


@pytest.mark.parametrize("answer", [None, "yes", 1, 0.9, object()], ids=lambda value: type(value).__name__)
async def test_any_other_answer_is_an_error(answer: Any, context: EvaluationContext) -> None:
    """A text, a number and nothing are no outcomes: nobody guesses what they mean."""
    outcome = await run(evaluator(lambda interaction: answer), interaction(), context)
    assert isinstance(outcome, Errored)
    assert outcome.error_type == "invalid_outcome"


async def test_options_are_keyword_only_arguments_and_part_of_the_version(context: EvaluationContext) -> None:
    """Another option is another version, also of a declared one; the id given stays."""
    longer = is_short.with_id("mine").with_options({"most": 100})
    assert longer.id == "mine"
    assert await run(longer, interaction(reply="not so short"), context) == Passed("is_short holds")
    assert longer.version != is_short.version
    with pytest.raises(EvaluatorDefinitionError, match=r"is_short has no option 'mots'; did you mean most\?"):
        is_short.with_options({"mots": 1})


async def test_options_are_given_by_name_as_well(context: EvaluationContext) -> None:
    """As a class takes its fields. Calling the evaluator itself calls the function, which lacks an Interaction then."""
    longer = is_short.with_options(most=100)
    assert longer.version == is_short.with_options({"most": 100}).version
    assert await run(longer, interaction(reply="not so short"), context) == Passed("is_short holds")
    with pytest.raises(TypeError, match=r"is_short is called with an Interaction; .* is_short\.with_options\(most=…\)"):
        is_short(most=100)
    assert is_short(interaction(reply="not so short"), most=100)
    assert is_short(interaction=interaction(reply="not so short"), most=100)


def test_the_version_of_a_function_is_of_its_source() -> None:
    """The same function again has the same version; another body, default or captured value another."""

    def capturing(word: str) -> Any:
        def says(interaction: Interaction) -> bool:
            return word in (interaction.reply or "")

        return evaluator(says)

    assert capturing("a").version == capturing("a").version
    assert len({capturing("a").version, capturing("b").version, house_style.version, is_short.version}) == 4


def test_a_function_without_source_has_a_version_too() -> None:
    """One typed at a prompt is known by its bytecode."""
    scopes: list[dict[str, Any]] = [{}, {}, {}]
    for scope, body in zip(scopes, ("True", "True", "False"), strict=True):
        exec(f"def typed(interaction): return {body}", scope)
    versions = [evaluator(scope["typed"]).version for scope in scopes]
    assert versions[0] == versions[1] != versions[2]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: True, r"must take \(interaction\) or \(interaction, context\), not \(\)"),
        (lambda a, b, c: True, r"not \(a, b, c\)"),
        (int, "a class subclasses otel_eval.Evaluator instead"),
        ("text", "goes on a function, not on 'text'"),
        (lambda interaction, *, most: True, "must give its options defaults: most has none"),
    ],
)
def test_a_function_that_cannot_be_called_so_is_refused(function: Any, message: str) -> None:
    """At definition, not at the first Interaction."""
    with pytest.raises(EvaluatorDefinitionError, match=message):
        evaluator(function)


@pytest.mark.parametrize("argument", ["check", "id", "version"])
def test_blank_names_are_refused(argument: str) -> None:
    """What is given to the decorator must say something."""
    with pytest.raises(EvaluatorDefinitionError, match=f"{argument} is a text that is not blank"):
        evaluator(**{argument: " "})(lambda interaction: True)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of a user's, importable by the name ``shop_checks``."""
    source = """
        from dataclasses import dataclass
        import otel_eval

        @dataclass(frozen=True, kw_only=True)
        class HouseStyle(otel_eval.Evaluator):
            check = "house-style"
            greeting: str = "Hello"
            def evaluate(self, interaction, context):
                return otel_eval.Passed(self.greeting)

        class Nested:
            Inner = HouseStyle

        class NoCheck(otel_eval.Evaluator):
            def evaluate(self, interaction, context): ...

        class Abstract(otel_eval.Evaluator):
            check = "x"

        class Picky(otel_eval.Evaluator):
            check = "picky"
            def __init__(self, level):
                if level > 3: raise ValueError("level is at most 3")
            def evaluate(self, interaction, context): ...

        class Numbered(HouseStyle):
            version = 2

        class Wordy(HouseStyle):
            threshold = "high"

        @otel_eval.evaluator
        def decorated(interaction, *, most=5): return True

        def plain(interaction): return True
        def wrong(): return True
        ready = HouseStyle()
        number = 3
    """
    (tmp_path / "shop_checks.py").write_text(textwrap.dedent(source))
    (tmp_path / "shop_broken.py").write_text("import not_there_at_all\n")
    (tmp_path / "shop_raises.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "shop_checks"
    for name in ("shop_checks", "shop_broken", "shop_raises"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("name", "options", "evaluator_id"),
    [
        ("HouseStyle", None, "house-style"),
        ("HouseStyle", {"greeting": "Hi"}, "house-style"),
        ("Nested.Inner", {}, "house-style"),
        ("Picky", {"level": 1}, "picky"),
        ("decorated", {"most": 3}, "decorated"),
        ("plain", None, "plain"),
        ("ready", None, "house-style"),
    ],
)
async def test_an_evaluator_by_its_import_path(
    package: str, name: str, options: dict[str, Any] | None, evaluator_id: str, context: EvaluationContext
) -> None:
    """A class with its options, a decorated function, a plain one, an instance: each is an evaluator that runs."""
    loaded = load(f"{package}:{name}", options)
    assert loaded.id == evaluator_id
    assert loaded.with_id("bound").version == loaded.version
    if name == "HouseStyle":
        assert await run(loaded, interaction(), context) == Passed((options or {}).get("greeting", "Hello"))


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("shop_checks:", None, "'shop_checks:' is not an import path such as my_package.module:Name"),
        (":Name", None, "is not an import path"),
        ("shop_cheks:HouseStyle", None, "there is no module shop_cheks"),
        ("shop_broken:HouseStyle", None, "there is no module not_there_at_all"),
        ("shop_raises:HouseStyle", None, "importing shop_raises raised ZeroDivisionError: division by zero"),
        ("shop_checks:HouseStile", None, r"shop_checks has no HouseStile; did you mean HouseStyle\?"),
        ("shop_checks:HouseStyle", {"greting": "Hi"}, "HouseStyle cannot be made with {'greting': 'Hi'}"),
        ("shop_checks:Picky", {"level": 9}, "Picky cannot be made with {'level': 9}: level is at most 3"),
        ("shop_checks:Picky", None, "Picky cannot be made with no options"),
        ("shop_checks:NoCheck", None, "NoCheck has no check: give it a name for what it checks"),
        ("shop_checks:Numbered", None, "shop_checks:Numbered: the version of Numbered is a text, not 2"),
        ("shop_checks:Wordy", None, "shop_checks:Wordy: the threshold of Wordy is a number, not 'high'"),
        ("shop_checks:Abstract", None, "Abstract lacks evaluate"),
        ("shop_checks:Nested", None, "Nested, which does not subclass otel_eval.Evaluator"),
        ("shop_checks:number", None, "is a int, not an evaluator"),
        ("shop_checks:ready", {"a": 1}, r"made already: it takes no options \(a\)"),
        ("shop_checks:decorated", {"mst": 1}, r"decorated has no option 'mst'; did you mean most\?"),
        ("shop_checks:wrong", None, r"wrong must take \(interaction\)"),
        ("house-style", None, "neither an import path such as my_package.module:Name nor an entry point"),
    ],
)
def test_a_path_that_leads_nowhere_says_at_which_step(
    package: str, path: str, options: dict[str, Any] | None, message: str
) -> None:
    """Each mistake has an error of its own, all of one type."""
    with pytest.raises(EvaluatorLoadError, match=message):
        load(path, options)


def test_an_entry_point_is_loaded_by_its_name(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that declares an evaluator offers it by a short name; a near miss is told what there is."""
    point = importlib.metadata.EntryPoint("house-style", f"{package}:HouseStyle", loading.ENTRY_POINT_GROUP)
    points = importlib.metadata.EntryPoints([point])
    monkeypatch.setattr(loading, "entry_points", lambda group: points.select(group=group))
    assert load("house-style", {"greeting": "Hi"}).id == "house-style"
    with pytest.raises(EvaluatorLoadError, match="did you mean house-style"):
        load("house-stile")


def test_two_packages_may_not_offer_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of them would run must not depend on the order of installation."""
    group = loading.ENTRY_POINT_GROUP
    points = [importlib.metadata.EntryPoint("style", value, group) for value in ("a:A", "b:B")]
    monkeypatch.setattr(loading, "entry_points", lambda group: points)
    with pytest.raises(EvaluatorLoadError, match="two packages offer 'style': a:A and b:B; give the path"):
        load("style")
