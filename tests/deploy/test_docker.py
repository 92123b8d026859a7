"""The Dockerfile and the compose file name stages, files and settings that exist."""

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.variables import known_variables

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/docker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text("utf-8")


def instructions() -> Iterator[tuple[str, str]]:
    """The instructions of the Dockerfile, continued lines joined."""
    text = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", DOCKERFILE, flags=re.MULTILINE))
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, rest = line.partition(" ")
        yield name, re.sub(r"\s+", " ", rest).strip()


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    return found


def stages() -> dict[str, str]:
    """Stages of the Dockerfile and what each begins with."""
    parts = (rest.split(" AS ") for name, rest in instructions() if name == "FROM")
    return {stage: source for source, stage in parts}


def test_stages_begin_with_images_or_stages_before() -> None:
    found = stages()
    assert list(found) == ["wheels", "base", "cpu", "cuda"]
    assert found["cpu"] == found["cuda"] == "base"
    assert re.search(r"python:\$\{PYTHON\}-slim", found["wheels"])
    used = set(re.findall(r"from=(\w+)", DOCKERFILE))
    assert used <= set(found)


def test_the_images_run_without_root_and_stop_on_sigterm() -> None:
    users = [rest for name, rest in instructions() if name == "USER"]
    assert users == ["10001:10001", "10001:10001"]
    assert ("STOPSIGNAL", "SIGTERM") in list(instructions())


def test_what_is_built_and_installed_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    built = re.findall(r"\./([\w/]+)", next(r for n, r in instructions() if "pip wheel" in r))
    assert built == ["engine/embedded", "grammar/compiled"]
    assert all((ROOT / folder / "pyproject.toml").is_file() for folder in built)
    (version,) = re.findall(r"^ARG PYTHON=(.*)$", DOCKERFILE, re.MULTILINE)
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_the_context_holds_what_a_build_reads_and_little_else() -> None:
    lines = (FOLDER / "Dockerfile.dockerignore").read_text("utf-8").split()
    assert lines[0] == "*"
    kept = {line[1:] for line in lines if line.startswith("!")}
    assert all(list(ROOT.glob(name)) for name in kept)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    read = {*settings["tool"]["setuptools"]["package-dir"].values(), "setup.py", "pyproject.toml"}
    read |= {settings["project"]["readme"], *settings["project"]["license-files"]}
    assert {name.split("/")[0] for name in read} <= kept
    assert not any(fnmatch("tests", name) for name in kept)
    named = set(re.findall(r"deploy/docker/[\w.-]+", DOCKERFILE)) - {"deploy/docker/Dockerfile"}
    assert len(named) == 3
    assert all(any(fnmatch(name, each) for each in kept) for name in named)


def test_variables_are_settings() -> None:
    named = set(re.findall(r"\bINTAGLIO_[A-Z_]+", DOCKERFILE))
    named |= set(compose()["x-service"]["environment"])
    assert named
    assert named <= known_variables()


def test_services_build_stages_and_mount_what_exists() -> None:
    shown = compose()
    for name, service in shown["services"].items():
        if "build" in service:
            context = FOLDER / service["build"]["context"]
            assert (context / service["build"]["dockerfile"]).is_file()
            assert service["build"]["target"] in stages()
        for mount in service["volumes"]:
            source = mount.split(":")[0]
            is_file = source.startswith(".")
            there = (FOLDER / source).is_file() if is_file else source in shown["volumes"]
            assert there or source.startswith("${"), (name, mount)
        assert set(service.get("secrets", ())) <= set(shown["secrets"])


def test_only_this_machine_reaches_the_ports() -> None:
    for service in compose()["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_prometheus_scrapes_the_service_with_its_key() -> None:
    scraped = yaml.safe_load((FOLDER / "prometheus.yaml").read_text("utf-8"))["scrape_configs"][0]
    assert scraped["authorization"]["credentials_file"] == "/run/secrets/keys"
    ((target,),) = (each["targets"] for each in scraped["static_configs"])
    host, _, port = target.partition(":")
    assert host in compose()["services"]
    assert port == next(rest for name, rest in instructions() if name == "EXPOSE")


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="needs hadolint")
def test_hadolint_finds_nothing() -> None:
    done = subprocess.run(
        ["hadolint", FOLDER / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
