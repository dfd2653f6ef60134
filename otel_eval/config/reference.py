"""Every key of the configuration as data, read off the models: docs/configuration.md and the JSON schema are made of it."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from otel_eval.config.model import Config
from otel_eval.config.numbers import DURATION_PATTERN, DurationText
from otel_eval.config.values import Section
from otel_eval.durations import format_duration
from otel_eval.evaluators.from_config import check_schema

_NAMES = {
    "headers": "<header>",
    "tokens": "<name>",
    "patterns": "<type>",
    "judge_models": "<name>",
    "roles": "<name>",
    "attributes": "<attribute>",
    "evaluators": "<id>",
    "agents": "<agent>",
    "agent_roles": "<role>",
}
_WHOLE = ("parameters", "options")
"""Mappings that are handed on as they are: their keys are not ours to list."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its path, its default as it would be written (``required`` for none), and what it is."""

    path: str
    default: str
    text: str


def keys(section: type[Section] = Config, above: str = "") -> Iterator[Key]:
    """Every key that holds a value, in the order of the models."""
    for name, info in section.model_fields.items():
        path = f"{above}.{info.alias or name}" if above else info.alias or name
        inner, mapped = _inner(info.annotation)
        if name == "agent_roles":
            yield Key(f"{path}.{_NAMES[name]}", "", f"{info.description} The same keys as under `agents`.")
        elif inner is not None:
            yield from keys(inner, f"{path}.{_NAMES[name]}" if mapped else path)
        elif mapped and name not in _WHOLE:
            yield Key(f"{path}.{_NAMES[name]}", "", info.description or "")
        else:
            yield Key(path, _default(info), info.description or "")


def table() -> str:
    """The keys as Markdown tables, one for each section of the file."""
    parts: list[str] = []
    current = ""
    for key in keys():
        top = key.path.partition(".")[0]
        if top != current:
            current = top
            intro = " ".join((Config.model_fields[top].description or _doc(top)).split())
            parts.append(f"\n### `{top}`\n\n{intro}\n\n| key | default | |\n|---|---|---|")
        default = f"`{key.default}`" if key.default not in ("", "required") else key.default
        parts.append(f"| `{key.path}` | {default} | {' '.join(key.text.split())} |".replace("`|`", "`\\|`"))
    return "\n".join(parts).strip() + "\n"


def schema() -> dict[str, Any]:
    """A JSON schema of the file, for editors: every value may also be an environment variable."""
    whole = Config.model_json_schema(mode="validation")
    whole["$defs"]["Check"] = check_schema()
    whole["$defs"]["EvaluatorEntry"]["properties"]["check"] = {"$ref": "#/$defs/Check"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_for_editors(whole),
        "title": "otel-eval configuration",
    }


_REFERENCE = {"type": "string", "pattern": r"\$\{env:[A-Za-z_]\w*(:-.*)?\}"}


def _for_editors(node: Any) -> Any:
    if isinstance(node, list):
        return [_for_editors(item) for item in node]
    if not isinstance(node, dict):
        return node
    changed = {key: _for_editors(value) for key, value in node.items()}
    if changed.get("pattern") == DURATION_PATTERN and isinstance(changed.get("default"), int | float):
        changed["default"] = format_duration(changed["default"])
    if changed.get("type") == "object" and "properties" in changed and "title" in changed:
        changed["properties"] = {name: _nullable(value) for name, value in changed["properties"].items()}
    return changed


def _nullable(value: dict[str, Any]) -> dict[str, Any]:
    """A key without a value counts as not given, and a scalar may come from the environment."""
    texts: dict[str, Any] = {name: value[name] for name in ("title", "description", "default") if name in value}
    rule = {name: item for name, item in value.items() if name not in texts}
    allowed = [*rule["anyOf"], {"type": "null"}] if set(rule) == {"anyOf"} else [rule, {"type": "null"}]
    if not any("$ref" in each or each.get("type") in ("object", "array") for each in allowed):
        allowed.append(_REFERENCE)
    once = [each for index, each in enumerate(allowed) if each not in allowed[:index]]
    return {**texts, "anyOf": once}


def _inner(annotation: Any) -> tuple[type[Section] | None, bool]:
    """The section that an annotation leads to, and whether through a mapping of names."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation, False
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _inner(arguments[0])
    if origin in (Union, types.UnionType):
        found = [_inner(each) for each in arguments if each is not type(None)]
        return found[0] if len(found) == 1 else (None, False)
    if origin is dict:
        return _inner(arguments[1])[0], True
    return None, False


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and _is_duration(info):
        return format_duration(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(str, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_duration(info: FieldInfo) -> bool:
    """Whether the field's validator is that of durations."""
    return any(getattr(item, "json_schema_input_type", None) is DurationText for item in info.metadata)


def _doc(section: str) -> str:
    annotation = Config.model_fields[section].annotation
    return (annotation.__doc__ or "") if annotation is not None else ""


if __name__ == "__main__":
    print(table())
