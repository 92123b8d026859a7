"""Machine code of the loops: found by content, kept between processes, compiled ahead of time."""

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from intaglio.grammar.base.array_types import Longs
from intaglio.grammar.jit.ahead_of_time import SIGNATURES
from intaglio.grammar.jit.kernel import brief_kernel, machine_code_of
from intaglio.grammar.jit.machine_code import Folder, _is_ours, baseline, runnable, targets
from intaglio.grammar.jit.source_digest import identity

ONE_LOOP = "intaglio.grammar.automata.dfa:_class_of"
CALL_COMPILED_AHEAD = """
import numpy as np
from intaglio.grammar.automata import dfa
from intaglio.grammar.api import compiled_loops
bounds, classes = np.array([0, 10], np.int32), np.array([4, 5], np.int32)
assert dfa._class_of(bounds, classes, 20).tolist() == [4] * 10 + [5] * 10
print(compiled_loops().now)
"""
A_CALCULATION = "intaglio.engine.run.host.row_loops:finish_rows"
CALCULATE = """
import numpy as np
from intaglio.engine.run.host.row_loops import finish_rows
from intaglio.grammar.api import compiled_loops
out, row = np.zeros((1, 4), np.int16), np.ones((1, 4), np.float32)
finish_rows(row, np.ones((1, 2), np.float32), -np.ones(1, np.int32), out)
assert out.tolist() == [[0x3F80] * 4]
print(compiled_loops().now)
"""
# With types that no loop of the package is called with, so that none is compiled ahead for them.
CALL_IT = CALL_COMPILED_AHEAD.replace("np.int32", "np.int16")
COMPILE_IT = """
import os, sys, json
from pathlib import Path
from intaglio.grammar.jit.ahead_of_time import SIGNATURES, compile_into
listed = json.loads(SIGNATURES.read_text())
for folder, name, target in json.loads(sys.argv[1]):
    child = os.fork()  # it has a process to itself
    if child == 0:
        compile_into(Path(folder), 1, {name: listed[name]}, target)
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0
"""

SOURCE = """
from numba import njit
STEP = 3

@njit
def inner(x):
    return x + STEP

@njit
def outer(x):
    return inner(x) * 2
"""

Load = Callable[[str], Any]


@brief_kernel
def _doubled(numbers: Longs, at: int) -> int:
    return int(2 * numbers[at])


def test_a_loop_is_called_without_a_choice_once_it_has_code_for_one_combination_of_types() -> None:
    numbers = np.arange(3)
    assert machine_code_of(_doubled) is _doubled
    assert _doubled(numbers, 2) == 4
    direct = machine_code_of(_doubled)
    assert direct is not _doubled
    assert direct(numbers, 1) == 2
    assert _doubled(numbers.astype(np.int32), 1) == 2  # a second combination
    assert machine_code_of(_doubled) is _doubled


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Makes a module of source text."""

    def module(text: str) -> Any:
        path = tmp_path / "loops.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("loops", path)
        assert spec is not None
        assert spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        exec(compile(text, path, "exec"), made.__dict__)
        return made

    return module


def python(program: str, *given: str, cache: Path, paths: tuple[Path, ...] = ()) -> str:
    """Standard output of a program in a fresh interpreter that keeps machine code in `cache`."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *given],
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_comment_or_a_moved_line_is_the_same_loop(load: Load) -> None:
    before = identity(load(SOURCE).outer.py_func)
    assert identity(load("# moved" + SOURCE.replace("3", "3  # three")).outer.py_func) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("STEP = 3", "STEP = 4"),
        ("x + STEP", "x - STEP"),
        ("* 2", "* 4"),
        ("* 2", "* 2.0"),
        ("@njit\ndef inner", "@njit(forceinline=True)\ndef inner"),
    ],
)
def test_a_change_in_a_loop_it_calls_or_a_constant_is_another_loop(
    load: Load, old: str, new: str
) -> None:
    before = identity(load(SOURCE).outer.py_func)
    assert identity(load(SOURCE.replace(old, new)).outer.py_func) != before


INTRINSIC = """
from numba import njit, types
from numba.extending import intrinsic

def _written(builder):
    return builder.add

def _code(typing, x):
    def generate(context, builder, signature, given):
        return _written(builder)(given[0], given[0])
    return types.int64(x), generate

twice = intrinsic(_code)

@njit
def outer(x):
    return twice(x)
"""


def test_a_change_in_what_writes_an_intrinsic_is_another_loop(load: Load) -> None:
    """Only functions of this tree are followed."""
    module = load(INTRINSIC)
    module._written.__module__ = "intaglio.loops"
    before = identity(module.outer.py_func)
    other = load(INTRINSIC.replace("builder.add", "builder.mul"))
    other._written.__module__ = "intaglio.loops"
    assert identity(other.outer.py_func) != before


def test_a_loop_is_compiled_once_for_all_processes_and_again_where_a_file_is_damaged(
    tmp_path: Path,
) -> None:
    first = python(CALL_IT, cache=tmp_path)
    assert first != "0"
    assert python(CALL_IT, cache=tmp_path) == "0"
    for file in tmp_path.rglob("*.code"):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert python(CALL_IT, cache=tmp_path) == first
    assert python(CALL_IT, cache=tmp_path) == "0"


COMPILED_AHEAD = [
    (ONE_LOOP, CALL_COMPILED_AHEAD, baseline()),
    *((A_CALCULATION, CALCULATE, target) for target in runnable(calculates=True)),
]


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders of a package each, with the machine code of one loop for one processor."""
    folders = [tmp_path_factory.mktemp("ahead") for _ in COMPILED_AHEAD]
    orders = []
    for folder, (loop, _, target) in zip(folders, COMPILED_AHEAD, strict=True):
        (folder / "intaglio_compiled").mkdir()
        orders.append((str(folder / "intaglio_compiled"), loop, target))
    python(COMPILE_IT, json.dumps(orders), cache=tmp_path_factory.mktemp("cache"))
    return folders


@pytest.mark.parametrize("number", range(len(COMPILED_AHEAD)))
def test_a_loop_compiled_ahead_is_not_compiled_again(
    number: int, ahead: list[Path], tmp_path: Path
) -> None:
    assert list(ahead[number].glob("intaglio_compiled/*.code"))
    _, call, _ = COMPILED_AHEAD[number]
    assert python(call, cache=tmp_path, paths=(ahead[number],)) == "0"
    assert not list(tmp_path.rglob("*.code"))


def test_loops_that_calculate_have_wide_registers_ahead_where_the_processor_has_them() -> None:
    assert targets(calculates=False) == (baseline(),)
    assert set(runnable(calculates=True)) <= set(targets(calculates=True))
    if targets(calculates=True) != (baseline(),):
        assert ("x86-64-v3" in runnable(calculates=True)) == torch.cpu._is_avx2_supported()
        assert ("x86-64-v4" in runnable(calculates=True)) == torch.cpu._is_avx512_supported()


def test_folders_that_others_can_write_are_not_used(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    assert not _is_ours(shared)
    assert _is_ours(tmp_path / "own")
    (tmp_path / "file").touch()
    assert not _is_ours(tmp_path / "file" / "below")
    (tmp_path / "link").symlink_to(tmp_path / "own")
    assert not _is_ours(tmp_path / "link")


def test_the_oldest_machine_code_goes_first(tmp_path: Path) -> None:
    folder = Folder(tmp_path, most_bytes=3000)
    for age, name in enumerate("abcd"):
        folder.write(name, b"x" * 900)
        os.utime(tmp_path / f"{name}.code", (age, age))
    folder.trim()
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["b", "c", "d"]


def test_every_listed_loop_exists() -> None:
    """A loop that was renamed ends the build of the compiled loops."""
    names = [name.partition(":") for name in json.loads(SIGNATURES.read_text())]
    assert [f for m, _, f in names if not hasattr(importlib.import_module(m), f)] == []


def test_all_that_an_extraction_calls_is_compiled_ahead(tmp_path: Path) -> None:
    """`python -m tests.support.signatures` lists what is missing."""
    program = (
        "import json, sys\n"
        "from tests.support.signatures import called, record\n"
        "record()\n"
        "from intaglio import LLM\n"
        "from intaglio.schemas import catalogue\n"
        "contact = catalogue.get('contact')\n"
        "with LLM() as llm:\n"
        "    llm.extract(contact.schema, contact.sample)\n"
        "print(json.dumps(called()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    listed, called = json.loads(SIGNATURES.read_text()), json.loads(done.stdout)
    assert ONE_LOOP in listed
    assert called
    missing = {
        name: [types for types in signatures if types not in listed.get(name, [])]
        for name, signatures in called.items()
    }
    assert not any(missing.values()), missing
