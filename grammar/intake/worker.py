"""The worker processes that examine untrusted constraints and can be killed: a zygote and its forked children.

Does: load the compiler once, then fork children on command; a child examines or explains one constraint after another
under hard limits of memory and processor time. Does not: decide when to kill a child (`isolation`), or import heavy
modules before its own settings are in place.

The first process, the zygote, has a single thread and never handles a constraint. So forking from it is safe and takes
milliseconds, and killing a child affects nothing else. The zygote's standard input is a socket to its parent, for
commands; it exits when the parent closes the socket. A child talks to the parent over a socket passed with the command.
"""

import contextlib
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

FORK: Final = b"F"  # command with the child's socket; the answer is its process id
END: Final = b"E"  # command with a process id; the answer is its wait status
ORDER: Final = struct.Struct("<cq")  # a command: verb, process id
ANSWER: Final = struct.Struct("<q")
MORE: Final = b"+"  # prefix of an answer: the child accepts another constraint
LAST: Final = b"-"  # prefix of an answer: the child exits
EXAMINE: Final = b"e"  # prefix of a constraint: the answer is a verdict
EXPLAIN: Final = b"x"  # prefix of a constraint: the answer is an explanation
EXIT_MEMORY: Final = 3  # exit status of a child without memory or stack
_GROWTH: Final = 64 << 20  # bytes by which a child may grow before it is replaced
_NICENESS: Final = 5  # generation has priority over examination


def main() -> int:
    """Entry point of the zygote; returns when its parent has closed the socket."""
    stay_single()
    from .channel import ChannelClosed, decode_start, receive, send

    control = socket.socket(fileno=0)
    try:
        limits, vocabulary = decode_start(receive(control))
    except ChannelClosed:  # the parent was closed while it started this process
        return 0
    from ..compiler.compile import Compiler

    compiler = Compiler(vocabulary, _bytewise(vocabulary))
    compiler.warm()
    gc.freeze()
    if _threads() > 1:
        raise SystemExit("a process with threads must not fork")
    try:
        send(control, b"ready")
    except ChannelClosed:
        return 0
    return _serve(control, compiler, limits)


def stay_single() -> None:
    """Turn off the threads of numpy's linear algebra, which is not used here: a process with threads must not fork.

    To be called before numpy is loaded.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.putenv(name, "1")


def _serve(control: socket.socket, compiler: "Compiler", limits: "ChildLimits") -> int:
    """Execute the parent's commands until it closes the socket, then kill all children."""
    children: set[int] = set()
    with contextlib.suppress(ConnectionError):  # the parent has ended, or has closed the socket
        while True:
            order, sockets, _, _ = socket.recv_fds(control, ORDER.size, 1)
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
    """Run a child to its end. Never returns."""
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
        os._exit(status)  # exit handlers of the zygote must not run here


def _confine(memory: int) -> None:
    """Bound the memory of this process, make it the first to be killed when memory runs out, disable core dumps."""
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return
    most = int(pages.read_text().split()[0]) * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    Path("/proc/self/oom_score_adj").write_text("1000")


def _examine_all(channel: socket.socket, compiler: "Compiler", limits: "ChildLimits") -> None:
    """Answer questions from the parent until it closes the channel or this process has grown too large."""
    from . import verdict
    from .channel import ChannelClosed, receive, send
    from .explain import explain
    from .explanation_codec import encode_explanation

    begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with contextlib.suppress(ChannelClosed):  # the parent has stopped waiting
        while True:
            asked = receive(channel)
            constraint = verdict.decode_constraint(asked[1:])
            # The kernel counts the time and kills the process, whatever state the interpreter is in.
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
    """A spelling with one token per byte, for a process without a tokenizer."""
    singles = {
        text[0]: token for token, text in enumerate(vocabulary.tokens) if text and len(text) == 1
    }
    return lambda text: tuple(singles[byte] for byte in text) if singles.keys() >= set(text) else ()


def _threads() -> int:
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.exists() else 1
