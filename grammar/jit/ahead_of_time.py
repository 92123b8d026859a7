"""Ahead-of-time compilation of the inner loops, for the build of the package `intaglio-compiled`.

Does: compile every function that Python calls, for every combination of argument types in `signatures.json`, for the
processors that are its `targets`. Does not: choose the types; `tests/support/signatures.py` records them. It needs only
numba and numpy: stand-ins replace every other package that a module with loops imports.
"""

import importlib
import importlib.abc
import importlib.machinery
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
from numba import types
from numba.core.caching import NullCache

from .kernel import kernels_of
from .machine_code import Folder, MachineCode, is_portable, targets
from .source_digest import is_inlined, liberties

SIGNATURES = Path(__file__).with_name("signatures.json")
UNUSED = ("idna", "jsonschema_specifications", "msgspec", "torch")
"""Packages that modules with loops import, but that no loop uses."""

Spelled = Any  # JSON: a name, an array as "int32:2C", a list for a tuple, {"class": [...]} for a named tuple


def spelled(kind: Any) -> Spelled:
    """A numba type as JSON. Raises TypeError for a type that no loop takes."""
    if isinstance(kind, types.Array):
        flags = ("" if kind.mutable else "r") + ("" if kind.aligned else "u")
        return f"{kind.dtype}:{kind.ndim}{kind.layout}{flags}"
    if isinstance(kind, types.BaseNamedTuple):
        home = kind.instance_class
        return {f"{home.__module__}:{home.__qualname__}": [spelled(each) for each in kind.types]}
    if isinstance(kind, types.BaseTuple):
        return [spelled(each) for each in kind.types]
    if isinstance(kind, types.Omitted):
        return {"omitted": kind.value}
    if isinstance(kind, types.Number | types.Boolean | types.NoneType):
        return str(kind)
    raise TypeError(f"{kind!r} is not a type that a loop can take")


def read(text: Spelled) -> Any:
    """The inverse of `spelled`."""
    if isinstance(text, list):
        return types.BaseTuple.from_types([read(each) for each in text])
    if isinstance(text, dict):
        ((name, members),) = text.items()
        if name == "omitted":
            return types.Omitted(members)
        module, _, home = name.partition(":")
        kind = getattr(importlib.import_module(module), home)
        return types.BaseTuple.from_types([read(each) for each in members], kind)
    name, _, form = text.partition(":")
    if not form:
        return getattr(types, {"bool": "boolean"}.get(name, name))
    dtype = getattr(types, {"bool": "boolean"}.get(name, name))
    return types.Array(
        dtype, int(form[0]), form[1], readonly="r" in form[2:], aligned="u" not in form[2:]
    )


class _StandIn(type):
    """A class of which every attribute, call, subscript and operator gives the class itself or another stand-in."""

    def __new__(cls, name: str, bases: Any, members: Any, **_: object) -> Any:
        return super().__new__(cls, name, bases, members)

    def __init__(cls, name: str, bases: Any, members: Any, **_: object) -> None:
        super().__init__(name, bases, members)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __call__(cls, *_: object, **__: object) -> Any:
        return cls

    def __getitem__(cls, _: object) -> Any:
        return cls

    def __or__(cls, _: object) -> Any:
        return cls

    __ror__ = __or__

    def __iter__(cls) -> Iterator[Any]:
        return iter(())


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An import hook that loads the packages of `UNUSED` as modules of stand-ins."""

    def find_spec(self, name: str, *_: object) -> Any:
        if name.split(".")[0] not in UNUSED:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, _: object) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__getattr__ = partial(getattr, _StandIn("StandIn", (), {}))  # type: ignore[method-assign]


def compile_into(
    folder: Path, processes: int, listed: Mapping[str, Sequence[Spelled]], processor: str
) -> int:
    """Compile the loops with this target into files in `folder`; returns the number of compiled functions.

    `listed`: for each loop, as "module:name", the list of its signatures. Must be called in a fresh process: it sets
    the processor that numba compiles for.
    """
    sys.meta_path.insert(0, _Absent())
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = processor, ""
    modules = {name.partition(":")[0] for name in listed}
    loops = {
        f"{module}:{name}": loop
        for module in modules
        for name, loop in kernels_of(importlib.import_module(module))
    }
    for module in [each for name, each in sys.modules.items() if name.startswith("intaglio.")]:
        for name, loop in kernels_of(module):
            loop._cache = NullCache()
            if f"{module.__name__}:{name}" not in listed:  # only other loops call it
                loop.targetoptions["no_cpython_wrapper"] = True
    work: dict[tuple[str, ...], list[tuple[Any, Spelled]]] = {}
    for name, signatures in listed.items():
        if processor in targets(calculates=bool(liberties(loops[name]))):
            work.setdefault(_part(name), []).extend((loops[name], each) for each in signatures)
    begin = work, Folder(folder), processor
    with multiprocessing.get_context("fork").Pool(processes, _begin, begin) as pool:
        return sum(pool.imap_unordered(_compile, sorted(work, key=_place), chunksize=1))


_PARTS = (("automata", "jsonschema"), ("mask", "machine"), ("earley",), ("device",))
"""Folders of `grammar/` that take longest to compile, longest first; those that call the same loops together.

Each process compiles the loops that others call again: one after the other in one process, they are compiled once.
"""
_WORK: list[Any] = []


def _part(name: str) -> tuple[str, ...]:
    """The folders that are compiled together with that of a loop."""
    folder = name.split(".")[2]
    return next((part for part in _PARTS if folder in part), (folder,))


def _place(part: tuple[str, ...]) -> int:
    """The place in the order of work, with which all processes end at about the same time."""
    return _PARTS.index(part) if part in _PARTS else len(_PARTS)


def _begin(
    work: dict[tuple[str, ...], list[tuple[Any, Spelled]]], folder: Folder, processor: str
) -> None:
    _WORK[:] = [work, folder, processor]


def _compile(part: tuple[str, ...]) -> int:
    """Compile the loops of some folders; returns their number."""
    work, folder, processor = _WORK
    for loop, signature in work[part]:
        argument_types = tuple(map(read, signature))
        loop.compile(argument_types)
        result = loop.overloads[argument_types]
        if not is_portable(result):
            raise TypeError(f"{loop.py_func.__qualname__} contains addresses of this process")
        code = MachineCode(loop.py_func, liberties(loop), inlined=is_inlined(loop))
        folder.write(code.key(argument_types, processor), result._reduce())
    return len(work[part])


def main(folder: str) -> None:
    """Compile into `folder` on all processors, and print the number of functions."""
    listed = json.loads(SIGNATURES.read_text("utf-8"))
    found = dict.fromkeys(targets(calculates=False) + targets(calculates=True), 0)
    for target in found:
        given = Path(folder), len(os.sched_getaffinity(0)), listed, target
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as fresh:
            found[target] = fresh.submit(compile_into, *given).result()
    print(*(f"{count} functions for {target}" for target, count in found.items()), sep="\n")  # noqa: T201
