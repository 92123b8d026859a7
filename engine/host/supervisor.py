"""The supervisor of an engine process: starts it, watches it, starts another one when it dies or hangs.

Does: run one process at a time, detect its death at once, back off between restarts, restart it on demand, report its
status. Does not: know requests or clients, which connect to the process themselves (`engine/host/attachment.py`).
"""

import asyncio
import contextlib
import math
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, Self

import msgspec
import zmq
import zmq.asyncio

from ..config import EngineConfig, environment_with
from . import messages
from .outside_kill import memory_kills, was_killed_from_outside
from .process import COMMANDS, EVENTS, EXIT_UNUSABLE, GO, STANDBY
from .starvation import Waits, patiently, waits
from .status import EngineState, EngineStatus

SUPERVISOR: Final = b"supervisor"  # the sender's name in its commands, which are not answered
_REPORT_S: Final = 10.0  # for an engine that cannot start to report the reason
_CANCEL_INTERVAL_S: Final = 0.1  # until a task that has not ended is cancelled once more
_MOST_RUNS: Final = 64  # killed from outside, remembered for clients that ask about them later


@dataclass(frozen=True, slots=True)
class Launch:
    """The command that starts the process, its input, and its environment variables in addition to ours.

    The command gets two more arguments: the folder of all sockets, and the name of the process's own folder in it.
    """

    command: tuple[str, ...]
    configuration: bytes
    environment: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, config: EngineConfig) -> Self:
        """The engine of this package, run by this interpreter, without the current folder on its path."""
        # What is loaded stays: to look for garbage in it takes a fifth of the start. `GarbageCollector` looks again.
        entry = (
            "import gc; gc.disable(); "
            "from intaglio.engine.host.process import main; raise SystemExit(main())"
        )
        return cls((sys.executable, "-P", "-c", entry), msgspec.json.encode(config))


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The timeouts after which an engine counts as dead, and the delays of restarts, in seconds.

    The process is killed after `silence_s` without a beat, or when a single step takes longer than `stall_s`. Silence
    is measured in time in which the process could run: the time it waited for a processor is added, until `stall_s`
    have passed. The delay before a restart doubles from `backoff_s` to `backoff_limit_s`, and is reset after
    `settled_s` of service. After `attempts` consecutive processes that never became ready the engine is unusable. A
    process that is shut down may take `closing_s` for its present step, and one that is restarted on demand `drain_s`
    for its open requests.

    With `standby` a second process waits while the engine is ready: it has loaded its libraries and tokenizer, with
    those of its other ranks, and uses no device. "auto" is on for engines on a GPU: their libraries take longest;
    and for engines in several processes, each of which may end all of them. It is started when the engine has been
    ready for `standby_after_s`: earlier it would delay the requests that were waiting for the engine.
    """

    first_beat_s: float = 60.0
    silence_s: float = 10.0
    stall_s: float = 300.0
    backoff_s: float = 0.1
    backoff_limit_s: float = 5.0
    settled_s: float = 10.0
    attempts: int = 5
    closing_s: float = 1.0
    drain_s: float = 600.0
    standby: Literal["auto", "on", "off"] = "auto"
    standby_after_s: float = 3.0


class _Child:
    """One run of the engine's process, with its sockets in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(0o700)
        self._context = zmq.asyncio.Context()
        self._commands = self._context.socket(zmq.PUSH)
        self._events = self._context.socket(zmq.PULL)
        self._commands.connect(f"ipc://{folder / COMMANDS}")
        self._events.bind(f"ipc://{folder / EVENTS}")
        self._process: asyncio.subprocess.Process | None = None

    @property
    def folder(self) -> str:
        return str(self._folder)

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self, launch: Launch, *, standby: bool = False) -> None:
        process = await asyncio.create_subprocess_exec(
            *launch.command,
            str(self._folder.parent),
            self._folder.name,
            stdin=asyncio.subprocess.PIPE,
            env=environment_with(dict(launch.environment)),
            stdout=2,  # output of libraries belongs to the log
            start_new_session=True,  # Ctrl-C goes to the parent only, which shuts this process down
        )
        self._process = process
        await self._write((STANDBY if standby else b"") + launch.configuration + b"\n")

    async def go(self) -> None:
        """Let a standby process become the engine."""
        await self._write(GO)

    async def _write(self, text: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        with contextlib.suppress(ConnectionError):  # it died already, which `ended` reports
            await self._process.stdin.drain()

    def send(self, order: messages.Command) -> None:
        self._commands.send_multipart((SUPERVISOR, messages.encode(order)))

    async def receive(self) -> messages.Event:
        return messages.event(await self._events.recv())

    def waits(self) -> Waits:
        assert self._process is not None
        return waits(self._process.pid)

    async def ended(self) -> int:
        assert self._process is not None
        return await self._process.wait()

    async def close(self, patience_s: float) -> None:
        """Wait up to `patience_s` for the process to exit, then kill it; remove sockets and folder."""
        process = self._process
        try:
            if process is not None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), patience_s)
        finally:
            if process is not None and process.returncode is None:
                process.kill()
            self._context.destroy(linger=0)
            if process is not None:
                await process.wait()
            # Not before its end: it may just make its sockets.
            shutil.rmtree(self._folder, ignore_errors=True)


class Supervisor:
    """Runs the process of engine `index` with its sockets below `folder`; calls `report` with each new status."""

    def __init__(
        self,
        index: int,
        folder: Path,
        launch: Launch,
        watch: Watch,
        report: Callable[[EngineStatus], None],
    ) -> None:
        self._folder = folder
        self._launch = launch
        self._watch = watch
        self._report = report
        self._status = EngineStatus(index=index)
        self._changed = asyncio.Event()
        self._child: _Child | None = None
        self._standby: _Child | None = None
        self._folders = count(1)
        self._task: asyncio.Task[None] | None = None
        self._killed_outside: deque[int] = deque(maxlen=_MOST_RUNS)

    @property
    def status(self) -> EngineStatus:
        """The present status."""
        return self._status

    def was_killed_from_outside(self, run: int) -> bool:
        """Whether process `run` was killed from outside, so that its death says nothing about its requests."""
        return run in self._killed_outside

    def start(self) -> None:
        """Start the process and its supervision; returns before the model is loaded."""
        if self._task is None:
            self._task = asyncio.create_task(self._supervise(), name="engine supervisor")

    async def restart(self) -> None:
        """Replace the process by a new one, after its open requests; returns when the new one is ready.

        Returns also when the engine became unusable or was closed, and at once if it is not ready.
        """
        run = self._status.run
        if self._status.state is not EngineState.READY or self._child is None:
            return
        self._change(state=EngineState.DRAINING)
        self._child.send(messages.Drain())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._watch.drain_s):
                await self._until(lambda: self._status.state is not EngineState.DRAINING)
        if self._status.run == run and self._child is not None:
            self._child.send(messages.Shutdown())
        await self._until(
            lambda: self._status.run > run and self._status.state is EngineState.READY
        )

    async def close(self) -> None:
        """End the process; safe to call twice."""
        self._change(state=EngineState.CLOSED)
        if self._child is not None:
            self._child.send(messages.Shutdown())
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        standby, self._standby = self._standby, None
        if standby is not None:
            await standby.close(0.0)

    def _change(self, **changes: Any) -> None:
        """Change the status and report it; a closed engine stays closed."""
        if self._status.state is EngineState.CLOSED:
            changes.pop("state", None)
        self._status = msgspec.structs.replace(self._status, **changes)
        self._report(self._status)
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until(self, fact: Callable[[], bool]) -> None:
        """Wait until `fact` holds, or the engine is unusable or closed."""
        final = (EngineState.UNUSABLE, EngineState.CLOSED)
        while not fact() and self._status.state not in final:
            await self._changed.wait()

    async def _supervise(self) -> None:
        failures = unready = 0
        while True:
            began = time.monotonic()
            try:
                reason = await self._run_process()
            except (OSError, zmq.ZMQError) as error:  # of processes, files or memory are too few
                reason = f"process could not be started: {error}"
            if self._status.state is EngineState.DRAINING and reason == _ended(0):
                failures = unready = 0
                self._change(state=EngineState.LOADING)
                continue
            was_ready = self._status.state is EngineState.READY
            unready = 0 if was_ready else unready + 1
            settled = was_ready and time.monotonic() - began > self._watch.settled_s
            failures = 1 if settled else failures + 1
            if self._status.fault is None and unready >= self._watch.attempts:
                fault = messages.Unusable(
                    f"the engine process failed {unready} times before it was ready: {reason}",
                    "the log above contains its output",
                )
                self._change(fault=fault)
            lives = self._status.lives
            self._change(
                state=EngineState.UNUSABLE if self._status.fault else EngineState.DOWN,
                lives=msgspec.structs.replace(
                    lives, deaths=lives.deaths + 1, reason=f"the engine {reason}", pid=0
                ),
            )
            if self._status.fault:
                return
            pause = self._watch.backoff_s * 2 ** min(failures - 1, 63)
            await asyncio.sleep(min(pause, self._watch.backoff_limit_s))

    async def _run_process(self) -> str:
        """Run one process from start to exit; returns how it ended. Its sockets and folder are removed."""
        standby, self._standby = self._standby, None
        if standby is not None and not standby.is_alive:
            await standby.close(0.0)
            standby = None
        child = standby or self._new_child()
        self._child = child
        self._change(run=self._status.run + 1, folder=child.folder)
        following: asyncio.Task[str] | None = None
        killed = memory_kills()
        try:
            await (child.start(self._launch) if standby is None else child.go())
            following = asyncio.create_task(self._follow(child))
            ending = asyncio.create_task(child.ended())
            done, pending = await asyncio.wait(
                {following, ending}, return_when=asyncio.FIRST_COMPLETED
            )
            if following in pending and ending.result() == EXIT_UNUSABLE:
                done, pending = await asyncio.wait({following}, timeout=_REPORT_S)
            for task in pending:
                task.cancel()
            if following in done:
                return following.result()
            if was_killed_from_outside(ending.result(), killed, memory_kills()):
                self._killed_outside.append(self._status.run)
            return _ended(ending.result())
        finally:
            self._child = None
            if following is not None:
                await _end(following)
            closing = self._status.state is EngineState.CLOSED
            await child.close(self._watch.closing_s if closing else 0.0)

    def _new_child(self) -> _Child:
        return _Child(self._folder / f"{self._status.index}.{next(self._folders)}")

    async def _stand_by(self, info: messages.EngineInfo) -> None:
        """Start a standby process, if the settings ask for one."""
        mode, is_slow = self._watch.standby, info.device == "cuda" or info.ranks > 1
        if self._standby is None and (mode == "on" or (mode == "auto" and is_slow)):
            with contextlib.suppress(OSError, zmq.ZMQError):  # no reason to end the engine
                self._standby = self._new_child()
                await self._standby.start(self._launch, standby=True)

    async def _follow(self, child: _Child) -> str:
        """Follow the events of the process until it is unusable, silent or stalled; the reason."""
        patience, ready_at = self._watch.first_beat_s, math.inf
        while True:
            event = await patiently(child.receive, child.waits, patience, self._watch.stall_s)
            if event is None:
                return f"was silent for {patience:g} s"
            patience = self._watch.silence_s
            if isinstance(event, messages.Ready):
                self._ready(event.info)
                ready_at, info = time.monotonic(), event.info
            elif isinstance(event, messages.Unusable):
                self._change(fault=event)
                return event.message
            elif isinstance(event, messages.Beat):
                if event.stalled_s > self._watch.stall_s:
                    return f"has been in one step for {event.stalled_s:.0f} s"
                if event.metrics is not None:
                    self._change(metrics=event.metrics, grammars=event.grammars)
                if time.monotonic() - ready_at >= self._watch.standby_after_s:
                    await self._stand_by(info)

    def _ready(self, info: messages.EngineInfo) -> None:
        lives = self._status.lives
        restarts = lives.restarts + (self._status.run > 1)
        self._change(
            state=EngineState.READY,
            info=info,
            lives=msgspec.structs.replace(lives, pid=info.pid, restarts=restarts),
        )


def _ended(status: int) -> str:
    return f"ended with status {status}"


async def _end(task: asyncio.Task[Any]) -> None:
    """Cancel the task and wait until it has ended; Python 3.11's `wait_for` can lose a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_INTERVAL_S)
