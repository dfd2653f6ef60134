"""Reading the configuration: the file, its environment variables, its rules, all its mistakes at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, TypeAlias

from pydantic import ValidationError

from otel_eval.config.checks import Fault, api_enabled, check
from otel_eval.config.document import Document, read
from otel_eval.config.environment import Expansion, expand
from otel_eval.config.errors import ConfigError, Mistake, Path
from otel_eval.config.mistakes import look_up, translate
from otel_eval.config.model import Config

DEFAULT_FILE = "otel-eval.yaml"

Rule: TypeAlias = Callable[[Any, Mapping[str, str]], Iterator[Fault]]
"""Finds faults in a tree, its references replaced, and the environment."""


def load(
    path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None, *, rules: Iterable[Rule] = ()
) -> Config:
    """The configuration in that file; without a path, in ``./otel-eval.yaml`` if it is there, else the defaults.

    ``environ`` is what ``${env:NAME}`` reads, the process's environment by default. Raises ConfigError with every
    mistake, each with its key, its line, what was found and what is allowed. ``rules`` find further ones.
    """
    if path is None and not FilePath(DEFAULT_FILE).exists():
        return parse({}, environ, rules=rules)
    file = FilePath(DEFAULT_FILE if path is None else path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError([Mistake(path=(), message=f"{file}: {error.strerror or error}")]) from None
    except UnicodeDecodeError:
        raise ConfigError([Mistake(path=(), message=f"{file}: not UTF-8 text")]) from None
    return parse(text, environ, file=str(file), rules=rules)


def parse(
    source: str | Mapping[str, Any],
    environ: Mapping[str, str] | None = None,
    *,
    file: str | None = None,
    rules: Iterable[Rule] = (),
) -> Config:
    """The configuration in that YAML text, or in a mapping of the same shape. Raises ConfigError as :func:`load`."""
    document = read(source, file) if isinstance(source, str) else Document(value=dict(source), file=file)
    if document.mistakes:
        raise ConfigError(document.mistakes)
    if document.value is None:
        document.value = {}
    if not isinstance(document.value, dict):
        raise ConfigError([document.mistake((), "the file is a mapping of sections; found something else")])
    return _build(document, os.environ if environ is None else environ, (check, *rules))


def _build(document: Document, environ: Mapping[str, str], rules: Iterable[Rule]) -> Config:
    expansion = expand(document.value, environ)
    unresolved = _set_aside(document, expansion)
    mistakes = [
        *(_malformed(document, path, text) for path, text in expansion.malformed.items()),
        *(_unset(document, path, name) for path, name in expansion.unset.items()),
        *(document.mistake(fault.path, fault.message) for rule in rules for fault in rule(expansion.value, environ)),
    ]
    config = Config()
    try:
        config = Config.model_validate(expansion.value)
    except ValidationError as error:
        missing = set(expansion.unset)
        mistakes += [each for each in translate(error, document, Config) if each.path not in missing]
    if mistakes:
        raise ConfigError(mistakes)
    config._unresolved, config._document = unresolved, document
    return config


def _malformed(document: Document, path: Path, text: str) -> Mistake:
    message = f"{text} is no reference: allowed: ${{env:NAME}} and ${{env:NAME:-default}} ($${{…}} for the text itself)"
    return document.mistake(path, message)


def _unset(document: Document, path: Path, name: str) -> Mistake:
    message = f"the environment variable {name} is not set (${{env:{name}:-default}} gives a default)"
    return document.mistake(path, message)


def _set_aside(document: Document, expansion: Expansion) -> dict[str, tuple[Mistake, ...]]:
    """Take out of the tree what nothing uses and cannot be resolved: switched-off evaluators, unused judge models, the API.

    Returns the models with the mistakes that using one must raise.
    """
    tree, aside = expansion.value, {}
    if not api_enabled(tree) and _take_unset(expansion, ("api",)):
        del tree["api"]
    for name, entry in _entries(tree, "evaluators"):
        if entry.get("enabled") in (False, "false") and _take_unset(expansion, ("evaluators", name)):
            del tree["evaluators"][name]
    used = _used_models(tree)
    for name, _ in _entries(tree, "judge_models"):
        if name not in used and (unset := _take_unset(expansion, ("judge_models", name))):
            del tree["judge_models"][name]
            aside[name] = tuple(_unset(document, path, variable) for path, variable in unset.items())
    return aside


def _entries(tree: Any, section: str) -> list[tuple[str, dict[str, Any]]]:
    found = look_up(tree, (section,))
    if not isinstance(found, dict):
        return []
    return [(name, entry) for name, entry in found.items() if isinstance(entry, dict)]


def _used_models(tree: Any) -> set[str]:
    """The judge models that evaluators ask, with those that stand in for them."""
    asked = {name for _, entry in _entries(tree, "evaluators") if (name := asked_model(entry)) is not None}
    spare: set[str] = set()
    for name, model in _entries(tree, "judge_models"):
        if name in asked and isinstance(model.get("fallbacks"), list):
            spare.update(fallback for fallback in model["fallbacks"] if isinstance(fallback, str))
    return asked | spare


def asked_model(evaluator: dict[str, Any]) -> str | None:
    """The model that an evaluator of the tree asks: its own, ``default`` where it asks one by nature, else None."""
    if evaluator.get("enabled") in (False, "false"):
        return None
    named = evaluator.get("judge_model")
    if named is not None:
        return named if isinstance(named, str) else None
    asks = any(evaluator.get(kind) is not None for kind in ("builtin", "judge", "label_judge"))
    return "default" if asks else None


def _take_unset(expansion: Expansion, above: Path) -> dict[Path, str]:
    """Remove and return the unset variables below that path."""
    below = {path: name for path, name in expansion.unset.items() if path[: len(above)] == above}
    for path in below:
        del expansion.unset[path]
    return below
