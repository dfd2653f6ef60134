"""A YAML file as plain Python, with the line of every key, and with nothing read as what it was not meant to be.

Scalars follow YAML 1.2's core schema: only ``true`` and ``false`` are booleans and there are no dates, so that an agent
may be called ``on`` or ``2026-11-30``. A key that occurs twice is a mistake: the second would silently win.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from otel_eval.config.errors import Mistake, Path

MAX_VALUES = 100_000
"""Aliases of aliases can stand for billions of values in a few lines; no configuration has so many."""

_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(slots=True)
class Document:
    """``value`` is the decoded tree (None for an empty file), ``lines`` the line of each path, counted from 1."""

    value: Any = None
    file: str | None = None
    lines: dict[Path, int] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def line(self, path: Path) -> int | None:
        """The line of that key, else of the nearest key above it that the file has."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None

    def mistake(self, path: Path, message: str, line: int | None = None) -> Mistake:
        """A mistake of this file."""
        return Mistake(path=path, message=message, file=self.file, line=self.line(path) if line is None else line)


class _Loader(yaml.SafeLoader):
    """Resolves scalars by YAML 1.2's core schema instead of YAML 1.1."""


_Loader.yaml_implicit_resolvers = {}


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+0123456789."),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", "-+."),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    """Decimal also with leading zeros: an order number 0123 is not octal."""
    text = loader.construct_scalar(node)
    return int(text, 0) if text.startswith(("0x", "0o")) else int(text)


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def read(text: str, file: str | None = None) -> Document:
    """Decode; what is wrong with the YAML itself ends up in ``mistakes``, and then ``value`` is not to be used."""
    document = Document(file=file)
    loader: _Loader | None = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is not None:
            document.value = _value(loader, document, node, (), ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        problem = error.problem or error.context or "cannot be read"
        hint = " (quote a text that has ': ' in it)" if "mapping values are not allowed" in problem else ""
        document.mistakes.append(document.mistake((), f"not YAML: {problem}{hint}", line))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        document.mistakes.append(document.mistake((), f"not YAML: U+{error.character:04X} cannot stand in it", line))
    except (yaml.YAMLError, ValueError) as error:
        document.mistakes.append(document.mistake((), f"not YAML: {error}", 1))
    except RecursionError:
        document.mistakes.append(document.mistake((), "nested deeper than a configuration can be", 1))
    finally:
        if loader is not None:
            loader.dispose()
    return document


def _value(loader: _Loader, document: Document, node: yaml.Node, path: Path, above: tuple[yaml.Node, ...]) -> Any:
    document.lines.setdefault(path, node.start_mark.line + 1)
    if len(document.lines) > MAX_VALUES:
        raise ValueError(f"its aliases stand for more than {MAX_VALUES} values")
    if any(node is ancestor for ancestor in above):
        document.mistakes.append(document.mistake(path, "an alias that contains itself"))
        return None
    if not isinstance(node, yaml.ScalarNode) and node.tag not in _COLLECTIONS:
        document.mistakes.append(document.mistake(path, f"the tag {node.tag} is not known"))
        return None
    above = (*above, node)
    if isinstance(node, yaml.MappingNode):
        return _mapping(loader, document, node, path, above)
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, document, item, (*path, index), above) for index, item in enumerate(node.value)]
    try:
        return loader.construct_object(node)
    except yaml.constructor.ConstructorError as error:
        document.mistakes.append(document.mistake(path, f"not a value: {error.problem}"))
        return None


def _mapping(
    loader: _Loader, document: Document, node: yaml.MappingNode, path: Path, above: tuple[yaml.Node, ...]
) -> dict[str, Any]:
    _refuse_duplicates(document, node, path)
    loader.flatten_mapping(node)
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = _key(key_node)
        document.lines[(*path, key)] = key_node.start_mark.line + 1
        result[key] = _value(loader, document, value_node, (*path, key), above)
    return result


def _refuse_duplicates(document: Document, node: yaml.MappingNode, path: Path) -> None:
    first: dict[str, int] = {}
    for key_node, _ in node.value:
        key, line = _key(key_node), key_node.start_mark.line + 1
        if key in first and key != "<<":
            message = f"the key occurs twice: first in line {first[key]}"
            document.mistakes.append(document.mistake((*path, key), message, line))
        first.setdefault(key, line)


def _key(node: yaml.Node) -> str:
    """Keys are text as it is written: an agent called ``42`` or ``true`` is called that."""
    return node.value if isinstance(node, yaml.ScalarNode) else "<not text>"
