"""Strict mypy on code of an SDK user: the assertions of `client.py`, and every example."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("engine", "grammar", "kernels", "schemas", "service")


def test_mypy_infers_what_the_caller_asked_for(tmp_path: Path) -> None:
    # Type checkers do not follow the import hook of an editable install: they get a tree of links.
    links = tmp_path / "intaglio"
    links.mkdir()
    for folder in FOLDERS:
        (links / folder).symlink_to(ROOT / folder)
    (links / "__init__.py").symlink_to(ROOT / "service" / "face" / "__init__.py")
    command = [
        *(sys.executable, "-P", "-m", "mypy", "--strict", "--warn-unused-ignores"),
        *("--config-file=", "--explicit-package-bases", "--follow-imports=silent"),
        *("--cache-dir", str(ROOT / ".mypy_cache" / "client_types")),
        str(ROOT / "tests" / "typing" / "client.py"),
        *map(str, sorted((ROOT / "examples").glob("*.py"))),
    ]
    environment = os.environ | {"MYPYPATH": str(tmp_path)}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=250
    )
    assert done.returncode == 0, done.stdout + done.stderr
