"""The command and the package without the extra `server`: a thin client that works, and says what it lacks."""

import json
import subprocess
import sys
from pathlib import Path

import intaglio
import pytest

from tests.support.stub_service import Answer, StubService, result

HEAVY = (
    "torch",
    "numba",
    "numpy",
    "msgspec",
    "zmq",
    "starlette",
    "uvicorn",
    "sqlalchemy",
    "jinja2",
)
BASE = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {HEAVY!r}:
            raise ModuleNotFoundError(f'No module named {{name!r}}', name=name.split('.')[0])
sys.meta_path.insert(0, Blocker())
"""
RUN = BASE + "from intaglio.service.cli.main import main\nmain()\n"


def python(program: str, *given: str | Path) -> "subprocess.CompletedProcess[str]":
    """A program in a fresh interpreter, beside this install's packages."""
    return subprocess.run(
        [sys.executable, "-P", "-c", program, *map(str, given)],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["schema", "list"], ["schema", "show", "invoice"]]
)
def test_a_client_has_a_command(words: list[str]) -> None:
    done = python(RUN, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_a_client_extracts_by_a_service(stub: StubService, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a document")
    stub.will_answer(Answer(result({"total": 1})))
    given: list[str | Path] = [
        "extract",
        "-s",
        "invoice",
        "--url",
        stub.base_url,
        "--json",
        tmp_path / "a.txt",
    ]
    done = python(RUN, *given)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"total": 1}


@pytest.mark.parametrize(
    ("words", "extras"),
    [
        (["serve"], "server"),
        (["demo"], "server"),
        (["extract", "-s", "invoice", __file__], "server"),
        (["schema", "check", "invoice"], "server"),
        (["schema", "explain", "invoice"], "server"),
        (["job", "list"], "server,bulk"),
    ],
)
def test_a_command_that_a_client_cannot_run_names_what_to_install(
    words: list[str], extras: str
) -> None:
    done = python(RUN, *words)
    assert done.returncode == 4
    assert f"pip install 'intaglio[{extras}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_everything_is_imported_that_a_client_has() -> None:
    program = (
        BASE + "from intaglio import *\nprint(Client.__name__, ModelError.__name__, 'LLM' in dir())"
    )
    done = python(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["Client", "ModelError", "False"]
    assert {"LLM", "extract", "Client"} <= set(intaglio.__all__)


def test_what_is_missing_is_told_in_one_error() -> None:
    done = python(BASE + "from intaglio import LLM")
    assert done.returncode == 1
    assert "pip install 'intaglio[server]'" in done.stderr.splitlines()[-1]
    assert done.stderr.count("Traceback") == 1


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-P", "-m", "intaglio", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == f"intaglio {intaglio.__version__}\n"


def test_a_shell_completes_words() -> None:
    done = python(RUN, "--help")
    assert "--install-completion" in done.stdout
