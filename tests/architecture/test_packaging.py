"""The wheels hold every module and data file of the tree, each in the one it belongs to, and nothing else.

`intaglio` has all modules and neither weights nor machine code; `intaglio-embedded` has the model's files;
`intaglio-compiled` has the machine code of the inner loops (`tests/grammar/automata/test_machine_code.py`).
"""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGES, ROOT

DATA_SUFFIXES = {".json", ".txt", ".jinja", ".html", ".js", ".css", ".gz", ".lark", ".typed"}
MODEL = Path("engine/embedded")
LOOPS = Path("grammar/compiled")
FILES_OF_THE_MODEL = {".json", ".jinja", ".md", ".safetensors"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, so that stale build output cannot hide a missing file."""
    copy = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / package, copy / package, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    return copy


def ran(folder: Path, *words: str) -> None:
    """Run a program of this environment in a folder."""
    command = [sys.executable, "-P", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr


def built(folder: Path, out: Path) -> Path:
    """The wheel of a folder, by the function that `pip` and `build` call."""
    code = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    ran(folder, "-c", code, str(out))
    (path,) = out.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(built(copy, tmp_path_factory.mktemp("wheel")))


def packed(wheel: zipfile.ZipFile) -> set[str]:
    return {name for name in wheel.namelist() if ".dist-info/" not in name}


def requirements(wheel: zipfile.ZipFile) -> dict[str, list[str]]:
    """What a wheel requires by extra; without one under ""."""
    (metadata,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    found: dict[str, list[str]] = {"": []}
    for line in wheel.read(metadata).decode().splitlines():
        if line.startswith("Requires-Dist:"):
            required, _, condition = line.split(":", 1)[1].strip().partition(";")
            extra = re.search(r"extra == ['\"](\w+)['\"]", condition)
            found.setdefault(extra[1] if extra else "", []).append(required.strip())
    return found


def names(required: list[str]) -> set[str]:
    return {re.split(r"[ <>=@\[]", each)[0] for each in required}


def in_the_tree() -> set[str]:
    files = set()
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*"):
            path = file.relative_to(ROOT)
            apart = LOOPS in path.parents or (MODEL in path.parents and path.suffix != ".py")
            builds = path.parent in (LOOPS, MODEL) and path.name == "setup.py"
            if "__pycache__" in path.parts or not file.is_file() or apart or builds:
                continue
            if path.suffix == ".py" or path.suffix in DATA_SUFFIXES:
                is_face = path.parts[:2] == ("service", "face")
                inside = Path(*path.parts[2:]) if is_face else path
                files.add((Path("intaglio") / inside).as_posix())
    return files


def test_the_wheel_holds_the_tree(wheel: zipfile.ZipFile) -> None:
    assert packed(wheel) == in_the_tree()


def test_the_base_install_is_light(wheel: zipfile.ZipFile) -> None:
    assert names(requirements(wheel)[""]) == {"httpx2", "pydantic", "rich", "typer"}
    assert not [name for name in packed(wheel) if name.endswith((".safetensors", ".code"))]
    assert sum(info.file_size for info in wheel.infolist()) < 13 << 19


def test_a_server_brings_the_model_and_the_loops_of_its_checkout(
    wheel: zipfile.ZipFile, copy: Path
) -> None:
    server = requirements(wheel)["server"]
    assert f"intaglio-embedded @ {(copy / MODEL).as_uri()}" in server
    assert f"intaglio-compiled @ {(copy / LOOPS).as_uri()}" in server


def test_a_server_brings_no_other_grammar_engine(wheel: zipfile.ZipFile) -> None:
    brought = names(requirements(wheel)["server"]) | names(requirements(wheel)["libraries"])
    assert "torch" in brought
    assert not brought & {"xgrammar", "transformers", "triton"}
    assert "grammars" not in requirements(wheel)


def test_a_release_names_versions_and_no_folder(copy: Path, tmp_path: Path) -> None:
    ran(copy, "-m", "build", "--no-isolation", "--outdir", str(tmp_path))  # a wheel of the archive
    assert len(list(tmp_path.glob("intaglio-*.tar.gz"))) == 1
    (wheel,) = tmp_path.glob("*.whl")
    released = zipfile.ZipFile(wheel)
    server = requirements(released)["server"]
    assert {"intaglio-embedded==0.1.0", "intaglio-compiled==0.1.0"} <= set(server)
    assert packed(released) == in_the_tree()


def test_the_model_is_a_wheel_of_its_files(copy: Path, tmp_path: Path) -> None:
    wheel = zipfile.ZipFile(built(copy / MODEL, tmp_path))
    assert packed(wheel) == {
        f"intaglio_embedded/embedded/{file.name}"
        for file in (ROOT / MODEL).iterdir()
        if file.suffix in FILES_OF_THE_MODEL
    }


def test_the_three_distributions_agree_on_their_versions() -> None:
    whole, model, loops = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))
        for folder in (Path(), MODEL, LOOPS)
    )
    version = whole["project"]["version"]
    assert model["project"]["version"] == loops["project"]["version"] == version
    server = whole["project"]["optional-dependencies"]["server"]
    assert {f"intaglio-embedded=={version}", f"intaglio-compiled=={version}"} <= set(server)
    # Machine code is loaded by the version of numba that made it, and by no other.
    libraries = whole["project"]["optional-dependencies"]["libraries"]
    (numba,) = (each for each in libraries if each.startswith("numba"))
    assert numba in loops["build-system"]["requires"]
    assert numba in loops["project"]["dependencies"]
    assert numba in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
