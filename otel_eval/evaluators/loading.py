"""Custom evaluators by name: an import path ``my_package.module:Name``, or an entry point.

A package offers evaluators to a configuration by short names with::

    [project.entry-points."otel_eval.evaluators"]
    house-style = "my_package.evaluators:HouseStyle"
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.custom import FunctionEvaluator, evaluator
from otel_eval.evaluators.definition import misdeclared
from otel_eval.evaluators.errors import EvaluatorDefinitionError, EvaluatorLoadError, did_you_mean

ENTRY_POINT_GROUP = "otel_eval.evaluators"


def load(path: str, options: Mapping[str, Any] | None = None) -> Evaluator:
    """The evaluator at an import path (or of an entry point's name), made with the options.

    A subclass of Evaluator is called with the options, a decorated function gets those of its keyword-only arguments, a
    plain function is decorated first; an Evaluator that exists already takes none. Raises EvaluatorLoadError where the
    path leads to no evaluator, to one that the options do not make, or to one whose version, say, is no text.
    """
    made = _load(path, dict(options or {}))
    fault = misdeclared(made)
    if fault is not None:
        raise EvaluatorLoadError(f"{path}: {fault}")
    return made


def _load(path: str, given: dict[str, Any]) -> Evaluator:
    found = _find(path)
    if inspect.isclass(found):
        return _construct(path, found, given)
    if inspect.isfunction(found):
        found = _wrap(path, found)
    if isinstance(found, FunctionEvaluator):
        try:
            return found.with_options(given) if given else found
        except EvaluatorDefinitionError as error:
            raise EvaluatorLoadError(f"{path}: {error}") from None
    if isinstance(found, Evaluator):
        if given:
            raise EvaluatorLoadError(
                f"{path} is an evaluator that is made already: it takes no options ({', '.join(given)})"
            )
        return found
    raise EvaluatorLoadError(
        f"{path} is {_article(found)}, not an evaluator: a function, or a subclass of otel_eval.Evaluator"
    )


def installed() -> dict[str, EntryPoint]:
    """The entry points of the group by their names, of every installed package.

    Raises EvaluatorLoadError where two packages offer different evaluators under one name.
    """
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        other = points.setdefault(point.name, point)
        if other.value != point.value:
            raise EvaluatorLoadError(
                f"two packages offer {point.name!r}: {other.value} and {point.value}; give the path"
            )
    return points


def _find(path: str) -> Any:
    module_name, colon, attribute = path.partition(":")
    if not colon:
        return _find_installed(path)
    if not module_name or not attribute:
        raise EvaluatorLoadError(f"{path!r} is not an import path such as my_package.module:Name")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise EvaluatorLoadError(
            f"{path}: there is no module {error.name} (is it installed here, or on PYTHONPATH?)"
        ) from error
    except Exception as error:
        raise EvaluatorLoadError(f"{path}: importing {module_name} raised {type(error).__name__}: {error}") from error
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            public = [item for item in dir(found) if not item.startswith("_")]
            raise EvaluatorLoadError(f"{path}: {module_name} has no {name}{did_you_mean(name, public)}") from None
    return found


def _find_installed(name: str) -> Any:
    points = installed()
    if name not in points:
        known = f"; installed are {', '.join(sorted(points))}" if points else "; none is installed"
        hint = did_you_mean(name, points) or known
        raise EvaluatorLoadError(
            f"{name!r} is neither an import path such as my_package.module:Name nor an entry point of {ENTRY_POINT_GROUP}{hint}"
        )
    return _find(points[name].value)


def _construct(path: str, cls: type, options: dict[str, Any]) -> Evaluator:
    if not issubclass(cls, Evaluator):
        raise EvaluatorLoadError(f"{path} is the class {cls.__name__}, which does not subclass otel_eval.Evaluator")
    if inspect.isabstract(cls):
        raise EvaluatorLoadError(f"{path}: {cls.__name__} lacks {', '.join(sorted(cls.__abstractmethods__))}")
    try:
        made = cls(**options)
    except (TypeError, ValueError) as error:
        raise EvaluatorLoadError(
            f"{path}: {cls.__name__} cannot be made with {options or 'no options'}: {error}"
        ) from error
    if not isinstance(getattr(made, "check", None), str):
        raise EvaluatorLoadError(
            f'{path}: {cls.__name__} has no check: give it a name for what it checks, check = "house-style"'
        )
    return made


def _wrap(path: str, function: Any) -> FunctionEvaluator:
    try:
        return evaluator(function)
    except EvaluatorDefinitionError as error:
        raise EvaluatorLoadError(f"{path}: {error}") from None


def _article(found: Any) -> str:
    return f"a {type(found).__name__}"
