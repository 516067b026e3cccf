"""What deploy/ says is what the programs are: checked against schemas, the settings and the commands."""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from conversation_service.settings import Settings as ConversationSettings
from draft_service.settings import Settings as DraftSettings
from gateway.settings import Settings as GatewaySettings

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent
FILES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
KNOWN = {
    f"STEMMA_{name}".upper()
    for settings in (ConversationSettings, DraftSettings, GatewaySettings)
    for name in settings.model_fields
}


def documents() -> Iterator[dict[str, Any]]:
    for file in FILES:
        yield from yaml.safe_load_all(file.read_text())


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and pod template of everything that runs."""
    for document in documents():
        if document["kind"] in {"Deployment", "Job"}:
            yield document["metadata"]["name"], document["spec"]["template"]["spec"]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_kubernetes_knows_every_field(file: Path) -> None:
    for document in yaml.safe_load_all(file.read_text()):
        kubernetes_validate.validate(document, "1.37", strict=True)


def test_the_kustomization_names_every_file() -> None:
    kustomization = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())
    assert sorted(DEPLOY / name for name in kustomization["resources"]) == FILES
    [envoy] = kustomization["configMapGenerator"]
    for entry in envoy["files"]:
        assert (DEPLOY / entry.partition("=")[2]).is_file()


def test_compose_and_dockerfile_are_well_formed() -> None:
    schema = [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec"]
    for command in ([*schema, DEPLOY / "compose.yaml"], [BIN / "hadolint", DEPLOY / "Dockerfile"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_runs_as_root_or_writes_to_its_file_system() -> None:
    names = []
    for name, pod in pods():
        names.append(name)
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"] is True
            assert security["allowPrivilegeEscalation"] is False
            assert security["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]
    assert sorted(names) == ["conversation", "draft", "envoy", "gateway", "migrate"]
    for name, service in compose()["services"].items():
        assert name == "postgres" or (service["read_only"] and service["cap_drop"] == ["ALL"]), name


def test_what_serves_is_probed_and_may_lose_one_at_a_time() -> None:
    budgets = {one["metadata"]["name"] for one in documents() if one["kind"] == "PodDisruptionBudget"}
    for document in documents():
        if document["kind"] != "Deployment":
            continue
        name = document["metadata"]["name"]
        assert name in budgets
        assert document["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
        [container] = document["spec"]["template"]["spec"]["containers"]
        assert "readinessProbe" in container
        if name != "envoy":
            assert {"startupProbe", "livenessProbe"} <= set(container)


def test_every_command_is_one() -> None:
    commands = [
        container["command"] for _, pod in pods() for container in pod["containers"] if "command" in container
    ]
    commands += [
        one["command"] for name, one in compose()["services"].items() if name not in {"postgres", "envoy"}
    ]
    assert len(commands) == 8
    for command in commands:
        if command[0] == "python":
            assert importlib.util.find_spec(f"{command[2]}.__main__"), command
        else:
            done = subprocess.run(
                [BIN / command[0], *command[1:], "--help"], capture_output=True, check=False
            )
            assert done.returncode == 0, command


def test_every_setting_is_one() -> None:
    for file in [*FILES, DEPLOY / "compose.yaml"]:
        used = set(re.findall(r"^\s*-? ?(?:\{name: )?(STEMMA_\w+):? ?", file.read_text(), re.MULTILINE))
        assert used <= KNOWN, (file.name, used - KNOWN)


def test_the_image_gets_all_that_the_wheel_is_made_of() -> None:
    kept = (ROOT / ".dockerignore").read_text().split()
    for line in ("!kernel", "!conversation_service", "!draft_service", "!gateway", "!cli", "!protos/gen"):
        assert line in kept
    for path in (line[1:] for line in kept if line.startswith("!")):
        assert (ROOT / path).exists(), path
