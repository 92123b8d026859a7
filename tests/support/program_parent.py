"""The process that programs of this package are forked from while tests run: it has imported what they import.

Does: import libraries and load compiled loops once, then fork a program for each order. A program gets the command
line, environment, folder and open files of its order, and is a child of the process that sent it. Does not: decide
which programs are forked (`forked_programs`), start threads or open a device: it could not be forked then.

Each program has such a process of its own, a copy of this one, for the programs that it starts itself.
"""

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import mmap
import os
import platform
import re
import runpy
import signal
import socket
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

from tests.support import forked_programs
from tests.support.program_order import LONGEST, MOST_FILES, Order

_MODULES: Final = (
    "torch",
    "intaglio.engine.host.build_engine",
    "intaglio.engine.parallel.communicator",
    "intaglio.engine.ranks.rank_process",
    "intaglio.grammar.intake.explain",
    "intaglio.grammar.intake.worker",
    "intaglio.service.batches.batch_host",
    "intaglio.service.bench.load_loops",
    "intaglio.service.cli.commands",
    "intaglio.service.cli.job_command",
    "intaglio.service.http.api_process",
    "intaglio.service.http.app",
    "intaglio.service.offline.llm",
    "tests.support.as_a_user",
    "tests.support.answering_engine",
    "tests.support.scripted_engine",
    "tests.support.serve_answering",
    "tests.support.serve_scripted",
)
_STARTS_NONE: Final = re.compile(
    r"from (intaglio\.(grammar\.intake\.worker|engine\.ranks\.rank_process)"
    r"|tests\.support\.(answering|reading|scripted)_engine) import|-m intaglio\.service\.bench$"
)
"""Programs that start no others: those that examine schemas or load a server, ranks, and the doubles of engines."""
_ABOVE: Final = 500  # numbers of files that no program is given
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT: Final = 0x8000
_PR_SET_MM: Final = 35
_PR_SET_MM_MAP: Final = 14

_C = ctypes.PyDLL(
    None, use_errno=True
)  # calls keep the interpreter lock, which a fork would otherwise lose


class _Layout(ctypes.Structure):
    """`struct prctl_mm_map` of Linux: the addresses of a process's memory, its command line among them."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("start_code", "end_code", "start_data", "end_data")),
        *((name, ctypes.c_uint64) for name in ("start_brk", "brk", "start_stack")),
        *((name, ctypes.c_uint64) for name in ("arg_start", "arg_end", "env_start", "env_end")),
        ("auxv", ctypes.c_void_p),
        ("auxv_size", ctypes.c_uint32),
        ("exe_fd", ctypes.c_uint32),
    ]


def main() -> None:
    """Prepare, then fork programs until the process that orders them has exited. In a fork, run its program."""
    control = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()  # a quarter of the time of all imports
    _prepare()
    _show_command(sys.orig_argv)  # fails at once where the system cannot do it
    root = str(Path(__file__).parents[2])
    sys.path[:] = [
        entry for entry in sys.path if entry != root
    ]  # programs find only what is installed
    gc.collect()
    gc.freeze()  # a collection in a fork would copy every page
    gc.enable()
    _forget_finalizers()
    order = _serve(control)
    _end(partial(_run, order.command))


def _prepare() -> None:
    """Import the libraries of all programs, and load compiled loops."""
    from intaglio.engine.config import wait_passively

    wait_passively()  # before torch is loaded
    for name in _MODULES:
        importlib.import_module(name)
    from intaglio.engine import embedded
    from intaglio.engine.run.batch import load_loops
    from intaglio.engine.text.tokenizer import Tokenizer
    from intaglio.grammar.api import Compiler

    assert "triton" not in sys.modules  # whether it interprets kernels is read when it is imported
    load_loops()
    assert embedded.__file__ is not None
    tokenizer = Tokenizer.load(Path(embedded.__file__).parent)
    Compiler(tokenizer.vocabulary(), tokenizer.canonical).warm()


def _forget_finalizers() -> None:
    """Have no program finalize at its end what libraries made here: hundreds of objects of torch, in 40 ms."""
    for made in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        made.atexit = False


def _serve(control: socket.socket) -> Order:
    """Fork a program for each order; returns in the programs only."""
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        control.send(b"ready")
    except ConnectionError:
        os._exit(0)
    while True:
        try:
            text, files, _, _ = socket.recv_fds(control, LONGEST, MOST_FILES)
        except ConnectionError:
            text, files = b"", []
        if not text:
            os._exit(0)
        process = _fork_sibling()
        if process == 0:
            control.close()
            order = Order.read(text)
            ours, theirs = _next_parent(order)
            if theirs is None:
                signal.signal(signal.SIGINT, interrupt)
                _become(order, files, ours)
                return order
            control = theirs
        else:
            control.send(str(process).encode())
        for file in files:
            os.close(file)


def _next_parent(order: Order) -> tuple[socket.socket | None, socket.socket | None]:
    """Fork the process that the programs of a program are forked from, where it starts any: 9 ms.

    Returns the program's end of the connection with it, in the program, and the other end, in that process.
    """
    if _STARTS_NONE.search(" ".join(order.command)):
        return None, None
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        return None, theirs
    theirs.close()
    return ours, None


def _fork_sibling() -> int:
    """As `os.fork`, but the new process is a child of this one's parent."""
    python = ctypes.pythonapi
    call, flags = _CLONE[platform.machine()], _CLONE_PARENT | signal.SIGCHLD
    python.PyOS_BeforeFork()
    process = int(_C.syscall(*map(ctypes.c_long, (call, flags, 0, 0, 0, 0))))
    (python.PyOS_AfterFork_Child if process == 0 else python.PyOS_AfterFork_Parent)()
    if process < 0:
        raise OSError(ctypes.get_errno(), "the program cannot be forked")
    return process


def _become(order: Order, files: list[int], control: socket.socket | None) -> None:
    """Give this process what a new one would have got from the process that starts it."""
    if order.session:
        os.setsid()
    above = [_moved(file) for file in files]
    if control is not None:
        control = socket.socket(fileno=_moved(control.detach()))
    for number, file in zip(order.files, above, strict=True):
        os.dup2(file, number)
        os.close(file)
    kept = {*order.files} | ({control.fileno()} if control is not None else set())
    for number in {int(file.name) for file in Path("/proc/self/fd").iterdir()} - kept:
        with contextlib.suppress(OSError):  # the listing's own
            os.close(number)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    tempfile.tempdir = None  # kept where an import has asked for it
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    if "PYTHONUNBUFFERED" in os.environ:
        sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
    if order.before:
        module, _, name = order.before.partition(":")
        getattr(importlib.import_module(module), name)()
        signal.signal(
            signal.SIGINT, signal.default_int_handler
        )  # as the interpreter does at its start
    _show_command(order.command)
    if control is not None:
        forked_programs.install(control, order.before)


def _moved(file: int) -> int:
    """The same open file under a high number."""
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    os.close(file)
    return moved


def _run(command: list[str]) -> None:
    """Run a program as the interpreter does for this command line."""
    sys.orig_argv[:] = command
    words = command[1:] if command[0] == sys.executable else command
    words = [word for word in words[:1] if word not in ("-P", "-u")] + words[1:]
    if words[0] == "-m":
        sys.argv[:] = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    if words[0] == "-c":
        sys.argv[:] = ["-c", *words[2:]]
        source, name = words[1], "<string>"
    else:
        sys.argv[:] = words
        source, name = Path(words[0]).read_text("utf-8"), words[0]
        main.__file__ = name
    exec(compile(source, name, "exec"), vars(main))


def _end(run: Callable[[], None]) -> NoReturn:
    """Run a program and exit as the interpreter does, but leave its objects: freeing them would copy every page."""
    status: object = None
    try:
        run()
    except SystemExit as end:
        status = end.code
    if not isinstance(status, int | None):
        raise SystemExit(status)  # which the interpreter prints
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((status or 0) & 0xFF)


def _show_command(command: list[str]) -> None:
    """Make this the command line that other processes see."""
    text = b"".join(os.fsencode(word) + b"\0" for word in command)
    place = mmap.mmap(-1, len(text), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place.write(text)
    _SHOWN.append(place)
    state = Path("/proc/self/stat").read_text().rpartition(")")[2].split()

    def number(field: int) -> int:
        return int(state[field - 3])

    start = ctypes.addressof(ctypes.c_char.from_buffer(place))
    layout = _Layout(
        start_code=number(26),
        end_code=number(27),
        start_data=number(45),
        end_data=number(46),
        start_brk=number(47),
        brk=_break(),
        start_stack=number(28),
        arg_start=start,
        arg_end=start + len(text),
        env_start=number(50),
        env_end=number(51),
        exe_fd=0xFFFFFFFF,
    )
    size = ctypes.c_long(ctypes.sizeof(layout))
    if _C.prctl(_PR_SET_MM, _PR_SET_MM_MAP, ctypes.byref(layout), size, 0):
        raise OSError(ctypes.get_errno(), "the command line cannot be changed")


def _break() -> int:
    """The end of the memory that grows."""
    _C.sbrk.restype = ctypes.c_void_p
    return int(_C.sbrk(ctypes.c_ssize_t(0)))


_SHOWN: Final[list[mmap.mmap]] = []
"""The memory with command lines, which must stay."""
