"""The rules that span several keys. They read the tree rather than the models, so that they also speak when a key
elsewhere is wrong; what is not of the expected shape is left to the models to complain about."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from otel_eval.config.api import Api
from otel_eval.config.bindings import KINDS
from otel_eval.config.errors import Path
from otel_eval.config.mistakes import close, listed, look_up
from otel_eval.config.sections import Completion, GrpcListener, HttpListener, Storage
from otel_eval.config.values import Section, split_address
from otel_eval.durations import format_duration, parse_duration
from otel_eval.emit.endpoints import same_listener
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.from_config import from_check
from otel_eval.judges import template
from otel_eval.judges.errors import JudgeConfigError
from otel_eval.judges.prices import price_known


class Fault(NamedTuple):
    """A rule that the tree breaks, and at which key."""

    path: Path
    message: str


def check(tree: Any, environ: Mapping[str, str]) -> Iterator[Fault]:
    """Every rule that the tree breaks, wherever it is used. What a start needs besides is in ``starting.py``."""
    yield from _characters(tree, ())
    yield from _listeners(tree)
    if api_enabled(tree):
        yield from _api(tree)
    yield from _destinations(tree)
    yield from _models(tree)
    yield from _roles(tree)
    yield from _retention(tree)
    for name, entry in mapping(tree, "evaluators").items():
        if entry is None or isinstance(entry, dict):
            yield from _evaluator(tree, name, entry or {})


_IMPOSSIBLE = re.compile("[\\x00\\ud800-\\udfff]")
"""What no file's name and not every database takes; and halves of pairs, of which UTF-8 cannot be made. Both can be
written in YAML (``"\\\\0"``), and a half is what Python makes of a variable's bytes that are not UTF-8."""


def _characters(value: Any, path: Path) -> Iterator[Fault]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _characters(key, (*path, key))
            yield from _characters(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _characters(item, (*path, index))
    elif isinstance(value, str) and (found := _IMPOSSIBLE.search(value)) is not None:
        yield Fault(path, f"U+{ord(found[0]):04X} cannot stand in a text")


def mapping(tree: Any, *path: str) -> dict[str, Any]:
    found = look_up(tree, path)
    return found if isinstance(found, dict) else {}


def _evaluator(tree: Any, name: str, entry: dict[str, Any]) -> Iterator[Fault]:
    path: Path = ("evaluators", name)
    if not name.strip():
        yield Fault(path, "an evaluator's id is not blank")
    given = [kind for kind in KINDS if entry.get(kind) is not None]
    if len(given) != 1:
        what = "none of them" if not given else " and ".join(given)
        yield Fault(path, f"exactly one of {listed(KINDS)} is needed; found {what}")
    if entry.get("options") is not None and given and "use" not in given:
        yield Fault((*path, "options"), "goes with use only")
    if entry.get("votes") is not None and given and "builtin" not in given:
        yield Fault((*path, "votes"), "goes with builtin; judge and label_judge have a key of that name in them")
    if entry.get("judge_model") is not None and given == ["check"]:
        yield Fault((*path, "judge_model"), "an exact check asks no model")
    yield from _definition(path, entry)
    yield from _judge_model(tree, path, entry)
    yield from _labels(path, entry)
    yield from _named_twice(path, entry)
    roles = mapping(tree, "roles")
    for role in _names(entry.get("agent_roles")):
        if role != "*" and role not in roles:
            message = f"no such role{close(role, roles) or ';'} declared under roles: {listed(roles)}"
            yield Fault((*path, "agent_roles", role), message)


def _definition(path: Path, entry: dict[str, Any]) -> Iterator[Fault]:
    """What the makers of evaluators say of a check's name and arguments, and of prompts with fields in them."""
    spec = entry.get("check")
    if isinstance(spec, str) or (isinstance(spec, dict) and len(spec) == 1):
        try:
            from_check(spec)
        except EvaluatorDefinitionError as error:
            yield Fault((*path, "check"), str(error))
    for kind, more in (("judge", ("criterion",)), ("label_judge", ())):
        text = look_up(entry, (kind, "user"))
        if isinstance(text, str) and text.strip():
            try:
                template.check(text, *more)
            except JudgeConfigError as error:
                yield Fault((*path, kind, "user"), str(error))


def _judge_model(tree: Any, path: Path, entry: dict[str, Any]) -> Iterator[Fault]:
    name, models = entry.get("judge_model"), mapping(tree, "judge_models")
    if name != "default":
        yield from _model_named((*path, "judge_model"), name, models)


def _model_named(path: Path, name: Any, models: dict[str, Any]) -> Iterator[Fault]:
    """The fault of a name that is neither an entry's nor a model's that litellm could know."""
    if isinstance(name, str) and name.strip() and name not in models and "/" not in name and not price_known(name):
        message = f"no such judge model{close(name, models) or ';'} declared under judge_models: {listed(models)}"
        yield Fault(path, f"{message}; or a litellm name, as openai/gpt-4o-mini")


def _labels(path: Path, entry: dict[str, Any]) -> Iterator[Fault]:
    labels = mapping(entry, "label_judge", "labels")
    passing, failing = ({text.strip().lower() for text in _names(labels.get(key))} for key in ("pass", "fail"))
    for label in sorted(passing & failing):
        yield Fault((*path, "label_judge", "labels"), f"the label {label!r} both passes and fails")


def _named_twice(path: Path, entry: dict[str, Any]) -> Iterator[Fault]:
    for key in ("agents", "agent_roles"):
        if isinstance(entry.get(key), list):
            for name, count in Counter(_names(entry[key])).items():
                if count > 1:
                    yield Fault((*path, key), f"{name!r} is named {count} times")


def _names(value: Any) -> list[str]:
    """The texts of a text, a list or a mapping's keys."""
    if isinstance(value, str):
        return [value]
    return [name for name in value if isinstance(name, str)] if isinstance(value, list | dict) else []


def _roles(tree: Any) -> Iterator[Fault]:
    for name, role in mapping(tree, "roles").items():
        if name == "*":
            yield Fault(("roles", name), "no role can be called '*': a binding's '*' means every agent that has a role")
        elif role is None or (isinstance(role, dict) and not role.get("agents") and not role.get("attributes")):
            yield Fault(("roles", name), "needs agents or attributes: nothing can have it")


def _retention(tree: Any) -> Iterator[Fault]:
    """Late spans of an Interaction that is gone would put it together anew."""
    kept = _seconds(tree, Storage, "retention")
    open_for = [_seconds(tree, Completion, name) for name in ("max_age", "late_window")]
    if kept is None or None in open_for:
        return
    longest = sum(seconds for seconds in open_for if seconds is not None)
    if kept <= longest:
        message = f"is longer than completion.max_age and completion.late_window together, which are {format_duration(longest)}"
        yield Fault(("storage", "retention"), f"{message}: until then late spans still belong to an Interaction")


def _seconds(tree: Any, section: type[Section], key: str) -> float | None:
    """That duration, or its default; None where it has none, or is none."""
    given = look_up(tree, (section.__name__.lower(), key))
    if given is None:
        default: float | None = section.model_fields[key].default
        return default
    try:
        return parse_duration(given) if isinstance(given, str) else None
    except ValueError:
        return None


def _models(tree: Any) -> Iterator[Fault]:
    for name, model in mapping(tree, "judge_models").items():
        if not isinstance(model, dict):
            continue
        yield from _fallbacks(tree, name, model)
        if not isinstance(model.get("model"), str):
            continue
        budget, price = model.get("daily_budget_usd"), model.get("price_per_million_tokens")
        if budget and price is None and not price_known(model["model"]):
            message = f"a budget in dollars needs a price, and none is known for {model['model']!r}"
            yield Fault(("judge_models", name, "daily_budget_usd"), f"{message}: give price_per_million_tokens")


def _fallbacks(tree: Any, name: str, model: dict[str, Any]) -> Iterator[Fault]:
    """Two entries may stand in for each other, since fallbacks are not followed further; none stands in for itself."""
    given, models = model.get("fallbacks"), mapping(tree, "judge_models")
    for index, fallback in enumerate(given if isinstance(given, list) else ()):
        path: Path = ("judge_models", name, "fallbacks", index)
        if isinstance(fallback, str) and fallback in (name, model.get("model")):
            yield Fault(path, f"{fallback!r} is the model itself: when it is down, so is its fallback")
        elif isinstance(fallback, str) and fallback in (given or ())[:index]:
            yield Fault(path, f"{fallback!r} is named twice")
        else:
            yield from _model_named(path, fallback, models)


def _listening(tree: Any) -> Iterator[tuple[str, str]]:
    """Protocol and address of each listener that is on."""
    for protocol, section in (("grpc", GrpcListener), ("http", HttpListener)):
        listener = mapping(tree, "receivers", "otlp", protocol)
        if listener.get("enabled") not in (False, "false"):
            yield protocol, listener.get("endpoint") or section.model_fields["endpoint"].default


def _listeners(tree: Any) -> Iterator[Fault]:
    addresses = [str(address) for _, address in _listening(tree)]
    if not addresses:
        yield Fault(("receivers", "otlp"), "nothing would listen: grpc and http are both disabled")
    if len(addresses) == 2 and same_listener(addresses[1], addresses[:1]):
        yield Fault(("receivers", "otlp", "http", "endpoint"), "the gRPC listener has that address already")


def api_enabled(tree: Any) -> bool:
    """Whether our own service is switched on."""
    return str(mapping(tree, "api").get("enabled")).lower() == "true"


def _api(tree: Any) -> Iterator[Fault]:
    """Who may call it is said, and is not whoever may send telemetry."""
    address = str(mapping(tree, "api").get("endpoint") or Api.model_fields["endpoint"].default)
    for protocol, taken in _listening(tree):
        if same_listener(address, [str(taken)]):
            yield Fault(("api", "endpoint"), f"the receivers' {protocol} listener has that address already")
    auth = ("api", "auth")
    tokens, anonymous = mapping(tree, *auth, "tokens"), look_up(tree, (*auth, "without_token"))
    if not tokens and not anonymous:
        yield Fault(auth, "nobody could call it: give tokens, or without_token: [read, evaluate] for loopback")
    if anonymous and not _is_loopback(address) and not mapping(tree, "api", "tls").get("client_ca_file"):
        message = f"whoever reaches {address} could read conversations: give tokens, or tls.client_ca_file"
        yield Fault((*auth, "without_token"), message)
    owners = {
        secret: f"receivers.otlp.{protocol}.auth.bearer_token has it: who may send may not read"
        for protocol, _ in _listening(tree)
        if (secret := look_up(tree, ("receivers", "otlp", protocol, "auth", "bearer_token"))) is not None
    }
    for name, entry in tokens.items():
        secret = entry.get("token") if isinstance(entry, dict) else None
        if isinstance(secret, str):
            if secret in owners:
                yield Fault((*auth, "tokens", name, "token"), f"is no token of its own: {owners[secret]}")
            owners.setdefault(secret, f"tokens.{name} has it")


def _is_loopback(address: str) -> bool:
    host, _ = split_address(address) or ("", 0)
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _destinations(tree: Any) -> Iterator[Fault]:
    for section in ("exporters", "forward"):
        destination = mapping(tree, section, "otlp")
        path: Path = (section, "otlp")
        tls = mapping(destination, "tls")
        if (tls.get("cert_file") is None) != (tls.get("key_file") is None):
            yield Fault((*path, "tls"), "cert_file and key_file go together")
        yield from own_listener(tree, (*path, "endpoint"), destination.get("endpoint"))


def own_listener(tree: Any, path: Path, endpoint: Any) -> Iterator[Fault]:
    """The fault of an endpoint that is a listener of ours: verdicts would come back in as telemetry, for ever."""
    if not isinstance(endpoint, str) or not endpoint.strip():
        return
    for name, address in _listening(tree):
        if same_listener(endpoint, [str(address)]):
            place = f"receivers.otlp.{name}.endpoint, {address}"
            yield Fault(path, f"is our own listener ({place}): what is sent there would come straight back")
