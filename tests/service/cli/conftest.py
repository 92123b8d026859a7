"""The command line as a user types it: in this process where that is enough, as a program where it is not."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from intaglio.service.cli.commands import app
from typer.testing import CliRunner, Result

from tests.support.as_a_user import as_a_user

Run = Callable[..., Result]
PROGRAM = Path(sys.executable).with_name("intaglio")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `intaglio ARGS` in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*args: str | Path, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)

    return call


def start(
    *args: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> "subprocess.Popen[str]":
    """Starts `intaglio ARGS` as a program, with an environment that has nothing of this one's settings."""
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "80", "PYTHONSAFEPATH": "1"}
    # Tests share the cores: threads that spin would starve each other, and a schema may wait for its turn.
    environment |= {"OMP_NUM_THREADS": "1", "INTAGLIO_ENGINE_GRAMMAR_DEADLINE_S": "60"}
    for name in ("XDG_CACHE_HOME", "INTAGLIO_ENGINE_GRAMMAR_WARM", "SSL_CERT_FILE"):
        environment[name] = os.environ[name]
    return subprocess.Popen(
        [PROGRAM, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_a_user,
        env=environment | dict(env or {}),
        cwd=cwd,
    )
