"""The attachment of a process to an engine in another process: requests in, streams of deltas out.

Does: serve many requests at once from one event loop; end every request exactly once, with `EngineLost` if the engine's
process dies; connect to the process that follows it. Does not: start or watch the process
(`engine/host/supervision.py`), send a request again (`service/routing`), tokenise or know HTTP.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import msgspec

from ..errors import EngineLost, ModelError
from ..types import Delta, Request
from .connection import Connection, stopped
from .engine_link import EngineLink
from .messages import BlockReport, EngineInfo
from .status import EngineState, EngineStatus, Lives


class Attachment:
    """Engine number `index` of the owner that `link` leads to. For one event loop."""

    def __init__(self, link: EngineLink, index: int = 0) -> None:
        self._link = link
        self._status = EngineStatus(index=index)
        self._connection: Connection | None = None
        self._connected = 0  # the number of the process
        self._lost = 0
        self._changed = asyncio.Event()
        self._notify: Callable[[Lives], None] = lambda _: None
        self._on_move: Callable[[], None] = lambda: None
        link.follow(index, self._on_status)

    @property
    def status(self) -> EngineStatus:
        """The latest status of the engine from its owner."""
        return self._status

    @property
    def state(self) -> EngineState:
        """The present state of the engine; LOADING until a new process is connected."""
        if self._status.state is EngineState.READY:
            joined = self._connection is not None and self._connection.is_joined
            return EngineState.READY if joined else EngineState.LOADING
        return self._status.state

    @property
    def lives(self) -> Lives:
        """Deaths and restarts so far; `lost` counts the requests of this process."""
        return msgspec.structs.replace(
            self._status.lives, lost=self._lost, quarantined=self._link.quarantined
        )

    def on_lives_change(self, call: Callable[[Lives], None]) -> None:
        """Register `call`, called from the event loop when the process has died and when a new one is ready."""
        self._notify = call

    def on_state_change(self, call: Callable[[], None]) -> None:
        """Register `call`, called from the event loop when the state may have changed."""
        self._on_move = call

    async def until_ready(self) -> EngineInfo:
        """Wait until the engine accepts requests.

        Raises:
            ModelError: the engine cannot start.
            EngineStopped: it was closed.
        """
        while self.state is not EngineState.READY:
            fault = self._status.fault
            if fault is not None:
                raise ModelError(fault.message, hint=fault.hint)
            if self.state is EngineState.CLOSED:
                raise stopped("is closed")
            await self._changed.wait()
        assert self._status.info is not None
        return self._status.info

    async def generate(
        self, request: Request, *, whole: bool = False
    ) -> AsyncGenerator[Delta, None]:
        """Stream one request; the last delta has `finish`. Closing the iterator early aborts the request.

        With `whole` there is one delta, at the end. A request that the engine refuses has one delta; its `error` has
        the code of the refusal.

        Raises:
            InvalidRequest: a request with that id is in flight, or a value in it cannot be sent.
            RequestQuarantined: the same request was in flight at three deaths of the process.
            EngineLost: the process died; the request may have been the cause.
            EngineStopped: the engine is not ready, or is being restarted and has not computed the request.
        """
        async with (
            self._link.watch(request),
            aclosing(self._ready().stream(request, whole=whole)) as deltas,
        ):
            async for delta in deltas:
                yield delta

    def refuse_if_quarantined(self, request: Request) -> None:
        """Raises `RequestQuarantined` if the engine's owner has the request refused."""
        self._link.refuse_if_quarantined(request)

    async def check(self) -> BlockReport:
        """Have the engine check its invariants and count its blocks.

        Raises:
            EngineStopped: the engine is not ready, or its process died.
        """
        return await self._ready().check()

    def close(self) -> None:
        """Disconnect and end every request in flight; safe to call twice."""
        self._on_status(msgspec.structs.replace(self._status, state=EngineState.CLOSED))

    def _ready(self) -> Connection:
        if self.state is not EngineState.READY or self._connection is None:
            raise stopped(f"is not ready: {self.state}")
        return self._connection

    def _on_status(self, status: EngineStatus) -> None:
        before = self._status
        if before.state is EngineState.CLOSED:
            return
        self._status = status
        connection = self._connection
        serves = status.state in (EngineState.READY, EngineState.DRAINING)
        if connection is not None and not (serves and self._connected == status.run):
            self._connection = None
            self._end(connection)
        if status.state is EngineState.READY and self._connection is None:
            self._connected = status.run
            self._connection = Connection(
                self._link.context, Path(status.folder), self._move, self._link.survived
            )
        if before.state is not status.state:
            self._move()
        if before.lives != status.lives and (status.lives.pid == 0 or status.run > 1):
            self._notify(self.lives)

    def _end(self, connection: Connection) -> None:
        """End the requests of a process that has ended; of one that died, when the deaths are counted."""
        lost, status = connection.close(), self._status
        self._lost = len(lost)
        if status.state in (EngineState.DOWN, EngineState.UNUSABLE):
            reason = status.lives.reason or "the owner of the engine is silent"
            error = EngineLost(reason, hint="try again in a few seconds")
            counted = self._link.lost(status.index, self._connected, lost)
            counted.add_done_callback(lambda _: connection.end(error))
        else:
            closed = status.state is EngineState.CLOSED
            connection.end(stopped("was closed" if closed else "is being restarted"))

    def _move(self) -> None:
        """Wake the tasks that wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()
        self._on_move()
