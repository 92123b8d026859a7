"""The connection of a client to one process of an engine, with the requests that it sent there.

Does: join the process, send requests, aborts and checks, hand each delta to the stream of its request, and end all of
them when the process has ended. Does not: notice that end, or connect to the next process
(`engine/host/attachment.py`).
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable
from itertools import count
from pathlib import Path
from typing import Final

import zmq

from ..errors import EngineLost, EngineStopped, InvalidRequest
from ..types import Delta, Request
from . import messages
from .messages import BlockReport
from .process import ANSWERS, COMMANDS
from .sockets import SocketReader, unbounded
from .unread_deltas import UnreadDeltas

JOIN_S: Final = 0.01  # between two attempts to join


class Connection:
    """The connection to the process with its sockets in `folder`.

    `joined` is called when the process can answer; `survived` with every request that ends while the process goes on.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        folder: Path,
        joined: Callable[[], None],
        survived: Callable[[Request], None],
    ) -> None:
        self._name = b"client" + secrets.token_bytes(12)
        self._joined = joined
        self._survived = survived
        self._commands = unbounded(context, zmq.PUSH)
        self._commands.connect(f"ipc://{folder / COMMANDS}")
        answers = unbounded(context, zmq.DEALER)
        answers.routing_id = self._name
        answers.connect(f"ipc://{folder / ANSWERS}")
        self._reader = SocketReader(answers, self._receive)
        self._streams: dict[str, UnreadDeltas] = {}
        self._in_flight: dict[str, Request] = {}  # whether or not their callers still wait
        self._checks: dict[int, asyncio.Future[BlockReport]] = {}
        self._tickets = count()
        self._joining: asyncio.TimerHandle | None = None
        self.is_joined = False
        self._join()

    async def stream(self, request: Request, *, whole: bool) -> AsyncGenerator[Delta, None]:
        """See `Attachment.generate`."""
        if request.id in self._streams:
            raise InvalidRequest(f"a request with the id {request.id!r} is running")
        unread = UnreadDeltas()
        self._streams[request.id] = unread
        over = False
        try:
            self._send(messages.Submit(request, whole))
            self._in_flight[request.id] = request
            while not over:
                try:
                    delta = await unread.get()
                except EngineStopped:
                    over = True
                    raise
                over = delta.finish is not None
                yield delta
        finally:
            del self._streams[request.id]
            if not over and request.id in self._in_flight:
                self._send(messages.Abort(request.id))

    async def check(self) -> BlockReport:
        """See `Attachment.check`."""
        ticket = next(self._tickets)
        answer: asyncio.Future[BlockReport] = asyncio.get_running_loop().create_future()
        self._checks[ticket] = answer
        try:
            self._send(messages.Check(ticket))
            return await answer
        finally:
            del self._checks[ticket]

    def close(self) -> list[Request]:
        """Handle the answers that have arrived, and disconnect; returns the requests in flight. Then call `end`."""
        if self._joining is not None:
            self._joining.cancel()
        self._reader.drain()
        self._reader.close()
        self._commands.close(linger=100)
        self.is_joined = False
        lost = list(self._in_flight.values())
        self._in_flight.clear()
        return lost

    def end(self, error: EngineStopped) -> None:
        """End all requests and checks with `error`."""
        for unread in self._streams.values():
            unread.end(error)
        for answer in self._checks.values():
            if not answer.done():
                answer.set_exception(error)

    def _send(self, order: messages.Command) -> None:
        if not self._commands.closed:
            self._commands.send_multipart((self._name, messages.encode(order)))

    def _join(self) -> None:
        self._send(messages.Join())
        self._joining = asyncio.get_running_loop().call_later(JOIN_S, self._join)

    def _receive(self, frames: list[bytes]) -> None:
        if not frames[0]:  # the engine only looks whether this client is there
            return
        event = messages.event(frames[0])
        if isinstance(event, messages.Deltas):
            for delta in event.items:
                self._on_delta(delta)
        elif isinstance(event, messages.Checked):
            answer = self._checks.get(event.ticket)
            if answer is not None and not answer.done():
                answer.set_result(event.report)
        elif isinstance(event, messages.Joined) and self._joining is not None:
            self._joining.cancel()
            self._joining = None
            self.is_joined = True
            self._joined()

    def _on_delta(self, delta: Delta) -> None:
        refusal: EngineStopped | None = None
        if delta.finish is not None:
            code = "" if delta.error is None else delta.error.code
            if code == EngineLost.code:  # a step failed: the process ends, and `close` comes soon
                return
            request = self._in_flight.pop(delta.request_id, None)
            if code == EngineStopped.code:
                refusal = stopped("is being restarted")
            elif request is not None:
                self._survived(request)
        unread = self._streams.get(delta.request_id)
        if unread is None:  # aborted, and these are its last deltas
            return
        if refusal is None:
            unread.put(delta)
        else:
            unread.end(refusal)


def stopped(reason: str) -> EngineStopped:
    """The error of a request that an engine did not compute."""
    return EngineStopped(f"the engine {reason}", hint="try again in a few seconds")
