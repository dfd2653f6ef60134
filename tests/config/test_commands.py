"""`otel-eval config` and `otel-eval init`, as a script sees them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from typer.testing import CliRunner, Result

from otel_eval.cli.main import app
from tests.certificates import self_signed


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_init_then_check(here: Path) -> None:
    """What init writes, check accepts; it does not overwrite unless told."""
    assert run("init").exit_code == 0
    checked = run("config", "check")
    assert (checked.exit_code, checked.stdout) == (
        0,
        "otel-eval.yaml: ok (3 evaluators, 3 bound to agents; verdicts go to the ledger alone)\n",
    )
    again = run("init")
    assert (again.exit_code, again.stderr) == (2, "otel-eval: otel-eval.yaml is there already: --force overwrites it\n")
    (here / "otel-eval.yaml").write_text("changed")
    assert run("init", "--force").exit_code == 0
    assert (here / "otel-eval.yaml").read_text() == run("init", "-").stdout


def test_check_tells_every_mistake(here: Path) -> None:
    """On standard error, one line each, with exit status 2."""
    (here / "c.yaml").write_text("emit: {max_agents: 0}\nevaluators:\n  e: {check: nonsense}\n")
    checked = run("config", "check", "--config", "c.yaml")
    assert (checked.exit_code, checked.stdout) == (2, "")
    lines = checked.stderr.splitlines()
    assert lines[0] == "c.yaml:1: emit.max_agents: found 0; allowed: a whole number from 1 to 10000"
    assert lines[1].startswith("c.yaml:3: evaluators.e.check: there is no check 'nonsense'")
    assert lines[2] == "2 mistakes"


def test_check_imports_custom_evaluators_unless_told_not_to(here: Path) -> None:
    """A start would fail on a missing package; a machine without it may check the rest."""
    (here / "c.yaml").write_text("evaluators: {e: {use: 'no_such_package.x:Y'}}")
    assert run("config", "check", "-c", "c.yaml").exit_code == 2
    assert run("config", "check", "-c", "c.yaml", "--no-imports").exit_code == 0


def test_check_wants_a_model_for_judges(here: Path) -> None:
    """A server with judges and no model to ask would judge nothing."""
    (here / "c.yaml").write_text("evaluators: {t: {builtin: toxicity}}")
    checked = run("config", "check", "-c", "c.yaml")
    assert checked.exit_code == 2
    assert "judge_models.default" in checked.stderr


def test_check_tells_what_only_a_start_needs_beside_the_rest(here: Path) -> None:
    """All at once: an import, a model for a judge, a file, and a key out of its bounds."""
    (here / "c.yaml").write_text(
        "receivers: {otlp: {grpc: {tls: {cert_file: nope, key_file: c.yaml}}}}\n"
        "emit: {max_agents: 0}\n"
        "evaluators:\n  a: {use: 'nomod:X'}\n  b: {judge: {criterion: x}}\n"
    )
    lines = run("config", "check", "-c", "c.yaml").stderr.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["c.yaml:1", "receivers.otlp.grpc.tls.cert_file"],
        ["c.yaml:1", "receivers.otlp.grpc.tls.key_file"],
        ["c.yaml:2", "emit.max_agents"],
        ["c.yaml:4", "evaluators.a.use"],
        ["c.yaml:5", "evaluators.b"],
        ["5 mistakes"],
    ]
    assert lines[0].endswith("tls.cert_file: the file cannot be read: No such file or directory")


def test_check_without_the_files_of_another_machine(here: Path) -> None:
    """A file may be there where the server will run."""
    (here / "c.yaml").write_text("exporters: {otlp: {endpoint: 'https://c:1', tls: {ca_file: /nope}}}")
    assert run("config", "check", "-c", "c.yaml").exit_code == 2
    assert run("config", "check", "-c", "c.yaml", "--no-files").exit_code == 0


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("none", ""),
        ("another's", "the certificate and the key cannot be used: they do not belong together"),
        ("encrypted", "the key is encrypted, and there is nobody to ask for its password"),
        ("nonsense", "the certificate and the key cannot be used: "),
    ],
)
@pytest.mark.parametrize(
    "at", ["receivers: {otlp: {grpc: {tls: %s}}}", "exporters: {otlp: {endpoint: 'https://c:1', tls: %s}}"]
)
def test_check_tries_the_certificate_and_its_key(here: Path, broken: str, said: str, at: str) -> None:
    """As a start does: what OpenSSL refuses is told at the key that names it."""
    cert, key = self_signed(here)
    if broken == "another's":
        (here / "other").mkdir()
        key = self_signed(here / "other")[1]
    elif broken == "encrypted":
        private = serialization.load_pem_private_key(key.read_bytes(), None)
        key.write_bytes(
            private.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.BestAvailableEncryption(b"secret"),
            )
        )
    elif broken == "nonsense":
        key.write_text("-----BEGIN PRIVATE KEY-----\nbm9uc2Vuc2U=\n-----END PRIVATE KEY-----\n")
    (here / "c.yaml").write_text(at % f"{{cert_file: {cert}, key_file: {key}}}")
    checked = run("config", "check", "-c", "c.yaml")
    assert checked.exit_code == (2 if said else 0), checked.stderr
    assert said in checked.stderr
    if said:
        assert "tls.key_file: " in checked.stderr.splitlines()[0]


@pytest.mark.parametrize(
    ("directory", "said"),
    [
        ("file", "is there, and is no directory"),
        ("file/data", "file is there, and is no directory"),
        ("broken", "broken is there, and is no directory"),
        ("~nobody-of-that-name/data", "Could not determine home directory."),
    ],
)
def test_check_looks_at_the_storage_directory(here: Path, directory: str, said: str) -> None:
    """Where a start could not make it; and makes nothing itself."""
    (here / "file").touch()
    (here / "broken").symlink_to(here / "nowhere")
    (here / "c.yaml").write_text(f"storage:\n  directory: {directory}\n")
    checked = run("config", "check", "-c", "c.yaml")
    assert (checked.exit_code, checked.stderr.splitlines()[0].endswith(said)) == (2, True), checked.stderr
    assert checked.stderr.startswith("c.yaml:2: storage.directory: ")
    assert run("config", "check", "-c", "c.yaml", "--no-files").exit_code == 0
    (here / "c.yaml").write_text("storage: {directory: a/b/c}")
    assert run("config", "check", "-c", "c.yaml").exit_code == 0
    assert not (here / "a").exists()


def test_check_refuses_the_storage_directories_that_a_start_refuses(here: Path) -> None:
    """One that others may enter and that holds what is not ours; a name that the file system does not take."""
    (here / "shared").mkdir()
    (here / "shared").chmod(0o755)
    (here / "c.yaml").write_text("storage: {directory: shared}")
    assert run("config", "check", "-c", "c.yaml").exit_code == 0  # empty: a start closes it
    (here / "shared/notes.txt").touch()
    refused = run("config", "check", "-c", "c.yaml").stderr.splitlines()[0]
    assert refused.endswith("(mode 0755): give otel-eval a directory of its own, or close this one with chmod 700")
    (here / "shared/journal.db").touch()
    assert run("config", "check", "-c", "c.yaml").exit_code == 0  # ours: a start closes it
    assert (here / "shared").stat().st_mode & 0o777 == 0o755
    (here / "c.yaml").write_text(f"storage: {{directory: made/{'n' * 256}}}")
    assert "a name in it is longer than the 255 bytes" in run("config", "check", "-c", "c.yaml").stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///nowhere/a/ledger.db", "nowhere, and only the one that the file lies in is made"),
        ("sqlite:///notes.txt", "notes.txt is no ledger: it is no SQLite database"),
        ("sqlite:///folder", "folder is a directory"),
        ("sqlite:///folder/ledger.db", ""),
        ("sqlite:///new/ledger.db", ""),
        ("sqlite:///empty.db?timeout=5", ""),
        ("postgresql://db/otel_eval", ""),
    ],
)
def test_check_looks_at_the_ledgers_file(here: Path, url: str, said: str) -> None:
    """Where a start could neither open nor make it; and makes nothing itself."""
    (here / "folder").mkdir()
    (here / "empty.db").touch()
    (here / "notes.txt").write_text("buy milk")
    (here / "c.yaml").write_text(f"ledger: {{url: '{url}'}}")
    checked = run("config", "check", "-c", "c.yaml")
    assert (checked.exit_code, said in checked.stderr) == (2 if said else 0, True), checked.stderr
    assert not (here / "new").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_check_tells_a_storage_directory_that_cannot_be_written_to(here: Path) -> None:
    """It, or what it would be made in."""
    (here / "closed").mkdir(mode=0o500)
    for directory, said in (("closed", "cannot be written to"), ("closed/data", "closed/data cannot be made")):
        (here / "c.yaml").write_text(f"storage: {{directory: {directory}}}")
        assert run("config", "check", "-c", "c.yaml").stderr.splitlines()[0].endswith(said)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317"}, "http://c:4317, as OTEL_EXPORTER_OTLP_* says"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"},
            "http://c:4318/v1/logs, as OTEL_EXPORTER_OTLP_* says",
        ),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://ann:s3cr3t@c:4318", "OTEL_TRACES_EXPORTER": "none"},
            "http://***@c:4318/v1/logs, as OTEL_EXPORTER_OTLP_* says",
        ),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c:4317"}, "the ledger alone"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_SDK_DISABLED": "true"}, "the ledger alone"),
    ],
)
def test_check_says_where_verdicts_go(
    here: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
) -> None:
    """The environment decides where the configuration does not."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run("config", "check").stdout.endswith(f"verdicts go to {said})\n")


def test_serve_starts_nothing_where_check_finds_a_mistake(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words and the same status, and no directory of data."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
    (here / "otel-eval.yaml").write_text("receivers: {otlp: {http: {tls: {cert_file: nope, key_file: nope}}}}")
    checked, served = run("config", "check"), run("serve")
    assert (checked.exit_code, served.exit_code) == (2, 2)
    assert "OTEL_EXPORTER_OTLP_PROTOCOL is grpc or http/protobuf, not 'http/json'" in checked.stderr
    assert [line for line in checked.stderr.splitlines()[:-1] if line not in served.stderr] == []
    assert "Traceback" not in served.stderr
    assert not (here / "otel-eval-data").exists()


def test_a_file_that_is_not_there(here: Path) -> None:
    """Exit status 2 and its name."""
    checked = run("config", "check", "-c", "nope.yaml")
    assert (checked.exit_code, checked.stderr.splitlines()[0]) == (2, "nope.yaml: No such file or directory")


def test_the_schema_is_json(here: Path) -> None:
    """For `otel-eval config schema > file`."""
    assert json.loads(run("config", "schema").stdout)["title"] == "otel-eval configuration"
