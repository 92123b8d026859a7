"""Parallel compilation of all Triton kernels of a workload before its first run.

Does: run the workload without launching uncompiled kernels, record these, and compile them in threads. Does not: know
which kernels exist.

Compiling in order of first use leaves most processors idle. The compiler releases the interpreter lock while it works,
so threads suffice.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from types import SimpleNamespace
from typing import Any

from triton import knobs
from triton.runtime import build
from triton.runtime.jit import JITFunction


def compile_ahead(passes: Callable[[], object]) -> Counter[str]:
    """Compile the kernels that `passes` launches; returns the number of uncompiled variants by kernel name.

    Outputs of an uncompiled kernel are undefined when `passes` reads them. No other thread may launch kernels
    meanwhile.
    """
    missing: dict[tuple[JITFunction[Any], str], str] = {}

    def note(*, key: str, fn: Any, compile: dict[str, Any], **_: object) -> bool:  # noqa: A002
        missing[fn.jit_function, key] = compile["specialization_data"]
        return True  # neither compile nor launch

    before = knobs.runtime.jit_cache_hook
    knobs.runtime.jit_cache_hook = note
    try:
        passes()
    finally:
        knobs.runtime.jit_cache_hook = before
    if missing:
        with separate_launchers(), ThreadPoolExecutor(os.cpu_count()) as threads:
            for done in [
                threads.submit(_make_ready, kernel, data) for (kernel, _), data in missing.items()
            ]:
                done.result()
    return Counter(kernel.__name__ for kernel, _ in missing)


def only_compiles() -> bool:
    """Whether `compile_ahead` is recording launches: it leaves out those of uncompiled kernels, and no others."""
    return knobs.runtime.jit_cache_hook is not None


@contextmanager
def separate_launchers() -> Iterator[None]:
    """Within it, modules that Triton compiles and loads in several threads keep their own functions.

    All launchers of Triton 3.6 are modules of one name, without support for a second load. When one is loaded again,
    for another variant of its kernel, Python copies its functions into the module of that name that was loaded last. A
    thread that is interrupted before it reads them gets the launcher of whichever kernel another thread loads then.
    """
    lock, load = Lock(), build._load_module_from_path

    def load_apart(name: str, path: str) -> SimpleNamespace:
        with lock:
            return SimpleNamespace(**vars(load(name, path)))

    build._load_module_from_path = load_apart
    try:
        yield
    finally:
        build._load_module_from_path = load


def _make_ready(kernel: JITFunction[Any], data: str) -> None:
    """Compile and load a kernel, and build its launcher, which is compiled code as well."""
    _ = kernel.preload(data).run
