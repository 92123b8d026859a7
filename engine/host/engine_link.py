"""The link of a process to the owner of the engines: their status, and the rules about suspicious requests.

Does: follow the status of every engine; report requests that were in flight at a death, hold back those that must run
alone, refuse those in quarantine. Does not: carry requests (`engine/host/attachment.py`), start or restart engines
itself, or judge requests (`engine/host/quarantine.py`, in the owner's process).
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Final

import msgspec
import zmq

from ..errors import EngineStopped, RequestQuarantined
from ..types import Request
from .quarantine import MOST, digest
from .sockets import SocketReader, unbounded
from .status import (
    Answered,
    EngineAddress,
    EngineState,
    EngineStatus,
    Enter,
    Hello,
    Isolation,
    Leave,
    LinkMessage,
    Lost,
    Restart,
    Survived,
    from_owner,
    pack,
)
from .supervision import CONTROL

SILENCE_S: Final = 60.0
"""After so long without a message from the owner, which sends several a second, all engines count as dead."""


class _Questions:
    """The messages with tickets that have not been answered yet."""

    def __init__(self) -> None:
        self._tickets = count()
        self._open: dict[int, asyncio.Future[None]] = {}

    def ask(self) -> "tuple[int, asyncio.Future[None]]":
        ticket, answer = next(self._tickets), asyncio.get_running_loop().create_future()
        self._open[ticket] = answer
        return ticket, answer

    def answer(self, ticket: int) -> None:
        answer = self._open.pop(ticket, None)
        if answer is not None and not answer.done():
            answer.set_result(None)

    def answer_all(self) -> None:
        """Complete all waiting calls: no further answer will come."""
        for ticket in tuple(self._open):
            self.answer(ticket)


class EngineLink:
    """The link of one event loop to the owner of `engines` engines; call `start` first."""

    def __init__(self, engines: int = 1) -> None:
        self._statuses = [EngineStatus(index=index) for index in range(engines)]
        self._calls: list[Callable[[EngineStatus], None]] = [_ignore] * engines
        self._isolation = Isolation()
        self._lost: OrderedDict[bytes, None] = OrderedDict()  # reported here and not cleared yet
        self._questions = _Questions()
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket: zmq.Socket[bytes] | None = None
        self._reader: SocketReader | None = None
        self._silence: asyncio.TimerHandle | None = None
        self._last_message_at = 0.0

    @property
    def quarantined(self) -> int:
        """The number of requests that are refused."""
        return len(self._isolation.refused)

    def follow(self, index: int, call: Callable[[EngineStatus], None]) -> None:
        """Call `call` with every status of that engine from now on."""
        self._calls[index] = call

    def start(self, address: EngineAddress) -> None:
        """Connect; returns at once. Safe to call twice."""
        if self._reader is None:
            self._socket = unbounded(self.context, zmq.DEALER)
            self._socket.routing_id = b"link" + secrets.token_bytes(12)
            self._socket.connect(f"ipc://{Path(address.folder) / CONTROL}")
            self._reader = SocketReader(self._socket, self._receive)
            self._send(Hello())
            self._expect_more()

    def refuse_if_quarantined(self, request: Request) -> None:
        """Raises `RequestQuarantined` if the request is refused."""
        if self._isolation.refused:
            _refuse_if_in(self._isolation, digest(request))

    def lost(self, index: int, run: int, requests: Iterable[Request]) -> "asyncio.Future[None]":
        """Report the requests in flight when process `run` of that engine died; done when they are counted."""
        names = tuple({digest(request) for request in requests})
        for name in names:
            self._lost[name] = None
        while len(self._lost) > MOST:
            self._lost.popitem(last=False)
        return self._ask(lambda ticket: Lost(ticket, index, run, names))[1]

    def survived(self, request: Request) -> None:
        """Report that a request has ended while its engine kept running."""
        if self._lost or self._isolation.alone:
            name = digest(request)
            if name in self._lost or name in self._isolation.alone:
                self._lost.pop(name, None)
                self._send(Survived(name))

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[None]:
        """A context manager for the run of a request; one that must run alone waits until no other such runs.

        Raises:
            RequestQuarantined: the request was in flight at too many deaths.
            InvalidRequest: a value in the request cannot be sent.
            EngineStopped: its deadline passed while it waited.
        """
        if not self._isolation.alone and not self._isolation.refused:
            yield
            return
        name = digest(request)
        _refuse_if_in(self._isolation, name)
        if name not in self._isolation.alone:
            yield
            return
        ticket, entered = self._ask(Enter)
        try:
            await _within(entered, request.deadline)
            # A request of the same content may have run meanwhile.
            _refuse_if_in(self._isolation, name)
            yield
        finally:
            self._questions.answer(ticket)
            self._send(Leave(ticket))

    async def restart(self) -> None:
        """Restart all engines, one after the other, each after its open requests; returns when all are restarted.

        Raises:
            EngineStopped: the link is closed.
        """
        await self._ask(Restart)[1]
        if self._reader is None:
            raise EngineStopped("the engines are closed")

    def close(self) -> None:
        """Disconnect; safe to call twice. Every attachment must be closed before."""
        if self._silence is not None:
            self._silence.cancel()
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._questions.answer_all()
        self.context.destroy(linger=0)

    def _ask(self, message: Callable[[int], LinkMessage]) -> "tuple[int, asyncio.Future[None]]":
        """Send a message with a new ticket; the future is done when it is answered."""
        ticket, answer = self._questions.ask()
        if self._reader is None:
            self._questions.answer(ticket)
        else:
            self._send(message(ticket))
        return ticket, answer

    def _send(self, message: LinkMessage) -> None:
        if self._reader is not None and self._socket is not None:
            self._socket.send(pack(message))
            self._reader.read_soon()

    def _receive(self, frames: list[bytes]) -> None:
        match from_owner(frames[0]):
            case EngineStatus() as status:
                self._statuses[status.index] = status
                self._calls[status.index](status)
            case Isolation() as isolation:
                self._isolation = isolation
            case Answered(ticket):
                self._questions.answer(ticket)
        self._last_message_at = asyncio.get_running_loop().time()

    def _expect_more(self) -> None:
        """Check regularly that the owner still sends."""
        loop = asyncio.get_running_loop()
        self._last_message_at = loop.time()
        self._silence = loop.call_later(SILENCE_S, self._check_silence)

    def _check_silence(self) -> None:
        loop = asyncio.get_running_loop()
        due = self._last_message_at + SILENCE_S
        if loop.time() < due:
            self._silence = loop.call_at(due, self._check_silence)
            return
        self._questions.answer_all()
        for index, status in enumerate(self._statuses):
            dead = msgspec.structs.replace(status, state=EngineState.DOWN)
            self._statuses[index] = dead
            self._calls[index](dead)
        self._questions.answer_all()
        self._expect_more()


def _ignore(_status: EngineStatus) -> None:
    """The call of an engine that is not followed."""


def _refuse_if_in(isolation: Isolation, name: bytes) -> None:
    if name in isolation.refused:
        raise RequestQuarantined(
            "this request was being computed at three deaths of the engine, and is refused",
            hint="change its schema, text or options, and report it: no request should end an "
            "engine; a restart of the service clears it",
        )


async def _within(entered: "asyncio.Future[None]", seconds: float | None) -> None:
    """Wait for the turn of a request that must run alone. Raises `EngineStopped` if its deadline passes first."""
    try:
        async with asyncio.timeout(seconds):
            await entered
    except TimeoutError:
        raise EngineStopped("the request could not run alone before its deadline") from None
