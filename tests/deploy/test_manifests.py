"""What runs otel-eval elsewhere, checked as far as goes without an engine or a cluster: by schemas and by a linter."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from otel_eval.config import load

REPOSITORY = Path(__file__).parents[2]
DEPLOY = REPOSITORY / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))


def program(name: str) -> str:
    """A program of the development environment; skips the test where it is not installed."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        pytest.skip(f"missing: {name} — pip install 'otel-eval[dev]'")
    return str(path)


def resources() -> list[dict[str, Any]]:
    """Every resource in deploy/kubernetes."""
    return [each for path in MANIFESTS for each in yaml.safe_load_all(path.read_text())]


def of_kind(kind: str, name: str) -> dict[str, Any]:
    """The one resource of that kind and name."""
    (found,) = [each for each in resources() if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_manifests_fit_the_schemas(path: Path) -> None:
    """The API's schemas accept each resource, and no field is one that they do not know."""
    command = [program("kubernetes-validate"), "--strict", str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_dockerfile_passes_its_linter() -> None:
    """hadolint has nothing to say about the Dockerfile."""
    command = [program("hadolint"), str(DEPLOY / "Dockerfile")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, "")


def test_the_image_runs_as_nobody_in_particular() -> None:
    """The last stage, the one that is built by default, ends as a user that is not root, and says how it is."""
    last = (DEPLOY / "Dockerfile").read_text().split("\nFROM ")[-1]
    assert "USER 65532:65532" in last
    assert "HEALTHCHECK" in last


def test_compose_fits_the_specification() -> None:
    """The compose file is valid, and what its services depend on are services of it."""
    if importlib.util.find_spec("compose_spec") is None:
        pytest.skip("missing: compose-spec — pip install 'otel-eval[dev]'")
    compose_spec = importlib.import_module("compose_spec")
    compose = compose_spec.PyCompose.from_yaml((DEPLOY / "compose.yaml").read_text())
    compose.validate()
    assert set(compose.service_names()) >= {"agent", "collector", "otel-eval", "prometheus", "jaeger", "grafana"}


def test_compose_mounts_what_is_there() -> None:
    """Each file or folder that a service mounts from the repository exists."""
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    mounts = [mount.split(":")[0] for service in services.values() for mount in service.get("volumes", ())]
    sources = [DEPLOY / mount for mount in mounts if mount.startswith(".")]
    assert len(sources) >= 7
    assert [path for path in sources if not path.exists()] == []


def test_dashboards_are_linked_to_the_trace_backend() -> None:
    """The exemplars' data source is one that is provisioned, so that a point leads to its trace."""
    provisioned = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/otel-eval.yaml").read_text())[
        "datasources"
    ]
    (prometheus,) = [each for each in provisioned if each["type"] == "prometheus"]
    (destination,) = prometheus["jsonData"]["exemplarTraceIdDestinations"]
    assert destination["name"] == "trace_id"
    assert destination["datasourceUid"] in {each["uid"] for each in provisioned}


def test_prometheus_is_configured_alike_wherever_collectors_are() -> None:
    """prometheus-compose.yaml and -kubernetes.yaml are prometheus.yaml but for where collectors are."""
    one, *others = (
        yaml.safe_load((DEPLOY / "prometheus" / f"{name}.yaml").read_text())
        for name in ("prometheus", "prometheus-compose", "prometheus-kubernetes")
    )
    for configuration in (one, *others):
        (scrape,) = configuration["scrape_configs"]
        assert scrape.pop("static_configs", None) or scrape.pop("dns_sd_configs")
    assert others == [one, one]


def test_prometheus_finds_every_collector_pod() -> None:
    """The name that Prometheus resolves is of a headless Service with the collectors' labels, its port that of metrics."""
    configuration = yaml.safe_load((DEPLOY / "prometheus" / "prometheus-kubernetes.yaml").read_text())
    (found,) = configuration["scrape_configs"][0]["dns_sd_configs"]
    service, pods = of_kind("Service", found["names"][0])["spec"], of_kind("Deployment", "otelcol")["spec"]["template"]
    assert service["clusterIP"] == "None"
    assert service["selector"] == pods["metadata"]["labels"]
    ports = {port["name"]: port["containerPort"] for port in pods["spec"]["containers"][0]["ports"]}
    assert found["port"] == ports["metrics"]


@pytest.mark.parametrize("where", ["compose", "kubernetes", "quickstart"])
def test_configurations_of_otel_eval_are_accepted(where: str, tmp_path: Path) -> None:
    """otel-eval itself has no mistake to report in the configurations that ship."""
    texts = {
        "compose": (DEPLOY / "otel-eval.yaml").read_text(),
        "kubernetes": of_kind("ConfigMap", "otel-eval")["data"]["otel-eval.yaml"],
        "quickstart": (REPOSITORY / "docs" / "quickstart.md").read_text().split("```yaml\n")[1].split("```")[0],
    }
    path = tmp_path / "otel-eval.yaml"
    path.write_text(texts[where])
    assert load(path, {"OTEL_EVAL_LOOP_GUARD_KEY": "0123456789abcdef" * 4}).evaluators


def test_replicas_in_the_ring_are_those_of_the_stateful_set() -> None:
    """The collector's ring names every pod of the StatefulSet by its headless service, and no other."""
    replicas = of_kind("StatefulSet", "otel-eval")["spec"]
    ring = yaml.safe_load((DEPLOY / "collector" / "replicas.yaml").read_text())["exporters"]
    for exporter in ring.values():
        names = [name.split(":-")[1].rstrip("}") for name in exporter["resolver"]["static"]["hostnames"]]
        expected = [f"otel-eval-{index}.{replicas['serviceName']}:4317" for index in range(replicas["replicas"])]
        assert names == expected
        assert (exporter["routing_key"], exporter["routing_attributes"]) == ("attributes", ["otel_eval.route"])


def test_pods_run_without_privileges_and_with_probes() -> None:
    """Every container: not root, nothing to escalate to, a read-only root, a readiness and a liveness probe, a limit."""
    pods = [each["spec"]["template"]["spec"] for each in resources() if each["kind"] in ("StatefulSet", "Deployment")]
    assert len(pods) == 2
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["terminationGracePeriodSeconds"] >= 30
        for container in pod["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            assert {"readinessProbe", "livenessProbe"} <= set(container)
            assert container["resources"]["limits"]["memory"]


def test_replicas_get_one_loop_guard_key_from_a_secret() -> None:
    """Every replica has the key of the Secret, and does not start without it; compose hands in one that was set."""
    (container,) = of_kind("StatefulSet", "otel-eval")["spec"]["template"]["spec"]["containers"]
    (key,) = [each for each in container["env"] if each["name"] == "OTEL_EVAL_LOOP_GUARD_KEY"]
    assert key["valueFrom"] == {"secretKeyRef": {"name": "otel-eval-loop-guard", "key": "key"}}
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["otel-eval"]
    assert compose["environment"]["OTEL_EVAL_LOOP_GUARD_KEY"].startswith("${OTEL_EVAL_LOOP_GUARD_KEY:?")
    for text in ((DEPLOY / "otel-eval.yaml").read_text(), of_kind("ConfigMap", "otel-eval")["data"]["otel-eval.yaml"]):
        assert yaml.safe_load(text)["loop_guard"] == {"key": "${env:OTEL_EVAL_LOOP_GUARD_KEY}"}


def test_the_kubelet_does_not_open_what_the_server_keeps_to_itself() -> None:
    """A volume's files are given to the group once, not at every start, when they are 0600 and 0700 already."""
    pod = of_kind("StatefulSet", "otel-eval")["spec"]["template"]["spec"]
    assert pod["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"


def test_only_otel_eval_reaches_the_receiver_for_verdicts() -> None:
    """A policy opens the collector's port for verdicts to otel-eval's pods, and every other port of it by name."""
    rules = of_kind("NetworkPolicy", "otelcol")["spec"]["ingress"]
    (container,) = of_kind("Deployment", "otelcol")["spec"]["template"]["spec"]["containers"]
    reach = {port["port"]: rule.get("from") for rule in rules for port in rule["ports"]}
    assert set(reach) == {port["name"] for port in container["ports"]}
    assert [name for name, who in reach.items() if who] == ["verdicts"]
    labels = of_kind("StatefulSet", "otel-eval")["spec"]["template"]["metadata"]["labels"]
    assert reach["verdicts"] == [{"podSelector": {"matchLabels": labels}}]


def test_published_ports_are_on_loopback() -> None:
    """Nothing of the trial stack, which has no login, is reachable from another machine."""
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    ports = [port for service in services.values() for port in service.get("ports", ())]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []
