"""Reading a configuration: defaults, environment variables, what YAML means, evaluators."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import yaml

from otel_eval.config import (
    Config,
    ConfigError,
    build_evaluators,
    build_judges,
    load,
    load_evaluators,
    missing_judge_models,
    parse,
)
from otel_eval.config.bindings import BUILTINS, REQUIRABLE, EvaluatorEntry
from otel_eval.config.document import read
from otel_eval.config.reference import keys, schema, table
from otel_eval.config.sections import Redaction
from otel_eval.config.starter import STARTER
from otel_eval.config.starting import rules_to_start
from otel_eval.durations import parse_duration
from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.evaluators.judging import REQUIRABLE as JUDGES_REQUIRE
from otel_eval.evaluators.label_judge import BUILTIN, label_judge
from otel_eval.interaction import Interaction
from otel_eval.judges import JudgeModelSettings
from otel_eval.outcome import Outcome, Passed
from otel_eval.redaction import BUILTIN_KINDS

EXAMPLE = """
receivers:
  otlp:
    grpc: {endpoint: 127.0.0.1:4317}
    http: {endpoint: 127.0.0.1:4318}
exporters:
  otlp: {endpoint: "http://127.0.0.1:14317", protocol: grpc}
storage: {directory: ./otel-eval-data}
ledger: {url: "sqlite:///otel-eval-data/ledger.db"}
completion: {settle: 2s, settle_across_processes: 7s, idle: 5m, max_age: 1h, late_window: 15m}
dispatch: {max_concurrency: 32}
judge_models:
  default: {model: openai/gpt-4o-mini, api_base: null, api_key: "${env:OPENAI_API_KEY}", max_concurrency: 8,
            requests_per_minute: 600, timeout: 30s, daily_budget_usd: 5}
roles:
  customer-facing: {agents: ["support-*", "sales-agent"]}
evaluators:
  looks-up-the-order:
    check: {should_call_tool: getOrder}
    agents: [support-agent]
  toxicity:
    builtin: toxicity
    judge_model: default
    agent_roles:
      customer-facing: {trigger: interaction, sampling_ratio: 0.1}
  refund-policy:
    judge: {criterion: the reply states only what the tools returned, threshold: 0.7, requires: [tool_results]}
    agents:
      support-agent: {trigger: interaction, trigger_on_failure: false}
  polite:
    label_judge: {system: "…", user: "[Text]\\n{reply}", labels: {pass: polite, fail: rude}}
    agents: ["*"]
  house-style:
    use: tests.config.test_load:HouseStyle
    agents: {"support-*": {trigger: interaction}}
"""


class HouseStyle(Evaluator):
    """A custom evaluator with an option."""

    check = "house-style"

    def __init__(self, tone: str = "warm") -> None:
        self.tone = tone

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        return Passed(self.tone)


own_label_judge = label_judge("own", system="Judge.", user="{reply}", labels={"pass": "a", "fail": "b"})


@pytest.mark.parametrize("text", ["", "# only a comment\n", "receivers:\n", "evaluators: {}\nexporters:\n  otlp:\n"])
def test_an_empty_file_is_the_defaults(text: str) -> None:
    """Nothing said, and keys without a value, are the defaults."""
    assert parse(text, {}).model_dump() == Config().model_dump()


def test_the_example_says_what_it_says() -> None:
    """The documented example reads without a mistake, and its values arrive."""
    config = parse(EXAMPLE, {"OPENAI_API_KEY": "sk-1"})
    model = config.judge_models["default"]
    assert (config.completion.idle, config.dispatch.max_concurrency, model.timeout) == (300.0, 32, 30.0)
    assert model.api_key is not None
    assert model.api_key.get_secret_value() == "sk-1"
    assert config.evaluators["toxicity"].agent_roles["customer-facing"].sampling_ratio == 0.1
    assert config.evaluators["refund-policy"].agents["support-agent"].trigger_on_failure is False
    assert [entry.kind for entry in config.evaluators.values()] == ["check", "builtin", "judge", "label_judge", "use"]


def test_the_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path given, else ./otel-eval.yaml, else the defaults; a path that is not there is a mistake."""
    monkeypatch.chdir(tmp_path)
    assert load(environ={}).model_dump() == Config().model_dump()
    Path("otel-eval.yaml").write_text("emit: {max_agents: 7}")
    assert load(environ={}).emit.max_agents == 7
    with pytest.raises(ConfigError, match=r"missing\.yaml: No such file"):
        load("missing.yaml", {})
    Path("latin.yaml").write_bytes(b"storage: {directory: caf\xe9}")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load("latin.yaml", {})


EXPANSIONS = [
    ("${env:A}", "a"),
    ("x${env:A}y${env:A}", "xaya"),
    ("${env:UNSET:-fallback}", "fallback"),
    ("${env:EMPTY:-fallback}", "fallback"),
    ("${env:UNSET:-http://h:1/x}", "http://h:1/x"),
    ("$${env:A}", "${env:A}"),
    ("$$$${env:A}", "$${env:A}"),
    ("cost: $5", "cost: $5"),
    ("${env:NESTED}", "${env:A}"),
    ("${env:UNSET:-}", None),
    ("${env:EMPTY}", None),
]


@pytest.mark.parametrize(("text", "expected"), EXPANSIONS)
def test_references_expand_as_the_collector_has_them(text: str, expected: str | None) -> None:
    """Once, with defaults, with $$ for $; a lone reference that is empty counts as not given."""
    environ = {"A": "a", "EMPTY": "", "NESTED": "${env:A}"}
    entry = {"check": "should_not_fail", "agents": {"a": {"sampling_group": text}}}
    config = parse({"evaluators": {"e": entry}}, environ)
    assert config.evaluators["e"].agents["a"].sampling_group == expected


def test_numbers_and_booleans_may_come_from_the_environment() -> None:
    """Text from a variable is read as what the key takes."""
    text = "emit: {content: '${env:B}', max_agents: '${env:N}', child_within: '${env:D}'}"
    config = parse(text, {"B": "false", "N": "7", "D": "2m"})
    assert (config.emit.content, config.emit.max_agents, config.emit.child_within) == (False, 7, 120.0)


def test_an_unset_variable_of_what_nothing_uses_does_not_matter() -> None:
    """Neither of a judge model that no evaluator asks, nor of an evaluator that is off; using the model says so."""
    text = """
judge_models:
  used: {model: p/m}
  spare: {model: p/m, api_key: "${env:NO_KEY}", max_concurrency: "${env:NO_NUMBER}"}
evaluators:
  on: {builtin: toxicity, judge_model: used}
  off: {builtin: toxicity, judge_model: spare, enabled: false, agents: ["${env:NO_AGENT}"]}
"""
    config = parse(text, {}, file="f")
    assert set(config.judge_models) == {"used"}
    assert set(config.evaluators) == {"on"}
    with pytest.raises(
        ConfigError, match=r"f:4: judge_models\.spare\.api_key: the environment variable NO_KEY is not set"
    ):
        config.judge_model("spare")
    with pytest.raises(ConfigError, match="NO_KEY"):
        parse(text.replace("judge_model: used", "judge_model: spare"), {})


def test_the_default_model_is_used_by_judges_that_name_none() -> None:
    """Its key must then be there; exact checks alone do not need it."""
    model = "judge_models: {default: {model: p/m, api_key: '${env:NO_KEY}'}}\n"
    parse(model + "evaluators: {e: {check: should_not_fail}}", {})
    with pytest.raises(ConfigError, match="NO_KEY"):
        parse(model + "evaluators: {e: {builtin: toxicity}}", {})


SCALARS = [
    ("on", "on"),
    ("yes", "yes"),
    ("true", True),
    ("2026-11-30", "2026-11-30"),
    ("12:30", "12:30"),
    ("0123", 123),
    ("0x1f", 31),
    ("0o17", 15),
    ("1e3", 1000.0),
    ("1_000", "1_000"),
    ("~", None),
    ("'5'", "5"),
    ("1.0", 1.0),
]


@pytest.mark.parametrize(("text", "expected"), SCALARS)
def test_scalars_follow_the_core_schema(text: str, expected: Any) -> None:
    """YAML 1.2: no dates, no sexagesimal numbers, no octal by a leading zero, true and false alone."""
    value = read(f"a: {text}").value["a"]
    assert (value, type(value)) == (expected, type(expected))


def test_keys_are_text_and_anchors_work() -> None:
    """An agent may be called 42 or true; merge keys may be overridden without that being a repetition."""
    assert read("{42: a, true: b}").value == {"42": "a", "true": "b"}
    assert read("x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}").value["y"] == {"a": 1, "b": 3}


def test_secrets_never_print() -> None:
    """Neither in a repr, nor as text, nor as JSON, nor of the models made of them."""
    text = """
receivers: {otlp: {grpc: {auth: {bearer_token: hush1}}}}
exporters: {otlp: {endpoint: "http://c:1", headers: {authorization: hush2}}}
ledger: {url: "postgresql://u:hush3@h/d"}
judge_models: {m: {model: p/m, api_key: hush4, headers: {x: hush5}}}
"""
    config = parse(text, {})
    shown = repr(config) + str(config) + config.model_dump_json() + repr(config.judge_models["m"])
    assert "hush" not in shown
    assert config.ledger_url == "postgresql://u:hush3@h/d"


def test_the_ledger_is_in_the_storage_directory() -> None:
    """Unless ledger.url says otherwise, relative or absolute."""
    assert Config().ledger_url == "sqlite:///otel-eval-data/ledger.db"
    assert parse("storage: {directory: ~/x}", {}).ledger_url == f"sqlite:///{Path.home()}/x/ledger.db"
    assert parse("storage: {directory: /var/lib/x}", {}).ledger_url == "sqlite:////var/lib/x/ledger.db"


def test_an_exporter_from_the_environment_is_no_listener_of_ours() -> None:
    """The variables that are used where the file has no exporter are held to the same rule, by a server."""
    ours = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317"}
    with pytest.raises(ConfigError, match=r"OTEL_EXPORTER_OTLP_ENDPOINT is used .* is our own listener"):
        parse("", ours, rules=rules_to_start())
    parse("exporters: {otlp: {endpoint: 'http://collector:4317'}}", ours, rules=rules_to_start())
    parse("receivers: {otlp: {grpc: {endpoint: 127.0.0.1:0}}}", ours, rules=rules_to_start())
    parse("", ours)  # an experiment, whose agent sends to a server of ours


@pytest.mark.parametrize(
    ("listener", "endpoint", "same"),
    [
        ("0.0.0.0:5000", "http://127.0.0.1:5000", True),
        ("127.0.0.1:5000", "http://localhost:5000", True),
        ("127.0.0.1:5000", "http://127.0.0.1:5000/v1/traces", True),
        ("10.0.0.1:5000", "http://10.0.0.1:5000", True),
        ("10.0.0.1:5000", "http://10.0.0.2:5000", False),
        ("127.0.0.1:5000", "http://127.0.0.1:5001", False),
        ("127.0.0.1:5000", "http://collector:5000", False),
    ],
)
def test_what_counts_as_our_own_listener(listener: str, endpoint: str, same: bool) -> None:
    """The same port of the same machine, under any of its local names."""
    given = {
        "receivers": {"otlp": {"grpc": {"endpoint": listener}}},
        "exporters": {"otlp": {"endpoint": endpoint}},
    }
    if same:
        with pytest.raises(ConfigError, match="our own listener"):
            parse(given, {})
    else:
        parse(given, {})


def test_evaluators_are_built_with_their_keys_as_ids(tmp_path: Path) -> None:
    """In the file's order, without those that are off; options reach custom ones."""
    file = tmp_path / "c.yaml"
    options = 'options: {tone: dry}\n    agents: {"support-*"'
    file.write_text(EXAMPLE.replace('agents: {"support-*"', options) + "  off: {builtin: toxicity, enabled: false}\n")
    evaluators = load_evaluators(file, {"OPENAI_API_KEY": "sk-1"})
    assert [each.id for each in evaluators] == [
        "looks-up-the-order",
        "toxicity",
        "refund-policy",
        "polite",
        "house-style",
    ]
    assert [each.check for each in evaluators] == ["tools", "label-judge", "judge", "label-judge", "house-style"]
    assert [each.asks_model for each in evaluators] == [False, True, True, True, False]
    assert (evaluators[2].threshold, getattr(evaluators[4], "tone", None)) == (0.7, "dry")


def test_another_model_behind_a_name_is_another_version() -> None:
    """A judge's version changes with the model that its entry stands for, not with the entry's limits."""

    def version(settings: Mapping[str, Any]) -> str:
        entry = {"builtin": "toxicity", "agents": ["*"]}
        config = parse({"judge_models": {"default": settings}, "evaluators": {"t": entry}}, {})
        return build_evaluators(config)["t"].version

    first = version({"model": "p/one"})
    assert version({"model": "p/one", "max_concurrency": 2}) == first
    assert version({"model": "p/two"}) != first


def test_an_evaluator_that_cannot_be_made_is_a_mistake_with_its_line() -> None:
    """Each of them, not only the first."""
    text = "evaluators:\n  a: {use: no_such_package.x:Y}\n  b: {use: tests.config.test_load:Nothing}\n"
    with pytest.raises(ConfigError) as caught:
        build_evaluators(parse(text, {}, file="f"))
    assert [str(mistake)[:27] for mistake in caught.value.mistakes] == [
        "f:2: evaluators.a.use: no_s",
        "f:3: evaluators.b.use: test",
    ]


def test_a_custom_evaluator_gets_its_judge_model() -> None:
    """Where it can take one; where it cannot, the key would do nothing, and that is a mistake."""
    text = "evaluators: {e: {use: 'tests.config.test_load:%s', judge_model: p/m}}"
    assert getattr(build_evaluators(parse(text % "own_label_judge", {}))["e"], "model", None) == "p/m"
    with pytest.raises(ConfigError, match="takes no judge_model"):
        build_evaluators(parse(text % "HouseStyle", {}))


def test_a_judge_without_a_model_is_told() -> None:
    """Where nobody answers for the model: an evaluator that names none, with no default."""
    text = "evaluators:\n  a: {builtin: toxicity}\n  b: {builtin: toxicity, judge_model: p/m}\n  c: {check: should_not_fail}"
    (mistake,) = missing_judge_models(parse(text, {}, file="f"))
    assert str(mistake) == (
        "f:2: evaluators.a: asks a judge, and there is neither a judge_model here nor a judge_models.default"
    )
    assert missing_judge_models(parse(text + "\njudge_models: {default: {model: p/m}}", {})) == ()


def test_judges_get_their_models_in_full() -> None:
    """Every setting of an entry reaches the judge, secrets in the clear."""
    given = {
        "model": "p/m", "api_base": "http://x", "api_key": "k", "max_concurrency": 2, "requests_per_minute": 3,
        "tokens_per_minute": 4, "timeout": "5s", "max_retries": 0, "temperature": 0, "max_output_tokens": 6,
        "daily_budget_usd": 7, "daily_budget_tokens": 8, "price_per_million_tokens": {"input": 1, "output": 2},
        "fallbacks": ["p/n"], "response_format": "text", "headers": {"h": "v"}, "parameters": {"seed": 1},
    }  # fmt: skip
    settings = build_judges(parse({"judge_models": {"m": given}}, {})).settings("m")
    bare = JudgeModelSettings(model="other")
    same = [name for name in JudgeModelSettings.__dataclass_fields__ if getattr(settings, name) == getattr(bare, name)]
    assert same == []
    assert (settings.api_key, settings.timeout, settings.temperature, settings.headers) == ("k", 5.0, 0.0, {"h": "v"})


def test_what_the_models_list_is_what_there_is() -> None:
    """The words that the schema allows are those of the code that they go to."""
    assert get_args(REQUIRABLE) == JUDGES_REQUIRE
    assert tuple(BUILTIN) == BUILTINS
    assert set(BUILTINS) == set(get_args(get_args(EvaluatorEntry.model_fields["builtin"].annotation)[0]))
    assert set(Redaction().builtin) == set(BUILTIN_KINDS)


def test_the_schema_takes_what_the_reader_takes() -> None:
    """The example, the starter and an empty file are valid for an editor; a wrong key is not."""
    whole = schema()
    jsonschema.Draft202012Validator.check_schema(whole)
    validator = jsonschema.Draft202012Validator(whole)
    for text in (EXAMPLE, STARTER, _uncommented(STARTER), "{}", "emit: {max_agents: '${env:N}', content:}"):
        assert [error.message for error in validator.iter_errors(yaml.safe_load(text))] == [], text
    for text in ("emit: {max_agent: 1}", "evaluators: {e: {check: should_call_tol}}", "completion: {settle: 2}"):
        assert not validator.is_valid(yaml.safe_load(text)), text
    assert json.dumps(whole)


def _uncommented(text: str) -> str:
    """With the commented settings switched on; prose has one space behind its ``#``."""
    return re.sub(r"(?m)^#(?! \S)", "", text)


def test_the_starter_is_valid_as_it_is_and_with_everything_switched_on() -> None:
    """What `otel-eval init` writes can be started, and its comments can be trusted."""
    assert len(build_evaluators(parse(STARTER, {}))) == 3
    tokens = {"OTEL_EVAL_READ_TOKEN": "r" * 16, "OTEL_EVAL_API_TOKEN": "e" * 16}
    config = parse(_uncommented(STARTER), {"OPENAI_API_KEY": "k", **tokens})
    assert len(build_evaluators(config)) == 7
    assert config.exporters.otlp is not None
    assert config.api.enabled


def test_an_api_that_is_off_needs_no_tokens() -> None:
    """What nothing uses is not resolved; without a token one may call on loopback, or with a certificate, where that
    is said."""
    assert not parse("api: {auth: {tokens: {a: {token: '${env:NOT_SET}', scopes: read}}}}", {}).api.enabled
    parse("api: {enabled: true, endpoint: 'localhost:1', auth: {without_token: [read, evaluate]}}", {})
    tls = "tls: {cert_file: c, key_file: k, client_ca_file: ca}"
    parse(f"api: {{enabled: true, endpoint: '0.0.0.0:1', {tls}, auth: {{without_token: read}}}}", {})


def test_the_documented_table_is_the_models() -> None:
    """docs/configuration.md ends with the table that `python -m otel_eval.config.reference` prints."""
    document = Path(__file__).parents[2] / "docs" / "configuration.md"
    assert document.read_text(encoding="utf-8").endswith(table())


def test_every_key_is_described_and_its_default_can_be_read_back() -> None:
    """No key without words, and defaults are written as they would be in the file."""
    listed = {key.path: key for key in keys()}
    assert [path for path, key in listed.items() if not key.text] == []
    assert parse_duration(listed["completion.idle"].default) == Config().completion.idle
    assert listed["receivers.otlp.http.endpoint"].default == "127.0.0.1:4318"
