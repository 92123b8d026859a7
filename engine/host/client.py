"""The client of an engine in a separate process: requests in, streams of deltas out.

Does: serve many requests at once with one asyncio client; end every request exactly once, with `EngineStopped` if the
process dies. Does not: start or watch the process (`engine/host/supervisor.py`), tokenise, retry requests or know HTTP.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from itertools import count

from intaglio.grammar.api import CacheStats

from ..errors import EngineLost, EngineStopped, InvalidRequest, ModelError
from ..metrics import Snapshot
from ..types import Delta, Request
from . import messages
from .lives import LifeRecord, Lives
from .messages import BlockReport, EngineInfo
from .supervisor import EngineState, Launch, Supervisor, Watch


class EngineClient:
    """An engine in a separate process. For one event loop; call `start` first."""

    def __init__(self, launch: Launch, watch: Watch | None = None) -> None:
        self._supervisor = Supervisor(launch, watch or Watch(), self._on_event, self._end_all)
        self._streams: dict[str, asyncio.Queue[Delta | EngineStopped]] = {}
        self._checks: dict[int, asyncio.Future[BlockReport]] = {}
        self._tickets = count()
        self._record = LifeRecord()
        self._info: EngineInfo | None = None
        self._metrics: Snapshot | None = None
        self._grammars: CacheStats | None = None

    @property
    def state(self) -> EngineState:
        """The present state of the engine."""
        return self._supervisor.state

    @property
    def info(self) -> EngineInfo | None:
        """Facts about the loaded model; None until the engine was ready once."""
        return self._info

    @property
    def fault(self) -> ModelError | None:
        """Why the engine is unusable; None where it is not."""
        return self._supervisor.fault

    @property
    def metrics(self) -> Snapshot | None:
        """The latest counters from the process; None before the first."""
        return self._metrics

    @property
    def grammars(self) -> CacheStats | None:
        """The latest statistics of the grammar cache; None before the first."""
        return self._grammars

    @property
    def lives(self) -> Lives:
        """Deaths and restarts so far."""
        return self._record.lives

    def when_lives_change(self, call: Callable[[Lives], None]) -> None:
        """Register `call`, called from the event loop when the process has died and when a new one is ready."""
        self._record.when_changed(call)

    async def start(self) -> None:
        """Start the process and its supervision; returns before the model is loaded."""
        await self._supervisor.start()

    async def until_ready(self) -> EngineInfo:
        """Wait until the engine accepts requests.

        Raises:
            ModelError: the engine cannot start.
            EngineStopped: the client was closed.
        """
        await self._supervisor.until_ready()
        assert self._info is not None
        return self._info

    async def generate(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Stream one request; the last delta has `finish`. Closing the iterator early aborts the request.

        A request that the engine refuses has one delta; its `error` has the code of the refusal.

        Raises:
            InvalidRequest: a request with that id is in flight, or a value in it cannot be sent.
            RequestQuarantined: the same request was in flight at two deaths of the process.
            EngineStopped: the engine is not ready, or its process died.
        """
        async with self._record.watch(request):
            if request.id in self._streams:
                raise InvalidRequest(f"a request with the id {request.id!r} is running")
            queue: asyncio.Queue[Delta | EngineStopped] = asyncio.Queue()
            self._streams[request.id] = queue
            over, run = False, 0
            try:
                self._supervisor.send(messages.Submit(request))
                self._record.sent(request)
                run = self._supervisor.run
                while not over:
                    item = await queue.get()
                    over = not isinstance(item, Delta) or item.finish is not None
                    if isinstance(item, EngineStopped):
                        raise item
                    yield item
            finally:
                del self._streams[request.id]
                if not over and run == self._supervisor.run:
                    with contextlib.suppress(EngineStopped):  # then the request has ended anyway
                        self._supervisor.send(messages.Abort(request.id))

    async def check(self) -> BlockReport:
        """Have the engine check its invariants and count its blocks.

        Raises:
            EngineStopped: the engine is not ready, or its process died.
        """
        ticket = next(self._tickets)
        answer: asyncio.Future[BlockReport] = asyncio.get_running_loop().create_future()
        self._checks[ticket] = answer
        try:
            self._supervisor.send(messages.Check(ticket))
            return await answer
        finally:
            del self._checks[ticket]

    async def close(self) -> None:
        """End the process and every request in flight; safe to call twice."""
        await self._supervisor.close()

    def _on_event(self, event: messages.Event) -> None:
        if isinstance(event, messages.Deltas):
            for delta in event.items:
                if delta.finish is not None:
                    self._record.ended(delta, self._supervisor.run)
                queue = self._streams.get(delta.request_id)
                if queue is not None:  # None: aborted, and these are its last deltas
                    queue.put_nowait(delta)
        elif isinstance(event, messages.Beat):
            self._metrics = event.metrics or self._metrics
            self._grammars = event.grammars or self._grammars
        elif isinstance(event, messages.Checked):
            answer = self._checks.get(event.ticket)
            if answer is not None and not answer.done():
                answer.set_result(event.report)
        elif isinstance(event, messages.Ready):
            self._info = event.info
            self._record.ready(self._supervisor.run, event.info.pid)

    def _end_all(self, error: EngineStopped) -> None:
        if isinstance(error, EngineLost) and self._supervisor.fault is None:
            self._record.died(error, self._supervisor.run)
        for queue in self._streams.values():
            queue.put_nowait(error)
        for answer in self._checks.values():
            if not answer.done():
                answer.set_exception(error)
