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


def test_the_stack_has_the_configuration_of_prometheus_with_another_address() -> None:
    """prometheus-compose.yaml is prometheus.yaml but for the collector's address."""
    one, other = (
        yaml.safe_load((DEPLOY / "prometheus" / name).read_text())
        for name in ("prometheus.yaml", "prometheus-compose.yaml")
    )
    for configuration in (one, other):
        assert configuration["scrape_configs"][0].pop("static_configs")
    assert one == other


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
    assert load(path, {}).evaluators


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
