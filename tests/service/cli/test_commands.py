"""The commands that need no model: help, version, the catalogue; and rules that hold for all commands."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from intaglio.schemas import catalogue

from tests.service.cli.conftest import PROGRAM, Run, start
from tests.support.as_a_user import as_a_user

HEAVY = (
    *("torch", "numpy", "starlette", "uvicorn", "zmq", "msgspec", "xgrammar", "jsonschema"),
    *("httpx2", "pydantic", "intaglio.service.client"),
)


def test_help_names_every_command_and_exit_code(run: Run) -> None:
    done = run("--help")
    assert done.exit_code == 0
    for command in ("extract", "serve", "demo", "doctor", "version", "schema"):
        assert command in done.stdout
    for code in ("0", "1", "2", "3", "4", "130"):
        assert f"{code} " in done.stdout.partition("Exit codes")[2]


@pytest.mark.parametrize("command", ["extract", "serve", "demo", "doctor", "version", "schema"])
def test_every_command_has_help_without_markup_left_in(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0
    assert "Usage: intaglio" not in done.stderr
    assert command in done.stdout


def test_help_loads_nothing_that_computes() -> None:
    program = (
        "import sys\nsys.argv = ['intaglio', '--help']\n"
        "from intaglio.service.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run(
        [sys.executable, "-P", "-c", program], check=True, stdout=subprocess.DEVNULL, timeout=120
    )


def shell(line: str) -> "subprocess.CompletedProcess[str]":
    """Runs a shell command in which `intaglio` is this one."""
    line = line.replace("intaglio", f"'{PROGRAM}'")
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("command", ["--help", "--version", "schema list", "schema show invoice"])
def test_output_to_a_full_disk_is_told_and_ends_with_1(command: str) -> None:
    done = shell(f"intaglio {command} >/dev/full")
    assert done.returncode == 1
    assert "standard output cannot be written: No space left on device" in done.stderr
    assert "hint: make room" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("command", ["--version", "schema list", "schema show invoice"])
def test_without_a_standard_output_a_command_ends_as_usual(command: str) -> None:
    done = shell(f"intaglio {command} >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("module", ["intaglio.service.cli.commands", "typer", "rich"])
def test_ctrl_c_while_the_command_is_loaded_ends_with_130_and_no_word(module: str) -> None:
    program = (
        "import os, signal, sys\n"
        "class Interrupter:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupter())\n"
        "from intaglio.service.cli.main import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=as_a_user,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_next_to_nothing_is_loaded_before_ctrl_c_is_handled() -> None:
    """Until then it shows a traceback of whatever is being imported."""
    program = (
        "import re, sys\n"  # as the script does that an installer writes
        "before = set(sys.modules)\n"
        "import intaglio.service.cli.main\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=120
    )
    loaded = {name for name in done.stdout.split() if not name.startswith("intaglio")}
    assert loaded <= {"signal", "__future__", "importlib", "warnings"}


def test_a_command_that_runs_handles_ctrl_c_itself(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    process = start("schema", "infer", tmp_path / "pipe")
    with (tmp_path / "pipe").open("wb"):  # opened for reading: the command has begun
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


@pytest.mark.parametrize("arguments", ["--help", "--version", "job run --help"])
def test_a_reader_that_leaves_while_help_is_printed_ends_it_quietly(arguments: str) -> None:
    process = start(*arguments.split())
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # as `head` does
    with process.stderr as errors:
        assert (process.wait(120), errors.read()) == (141, "")


def test_without_its_libraries_the_command_says_what_to_install() -> None:
    program = (
        "import sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('typer', 'rich'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name.split('.')[0])\n"
        "sys.meta_path.insert(0, Blocker())\n"
        "from intaglio.service.cli.main import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 4
    assert "pip install 'intaglio[server]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_version(run: Run) -> None:
    done = run("version")
    assert done.stdout.startswith("intaglio ")
    assert json.loads(run("version", "--json").stdout)["version"] == done.stdout.split()[1]


def test_the_catalogue_is_listed(run: Run) -> None:
    done = run("schema", "list")
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines() if line[0] != " "] == list(
        catalogue.names()
    )
    rows = json.loads(run("schema", "list", "--json").stdout)
    assert [row["name"] for row in rows] == list(catalogue.names())


def test_a_schema_is_shown_ready_to_use(run: Run) -> None:
    done = run("schema", "show", "invoice")
    assert json.loads(done.stdout) == catalogue.get("invoice").schema
    assert done.stdout.count("\n") > 20
    raw = run("schema", "show", "invoice", "--json")
    assert json.loads(raw.stdout) == catalogue.get("invoice").schema
    assert raw.stdout.count("\n") == 1
    assert run("schema", "show", "invoice", "--sample").stdout == catalogue.get("invoice").sample


def test_an_unknown_schema_is_a_usage_error_with_a_guess(run: Run) -> None:
    done = run("schema", "show", "invoise")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "did you mean invoice" in done.stderr


def test_an_unknown_option_is_a_usage_error(run: Run) -> None:
    assert run("extract", "--shema", "invoice", "a.txt").exit_code == 2
    assert run("nonsense").exit_code == 2
    assert run("serve", "--port", "70000").exit_code == 2


def test_a_reader_that_leaves_ends_the_command_quietly() -> None:
    """A pipe closed before a line is written: no traceback, and the code that shells know for it."""
    process = start("schema", "show", "invoice")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(120) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


def test_no_colour_without_a_terminal(tmp_path: Path) -> None:
    for environment in ({}, {"NO_COLOR": "1", "FORCE_COLOR": ""}):
        process = start("schema", "list", env=environment)
        out, err = process.communicate(timeout=120)
        assert "\x1b[" not in out + err
