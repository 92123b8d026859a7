"""The wheel holds every module and data file of the tree, and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGES, ROOT

DATA_SUFFIXES = {".json", ".txt", ".safetensors", ".jinja", ".md", ".html", ".lark", ".typed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel built from a copy of the tree, so that stale build output cannot hide a missing file."""
    copy = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    command = [sys.executable, "-P", "-m", "build", "--wheel", "--no-isolation", "--outdir", "out"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (copy / "out").glob("*.whl")
    return zipfile.ZipFile(path)


def expected() -> set[str]:
    files = set()
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*"):
            path = file.relative_to(ROOT)
            if "__pycache__" in path.parts or not file.is_file():
                continue
            if path.suffix == ".py" or path.suffix in DATA_SUFFIXES:
                is_face = path.parts[:2] == ("service", "face")
                inside = Path(*path.parts[2:]) if is_face else path
                files.add((Path("intaglio") / inside).as_posix())
    return files


def test_the_wheel_holds_the_tree(wheel: zipfile.ZipFile) -> None:
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == expected()


def test_the_base_install_is_light(wheel: zipfile.ZipFile) -> None:
    (metadata,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    requires = [
        line.split(":", 1)[1].strip()
        for line in wheel.read(metadata).decode().splitlines()
        if line.startswith("Requires-Dist:") and "extra ==" not in line
    ]
    assert sorted(r.split(">")[0].split("<")[0].strip() for r in requires) == ["httpx2", "pydantic"]
