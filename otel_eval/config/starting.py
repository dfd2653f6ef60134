"""What a server needs beyond a configuration without mistakes: a model for its judges, files that can be read, an environment
that says where verdicts go, evaluators that can be imported.

A test, an experiment or a command that reads the ledger uses the same file without any of it, so only a start, and
``otel-eval config check``, ask. These rules read the tree, as those of ``checks.py`` do, so that every mistake is told
at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from otel_eval.config.bindings import KINDS
from otel_eval.config.build import build_evaluators
from otel_eval.config.checks import Fault, api_enabled, mapping, own_listener
from otel_eval.config.errors import Path
from otel_eval.config.load import Rule, asked_model, load
from otel_eval.config.model import Config
from otel_eval.config.sections import Storage
from otel_eval.emit.settings import PREFIX, signals_on
from otel_eval.emit.variables import mistakes_of, unreadable, unusable_pair
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.loading import load as load_custom
from otel_eval.storage_directory import unusable

_FILES = "_file"


def load_to_start(
    path: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    imports: bool = True,
    files: bool = True,
) -> Config:
    """As :func:`otel_eval.config.load`, for a server. Raises ConfigError with every mistake that would keep it from starting.

    ``imports``: import what ``use`` names; ``files``: look for the files that keys ending with ``_file`` name, and at the
    storage directory and the ledger's file.
    """
    config = load(path, environ, rules=rules_to_start(imports=imports, files=files))
    if imports:
        build_evaluators(config)
    return config


def rules_to_start(*, imports: bool = True, files: bool = True) -> tuple[Rule, ...]:
    """The rules of a start, for :func:`otel_eval.config.parse`."""

    def variables(tree: Any, environ: Mapping[str, str]) -> Iterator[Fault]:
        yield from _variables(tree, environ, files=files)

    return (_judges, variables, *((_files, _storage, _ledger) if files else ()), *((_imports,) if imports else ()))


def _switched_on(tree: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, entry in mapping(tree, "evaluators").items():
        if isinstance(entry, dict) and entry.get("enabled") not in (False, "false"):
            yield name, entry


def _judges(tree: Any, environ: Mapping[str, str]) -> Iterator[Fault]:
    """The evaluators that would ask the default model where there is none."""
    if "default" in mapping(tree, "judge_models"):
        return
    for name, entry in _switched_on(tree):
        if entry.get("use") is None and entry.get("check") is None and asked_model(entry) == "default":
            message = "asks a judge, and there is neither a judge_model here nor a judge_models.default"
            yield Fault(("evaluators", name), message)


def _variables(tree: Any, environ: Mapping[str, str], *, files: bool) -> Iterator[Fault]:
    """The environment decides where the configuration has no exporter."""
    if mapping(tree, "exporters", "otlp"):
        return
    path: Path = ("exporters", "otlp")
    for mistake in mistakes_of(environ, files=files):
        yield Fault(path, f"{mistake} (it is used where this is not given)")
    for name in ("ENDPOINT", *(f"{signal.upper()}_ENDPOINT" for signal in signals_on(environ))):
        for fault in own_listener(tree, path, environ.get(f"{PREFIX}{name}")):
            yield Fault(fault.path, f"{PREFIX}{name} is used where this is not given: {fault.message}")


def _files(tree: Any, environ: Mapping[str, str]) -> Iterator[Fault]:
    """Every file that a key names in a section that is on."""
    yield from _files_in(mapping(tree, "exporters"), ("exporters",))
    yield from _files_in(mapping(tree, "forward"), ("forward",))
    yield from _files_in(mapping(tree, "receivers"), ("receivers",))
    if api_enabled(tree):
        yield from _files_in(mapping(tree, "api"), ("api",))


def _files_in(section: dict[str, Any], path: Path) -> Iterator[Fault]:
    if section.get("enabled") in (False, "false") and path[0] == "receivers":
        return
    readable: dict[str, str] = {}
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _files_in(value, (*path, key))
        elif key.endswith(_FILES) and isinstance(value, str) and value.strip():
            fault = unreadable(value)
            if fault is not None:
                yield Fault((*path, key), f"the file {fault}")
            else:
                readable[key] = value
    if {"cert_file", "key_file"} <= readable.keys():
        fault = unusable_pair(readable["cert_file"], readable["key_file"])
        if fault is not None:
            yield Fault((*path, "key_file"), fault)


def _storage(tree: Any, environ: Mapping[str, str]) -> Iterator[Fault]:
    """A directory that a start would refuse. Nothing is made: whoever only asks leaves no trace."""
    given = mapping(tree, "storage").get("directory", Storage().directory)
    if not isinstance(given, str) or not given.strip():
        return
    try:
        wanted = FilePath(given).expanduser().absolute()
    except RuntimeError as error:  # of a ~somebody whom this machine does not know
        yield Fault(("storage", "directory"), str(error))
        return
    reason = unusable(wanted)
    if reason is not None:
        yield Fault(("storage", "directory"), reason)


def _ledger(tree: Any, environ: Mapping[str, str]) -> Iterator[Fault]:
    """An SQLite file that could not be opened or made. Other databases are asked by a start alone."""
    url = mapping(tree, "ledger").get("url")
    if not isinstance(url, str) or not url.startswith(_SQLITE_FILE) or url.startswith(f"{_SQLITE_FILE}file:"):
        return
    name = url.removeprefix(_SQLITE_FILE).partition("?")[0]
    if name in ("", ":memory:"):
        return
    file = FilePath(name).absolute()
    reason = None
    try:
        if not file.exists():
            if not file.parent.parent.is_dir():
                reason = f"there is no directory {file.parent.parent}, and only the one that the file lies in is made"
        elif file.is_dir():
            reason = f"{file} is a directory"
        else:
            with file.open("rb") as opened:
                head = opened.read(len(_SQLITE_HEAD))
            reason = None if head in (b"", _SQLITE_HEAD) else f"{file} is no ledger: it is no SQLite database"
    except OSError as error:
        reason = f"{file}: {error.strerror}"
    if reason is not None:
        yield Fault(("ledger", "url"), reason)


_SQLITE_FILE = "sqlite:///"
_SQLITE_HEAD = b"SQLite format 3\0"
"""Source: sqlite.org/fileformat.html, 1.3."""


def _imports(tree: Any, environ: Mapping[str, str]) -> Iterator[Fault]:
    """What is imported now is not again when the evaluators are built."""
    for name, entry in _switched_on(tree):
        use, options = entry.get("use"), entry.get("options")
        alone = all(entry.get(kind) is None for kind in KINDS if kind != "use")
        if (
            not isinstance(use, str)
            or not use.strip()
            or not alone
            or not (options is None or isinstance(options, dict))
        ):
            continue
        try:
            load_custom(use, options)
        except EvaluatorDefinitionError as error:
            yield Fault(("evaluators", name, "use"), str(error))
