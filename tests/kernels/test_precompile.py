"""Kernels that are compiled and loaded in several threads keep their own launchers."""

import shutil
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest
from intaglio.kernels.runtime.precompile import separate_launchers
from triton.runtime import build

SOURCE = """
#include <Python.h>
static PyObject *launch(PyObject *self, PyObject *unused) { return PyLong_FromLong(NUMBER); }
static PyMethodDef methods[] = {{"launch", launch, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "same_name", NULL, -1, methods};
PyMODINIT_FUNC PyInit_same_name(void) { return PyModule_Create(&definition); }
"""


def test_a_module_that_is_shared_by_all_launchers_is_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = ModuleType("shared")

    def load(_: str, path: str) -> ModuleType:
        shared.__dict__["launch"] = path
        return shared

    monkeypatch.setattr(build, "_load_module_from_path", load)
    with separate_launchers():
        first, second = (build._load_module_from_path("same", path) for path in ("a", "b"))
    assert (first.launch, second.launch) == ("a", "b")
    assert build._load_module_from_path is load


@pytest.mark.skipif(
    not shutil.which("cc") or not Path(sysconfig.get_paths()["include"], "Python.h").exists(),
    reason="needs a C compiler and the headers of Python",
)
def test_compiled_modules_of_one_name_keep_their_functions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    sources = [SOURCE.replace("NUMBER", str(number)) for number in (1, 2, 1)]
    with separate_launchers():
        loaded = [build.compile_module_from_src(source, "same_name") for source in sources]
    assert [module.launch() for module in loaded] == [1, 2, 1]
