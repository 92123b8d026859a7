"""The owner of the engine processes: supervises them and reports their status to all processes of the service.

Does: run one supervisor for each engine, hold the folder of all their sockets, send the status of the engines to links
(`engine/host/engine_link.py`), keep the one quarantine, restart the engines one after the other. Does not: carry
requests; clients connect to the engines' processes (`engine/host/attachment.py`).
"""

import asyncio
import shutil
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import zmq

from ..errors import EngineStopped
from .quarantine import Quarantine
from .sockets import SocketReader, socket_folder, unbounded
from .status import (
    Answered,
    EngineAddress,
    EngineStatus,
    Enter,
    Hello,
    Isolation,
    Leave,
    LinkMessage,
    Lost,
    OwnerMessage,
    Restart,
    Survived,
    from_link,
    pack,
)
from .supervisor import Launch, Supervisor, Watch

CONTROL: Final = "control"


class Supervision:
    """Owns the processes of `launches`, one engine each. For one event loop; call `start` first."""

    def __init__(self, launches: Sequence[Launch], watch: Watch | None = None) -> None:
        self._launches = launches
        self._watch = watch or Watch()
        self._folder: Path | None = None
        self._supervisors: list[Supervisor] = []
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket: zmq.Socket[bytes] | None = None
        self._reader: SocketReader | None = None
        self._links: set[bytes] = set()
        self._quarantine = Quarantine()
        self._queue: OrderedDict[tuple[bytes, int], None] = OrderedDict()  # the first one runs
        self._restarting: asyncio.Task[None] | None = None
        self._waiting: list[tuple[bytes, int]] = []  # for the end of a restart

    @property
    def address(self) -> EngineAddress:
        """Where other processes of this user find the engines. Raises `EngineStopped` before `start`."""
        if self._folder is None:
            raise EngineStopped("the engines were not started")
        return EngineAddress(str(self._folder), len(self._launches))

    def start(self) -> None:
        """Start all processes; returns before their models are loaded. Safe to call twice."""
        if self._folder is not None:
            return
        self._folder = socket_folder()
        self._socket = unbounded(self._context, zmq.ROUTER)
        self._socket.router_mandatory = True
        self._socket.bind(f"ipc://{self._folder / CONTROL}")
        self._reader = SocketReader(self._socket, self._receive)
        for index, launch in enumerate(self._launches):
            supervisor = Supervisor(index, self._folder, launch, self._watch, self._report)
            self._supervisors.append(supervisor)
            supervisor.start()

    def restart(self) -> None:
        """Begin to restart all engines, one after the other; no effect while a restart is in progress."""
        if self._restarting is None:
            self._restarting = asyncio.create_task(self._restart(), name="restart engines")

    async def close(self) -> None:
        """End all processes and remove the folder; safe to call twice."""
        if self._restarting is not None:
            self._restarting.cancel()
        await asyncio.gather(*(supervisor.close() for supervisor in self._supervisors))
        if self._reader is not None:
            self._reader.close()
        self._context.destroy(linger=0)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _receive(self, frames: list[bytes]) -> None:
        link, data = frames
        self._execute(link, from_link(data))

    def _execute(self, link: bytes, message: LinkMessage) -> None:
        match message:
            case Hello():
                self._links.add(link)
                self._send(link, self._quarantine.isolation)
                for supervisor in self._supervisors:
                    self._send(link, supervisor.status)
            case Lost(ticket, index, run, digests):
                outside = self._supervisors[index].was_killed_from_outside(run)
                if not outside and self._quarantine.lost(digests, (index, run)):
                    self._report(self._quarantine.isolation)
                self._send(link, Answered(ticket))
            case Survived(name):
                if self._quarantine.survived(name):
                    self._report(self._quarantine.isolation)
            case Enter(ticket):
                self._queue[link, ticket] = None
                if len(self._queue) == 1:
                    self._send(link, Answered(ticket))
            case Leave(ticket):
                self._leave((link, ticket))
            case Restart(ticket):
                self._waiting.append((link, ticket))
                self.restart()

    async def _restart(self) -> None:
        try:
            for supervisor in self._supervisors:
                await supervisor.restart()
        finally:
            self._restarting = None
            waiting, self._waiting = self._waiting, []
            for link, ticket in waiting:
                self._send(link, Answered(ticket))

    def _leave(self, entry: tuple[bytes, int]) -> None:
        """Take a request out of the queue of those that run alone; the next one runs if it was the first."""
        was_first = next(iter(self._queue), None) == entry
        self._queue.pop(entry, None)
        following = next(iter(self._queue), None)
        if was_first and following is not None:
            self._send(following[0], Answered(following[1]))

    def _report(self, message: EngineStatus | Isolation) -> None:
        for link in tuple(self._links):
            self._send(link, message)

    def _send(self, link: bytes, message: OwnerMessage) -> None:
        if self._socket is None or self._socket.closed:
            return
        try:
            self._socket.send_multipart((link, pack(message)))
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            self._forget(link)
        if self._reader is not None:
            self._reader.read_soon()

    def _forget(self, link: bytes) -> None:
        """Forget the link of a process that has ended."""
        self._links.discard(link)
        for entry in [entry for entry in self._queue if entry[0] == link]:
            self._leave(entry)
