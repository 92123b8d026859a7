"""Server-sent events: a response with a stream of events as its body.

Does: send events as they come, wait for slow readers, send comments in silence, end when the client disconnects, turn
an error into a last event, release the resources of the request. Does not: make events, or end the connection of a
client that reads nothing (`limits`).
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from typing import Any, Final, Self

from intaglio.schemas.problem import Code
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..errors import ClientDisconnected
from .problems import status_of

KEEP_ALIVE_S: Final = 15.0
_BURST: Final = 4  # events that a stream sends before it yields to other streams
_COMMENT: Final = b": keep-alive\n\n"
_HEADERS: Final = {"cache-control": "no-cache", "x-accel-buffering": "no"}

Events = AsyncGenerator[bytes, None]
"""Encoded events, each with its blank line at the end."""


def encode_event(data: str | bytes, event: str = "") -> bytes:
    """One event. `data` must be a single line, as compact JSON is."""
    text = data.encode() if isinstance(data, str) else data
    head = f"event: {event}\n".encode() if event else b""
    return b"%sdata: %s\n\n" % (head, text)


class StartedEvents:
    """A stream of events, the first of which has been requested."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._first: asyncio.Task[bytes | None] | None = asyncio.create_task(_first(events))

    @classmethod
    async def start(cls, events: Events, patience_s: float = KEEP_ALIVE_S) -> Self:
        """Wait for the first event, at most `patience_s` seconds.

        Raises the error of `events` if it comes in this time: then the response can still have an error's status.
        """
        started = cls(events)
        assert started._first is not None
        try:
            await asyncio.wait({started._first}, timeout=patience_s)
            if started._first.done():
                started._first.result()
        except BaseException:
            await started.aclose()
            raise
        return started

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._first is None:
            return await anext(self._events)
        event = await self._first
        self._first = None
        if event is None:
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """End the stream and its source."""
        first, self._first = self._first, None
        if first is not None:
            first.cancel()
            await asyncio.wait({first})
        await self._events.aclose()


async def _first(events: Events) -> bytes | None:
    """The first event; None if there is none. (A task cannot end with `StopAsyncIteration`.)"""
    return await anext(events, None)


class EventStream(Response):
    """A response of server-sent events.

    At most one event waits: the next one is asked for when the connection has taken the last. `events` is closed when
    it has ended or the client disconnects. After `keep_alive_s` seconds without an event a comment is sent, so that
    proxies keep the connection.

    An exception of `events` ends the stream with the event that `failed` returns. `held` is closed when the stream has
    ended, however it ended. An outcome other than `ok` is left in `scope["state"]["outcome"]`.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: StartedEvents,
        failed: Callable[[Exception], bytes],
        held: AsyncExitStack | None = None,
        *,
        keep_alive_s: float = KEEP_ALIVE_S,
    ) -> None:
        super().__init__(headers=_HEADERS, media_type=self.media_type)
        del self.headers["content-length"]
        self._events = events
        self._failed = failed
        self._held = held or AsyncExitStack()
        self._keep_alive_s = keep_alive_s
        self._sent_at = time.monotonic()
        self._sending = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held, contextlib.aclosing(self._events):
            producing = asyncio.create_task(self._produce(scope, send))
            watching = asyncio.create_task(self._watch(receive, send))
            try:
                await asyncio.wait({producing, watching}, return_when=asyncio.FIRST_COMPLETED)
                if producing.done():
                    producing.result()
                else:
                    scope["state"]["outcome"] = ClientDisconnected.code.value
            finally:
                producing.cancel()
                watching.cancel()
                await asyncio.wait({producing, watching})

    async def _produce(self, scope: Scope, send: Send) -> None:
        head: dict[str, Any] = {"type": "http.response.start", "status": self.status_code}
        await send({**head, "headers": self.raw_headers})
        try:
            sent = 0
            async for event in self._events:
                await self._send(send, event)
                sent += 1
                # While events are ready, this coroutine would never suspend.
                if not sent % _BURST:
                    await asyncio.sleep(0)
        except Exception as error:
            known = status_of(error)
            outcome = Code.INTERNAL if known is None else known[1]
            scope["state"]["outcome"] = outcome.value
            await self._send(send, self._failed(error))
            if known is None:
                raise
        await self._sending.acquire()  # no comment after the end
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send, body: bytes) -> None:
        async with self._sending:
            await send({"type": "http.response.body", "body": body, "more_body": True})
            self._sent_at = time.monotonic()

    async def _watch(self, receive: Receive, send: Send) -> None:
        """Return when the client has disconnected. Sends comments meanwhile."""
        disconnected = asyncio.create_task(until_disconnect(receive))
        try:
            while not disconnected.done():
                left = self._sent_at + self._keep_alive_s - time.monotonic()
                if left > 0 or self._sending.locked():
                    await asyncio.wait({disconnected}, timeout=max(left, self._keep_alive_s / 4))
                else:
                    await self._send(send, _COMMENT)
        finally:
            disconnected.cancel()


async def until_disconnect(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
