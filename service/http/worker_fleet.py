"""The parent of several API processes, which share a port and the engines.

Does: reserve the port, own the engines and the folder of the metrics, start the API processes, replace one that dies,
tell all of them whether all are ready, stop them in order after a signal. Does not: accept connections: the kernel
spreads them over the listening processes (`api_process`).
"""

import asyncio
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from intaglio.engine.api import GrammarConfig, Launch, Supervision, Watch

from ..config import ServiceConfig, environment_with
from ..observability.worker_metrics import WorkerMetricsFolder
from .listen import listen, url
from .reload import listen_for_reload
from .worker_messages import Channel, FleetState, WorkerStart, WorkerState

EXIT_CANNOT_SERVE = 4

_ENTRY: Final = "from intaglio.service.http.api_process import main; raise SystemExit(main())"
_MOST_FAILURES: Final = 5  # processes in a row that end before they are ready
_BACKOFF_S: Final = 0.1
_LONGEST_BACKOFF_S: Final = 5.0
_STOP_S: Final = 10.0  # beyond the time that requests in flight have


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """The plan of `count` API processes; `launches` has a command for each engine."""

    config: ServiceConfig
    grammar: GrammarConfig
    launches: Sequence[Launch]
    folder: str
    model: str
    count: int


@dataclass(slots=True)
class _Worker:
    """One running API process."""

    process: asyncio.subprocess.Process
    channel: Channel[WorkerState]
    is_ready: bool = False


class WorkerFleet:
    """The API processes of one server. For one event loop."""

    def __init__(self, plan: FleetPlan) -> None:
        self._plan = plan
        self._engines = Supervision(plan.launches, Watch(standby=plan.config.engine_standby))
        self._metrics = WorkerMetricsFolder()
        self._workers: dict[int, _Worker] = {}
        self._listens = asyncio.Event()
        self._stopping = asyncio.Event()
        self._signal: signal.Signals | None = None
        self._status = 0

    async def run(self, announce: Callable[[str], None]) -> int:
        """Serve until a signal; the exit status as of `serve`. `announce` gets the URL once a process listens.

        Raises:
            CannotListen: the address is in use or does not belong to this machine.
        """
        reserved = reserve(self._plan.config.host, self._plan.config.port)
        config = self._plan.config
        try:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._on_signal, number)
            listen_for_reload(self._engines.restart)
            self._engines.start()
            port = reserved[0].getsockname()[1]
            base = url(reserved[0], tls=bool(config.tls_cert))
            async with asyncio.TaskGroup() as tasks:
                announcing = tasks.create_task(self._announce(base, announce))
                kept = [self._supervise(index, port) for index in range(self._plan.count)]
                await asyncio.wait([tasks.create_task(one) for one in kept])
                announcing.cancel()
        finally:
            await self._engines.close()
            self._metrics.close()
            for sock in reserved:
                sock.close()
        return 130 if self._signal is signal.SIGINT and not self._status else self._status

    async def _announce(self, base: str, announce: Callable[[str], None]) -> None:
        await self._listens.wait()
        announce(base)

    def _on_signal(self, number: signal.Signals) -> None:
        """Pass every signal on: the first starts to drain, the second ends what is in flight."""
        self._signal = self._signal or number
        self._stopping.set()
        for worker in self._workers.values():
            _end(worker)

    async def _supervise(self, index: int, port: int) -> None:
        """Run one API process, and another one when it has died, until all stop."""
        failures, runs = 0, 0
        while not self._stopping.is_set():
            began = time.monotonic()
            worker = await self._start(port, replaces=runs > 0)
            self._workers[index] = worker
            if self._stopping.is_set():  # the signal came before this process was there
                _end(worker)
            was_ready, status = await self._follow(worker)
            runs += 1
            del self._workers[index]
            self._metrics.ended(worker.process.pid)
            self._report()
            if self._stopping.is_set():
                return
            failures = 0 if was_ready else failures + 1
            if status == EXIT_CANNOT_SERVE or failures >= _MOST_FAILURES:
                self._status = EXIT_CANNOT_SERVE
                self._on_signal(signal.SIGTERM)
                return
            pause = min(_LONGEST_BACKOFF_S, _BACKOFF_S * 2**failures)
            with contextlib.suppress(TimeoutError):
                left = began + pause - time.monotonic()
                await asyncio.wait_for(self._stopping.wait(), max(0.0, left))

    async def _start(self, port: int, *, replaces: bool) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", _ENTRY, str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=2,  # output of libraries belongs to the log
                pass_fds=(theirs.fileno(),),
                env=environment_with(self._metrics.environment),
                start_new_session=True,  # Ctrl-C goes to the parent only
            )
        channel = await Channel.over(ours, WorkerState)
        folder = self._metrics.environment["INTAGLIO_SERVICE_METRICS_FOLDER"]
        channel.send(
            WorkerStart(
                config=replace(self._plan.config, port=port, metrics_folder=folder),
                grammar=self._plan.grammar,
                engines=self._engines.address,
                folder=self._plan.folder,
                model=self._plan.model,
                replaces=replaces,
            )
        )
        return _Worker(process, channel)

    async def _follow(self, worker: _Worker) -> tuple[bool, int]:
        """Follow a process to its end: whether it was ever ready, and its exit status."""
        was_ready = False
        ending = asyncio.create_task(worker.process.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while not ending.done() and not stopping.done():
                receiving = asyncio.create_task(worker.channel.receive())
                await asyncio.wait(
                    {receiving, ending, stopping}, return_when=asyncio.FIRST_COMPLETED
                )
                state = receiving.result() if receiving.done() else None
                receiving.cancel()
                if state is None:
                    break
                self._listens.set()
                worker.is_ready = state.is_ready
                was_ready = was_ready or state.is_ready
                self._report()
            patience = None
            if self._stopping.is_set():
                patience = self._plan.config.grace_s + _STOP_S
            done, _ = await asyncio.wait({ending}, timeout=patience)
            if not done:
                worker.process.kill()
            return was_ready, await ending
        finally:
            stopping.cancel()
            worker.channel.close()

    def _report(self) -> None:
        """Tell every process whether all are ready."""
        ready = [worker.is_ready for worker in self._workers.values()]
        state = FleetState(all(ready) and len(ready) == self._plan.count)
        for worker in self._workers.values():
            worker.channel.send(state)


def _end(worker: _Worker) -> None:
    """Have a process stop in order, unless it has ended."""
    with contextlib.suppress(ProcessLookupError):
        worker.process.send_signal(signal.SIGTERM)


def reserve(host: str, port: int) -> list[socket.socket]:
    """Sockets that hold the port for the API processes; they are bound, and do not listen.

    Raises:
        CannotListen: the port is in use, or this machine does not have the address.
    """
    # Without the option by which processes share a port: nothing else may have it.
    found = listen(host, port)
    port = found[0].getsockname()[1]
    for sock in found:
        sock.close()
    return listen(host, port, shared=True)
