"""The engine's process: the step loop in the main thread, the socket of commands in another thread.

Does: build an engine from the configuration on standard input, serve any number of clients, send a beat four times a
second to its supervisor, abort the requests of clients that have gone; exit on command, when its parent has exited, or
when a step fails. Does not: schedule or restart itself; a step that raises ends the process, and its parent starts
another one (`engine/host/supervisor.py`).

Standard input stays open while the parent runs. End of file means that the parent has exited, for whatever reason, so
no engine outlives the process that started it, and the folder of the sockets is removed.
"""

import gc
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import zmq

from ..errors import EngineError, EngineLost, EngineStopped, InternalError, InvalidRequest
from ..grammars.grammar_faults import sendable
from ..model.page_cache import read_ahead
from ..types import Delta, Failure, Finish, Usage
from .answers import Answers
from .assembly import Assembly, Builder, Steppable
from .garbage import GarbageCollector
from .ignored_messages import IgnoredMessages
from .messages import (
    Abort,
    Beat,
    BlockReport,
    Check,
    Checked,
    Deltas,
    Drain,
    EngineInfo,
    Event,
    Join,
    Joined,
    Ready,
    Shutdown,
    Submit,
    Unusable,
    addressee,
    command,
    encode,
)
from .sockets import unbounded
from .whole_answers import WholeAnswers

if TYPE_CHECKING:
    from .preparation import Preparation

COMMANDS = "commands"
ANSWERS = "answers"
EVENTS = "events"
BEAT_S = 0.25
IDLE_S = 0.05

SWITCH_INTERVAL_S = 1e-4
"""The interpreter's switch interval, 5 ms by default: the time that a thread holds the interpreter lock while others
wait. A step releases the lock dozens of times, to launch or to copy, and each time waits behind a thread that compiles:
with this value it gets the lock 18 times as often. While an engine is built, threads that read weights wait behind the
one that prepares kernels."""

EXIT_UNUSABLE = 3
STANDBY = b"standby\n"
GO = b"go\n"


class _Outbox:
    """The socket of events to the supervisor, shared by both threads."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str) -> None:
        self._lock = threading.Lock()
        self._socket = context.socket(zmq.PUSH)
        self._socket.linger = 1000
        self._socket.connect(address)

    def send(self, event: Event) -> None:
        with self._lock:
            self._socket.send(encode(event))

    def close(self) -> None:
        with self._lock:
            self._socket.close()


class Host:
    """Drives one engine: `listen` in a separate thread, `run` in the main thread."""

    def __init__(self, outbox: _Outbox, answers: Answers, commands: zmq.Socket[bytes]) -> None:
        self._outbox = outbox
        self._answers = answers
        self._commands = commands
        self._assembly: Assembly | None = None
        self._checks: list[tuple[bytes, int]] = []
        self._whole = WholeAnswers()
        self._ignored = IgnoredMessages()
        self._step_began: float | None = None
        self._draining = False
        self._stop = threading.Event()

    def listen(self) -> None:
        """Receive commands and send beats until `stop`."""
        last_beat = 0.0
        while not self._stop.is_set():
            if self._commands.poll(int(BEAT_S * 1000)):
                self._execute(*self._commands.recv_multipart())
            if time.monotonic() - last_beat >= BEAT_S:
                last_beat = time.monotonic()
                self._end_if_broken()
                self._outbox.send(self._beat())
                self._abort(self._answers.orphans())
        self._commands.close(linger=0)

    def run(self, assembly: Assembly) -> None:
        """Step until `stop`."""
        self._assembly = assembly
        engine, info, collector = assembly.engine, assembly.info, GarbageCollector()
        collector.start()
        self._outbox.send(Ready(info))
        while not self._stop.is_set():
            self._step_began = time.monotonic()
            deltas = engine.step()
            self._step_began = None
            if deltas and (ready := self._whole.join(deltas)):
                self._abort(self._answers.deliver(ready))
            while self._checks:
                client, ticket = self._checks.pop(0)
                self._answers.send(client, Checked(ticket, report(engine, info)))
            idle = not engine.has_work
            if idle:
                if self._draining and not engine.open_requests:
                    return
                engine.wait(IDLE_S)
                idle = not engine.has_work
            collector.between_steps(idle=idle and not engine.open_requests)

    def stop(self) -> None:
        """End both loops."""
        self._stop.set()

    def _end_if_broken(self) -> None:
        """Raise `EngineLost` if a process that computes with this one has ended; the step may wait for it."""
        fault = None if self._assembly is None else self._assembly.fault()
        if fault is not None and not self._stop.is_set():
            raise EngineLost(fault)

    def _beat(self) -> Beat:
        began, assembly = self._step_began, self._assembly
        stalled = 0.0 if began is None else time.monotonic() - began
        if assembly is None:
            return Beat(stalled, None, None)
        return Beat(stalled, assembly.engine.metrics(), assembly.grammar_stats())

    def _execute(self, client: bytes, data: bytes = b"", *_more: bytes) -> None:
        try:
            order = command(data)
        except msgspec.DecodeError as error:
            self._refuse(client, data, error)
            return
        if isinstance(order, Shutdown):
            self._stop.set()
            return
        if self._assembly is None:
            if not isinstance(order, Join):  # which is repeated
                raise RuntimeError(f"{type(order).__name__} came before Ready was sent")
            return
        engine = self._assembly.engine
        if isinstance(order, Submit):
            self._submit(engine, client, order)
        elif isinstance(order, Abort):
            if self._answers.owns(client, order.request_id):
                engine.abort(order.request_id)
        elif isinstance(order, Check):
            self._checks.append((client, order.ticket))
        elif isinstance(order, Join):
            self._answers.send(client, Joined())
        elif isinstance(order, Drain):
            self._draining = True
            self._assembly.drain()

    def _submit(self, engine: Steppable, client: bytes, order: Submit) -> None:
        request = order.request
        prompt_tokens = len(request.prompt)
        if self._draining:
            stopping = EngineStopped("the engine is being restarted", hint="try again")
            self._answers.send(client, Deltas((_refused(request.id, prompt_tokens, stopping),)))
            return
        if not self._answers.open(client, request.id):
            used = InvalidRequest(f"the id {request.id!r} is in use", where="id")
            self._answers.send(client, Deltas((_refused(request.id, prompt_tokens, used),)))
            return
        expected = order.whole and self._whole.expect(request.id)
        try:
            engine.submit(request)
        except EngineError as error:
            if expected:
                self._whole.forget(request.id)
            self._answers.deliver((_refused(request.id, prompt_tokens, error),))

    def _abort(self, request_ids: list[str]) -> None:
        """End requests that have no client any more."""
        if self._assembly is not None:
            for request_id in request_ids:
                self._assembly.engine.abort(request_id)

    def _refuse(self, client: bytes, data: bytes, error: msgspec.DecodeError) -> None:
        """End the request in `data`, which is not a valid command. Without an id, only log it."""
        found = addressee(data)
        if found is None:
            self._ignored.add(str(error))
            return
        refusal = InvalidRequest(f"the request cannot be read: {error}")
        self._answers.send(client, Deltas((_refused(found, 0, refusal),)))


def report(engine: Steppable, info: EngineInfo) -> BlockReport:
    """The fault that `check` finds, and the blocks after the last step. For the thread that steps, between steps."""
    fault = None
    try:
        engine.check()
    except InternalError as error:
        fault = error.message
    free = engine.metrics().free_blocks
    return BlockReport(
        free=free,
        used=info.blocks - free,
        open_requests=engine.open_requests,
        fault=fault,
    )


def main(builder: Builder | None = None) -> int:
    """The entry point of the process; its exit status.

    The command line arguments are the folder of the sockets of all processes of the parent, and the name of this
    process's own folder in it. Standard input has a line with the configuration, preceded by `STANDBY` for a standby
    process, which prepares itself and continues when another line arrives.
    """
    shared = Path(sys.argv[1])
    folder = shared / sys.argv[2]
    configuration = sys.stdin.buffer.readline()
    build = builder or partial(_build, folder)
    if configuration == STANDBY:
        configuration = sys.stdin.buffer.readline()
        if builder is None:
            build = _prepared(folder, configuration)
        if not sys.stdin.buffer.readline():
            return 0  # the parent has exited, or does not need this process
    threading.Thread(target=_end_with_parent, args=(shared,), daemon=True).start()
    context = zmq.Context()
    outbox = _Outbox(context, f"ipc://{folder / EVENTS}")
    answers = Answers(context, f"ipc://{folder / ANSWERS}")
    commands = unbounded(context, zmq.PULL)
    commands.bind(f"ipc://{folder / COMMANDS}")
    host = Host(outbox, answers, commands)
    listener = threading.Thread(target=_exit_on_error, args=(host.listen,), daemon=True)
    listener.start()
    try:
        return _serve(host, outbox, partial(build, configuration))
    finally:
        host.stop()
        listener.join()
        answers.close()
        outbox.close()
        context.term()


def _prepared(sockets: Path, configuration: bytes) -> Builder:
    """The function that builds the engine.

    If preparation fails, the engine is built from the start, which reports the reason.
    """
    try:
        preparation = _prepare(sockets, configuration, stands_by=True)
    except EngineError:
        return partial(_build, sockets)
    from .build_engine import build_prepared

    preparation.warm()
    gc.collect()
    gc.freeze()  # now, while nothing waits for it
    return lambda _: build_prepared(preparation)


def _serve(host: Host, outbox: _Outbox, build: Callable[[], Assembly]) -> int:
    """Build and run an engine; the exit status."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        assembly = build()
    except EngineLost as error:  # a rank has ended; another attempt may succeed
        sys.stderr.write(f"the engine could not start: {error.message}\n")
        return 1
    except EngineError as error:
        outbox.send(Unusable(error.message, error.hint))
        return EXIT_UNUSABLE
    host.run(assembly)
    assembly.close()
    return 0


def _build(sockets: Path, configuration: bytes) -> Assembly:
    prepared = _prepare(sockets, configuration, stands_by=False)
    from .build_engine import build_prepared

    return build_prepared(prepared)


def _prepare(sockets: Path, configuration: bytes, *, stands_by: bool) -> "Preparation":
    from ..config import EngineConfig, wait_passively

    wait_passively()  # before torch is loaded
    config = msgspec.json.decode(configuration, type=EngineConfig)
    if config.model.weights == "checkpoint":
        read_ahead(Path(config.model.model))  # while torch is loaded
    from .preparation import Preparation, make_context

    if not stands_by and config.model.device != "cpu":
        make_context()  # while the tokenizer is loaded
    return Preparation.of(config, sockets)


def _refused(request_id: str, prompt_tokens: int, error: EngineError) -> Delta:
    """The only delta of a request that was refused."""
    return Delta(
        request_id=request_id,
        finish=Finish.ERROR,
        usage=Usage(prompt_tokens=prompt_tokens, output_tokens=0),
        error=Failure(error.code, sendable(error.message), error.hint, error.retryable),
    )


def _exit_on_error(work: Callable[[], None]) -> None:
    """Run `work`; if it raises, end the whole process, which is useless without that thread."""
    try:
        work()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
        raise


def _end_with_parent(folder: Path) -> None:
    # Not `sys.stdin`: a thread that waits in it would hold its lock when the interpreter exits.
    while os.read(0, 4096):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
