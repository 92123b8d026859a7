"""The Helm chart makes manifests that Kubernetes accepts, and refuses values that would not work."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from intaglio.service.http.interface import OPERATIONS

from tests.support.helm_templates import Chart, ChartFailed, merged
from tests.support.variables import known_variables

FOLDER = Path(__file__).parents[2] / "deploy/helm/intaglio"
CHART = Chart(FOLDER)
KUBERNETES = "1.30"

CASES: dict[str, dict[str, Any]] = {
    "least": {"keysSecret": "keys"},
    "open": {"anonymous": True},
    "gpus": {
        "keysSecret": "keys",
        "gpus": 4,
        "model": {
            "path": "/models/qwen3-8b",
            "volume": {"persistentVolumeClaim": {"claimName": "models"}},
        },
        "environment": {"INTAGLIO_ENGINE_MAX_RUNNING": 512},
        "resources": {"requests": {"cpu": "8"}, "limits": {"memory": "64Gi"}},
        "nodeSelector": {"pool": "gpu"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "imagePullSecrets": [{"name": "registry"}],
        "podAnnotations": {"team": "data"},
    },
    "data": {
        "keysSecret": "keys",
        "data": {"enabled": True, "storageClass": "fast"},
        "networkPolicy": {"enabled": True, "from": [{"podSelector": {}}]},
    },
    "scaled": {
        "keysSecret": "keys",
        "autoscaling": {"enabled": True},
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "networkPolicy": {"enabled": True},
    },
    "three": {"keysSecret": "keys", "replicas": 3},
}


def manifest(case: str, kind: str) -> dict[str, Any]:
    (found,) = (each for each in CHART.manifests(CASES[case]) if each["kind"] == kind)
    return found


def container(case: str) -> dict[str, Any]:
    pod = manifest(case, "Deployment")["spec"]["template"]["spec"]
    (found,) = pod["containers"]
    return dict(found)


@pytest.mark.parametrize("case", CASES)
def test_kubernetes_accepts_the_manifests(case: str) -> None:
    made = CHART.manifests(CASES[case])
    assert {"Deployment", "Service"} <= {each["kind"] for each in made}
    for each in made:
        if each["kind"] != "ServiceMonitor":  # of the operator of Prometheus, not of Kubernetes
            kubernetes_validate.validate(each, KUBERNETES, strict=True)


def test_a_manifest_with_a_mistake_is_noticed() -> None:
    broken = manifest("least", "Service")
    broken["spec"]["ports"][0]["port"] = "http"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, KUBERNETES, strict=True)


def test_values_are_described_by_their_schema() -> None:
    schema = json.loads((FOLDER / "values.schema.json").read_text("utf-8"))
    for case in CASES.values():
        jsonschema.validate(merged(CHART.defaults, case), schema)
    for wrong in ({"replicaCount": 2}, {"gpus": -1}, {"environment": {"lower": "x"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(merged(CHART.defaults, wrong), schema)


def test_every_value_is_used_and_every_used_value_exists() -> None:
    def paths(value: Any, prefix: str = "") -> set[str]:
        if not isinstance(value, dict) or not value:
            return {prefix}
        return set().union(
            *(paths(inner, f"{prefix}.{key}".strip(".")) for key, inner in value.items())
        )

    used = CHART.paths()
    declared = paths(CHART.defaults)
    within = {path for path in declared if any(path.startswith(f"{each}.") for each in used)}
    assert declared - within <= used
    assert {each for each in used if each not in declared} <= {
        path.rpartition(".")[0] for path in declared
    }


def test_a_chart_without_keys_must_say_so() -> None:
    with pytest.raises(ChartFailed, match="keysSecret"):
        CHART.manifests({})


@pytest.mark.parametrize("more", [{"replicas": 2}, {"autoscaling": {"enabled": True}}])
def test_jobs_are_of_one_pod(more: dict[str, Any]) -> None:
    with pytest.raises(ChartFailed, match="one replica"):
        CHART.manifests({"keysSecret": "keys", "data": {"enabled": True}, **more})


@pytest.mark.parametrize("case", CASES)
def test_variables_of_the_container_are_settings(case: str) -> None:
    assert {each["name"] for each in container(case)["env"]} <= known_variables()


@pytest.mark.parametrize("case", CASES)
def test_volumes_are_mounted_and_mounts_have_volumes(case: str) -> None:
    pod = manifest(case, "Deployment")["spec"]["template"]["spec"]
    assert {v["name"] for v in pod["volumes"]} == {
        m["name"] for m in container(case)["volumeMounts"]
    }


def test_probes_are_operations() -> None:
    probes = {operation.path for operation in OPERATIONS if operation.probe}
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container("least")[name]["httpGet"]["path"] in probes


def test_a_pod_may_finish_its_requests() -> None:
    pod = manifest("least", "Deployment")["spec"]["template"]["spec"]
    grace = {each["name"]: each.get("value") for each in container("least")["env"]}
    assert pod["terminationGracePeriodSeconds"] > int(grace["INTAGLIO_SERVICE_GRACE_S"])


def test_gpus_are_engines_and_limits() -> None:
    limits = container("gpus")["resources"]["limits"]
    assert (limits["nvidia.com/gpu"], limits["memory"]) == (4, "64Gi")
    variables = {each["name"]: each["value"] for each in container("gpus")["env"]}
    assert variables["INTAGLIO_SERVICE_ENGINES"] == "4"
    assert container("gpus")["args"] == ["serve", "--model", "/models/qwen3-8b"]


@pytest.mark.skipif(shutil.which("helm") is None, reason="needs helm")
@pytest.mark.parametrize("case", CASES)
def test_helm_makes_the_same(case: str, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump(CASES[case]))
    for command in (("lint", "--strict", FOLDER), ("template", "test", FOLDER)):
        done = subprocess.run(
            ["helm", *map(str, command), "--values", str(values)],
            capture_output=True,
            text=True,
            check=True,
        )
    made = [document for document in yaml.safe_load_all(done.stdout) if document]
    key = lambda each: each["kind"]  # noqa: E731  local and short
    assert sorted(made, key=key) == sorted(CHART.manifests(CASES[case]), key=key)
