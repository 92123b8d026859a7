"""The command and the package without the extra `server`: a thin client that works and names missing packages."""

import json
import subprocess
import sys
from dataclasses import dataclass
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


COMMANDS = (("--help",), ("--version",), ("schema", "list"), ("schema", "show", "invoice"))
REFUSED = {
    ("serve",): "server",
    ("demo",): "server",
    ("extract", "-s", "invoice", __file__): "server",
    ("schema", "check", "invoice"): "server",
    ("schema", "explain", "invoice"): "server",
    ("job", "list"): "server,bulk",
}
# Each command in a process of its own, forked where the command line is loaded: loading it takes half a second.
RUN_EACH = (
    BASE
    + """
import json, os
import intaglio.service.cli.commands, typer.rich_utils
from intaglio.service.cli.main import main
for number, words in enumerate(json.loads(sys.argv[1])):
    process = os.fork()
    if process == 0:
        for stream in (1, 2):
            os.dup2(os.open(f"{sys.argv[2]}/{number}.{stream}", os.O_CREAT | os.O_WRONLY), stream)
        sys.argv = ["intaglio", *words]
        main()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""
)


@dataclass(frozen=True)
class Done:
    """An ended command."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Done]:
    """Every command of `COMMANDS` and `REFUSED`, run."""
    folder, commands = tmp_path_factory.mktemp("commands"), [*COMMANDS, *REFUSED]
    ended = python(RUN_EACH, json.dumps(commands), folder)
    assert ended.returncode == 0, ended.stderr
    codes = map(int, ended.stdout.split())
    return {
        words: Done(
            code, (folder / f"{number}.1").read_text(), (folder / f"{number}.2").read_text()
        )
        for number, (words, code) in enumerate(zip(commands, codes, strict=True))
    }


@pytest.mark.parametrize("words", COMMANDS)
def test_a_client_has_a_command(words: tuple[str, ...], done: dict[tuple[str, ...], Done]) -> None:
    assert done[words].code == 0, done[words].err
    assert done[words].out.strip()


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


@pytest.mark.parametrize(("words", "extras"), REFUSED.items())
def test_a_command_that_a_client_cannot_run_names_what_to_install(
    words: tuple[str, ...], extras: str, done: dict[tuple[str, ...], Done]
) -> None:
    assert done[words].code == 4
    assert f"pip install 'intaglio[{extras}]'" in done[words].err
    assert "Traceback" not in done[words].err


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


def test_a_shell_completes_words(done: dict[tuple[str, ...], Done]) -> None:
    assert "--install-completion" in done["--help",].out
