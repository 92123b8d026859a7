"""The images install packages by hash: all that the distribution requires, in the versions of constraints.txt."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/docker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text("utf-8")
IMAGES = ("build", "cpu", "cuda")
EXTRAS = ("libraries", "bulk", "documents", "otel")
CHOSEN_BY_TORCH = re.compile(r"triton|nvidia-|cuda-")


def locked(image: str) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes of each package of an image."""
    text = (FOLDER / f"requirements-{image}.txt").read_text("utf-8").replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if not line.startswith(("#", "--")):
            requirement, *hashes = line.split()
            name, version = requirement.split("==")
            found[name] = version, hashes
    return found


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def demands() -> list[Requirement]:
    """What the distribution and the images' extras require."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = list(project["dependencies"])
    for extra in EXTRAS:
        texts += project["optional-dependencies"][extra]
    return [Requirement(text) for text in texts]


def closure() -> set[str]:
    """The packages that `demands` lead to, by the metadata of those that are installed here, without CUDA's."""
    seen: set[tuple[str, str]] = set()
    ahead = [(one, extra) for one in demands() for extra in ("", *one.extras)]
    while ahead:
        one, extra = ahead.pop()
        name = canonicalize_name(one.name)
        if (name, extra) in seen or CHOSEN_BY_TORCH.match(name):
            continue
        seen.add((name, extra))
        try:
            texts = requires(name) or []
        except PackageNotFoundError:  # pragma: no cover - needed on another platform only
            continue
        for text in texts:
            its = Requirement(text)
            environment = {
                "extra": extra,
                "python_version": "3.12",
                "python_full_version": "3.12.0",
            }
            if its.marker is None or its.marker.evaluate(environment):
                ahead += [(its, each) for each in ("", *its.extras)]
    return {name for name, _ in seen}


@pytest.mark.parametrize("image", IMAGES)
def test_every_package_has_a_version_and_hashes(image: str) -> None:
    found = locked(image)
    assert found
    for name, (_, hashes) in found.items():
        assert name == canonicalize_name(name)
        assert hashes
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes)
        assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize("image", IMAGES)
def test_versions_are_those_that_tests_run_with(image: str) -> None:
    versions = pinned()
    for name, (version, _) in locked(image).items():
        if not CHOSEN_BY_TORCH.match(name) and name in versions:
            assert version.removesuffix("+cpu") == versions[name]


def test_all_that_the_distribution_leads_to_is_there() -> None:
    needed = closure()
    assert {"torch", "numba", "llvmlite", "sympy"} <= needed
    assert needed == set(locked("cpu"))
    cuda = set(locked("cuda"))
    assert needed < cuda
    assert all(CHOSEN_BY_TORCH.match(name) for name in cuda - needed)
    assert {"setuptools", "numba", "numpy"} <= set(locked("build"))


def test_only_the_image_for_gpus_has_cuda() -> None:
    assert "triton" in locked("cuda")
    assert locked("cpu")["torch"][0] == locked("cuda")["torch"][0] + "+cpu"


def test_the_images_install_nothing_else() -> None:
    installs = re.findall(r"pip (?:install|wheel) (?:[^&\n]|\\\n)*", DOCKERFILE)
    assert len(installs) == 6
    for each in installs:
        assert "--require-hashes" in each or "--no-deps" in each
    (version,) = re.findall(r"^ARG PYTHON=(.*)$", DOCKERFILE, re.MULTILINE)
    for image in IMAGES:
        head = (FOLDER / f"requirements-{image}.txt").read_text("utf-8").splitlines()[0]
        assert f"Python {version}." in head
