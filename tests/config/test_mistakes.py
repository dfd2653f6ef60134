"""What a person reads who made a mistake: the key, the line, what was found, what is allowed."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from otel_eval.config import ConfigError, parse
from otel_eval.config.reference import keys
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.from_config import from_check

ENVIRON = {"SECRET": "hush-hush", "EMPTY": "", "BYTES": "hush\udcff"}
RATIO = "a ratio from 0 to 1"
KINDS = "check, builtin, judge, label_judge, use"
BINDING_KEYS = (
    "enabled, trigger, sampling_ratio, sample_by, sampling_group, trigger_on_failure, trigger_on_incomplete, "
    "nested, service, environment"
)
BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))


def said(spec: Any) -> str:
    """What the makers of exact evaluators say of a check: their words, behind our path."""
    with pytest.raises(EvaluatorDefinitionError) as caught:
        from_check(spec)
    return str(caught.value)


def on(entry: str, kind: str = "check: should_not_fail") -> str:
    return f"evaluators:\n  e:\n    {kind}\n    {entry}"


def binding(settings: str) -> str:
    return on(f"agents: {{a: {{{settings}}}}}")


def api(auth: str, *others: str) -> str:
    return f"api:\n  {{{', '.join([*others, 'enabled: true', f'auth: {{{auth}}}'])}}}"


def model(settings: str) -> str:
    return f"judge_models:\n  default: {{model: openai/gpt-4o-mini, {settings}}}"


MISTAKES = [
    # characters
    (r'storage: {directory: "a\0b"}', "1: storage.directory: U+0000 cannot stand in a text"),
    (r'roles: {"a\ud800": {agents: ["*"]}}', r'1: roles."a\ud800": U+D800 cannot stand in a text'),
    (on(r'agents: [a, "\0"]'), "4: evaluators.e.agents[1]: U+0000 cannot stand in a text"),
    ("storage: {directory: '${env:BYTES}'}", "1: storage.directory: U+DCFF cannot stand in a text"),
    (r'"\e[31m": 1', r'1: "\x1b[31m": unknown key; allowed: receivers, exporters, forward, '
        "api, server, storage, ledger, loop_guard, completion, dispatch, emit, redaction, judges, judge_models, roles, evaluators"),
    # keys
    ("recievers: {}", "1: recievers: unknown key; did you mean 'receivers'? allowed: receivers, exporters, forward, "
        "api, server, storage, ledger, loop_guard, completion, dispatch, emit, redaction, judges, judge_models, roles, evaluators"),
    (binding("sample_ratio: 1"), f"4: evaluators.e.agents.a.sample_ratio: unknown key; did you mean 'sampling_ratio'? allowed: {BINDING_KEYS}"),
    (on("sampling_ratio: 0.5"), "4: evaluators.e.sampling_ratio: unknown key here: it belongs to an entry of agents or agent_roles"),
    ("api: {enabled: true}", "1: api.auth: nobody could call it: give tokens, or without_token: [read, evaluate] for loopback"),
    (api("tokens: {a: {token: hush-hush, scopes: [write]}, b: {token: 0123456789abcdef, scopes: []}}"),
        "2: api.auth.tokens.a.scopes[0]: found 'write'; allowed: read, evaluate\n"
        "2: api.auth.tokens.a.token: found text; allowed: a secret of 16 characters or more\n"
        "2: api.auth.tokens.b.scopes: found a list; allowed: read, evaluate or both: a token without a scope is good for nothing"),
    (api("tokens: {a: {token: 0123456789abcdef, scopes: read}, b: {token: 0123456789abcdef, scopes: evaluate}}"),
        "2: api.auth.tokens.b.token: is no token of its own: tokens.a has it"),
    (api("tokens: {a: {token: 0123456789abcdef, scopes: read}}")
        + "\nreceivers: {otlp: {http: {auth: {bearer_token: 0123456789abcdef}}}}",
        "2: api.auth.tokens.a.token: is no token of its own: receivers.otlp.http.auth.bearer_token has it: who may send may not read"),
    (api("without_token: read", "endpoint: 0.0.0.0:4319"),
        "2: api.auth.without_token: whoever reaches 0.0.0.0:4319 could read conversations: give tokens, or tls.client_ca_file"),
    (api("without_token: read", "endpoint: 127.0.0.1:4318"),
        "2: api.endpoint: the receivers' http listener has that address already"),
    (api("tokens: {a: {token: '${env:NOT_SET}', scopes: read}}"),
        "2: api.auth.tokens.a.token: the environment variable NOT_SET is not set (${env:NOT_SET:-default} gives a default)"),
    ("storage: {x: 1}", "1: storage.x: unknown key; allowed: directory, max_journal_bytes, retention"),
    ("storage:\n  directory: a\n  directory: b", "3: storage.directory: the key occurs twice: first in line 2"),
    ("- a list", "1: the file is a mapping of sections; found something else"),
    ("a: 1\nb: \0", "2: not YAML: U+0000 cannot stand in it"),
    ("a: " + "[" * 2000 + "]" * 2000, "1: nested deeper than a configuration can be"),
    (BOMB, "1: not YAML: its aliases stand for more than 100000 values"),
    ("a: [1", "1: not YAML: expected ',' or ']', but got '<stream end>'"),
    ("evaluators:\n  e:\n    judge:\n      criterion: a: b", "4: not YAML: mapping values are not allowed here (quote a text that has ': ' in it)"),
    ("a: &a [*a]", "1: a[0]: an alias that contains itself"),
    ("storage: !!python/object:os.system {}", "1: storage: the tag tag:yaml.org,2002:python/object:os.system is not known"),
    # kinds of values
    ("completion: {settle: 2}", "1: completion.settle: found 2; allowed: a duration with its unit, as 250ms, 2s or 10m"),
    ("completion: {settle: 2 sec}", "1: completion.settle: found '2 sec'; allowed: a duration with its unit, as 250ms, 2s or 10m"),
    ("completion: {settle: -2s}", "1: completion.settle: found '-2s'; allowed: a duration with its unit, as 250ms, 2s or 10m"),
    (binding("sampling_ratio: 10"), f"4: evaluators.e.agents.a.sampling_ratio: found 10; allowed: {RATIO} (10 is not 10 %: write 0.1)"),
    (binding("sampling_ratio: 10%"), f"4: evaluators.e.agents.a.sampling_ratio: found '10%'; allowed: {RATIO} (write 0.1)"),
    (binding("sampling_ratio: -1"), f"4: evaluators.e.agents.a.sampling_ratio: found -1; allowed: {RATIO}"),
    (binding("sampling_ratio: .nan"), f"4: evaluators.e.agents.a.sampling_ratio: found nan; allowed: {RATIO}"),
    (binding("sampling_ratio: true"), f"4: evaluators.e.agents.a.sampling_ratio: found true; allowed: {RATIO}"),
    (binding("sampling_ratio: half"), f"4: evaluators.e.agents.a.sampling_ratio: found 'half'; allowed: {RATIO}"),
    ("dispatch: {max_concurrency: 0}", "1: dispatch.max_concurrency: found 0; allowed: a whole number from 1 to 10000"),
    ("dispatch: {max_concurrency: 1.5}", "1: dispatch.max_concurrency: found 1.5; allowed: a whole number from 1 to 10000"),
    ("dispatch: {max_concurrency: true}", "1: dispatch.max_concurrency: found true; allowed: a whole number from 1 to 10000"),
    ("dispatch: {max_concurrency: .inf}", "1: dispatch.max_concurrency: found inf; allowed: a whole number from 1 to 10000"),
    ("emit: {content: yes}", "1: emit.content: found 'yes'; allowed: true or false"),
    ("emit: {content: 1}", "1: emit.content: found 1; allowed: true or false"),
    ("emit: 5", "1: emit: found 5; allowed: a mapping of keys to values"),
    ("ledger: {url: 'sqlite://'}", "1: ledger.url: found text; allowed: a file of SQLite's, as sqlite:///ledger.db: what is in memory is gone with its process"),
    ("ledger: {url: 'sqlite:///:memory:'}", "1: ledger.url: found text; allowed: a file of SQLite's, as sqlite:///ledger.db: what is in memory is gone with its process"),
    ("storage: {directory: 5}", "1: storage.directory: found 5; allowed: text (quote it, if it is meant as text)"),
    ("storage: {directory: ' '}", "1: storage.directory: found ' '; allowed: text that is not blank"),
    ("redaction: {builtin: email}", "1: redaction.builtin: found 'email'; allowed: a list"),
    ("redaction: {builtin: [e-mail]}", "1: redaction.builtin[0]: found 'e-mail'; allowed: api_key, email, iban, payment_card, phone; did you mean 'email'?"),
    ("redaction: {patterns: {order: '['}}", "1: redaction.patterns.order: found '['; allowed: a regular expression (unterminated character set at position 0)"),
    # bounds
    ("completion: {idle: 0s}", "1: completion.idle: found '0s'; allowed: a duration from 1ms to 365d"),
    ("completion: {settle: 400d}", "1: completion.settle: found '400d'; allowed: a duration from 0s to 365d"),
    (f"completion: {{settle: {'9' * 50}d}}", f"1: completion.settle: found '{'9' * 50}d'; allowed: a duration from 0s to 365d"),
    ("dispatch: {evaluator_timeout: 0s}", "1: dispatch.evaluator_timeout: found '0s'; allowed: a duration from 1ms to 1d"),
    ("exporters: {otlp: {endpoint: 'c:1', timeout: 2d}}", "1: exporters.otlp.timeout: found '2d'; allowed: a duration from 1ms to 1d"),
    ("emit: {metrics_interval: 1ms}", "1: emit.metrics_interval: found '1ms'; allowed: a duration from 100ms to 1h"),
    (model("timeout: 0s"), "2: judge_models.default.timeout: found '0s'; allowed: a duration from 1ms to 1d"),
    (model("temperature: 20"), "2: judge_models.default.temperature: found 20; allowed: a number from 0 to 2"),
    (model("daily_budget_usd: .nan"), "2: judge_models.default.daily_budget_usd: found nan; allowed: a number from 0 to 1000000"),
    ("dispatch: {max_concurrency: 1000000}", "1: dispatch.max_concurrency: found 1000000; allowed: a whole number from 1 to 10000"),
    ("receivers: {otlp: {grpc: {max_message_bytes: 2147483648}}}", "1: receivers.otlp.grpc.max_message_bytes: found 2147483648; allowed: a whole number from 1024 to 2147483647"),
    ("storage: {max_journal_bytes: 5}", "1: storage.max_journal_bytes: found 5; allowed: a whole number from 1048576 to 1125899906842624"),
    ("redaction: {patterns: {E-Mail: x}}", "1: redaction.patterns.E-Mail: found that key; allowed: a name of lower-case letters, digits and underscores"),
    ("redaction: {patterns: {order: 'o*'}}", "1: redaction.patterns.order: found 'o*'; allowed: a regular expression that does not match nothing at all: its marker would stand everywhere"),
    ("storage: {retention: 30}", "1: storage.retention: found 30; allowed: a duration with its unit, as 250ms, 2s or 10m"),
    ("storage: {retention: 1h}", "1: storage.retention: is longer than completion.max_age and completion.late_window together, which are 1h15m: until then late spans still belong to an Interaction"),
    ("completion: {late_window: 2d}\nstorage: {retention: 2d}", "2: storage.retention: is longer than completion.max_age and completion.late_window together, which are 2d1h: until then late spans still belong to an Interaction"),
    # listeners and endpoints
    ("receivers: {otlp: {grpc: {endpoint: 4317}}}", "1: receivers.otlp.grpc.endpoint: found 4317; allowed: host:port to listen on, as 127.0.0.1:4317 (0.0.0.0 for all interfaces, port 0 for any free one)"),
    ("receivers: {otlp: {http: {endpoint: 'http://a:1'}}}", "1: receivers.otlp.http.endpoint: found 'http://a:1'; allowed: host:port to listen on, as 127.0.0.1:4317 (0.0.0.0 for all interfaces, port 0 for any free one)"),
    ("receivers: {otlp: {grpc: {enabled: false}, http: {enabled: false}}}", "1: receivers.otlp: nothing would listen: grpc and http are both disabled"),
    ("receivers: {otlp: {http: {endpoint: 127.0.0.1:4317}}}", "1: receivers.otlp.http.endpoint: the gRPC listener has that address already"),
    ("receivers: {otlp: {grpc: {tls: {cert_file: a}}}}", "1: receivers.otlp.grpc.tls.key_file: is required"),
    ("exporters: {otlp: {protocol: grpc}}", "1: exporters.otlp.endpoint: is required"),
    ("exporters: {otlp: {endpoint: 'ftp://x'}}", "1: exporters.otlp.endpoint: found 'ftp://x'; allowed: where to send, as http://collector:4317, https://… or host:port"),
    ("exporters: {otlp: {endpoint: 'http://c:1', protocol: http}}", "1: exporters.otlp.protocol: found 'http'; allowed: grpc, http/protobuf"),
    ("exporters: {otlp: {endpoint: 'http://localhost:4317'}}", "1: exporters.otlp.endpoint: is our own listener (receivers.otlp.grpc.endpoint, 127.0.0.1:4317): what is sent there would come straight back"),
    ("forward: {otlp: {endpoint: '127.0.0.1:4318', tls: {cert_file: c}}}", "1: forward.otlp.endpoint: is our own listener (receivers.otlp.http.endpoint, 127.0.0.1:4318): what is sent there would come straight back\n1: forward.otlp.tls: cert_file and key_file go together"),
    ("exporters: {otlp: {endpoint: 'c:0'}}", "1: exporters.otlp.endpoint: found 'c:0'; allowed: where to send, as http://collector:4317, https://… or host:port"),
    ("exporters: {otlp: {endpoint: 'http://[x'}}", "1: exporters.otlp.endpoint: found 'http://[x'; allowed: where to send, as http://collector:4317, https://… or host:port"),
    (f"exporters: {{otlp: {{endpoint: 'http://{'a' * 300}:1'}}}}", f"1: exporters.otlp.endpoint: found 'http://{'a' * 52}…'; allowed: where to send, as http://collector:4317, https://… or host:port"),
    ("exporters: {otlp: {endpoint: 'c:1', headers: {x-bin: a}}}", "1: exporters.otlp.headers.x-bin: found that key; allowed: the name of a header whose value is text: one that ends with -bin is binary over gRPC"),
    ("exporters: {otlp: {endpoint: 'c:1', headers: {'x y': a}}}", "1: exporters.otlp.headers.\"x y\": found that key; allowed: the name of a header: letters, digits and dashes"),
    ("exporters: {otlp: {endpoint: 'c:1', headers: {x: \"a\\n\"}}}", "1: exporters.otlp.headers.x: found text; allowed: text on one line (a line break at its end? it cannot stand in a header)"),
    ("ledger: {url: 'mysql://u:hush-hush@h/d'}", "1: ledger.url: found text; allowed: a URL of SQLite or PostgreSQL, as sqlite:///ledger.db or postgresql://user@host/name"),
    # judge models
    (model("api_key: [1]"), "2: judge_models.default.api_key: found a list; allowed: text"),
    (model("api_key: 12345"), "2: judge_models.default.api_key: found a number; allowed: text (quote it, if it is meant as text)"),
    (model("max_retries: -1"), "2: judge_models.default.max_retries: found -1; allowed: a whole number from 0 to 100"),
    (model("daily_budget_usd: five"), "2: judge_models.default.daily_budget_usd: found 'five'; allowed: a number from 0 to 1000000"),
    ("judge_models: {default: {model: openai/ours, daily_budget_usd: 5}}", "1: judge_models.default.daily_budget_usd: a budget in dollars needs a price, and none is known for 'openai/ours': give price_per_million_tokens"),
    ("judge_models: {default: {}}", "1: judge_models.default.model: is required"),
    ("judge_models:\n  default:", "2: judge_models.default.model: is required"),
    (model("response_format: json-schema"), "2: judge_models.default.response_format: found 'json-schema'; allowed: auto, json_schema, json_object, text; did you mean 'json_schema'?"),
    (model("api_base: 'localhost:8000'"), "2: judge_models.default.api_base: found 'localhost:8000'; allowed: a URL, as https://gateway.example/v1 or http://127.0.0.1:11434"),
    (model("parameters: {timeout: 5}"), "2: judge_models.default.parameters: found a mapping; allowed: further arguments for litellm; timeout has a key of its own, timeout"),
    (model("parameters: {stream: true}"), "2: judge_models.default.parameters: found a mapping; allowed: further arguments for litellm; stream is the judge's to say"),
    (model("fallbacks: [default]"), "2: judge_models.default.fallbacks[0]: 'default' is the model itself: when it is down, so is its fallback"),
    (model("fallbacks: [openai/gpt-4o-mini]"), "2: judge_models.default.fallbacks[0]: 'openai/gpt-4o-mini' is the model itself: when it is down, so is its fallback"),
    (model("fallbacks: [a/b, a/b]"), "2: judge_models.default.fallbacks[1]: 'a/b' is named twice"),
    (model("fallbacks: [spear]") + "\n  spare: {model: a/b}", "2: judge_models.default.fallbacks[0]: no such judge model; did you mean 'spare'? declared under judge_models: default, spare; or a litellm name, as openai/gpt-4o-mini"),
    (on("judge_model: [a]", "builtin: toxicity"), "4: evaluators.e.judge_model: found a list; allowed: text"),
    # environment variables
    ("storage: {directory: '${env:NOT_SET}'}", "1: storage.directory: the environment variable NOT_SET is not set (${env:NOT_SET:-default} gives a default)"),
    ("storage: {directory: '${HOME}'}", "1: storage.directory: ${HOME} is no reference: allowed: ${env:NAME} and ${env:NAME:-default} ($${…} for the text itself)"),
    ("dispatch: {max_concurrency: '${env:SECRET}'}", "1: dispatch.max_concurrency: found '${env:SECRET}'; allowed: a whole number from 1 to 10000"),
    ("emit: {content: '${env:SECRET}x'}", "1: emit.content: found '${env:SECRET}x'; allowed: true or false"),
    # roles
    ("roles: {r: {}}", "1: roles.r: needs agents or attributes: nothing can have it"),
    ("roles: {'*': {agents: [a]}}", "1: roles.\"*\": no role can be called '*': a binding's '*' means every agent that has a role"),
    ("roles: {r: {agents: [1]}}", "1: roles.r.agents[0]: found 1; allowed: text (quote it, if it is meant as text)"),
    # evaluators
    ("evaluators: {e: {agents: [a]}}", f"1: evaluators.e: exactly one of {KINDS} is needed; found none of them"),
    ("evaluators: {e: }", f"1: evaluators.e: exactly one of {KINDS} is needed; found none of them"),
    (on("builtin: toxicity"), f"2: evaluators.e: exactly one of {KINDS} is needed; found check and builtin"),
    ("evaluators: {e: {builtin: toxic}}", "1: evaluators.e.builtin: found 'toxic'; allowed: toxicity, summarization, hallucination; did you mean 'toxicity'?"),
    ("evaluators: {e: {check: should_call_tol}}", f"1: evaluators.e.check: {said('should_call_tol')}"),
    ("evaluators: {e: {check: {should_call_tool: a, should_not_fail: }}}", "1: evaluators.e.check: found a mapping; allowed: one check: a bare name, or a mapping of one name to its argument, arguments or options"),
    ("evaluators: {e: {check: {should_make_at_most_tool_calls: many}}}", f"1: evaluators.e.check: {said({'should_make_at_most_tool_calls': 'many'})}"),
    ("evaluators: {e: {judge: {criterion: x, threshold: 70}}}", f"1: evaluators.e.judge.threshold: found 70; allowed: {RATIO} (70 is not 70 %: write 0.7)"),
    ("evaluators: {e: {judge: {criterion: x, votes: 2}}}", "1: evaluators.e.judge.votes: found 2; allowed: an odd number from 1 to 99"),
    ("evaluators: {e: {judge: {criterion: ''}}}", "1: evaluators.e.judge.criterion: found ''; allowed: text that is not blank"),
    ("evaluators: {e: {judge: {criterion: x, requires: [tool_result]}}}", "1: evaluators.e.judge.requires[0]: found 'tool_result'; allowed: asked, reply, tool_calls, tool_arguments, tool_results, system, history, session, usage; did you mean 'tool_results'?"),
    ("evaluators: {e: {judge: {criterion: x, user: 'See {replay}'}}}", "1: evaluators.e.judge.user: a template has no {replay}; it may name criterion, asked, reply, tools, tool_results, system, history, agent"),
    ("evaluators: {e: {label_judge: {system: s, user: '{reply}', labels: {pass: OK, fail: [bad, ok]}}}}", "1: evaluators.e.label_judge.labels: the label 'ok' both passes and fails"),
    ("evaluators: {e: {label_judge: {system: s, user: '{reply}', labels: {pass: a}}}}", "1: evaluators.e.label_judge.labels.fail: is required"),
    ("evaluators: {e: {use: 'a b'}}", "1: evaluators.e.use: found 'a b'; allowed: an import path, as my_package.evaluators:HouseStyle, or the name of an entry point"),
    (on("options: {a: 1}"), "4: evaluators.e.options: goes with use only"),
    (on("votes: 3"), "4: evaluators.e.votes: goes with builtin; judge and label_judge have a key of that name in them"),
    (on("judge_model: default"), "4: evaluators.e.judge_model: an exact check asks no model"),
    (model("timeout: 9s") + "\nevaluators: {e: {builtin: toxicity, judge_model: defualt}}", "3: evaluators.e.judge_model: no such judge model; did you mean 'default'? declared under judge_models: default; or a litellm name, as openai/gpt-4o-mini"),
    # bindings
    (on("agents: 5"), "4: evaluators.e.agents: found 5; allowed: a list of names, or a mapping of names to settings"),
    (on("agents: [a, a]"), "4: evaluators.e.agents: 'a' is named 2 times"),
    (on("agents: {a: [x]}"), "4: evaluators.e.agents.a: found a list; allowed: a mapping of keys to values"),
    ("roles: {good: {agents: [a]}}\n" + on("agent_roles: [god]"), "5: evaluators.e.agent_roles.god: no such role; did you mean 'good'? declared under roles: good"),
    (binding("trigger: span"), "4: evaluators.e.agents.a.trigger: found 'span'; allowed: interaction"),
    (binding("service: []"), "4: evaluators.e.agents.a.service: found a list; allowed: one text or more: an empty list matches nothing"),
    (binding("sample_by: user"), "4: evaluators.e.agents.a.sample_by: found 'user'; allowed: interaction, trace, session"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MISTAKES, ids=[f"{n:02d}" for n in range(len(MISTAKES))])
def test_a_mistake_is_told_with_its_place(text: str, expected: str) -> None:
    """The whole message, word for word."""
    with pytest.raises(ConfigError) as caught:
        parse(text, ENVIRON, file="f")
    assert str(caught.value) == "\n".join(f"f:{line}" for line in expected.splitlines())


def test_every_mistake_is_told_in_the_order_of_the_file() -> None:
    """Not only the first, whatever kind it is of."""
    text = "\n".join(
        [
            "storage: {directory: '${env:NOT_SET}'}",
            "completion: {settle: 5}",
            "nonsense: 1",
            "evaluators:",
            "  e: {use: a, check: b}",
            "  f: {builtin: toxicity, agents: {a: {sampling_ratio: 3}}}",
        ]
    )
    with pytest.raises(ConfigError) as caught:
        parse(text, {}, file="f")
    assert [mistake.line for mistake in caught.value.mistakes] == [1, 2, 3, 5, 5, 6]


ODD_VALUES = [
    "0s",
    f"{'9' * 400}d",
    "9" * 5000,
    -1,
    0,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "[",
    [],
    [[]],
    [{}],
    {},
    {"x": []},
    True,
]


@pytest.mark.parametrize("path", [key.path for key in keys()])
def test_whatever_stands_at_a_key_is_taken_or_told(path: str) -> None:
    """Never an error of ours, whatever somebody wrote."""
    for value in ODD_VALUES:
        tree: Any = value
        for part in reversed(path.split(".")):
            tree = {part: tree}
        with contextlib.suppress(ConfigError):
            parse(tree, {})


def test_two_models_may_stand_in_for_each_other() -> None:
    """Fallbacks are not followed further, so that is no circle; and what a model falls back on is used, not set aside."""
    both = "judge_models:\n  default: {model: a/b, fallbacks: [spare]}\n  spare: {model: c/d, fallbacks: [default]%s}"
    assert parse(both % "", {}).judge_models["spare"].fallbacks == ("default",)
    needs = both % ", api_key: '${env:NOT_SET}'" + "\nevaluators: {e: {builtin: toxicity}}"
    with pytest.raises(ConfigError, match="NOT_SET is not set"):
        parse(needs, {})


@pytest.mark.parametrize("text", [row[0] for row in MISTAKES], ids=[f"{n:02d}" for n in range(len(MISTAKES))])
def test_no_message_shows_what_a_variable_held(text: str) -> None:
    """A secret in the wrong place stays a secret."""
    with pytest.raises(ConfigError) as caught:
        parse(text, ENVIRON)
    assert "hush" not in str(caught.value)
