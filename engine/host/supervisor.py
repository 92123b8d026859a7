"""The supervisor of an engine process: starts it, watches it, starts another one when it dies or hangs.

Does: run one process at a time, own its sockets, detect its death at once, back off between restarts. Does not: know
requests; the events of the process go to the client (`engine/host/client.py`).
"""

import asyncio
import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

import msgspec
import zmq
import zmq.asyncio

from ..config import EngineConfig
from ..errors import EngineLost, EngineStopped, ModelError
from . import messages
from .process import COMMANDS, EVENTS, EXIT_UNUSABLE
from .starvation import Waits, patiently, waits

_LAST_WORDS_S: Final = 10.0  # time for an engine that cannot start to report the reason


class EngineState(StrEnum):
    """The state of an engine, as its client sees it."""

    LOADING = "loading"  # the first process starts, or is about to
    READY = "ready"
    DOWN = "down"  # its process died; another one will start
    UNUSABLE = "unusable"  # it cannot start; see `EngineClient.fault`
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Launch:
    """The command that starts the process, which gets the folder of the sockets as its last argument, and its input."""

    command: tuple[str, ...]
    configuration: bytes

    @classmethod
    def of(cls, config: EngineConfig) -> Self:
        """The engine of this package, run by this interpreter, without the current folder on its path."""
        entry = "from intaglio.engine.host.process import main; raise SystemExit(main())"
        return cls((sys.executable, "-P", "-c", entry), msgspec.json.encode(config))


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The timeouts after which an engine counts as dead, and the delays of restarts, in seconds.

    The process is killed after `silence_s` without a beat, or when a single step takes longer than `stall_s`. Silence
    is measured in time in which the process could run: the time it waited for a processor is added, until `stall_s`
    have passed. The delay before a restart doubles from `backoff_s` to `backoff_limit_s`, and is reset after
    `settled_s` of service. After `attempts` consecutive processes that never became ready the engine is unusable. A
    process that is shut down may take `closing_s` for its present step.
    """

    first_beat_s: float = 60.0
    silence_s: float = 10.0
    stall_s: float = 300.0
    backoff_s: float = 0.1
    backoff_limit_s: float = 10.0
    settled_s: float = 30.0
    attempts: int = 5
    closing_s: float = 1.0


class _Child:
    """One run of the engine's process, with its sockets in a folder that only this user can open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._context = zmq.asyncio.Context()
        self._commands = self._context.socket(zmq.PUSH)
        self._events = self._context.socket(zmq.PULL)
        self._commands.bind(f"ipc://{folder / COMMANDS}")
        self._events.bind(f"ipc://{folder / EVENTS}")
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, launch: Launch) -> None:
        process = await asyncio.create_subprocess_exec(
            *launch.command,
            str(self._folder),
            stdin=asyncio.subprocess.PIPE,
            stdout=2,  # output of libraries belongs to the log
            start_new_session=True,  # Ctrl-C goes to the parent only, which shuts this process down
        )
        self._process = process
        assert process.stdin is not None
        process.stdin.write(launch.configuration + b"\n")
        with contextlib.suppress(ConnectionError):  # it died already, which `ended` reports
            await process.stdin.drain()

    def send(self, order: messages.Command) -> None:
        self._commands.send(messages.encode(order))

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
            shutil.rmtree(self._folder, ignore_errors=True)
            if process is not None:
                await process.wait()


class Supervisor:
    """Runs the process. Calls `heard` with every event, and `lost` when a run has ended, and its requests with it."""

    def __init__(
        self,
        launch: Launch,
        watch: Watch,
        heard: Callable[[messages.Event], None],
        lost: Callable[[EngineStopped], None],
    ) -> None:
        self._launch = launch
        self._watch = watch
        self._heard = heard
        self._lost = lost
        self._state = EngineState.LOADING
        self._moved = asyncio.Event()
        self._child: _Child | None = None
        self._task: asyncio.Task[None] | None = None
        self._fault: ModelError | None = None
        self._run = 0

    @property
    def state(self) -> EngineState:
        """The present state of the engine."""
        return self._state

    @property
    def fault(self) -> ModelError | None:
        """Why the engine is unusable; None where it is not."""
        return self._fault

    @property
    def run(self) -> int:
        """The number of the present process: a request belongs to the process that it was sent to."""
        return self._run

    async def start(self) -> None:
        """Start the process and its supervision; returns before the model is loaded."""
        if self._task is None:
            self._task = asyncio.create_task(self._supervise(), name="engine supervisor")

    async def until_ready(self) -> None:
        """Wait until the engine accepts requests. Raises as `EngineClient.until_ready`."""
        while self._state is not EngineState.READY:
            if self._fault is not None:
                raise self._fault
            if self._state is EngineState.CLOSED:
                raise _stopped("is closed")
            await self._moved.wait()

    def send(self, order: messages.Command) -> None:
        """Send `order`. Raises `EngineStopped` if the engine is not ready."""
        if self._state is not EngineState.READY or self._child is None:
            raise _stopped(f"is not ready: {self._state}")
        self._child.send(order)

    async def close(self) -> None:
        """End the process; safe to call twice."""
        self._move(EngineState.CLOSED)
        self._lost(_stopped("was closed"))
        if self._child is not None:
            self._child.send(messages.Shutdown())
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def _move(self, state: EngineState) -> None:
        """Change the state and wake the tasks that wait for a change; a closed engine stays closed."""
        if self._state is not EngineState.CLOSED:
            self._state = state
        self._moved.set()
        self._moved = asyncio.Event()

    async def _supervise(self) -> None:
        failures = unready = 0
        while True:
            began = time.monotonic()
            reason = await self._run_once()
            was_ready = self._state is EngineState.READY
            unready = 0 if was_ready else unready + 1
            settled = was_ready and time.monotonic() - began > self._watch.settled_s
            failures = 1 if settled else failures + 1
            if self._fault is None and unready >= self._watch.attempts:
                self._fault = ModelError(
                    f"the engine process failed {unready} times before it was ready: {reason}",
                    hint="the log above contains its output",
                )
            self._move(EngineState.UNUSABLE if self._fault else EngineState.DOWN)
            self._lost(EngineLost(f"the engine {reason}", hint="try again in a few seconds"))
            if self._fault:
                return
            pause = self._watch.backoff_s * 2 ** min(failures - 1, 63)
            await asyncio.sleep(min(pause, self._watch.backoff_limit_s))

    async def _run_once(self) -> str:
        """Run one process from start to exit; returns how it ended. Its sockets and folder are removed."""
        child = _Child(_socket_folder())
        self._child = child
        self._run += 1
        following: asyncio.Task[str] | None = None
        try:
            await child.start(self._launch)
            following = asyncio.create_task(self._follow(child))
            ending = asyncio.create_task(child.ended())
            done, pending = await asyncio.wait(
                {following, ending}, return_when=asyncio.FIRST_COMPLETED
            )
            if following in pending and ending.result() == EXIT_UNUSABLE:
                done, pending = await asyncio.wait({following}, timeout=_LAST_WORDS_S)
            for task in pending:
                task.cancel()
            if following in done:
                return following.result()
            return f"ended with status {ending.result()}"
        finally:
            self._child = None
            if following is not None:
                following.cancel()
            closing = self._state is EngineState.CLOSED
            await child.close(self._watch.closing_s if closing else 0.0)

    async def _follow(self, child: _Child) -> str:
        """Forward the events of the process until it is unusable, silent or stalled; the reason."""
        patience = self._watch.first_beat_s
        while True:
            event = await patiently(child.receive, child.waits, patience, self._watch.stall_s)
            if event is None:
                return f"was silent for {patience:g} s"
            patience = self._watch.silence_s
            self._heard(event)
            if isinstance(event, messages.Ready):
                self._move(EngineState.READY)
            elif isinstance(event, messages.Unusable):
                self._fault = ModelError(event.message, hint=event.hint)
                return event.message
            elif isinstance(event, messages.Beat) and event.stalled_s > self._watch.stall_s:
                return f"has been in one step for {event.stalled_s:.0f} s"


def _socket_folder() -> Path:
    """A new folder that only this user can open: in the folder for temporary files, else in shared memory.

    Shared memory is writable in a container with a read-only file system as well.
    """
    try:
        return Path(tempfile.mkdtemp(prefix="intaglio-"))
    except FileNotFoundError:  # no folder for temporary files can be written
        return Path(tempfile.mkdtemp(prefix="intaglio-", dir="/dev/shm"))


def _stopped(reason: str) -> EngineStopped:
    return EngineStopped(f"the engine {reason}", hint="try again in a few seconds")
