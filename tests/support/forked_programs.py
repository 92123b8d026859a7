"""Programs of this package that tests start, and the workers of pytest-xdist that run the tests, are forked from a
process that has imported their libraries.

Does: replace the function of `subprocess` that starts a program, for those in `_wanted`, which then take a twentieth of
the processor time to start, and are children of this process as before. Does not: fork (`program_parent`), or wait for
that process to be ready: until then, and wherever a fork would differ from a new process, a new process is started.

`tests/service/test_start_anew.py` starts each of these programs as users do.
"""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.program_order import LONGEST, MOST_FILES, Order

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("intaglio")
_PARENT = "import sys; sys.path.append({!r}); from tests.support.program_parent import main; main()"
_ENTRIES = re.compile(
    r"from intaglio\.(engine\.host\.process|engine\.ranks\.rank_process|grammar\.intake\.worker) import"
    r"|from intaglio\.(engine\.memory\.disk_tier import|grammar\.api import Constraint, Kind, Store)"
    r"|from tests\.support\.((answering|reading|scripted)_engine|serve_answering) import"
)
_WORKER = ["-u", "-c", "import sys;exec(eval(sys.stdin.readline()))"]  # of pytest-xdist
_SCRIPTS = (
    *(ROOT / "tests/support").glob("serve_*.py"),
    *(ROOT / "tests/support/batch_process.py", ROOT / "tests/support/snippet_process.py"),
    *(ROOT / "examples").glob("*.py"),
)
# Variables that the interpreter and the imported libraries read when they start. Triton is imported by none.
_READ_AT_START = re.compile(
    "(PYTHON|OMP|KMP|GOMP|MKL|OPENBLAS_NUM|OTEL|TORCH|PYTORCH|ATEN|NUMBA|LLVM|PROMETHEUS|LD|MALLOC|GLIBC)_?|TZ$"
)
_BEFORE = "tests.support.as_a_user:as_a_user"
# Not at the start: Ray sets the second, and transformers the third, in any test process that imports them. The address
# for traces is read when they begin, and whether byte code is written is set anew. Programs have the last, or `-P`.
_READ_LATER = {
    *("PYTHONUNBUFFERED", "PYTHONBREAKPOINT", "TORCHINDUCTOR_CACHE_DIR"),
    *("OTEL_EXPORTER_OTLP_ENDPOINT", "PYTHONDONTWRITEBYTECODE", "PYTHONSAFEPATH"),
}
# A folder that may be absent from an environment: the default is the same. XDG_CACHE_HOME and TMPDIR are read later.
_FOLDERS = ("HOME",)


class ForkedPrograms:
    """The function of `subprocess` that starts a program, in place of the usual one.

    `control` is the connection with the process to fork from; None to start one when it is first needed. `before` is
    the function that this program called first, as those that it starts do.
    """

    def __init__(self, start: Any, control: socket.socket | None = None, before: str = "") -> None:
        self._start = start
        self._control = control
        self._before = before
        self._is_ready = control is not None
        self._is_lost = False
        self._parent: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()
        self._are_new = False
        self._environment = _of_parent(os.environ)

    def __call__(self, *given: Any) -> int:
        """The id of the process; the arguments are those of `_posixsubprocess.fork_exec`."""
        order = None if self._are_new else _order(self._environment, *given)
        process = None if order is None else self._fork(*order)
        return int(self._start(*given)) if process is None else process

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Start all programs as new processes while the block runs; they do so too."""
        self._are_new = True
        try:
            yield
        finally:
            self._are_new = False

    @property
    def is_ready(self) -> bool:
        """Whether programs are forked already; until then, the process to fork from is being prepared."""
        with self._turn:
            return self._prepared()

    @property
    def is_lost(self) -> bool:
        """Whether the process to fork from was there and ended before its time: all programs are new ones since."""
        return self._is_lost

    def prepare(self) -> None:
        """Wait until programs are forked: the process to fork from takes some seconds of a core."""
        with self._turn:
            if not self._prepared() and self._control is not None:
                self._is_ready = self._control.recv(16) == b"ready"

    def close(self) -> None:
        """End the process to fork from; its programs go on."""
        if self._control is not None:
            self._control.close()
        if self._parent is not None:
            self._parent.kill()
            self._parent.wait()

    def _fork(self, order: Order, files: Sequence[int]) -> int | None:
        """The id of the new process; None if there is none to fork from."""
        with self._turn:
            try:
                if not self._prepared():
                    return None
                assert self._control is not None
                order = replace(order, before=order.before or self._before)
                socket.send_fds(self._control, [order.written()], list(files))
                return int(self._control.recv(16))
            except (OSError, ValueError):  # it is gone
                self._is_lost = True
                return None

    def _prepared(self) -> bool:
        if self._control is None:
            self._control = self._started()
        if not self._is_ready:
            with suppress(OSError):  # it is not ready, or gone
                self._is_ready = self._control.recv(16, socket.MSG_DONTWAIT) == b"ready"
        return self._is_ready

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._parent = subprocess.Popen(
                [sys.executable, "-P", "-c", _PARENT.format(str(ROOT)), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=self._environment,
            )
        return ours


def forking() -> ForkedPrograms:
    """That of this process."""
    found = subprocess._fork_exec  # type: ignore[attr-defined]
    assert isinstance(found, ForkedPrograms)
    return found


def install(control: socket.socket | None = None, before: str = "") -> ForkedPrograms:
    """Have `subprocess` start programs by forking from now on. See `ForkedPrograms`.

    Without `control`, a program that was forked itself goes on with the process that it got.
    """
    started = subprocess._fork_exec  # type: ignore[attr-defined]
    if isinstance(started, ForkedPrograms):
        if control is None:
            return started
        started = started._start
    forked = ForkedPrograms(started, control, before)
    subprocess._fork_exec = forked  # type: ignore[attr-defined]
    return forked


def _order(parent: Mapping[str, str], *given: Any) -> tuple[Order, list[int]] | None:
    """The order for arguments of `fork_exec`, and its open files; None if that program is not forked.

    `parent`: the environment of the process to fork from.
    """
    command, _, close_fds, kept, folder, variables, stdin, _, _, stdout, _, stderr = given[:12]
    _, error_pipe, restore_signals, session = given[12:16]
    usual = close_fds and restore_signals and given[16:21] == (-1, None, None, None, -1)
    before = given[21]
    named = "" if before is None else f"{before.__module__}:{before.__qualname__}"
    if not usual or named not in ("", _BEFORE):
        return None
    words = [os.fsdecode(word) for word in command]
    environment = dict(os.environ)
    if variables is not None:
        pairs = (os.fsdecode(pair).split("=", 1) for pair in variables)
        environment = dict(pairs)
    if not _wanted(words, environment) or not _is_like(environment, parent):
        return None
    passed = [file for file in kept if file != error_pipe]
    files = [own if own >= 0 else at for at, own in enumerate((stdin, stdout, stderr))] + passed
    order = Order(
        command=words,
        environment=environment,
        folder=str(Path.cwd()) if folder is None else os.fsdecode(folder),
        files=[0, 1, 2, *passed],
        session=bool(session),
        before=named,
    )
    return (order, files) if len(files) <= MOST_FILES and len(order.written()) < LONGEST else None


def _wanted(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a command line is that of a program that can be forked."""
    safe = "PYTHONSAFEPATH" in environment
    match words:
        case [sys.executable, *rest] if rest == _WORKER:
            return True
        case [sys.executable, "-P", "-c", code, *_]:
            return _ENTRIES.search(code) is not None
        case [sys.executable, "-P", script, *_] if Path(script) in _SCRIPTS:
            return True
        case [sys.executable, "-P", "-m", "intaglio.service.bench"]:
            return True
        case [sys.executable, "-m", "intaglio", *_]:
            return safe
        case [program, *_]:
            return safe and program == str(PROGRAM)
    return False


def _of_parent(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the process to fork from: without what a program may be given or not."""
    return {
        name: value
        for name, value in environment.items()
        if name in ("PATH", "LANG", "TMPDIR", *_FOLDERS) or _READ_AT_START.match(name)
    }


def _is_like(environment: Mapping[str, str], parent: Mapping[str, str]) -> bool:
    """Whether the process to fork from read the same at its start as one with this environment would."""

    def read(of: Mapping[str, str]) -> dict[str, str]:
        found = {name: value for name, value in of.items() if _READ_AT_START.match(name)}
        found.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as every program does
        return {name: found[name] for name in found.keys() - _READ_LATER}

    folders = (name for name in _FOLDERS if name in environment)
    return read(environment) == read(parent) and all(
        environment[name] == parent.get(name) for name in folders
    )
