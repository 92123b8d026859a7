"""The process that examines untrusted constraints, and may be killed for it.

Does: load the compiler once, then fork a child for each place of work; a child examines, or explains, one constraint
after another under hard limits of memory and processor time. Does not: decide when to end one (`isolation`), or import
anything heavy before its own settings are in place.

The first process, the zygote, has a single thread and never sees a constraint: forking from it is safe, takes
milliseconds, and a child that is killed takes nothing with it. Its standard input is a socket to its parent, for
commands; the end of it is the parent's end. A child talks to the parent over a socket that came with the command.
"""

import gc
import os
import resource
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..backends.token_spelling import Canonical
    from ..compiler.compile import Compiler
    from ..contract.vocabulary import Vocabulary
    from .channel import ChildLimits

FORK: Final = b"F"  # with the child's socket; the answer is its process id
END: Final = b"E"  # with a process id; the answer is its wait status
ORDER: Final = struct.Struct("<cq")
ANSWER: Final = struct.Struct("<q")
MORE: Final = b"+"  # before an answer: the child takes another constraint
LAST: Final = b"-"  # before an answer: it does not
EXAMINE: Final = b"e"  # before a constraint: the answer is a verdict
EXPLAIN: Final = b"x"  # before a constraint: the answer is an explanation
EXIT_MEMORY: Final = 3
_GROWTH: Final = 64 << 20  # bytes by which a child may grow before it makes room for another
_NICENESS: Final = 5  # what is being generated goes first


def main() -> int:
    """Entry of the zygote; returns when its parent is gone."""
    stay_single()
    from .channel import Gone, decode_start, receive, send

    control = socket.socket(fileno=0)
    limits, vocabulary = decode_start(receive(control))
    from ..compiler.compile import Compiler

    compiler = Compiler(vocabulary, _bytewise(vocabulary))
    compiler.warm()
    gc.freeze()
    if _threads() > 1:
        raise SystemExit("a process with threads must not fork")
    try:
        send(control, b"ready")
    except Gone:
        return 0
    return _serve(control, compiler, limits)


def stay_single() -> None:
    """Before numpy is loaded: the linear algebra below it is not used here, and its threads would forbid to fork."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.putenv(name, "1")


def _serve(control: socket.socket, compiler: "Compiler", limits: "ChildLimits") -> int:
    children: set[int] = set()
    while True:
        try:
            order, sockets, _, _ = socket.recv_fds(control, ORDER.size, 1)
        except ConnectionError:
            order = b""
        if len(order) < ORDER.size:
            break
        verb, process = ORDER.unpack(order)
        if verb == FORK:
            with socket.socket(fileno=sockets[0]) as channel:
                process = os.fork()
                if process == 0:
                    control.close()
                    _work(channel, compiler, limits)
            children.add(process)
            control.sendall(ANSWER.pack(process))
        elif verb == END and process in children:
            children.discard(process)
            os.kill(process, signal.SIGKILL)
            control.sendall(ANSWER.pack(os.waitpid(process, 0)[1]))
    for process in children:
        os.kill(process, signal.SIGKILL)
    return 0


def _work(channel: socket.socket, compiler: "Compiler", limits: "ChildLimits") -> None:
    """The life of a child. Never returns."""
    status = 1
    try:
        _confine(limits.memory)
        _examine_all(channel, compiler, limits)
        status = 0
    except (MemoryError, RecursionError):
        status = EXIT_MEMORY
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        sys.stderr.flush()
        os._exit(status)  # nothing of the zygote's may run here


def _confine(memory: int) -> None:
    """Bound memory; be the first whom a system without memory kills; leave no image of it behind."""
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return
    most = int(pages.read_text().split()[0]) * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    Path("/proc/self/oom_score_adj").write_text("1000")


def _examine_all(channel: socket.socket, compiler: "Compiler", limits: "ChildLimits") -> None:
    from . import verdict
    from .channel import Gone, receive, send
    from .explain import explain
    from .explanation_codec import encode_explanation

    begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while True:
        try:
            asked = receive(channel)
        except Gone:
            return
        constraint = verdict.decode_constraint(asked[1:])
        # The kernel counts and kills: no state of the interpreter can keep it from that.
        signal.setitimer(signal.ITIMER_PROF, limits.cpu_s)
        if asked[:1] == EXPLAIN:
            answer, final = encode_explanation(explain(compiler, constraint)), True
        else:
            found = verdict.examine(compiler, constraint)
            answer, final = verdict.encode_verdict(found), found.final
        signal.setitimer(signal.ITIMER_PROF, 0)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun) * 1024
        last = not final or grown > _GROWTH
        send(channel, (LAST if last else MORE) + answer)
        if last:
            return


def _bytewise(vocabulary: "Vocabulary") -> "Canonical":
    """A spelling that serves where only bytes count: each for itself."""
    singles = {
        text[0]: token for token, text in enumerate(vocabulary.tokens) if text and len(text) == 1
    }
    return lambda text: tuple(singles[byte] for byte in text) if singles.keys() >= set(text) else ()


def _threads() -> int:
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.exists() else 1
