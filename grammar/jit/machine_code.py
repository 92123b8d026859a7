"""Cache of the machine code of compiled functions, addressed by content and kept between runs.

Does: find the machine code of a function for given types in the package compiled ahead of time or in a folder of this
user; store newly compiled code in that folder. Does not: compile (`kernel`). It never fails: without a writable folder,
a function is compiled for this process only.

Files are named by a digest of the function (`identity`), the types, the versions of Python and of the compiler, and the
processor. So any number of checkouts and installations can share a folder, and no file in it can be out of date.
"""

import contextlib
import hashlib
import logging
import os
import pickle
import platform
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import llvmlite.binding
import numba
from numba.core import serialize
from numba.core.compiler import CompileResult

from .source_digest import identity

PACKAGE: Final = "intaglio_compiled"
"""The import name of the package with code compiled ahead of time for the processors of `BASELINE`."""
BASELINE: Final = {"x86_64": "x86-64-v2", "AMD64": "x86-64-v2"}
"""The target processor of code compiled ahead of time, by machine; "generic" for machines not listed."""
WIDE: Final = {
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "x86-64-v3": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
}
"""Further targets for loops that calculate, the fastest first, with what they have beyond the baseline."""
_DIGEST_BYTES: Final = 32
_ENDING: Final = ".code"
_SILENT_S: Final = 5.0  # between two log lines about compilation

_log = logging.getLogger("intaglio")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of machine code.

    `is_kept`: whether new code is stored there, up to about `most_bytes`: code for the processor of this machine. What
    is compiled ahead is for `targets`.
    """

    path: Path
    is_kept: bool = False
    most_bytes: int = 256 << 20

    def read(self, key: str) -> Any:
        """The value stored under `key`, unpickled; None if there is none or it is damaged."""
        try:
            content = (self.path / (key + _ENDING)).read_bytes()
        except OSError:
            return None
        digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return pickle.loads(data) if hashlib.sha256(data).digest() == digest else None  # noqa: S301

    def write(self, key: str, value: object) -> None:
        """Store `value` under `key`. Raises OSError."""
        data: bytes = serialize.dumps(value)
        with tempfile.NamedTemporaryFile(dir=self.path, delete=False) as file:
            try:
                file.write(hashlib.sha256(data).digest() + data)
                file.close()
                Path(file.name).replace(self.path / (key + _ENDING))
            except OSError:
                Path(file.name).unlink(missing_ok=True)
                raise

    def trim(self) -> None:
        """Remove the oldest files above the bound. Raises OSError."""
        files = [(path.stat(), path) for path in self.path.glob("*" + _ENDING)]
        size = 0
        for status, path in sorted(files, key=lambda file: -file[0].st_mtime):
            size += status.st_size
            if size > self.most_bytes:
                path.unlink(missing_ok=True)


def baseline() -> str:
    """The oldest processor of this machine's kind that runs code compiled ahead of time."""
    return BASELINE.get(platform.machine(), "generic")


def targets(*, calculates: bool) -> tuple[str, ...]:
    """The processors that loops are compiled for ahead of time, the fastest first.

    Loops that calculate run in wide registers, and only where there are some (`kernels/linear/packed.py`).
    """
    base = baseline()
    return tuple(WIDE) if calculates and base in BASELINE.values() else (base,)


@cache
def runnable(*, calculates: bool) -> tuple[str, ...]:
    """Those of `targets` that this machine can run."""
    has = llvmlite.binding.get_host_cpu_features()
    return tuple(
        target
        for target in targets(calculates=calculates)
        if all(has.get(feature) for feature in WIDE.get(target, ()))
    )


@cache
def folders() -> tuple[Folder, ...]:
    """The folders to search for machine code, in order; the folder for new code, if there is one, comes last."""
    package = find_spec(PACKAGE)
    places = (package.submodule_search_locations or ()) if package else ()
    found = [Folder(Path(place)) for place in places]
    kept = next(filter(_is_ours, _candidates()), None)
    if kept is not None:
        found.append(Folder(kept, is_kept=True))
    return tuple(found)


def _candidates() -> Iterator[Path]:
    name = Path("intaglio", "machine-code")
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR) / name
    with contextlib.suppress(RuntimeError):  # there is no home
        yield Path.home() / ".cache" / name
    with contextlib.suppress(FileNotFoundError):
        yield Path(tempfile.gettempdir()) / f"intaglio-{os.getuid()}"


def _is_ours(path: Path) -> bool:
    """Whether only this user can write to a folder: code read from there is executed."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.lstat()
    except OSError:
        return False
    mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return mine and not status.st_mode & 0o022 and os.access(path, os.W_OK)


class MachineCode:
    """The cache of the machine code of one function, with the interface that numba expects."""

    def __init__(
        self,
        function: Callable[..., object],
        liberties: tuple[str, ...] = (),
        *,
        inlined: bool = False,
    ) -> None:
        """`liberties`: what the compiler may do with floats, by LLVM's names. `inlined`: see `inner_kernel`."""
        self._function = function
        self._liberties = liberties
        self._inlined = inlined

    @cached_property
    def _identity(self) -> str:
        return identity(self._function)

    def key(self, types: Iterable[object], processor: object) -> str:
        """The key of the code for numba `types` on `processor`."""
        versions = sys.implementation.cache_tag, numba.__version__, llvmlite.__version__
        parts: tuple[object, ...]
        parts = self._identity, str(tuple(types)), versions, sys.platform, processor
        if self._liberties:
            parts = *parts, self._liberties
        if self._inlined:
            parts = *parts, "inlined"
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function, ready to be called; None if it has to be compiled."""
        context.refresh()
        types = getattr(signature, "args", signature)
        ahead = runnable(calculates=bool(self._liberties))
        for folder in folders():
            for processor in (context.codegen().magic_tuple(),) if folder.is_kept else ahead:
                content = folder.read(self.key(types, processor))
                if content is not None:
                    return CompileResult._rebuild(context, *content)
        progress().missed()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Store newly compiled code, if there is a folder for it."""
        last = folders()[-1] if folders() else None
        if last is None or not last.is_kept or not is_portable(result):
            return
        types = getattr(signature, "args", signature)
        with contextlib.suppress(OSError):
            last.write(self.key(types, result.codegen.magic_tuple()), result._reduce())
            last.trim()

    @property
    def cache_path(self) -> str:
        """The path of the cache, for numba's statistics."""
        return str(folders()[-1].path) if folders() else ""

    def flush(self) -> None:
        """Do nothing: files are named by their content, so none is ever outdated."""


def is_portable(result: Any) -> bool:
    """Whether another process can run compiled code: it contains no address of this process."""
    return not result.lifted and not result.library.has_dynamic_globals


class Progress:
    """Counts the functions compiled by this process, and logs from time to time that it is compiling."""

    def __init__(self) -> None:
        self.compiled = 0
        self._logged = -_SILENT_S  # time of the last log line

    def missed(self) -> None:
        """Count one more function that has to be compiled."""
        self.compiled += 1
        now = time.monotonic()
        if now - self._logged < _SILENT_S:
            return
        self._logged = now
        _log.warning(
            "compiling the inner loops for this machine, %d so far; this takes a minute or two and %s",
            self.compiled,
            "happens once" if folders() and folders()[-1].is_kept else "cannot be cached",
        )


@dataclass(frozen=True, slots=True)
class CompiledLoops:
    """`now`: functions that this process had to compile. `kept`: the folder they are stored in, or None."""

    now: int
    kept: Path | None


def compiled_loops() -> CompiledLoops:
    """The functions that this process has compiled so far."""
    last = folders()[-1] if folders() else None
    kept = last.path if last is not None and last.is_kept else None
    return CompiledLoops(progress().compiled, kept)


@cache
def progress() -> Progress:
    """The counter of this process."""
    return Progress()
