"""Pins the packages of the images, by version and by hash: `requirements-{build,cpu,cuda}.txt` beside this file.

    python deploy/docker/lock.py

Does: let pip choose the versions for the images' Python, within `constraints.txt`; list the hashes of their wheels for
Linux on x86-64 and ARM. Does not: install anything. Reads PyPI, and the index of torch's builds without CUDA.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import httpx2
from packaging.requirements import Requirement
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
PYTHON: Final = (3, 12)
VERSION: Final = ".".join(map(str, PYTHON))
EXTRAS: Final = ("libraries", "bulk", "documents", "otel")
PYPI: Final = "https://pypi.org/simple"
TORCH_CPU: Final = "https://download.pytorch.org/whl/cpu"
# torch requires one version of each of these: constraints.txt names them for machines without CUDA.
CHOSEN_BY_TORCH: Final = ("triton", "nvidia-", "cuda-")
GLIBC: Final = range(36, 4, -1)  # Debian 12 has 2.36


def platforms(machine: str) -> list[str]:
    """The tags of Linux on `machine` that wheels for the images may have, the most specific first."""
    old = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    found = []
    for minor in GLIBC:
        found.append(f"manylinux_2_{minor}_{machine}")
        found += [f"{old[minor]}_{machine}"] if minor in old else []
    return found


def wanted() -> list[Requirement]:
    """What the distribution and the extras of the images require."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = list(project["dependencies"])
    for extra in EXTRAS:
        texts += project["optional-dependencies"][extra]
    return [Requirement(text) for text in texts]


def constraints() -> Iterator[str]:
    """The lines of constraints.txt that hold for an image with CUDA."""
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        if not line.startswith(CHOSEN_BY_TORCH):
            yield line


def resolved(requirements: Iterable[Requirement]) -> dict[str, Any]:
    """Metadata of each package that pip would install on x86-64, by its canonical name."""
    with tempfile.TemporaryDirectory() as scratch:
        limits, report = Path(scratch, "constraints.txt"), Path(scratch, "report.json")
        limits.write_text("\n".join(constraints()), "utf-8")
        options = ["--quiet", "--isolated", "--dry-run", "--ignore-installed", "--target", scratch]
        options += ["--index-url", PYPI, "--only-binary=:all:"]
        options += ["--implementation", "cp", "--python-version", VERSION]
        options += [f"--platform={platform}" for platform in platforms("x86_64")]
        options += ["--constraint", str(limits), "--report", str(report)]
        command = [sys.executable, "-m", "pip", "install", *options, *map(str, requirements)]
        subprocess.run(command, check=True)
        found = json.loads(report.read_text("utf-8"))["install"]
    return {canonicalize_name(each["metadata"]["name"]): each["metadata"] for each in found}


def needed(
    packages: dict[str, Any], requirements: Iterable[Requirement], *, cuda: bool
) -> set[str]:
    """The names among `packages` that `requirements` lead to; without `cuda`, not by way of CUDA's packages."""
    environment = {
        "python_version": VERSION,
        "python_full_version": f"{VERSION}.0",
        "platform_system": "Linux",
        "sys_platform": "linux",
        "platform_machine": "x86_64",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    found: set[tuple[str, str]] = set()
    ahead = list(requirements)
    while ahead:
        one = ahead.pop()
        name = canonicalize_name(one.name)
        if not cuda and name.startswith(CHOSEN_BY_TORCH):
            continue
        for extra in ("", *one.extras):
            if (name, extra) in found:
                continue
            found.add((name, extra))
            for text in packages[name].get("requires_dist", ()):
                its = Requirement(text)
                if its.marker is None or its.marker.evaluate({**environment, "extra": extra}):
                    ahead.append(its)
    return {name for name, _ in found}


def hashes(name: str, version: str) -> list[str]:
    """SHA-256 of the wheels of one version on PyPI that fit the images."""
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    answer = httpx2.get(f"{PYPI}/{name}/", headers=accept, timeout=60).raise_for_status()
    files = answer.json()["files"]
    return sorted(one["hashes"]["sha256"] for one in files if fits(one["filename"], name, version))


def torch_cpu_hashes(index: str, version: str) -> list[str]:
    """SHA-256 of the wheels of torch without CUDA that fit the images."""
    page = httpx2.get(f"{index}/torch/", timeout=60).raise_for_status().text
    files = re.findall(r'#sha256=([0-9a-f]{64})"[^>]*>\s*([^<\s]+\.whl)', page)
    return sorted(sha256 for sha256, file in files if fits(file, "torch", version))


def fits(file: str, name: str, version: str) -> bool:
    """Whether `file` is a wheel of this version that the images' Python can install."""
    distribution, _, rest = file.partition("-")
    if canonicalize_name(distribution) != name or not rest.startswith(f"{version}-"):
        return False  # the tags of old versions cannot all be read
    return file.endswith(".whl") and not parse_wheel_filename(file)[3].isdisjoint(TAGS)


TAGS: Final = frozenset(
    tag
    for machine in ("x86_64", "aarch64")
    for tags in (
        cpython_tags(PYTHON, platforms=platforms(machine)),
        compatible_tags(PYTHON, f"cp{PYTHON[0]}{PYTHON[1]}", platforms(machine)),
    )
    for tag in tags
)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--torch-cpu", default=TORCH_CPU, help="index of torch without CUDA")
    index = parser.parse_args().torch_cpu
    build = [Requirement(text) for text in build_requirements()]
    packages = resolved([*wanted(), *build])
    write("build", packages, needed(packages, build, cuda=False))
    write("cuda", packages, needed(packages, wanted(), cuda=True))
    cpu = needed(packages, wanted(), cuda=False)
    version = packages["torch"]["version"] + "+cpu"
    torch = entry("torch", version, torch_cpu_hashes(index, version))
    write("cpu", packages, cpu - {"torch"}, f"--extra-index-url {TORCH_CPU}", torch)
    return 0


def build_requirements() -> list[str]:
    """What the backend of the three wheels of a checkout requires."""
    found: set[str] = set()
    for folder in (".", "engine/embedded", "grammar/compiled"):
        text = (ROOT / folder / "pyproject.toml").read_text("utf-8")
        found |= set(tomllib.loads(text)["build-system"]["requires"])
    return sorted(found)


def entry(name: str, version: str, sha256: Iterable[str]) -> str:
    """A requirement as pip reads it. Raises SystemExit where no wheel fits."""
    lines = [f"{name}=={version}", *(f"    --hash=sha256:{each}" for each in sha256)]
    if len(lines) == 1:
        raise SystemExit(f"{name} {version} has no wheel for the images")
    return " \\\n".join(lines)


def write(image: str, packages: dict[str, Any], names: Iterable[str], *more: str) -> None:
    """Write the file of one image; `more` stands before its packages."""
    found = [
        entry(name, packages[name]["version"], hashes(name, packages[name]["version"]))
        for name in sorted(names)
    ]
    head = f"# Packages for the image, Python {VERSION}. Made by lock.py."
    text = "\n".join([head, *more, *found]) + "\n"
    (HERE / f"requirements-{image}.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
