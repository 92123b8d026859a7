"""Doubles are injected. What is patched all the same is a line here, with its reason."""

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.architecture.source import ROOT, parsed

# The environment and the working folder are no objects that could be injected.
PATCHES = {"setattr", "setitem", "delattr", "delitem", "syspath_prepend"}
MACHINE = "a machine that the test does not run on: its memory, its GPU, its packages"
OBSERVER = "proves that something is not called, or how often, and changes nothing"
FAULT = "a fault planted in the code or the operating system, which must be found or contained"
LIMIT = "a limit deep inside a compiler, which no caller sets and no small input reaches"
SPEED = "a library that tests run on, made faster with the same results"

# Path of a test -> reason. Every entry must still be needed.
EXCEPTIONS = {
    "tests/engine/run/test_compute_gpu.py": MACHINE,
    "tests/engine/run/test_prefill_attention.py": MACHINE,
    "tests/engine/run/test_input_buffers.py": MACHINE,
    "tests/engine/run/test_kv.py": MACHINE,
    "tests/engine/test_loop.py": FAULT,
    "tests/engine/test_device_constraints.py": FAULT,
    "tests/gpu/test_flashinfer.py": OBSERVER,
    "tests/gpu/test_sequence_parallel.py": OBSERVER,
    "tests/grammar/jsonschema/test_counted_strings.py": FAULT,
    "tests/grammar/jsonschema/test_exclusive.py": LIMIT,
    "tests/grammar/test_fuzz.py": OBSERVER,
    "tests/grammar/test_warmup.py": OBSERVER,
    "tests/kernels/test_flashinfer.py": MACHINE,
    "tests/kernels/test_logits_pipeline.py": MACHINE,
    "tests/kernels/test_packed.py": MACHINE,
    "tests/kernels/test_precompile.py": FAULT,
    "tests/kernels/test_widened.py": MACHINE,
    "tests/property/full_disk.py": FAULT,
    "tests/property/test_canaries.py": FAULT,
    "tests/property/test_invariance.py": FAULT,
    "tests/property/test_numerical_faults.py": FAULT,
    "tests/property/test_planted_faults.py": FAULT,
    "tests/service/jobs/test_kill.py": FAULT,
    "tests/service/jobs/test_publish.py": FAULT,
    "tests/service/test_validate.py": OBSERVER,
    "tests/support/compiled.py": MACHINE,
    "tests/support/faulty_worker.py": FAULT,
    "tests/support/forked_programs.py": SPEED,
    "tests/support/interpreter.py": SPEED,
    "tests/support/program_parent.py": SPEED,
}


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Names of modules, classes and functions that a file imports."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return found


def patches(tree: ast.Module) -> Iterator[int]:
    """Lines that replace an attribute or an entry of something that the file did not make."""
    nodes = list(ast.walk(tree))
    theirs = imported(nodes)
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in PATCHES and isinstance(node.func.value, ast.Name):
                yield node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module in ("unittest", "unittest.mock"):
            yield node.lineno
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                owner = target
                while isinstance(owner, ast.Attribute):
                    owner = owner.value
                if owner is not target and isinstance(owner, ast.Name) and owner.id in theirs:
                    yield node.lineno


def patched() -> dict[str, list[int]]:
    files = (file for file in (ROOT / "tests").rglob("*.py") if file.parent.name != "architecture")
    found = {file.relative_to(ROOT).as_posix(): sorted(patches(parsed(file))) for file in files}
    return {path: lines for path, lines in found.items() if lines}


def test_nothing_is_patched_but_for_a_reason() -> None:
    found = patched()
    assert {path: found[path] for path in found.keys() - EXCEPTIONS.keys()} == {}
    assert sorted(EXCEPTIONS.keys() - found.keys()) == [], "an exception that is no longer needed"


@pytest.mark.parametrize(
    "text",
    [
        "def test(monkeypatch):\n    monkeypatch.setattr(books, 'PAUSE_S', 0)",
        "def test(monkeypatch):\n    monkeypatch.setitem(sys.modules, 'a', None)",
        "from unittest import mock",
        "from unittest.mock import patch",
        "import os\nos.link = None",
        "from intaglio.kernels import launch\nlaunch.inner.early = True",
    ],
)
def test_a_planted_patch_is_reported(text: str) -> None:
    assert len(list(patches(ast.parse(text)))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def test(monkeypatch):\n    monkeypatch.setenv('A', 'b')\n    monkeypatch.chdir('c')",
        "made = Double()\nmade.answer = 3",
        "setattr(made, name, 3)",
    ],
)
def test_what_a_test_made_itself_it_may_change(text: str) -> None:
    assert list(patches(ast.parse(text))) == []
