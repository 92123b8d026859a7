"""Bounds on the resources that clients can occupy: bodies, headers, concurrent requests.

Does: read a body within limits of size and time, count requests in flight, close connections with slow headers, answer
malformed HTTP with an error document. Does not: count what a key uses (`key_accounts`).
"""

import asyncio
import math
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import h11
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import (
    BodyTooLarge,
    BodyTooSlow,
    ClientDisconnected,
    InvalidBody,
    ServiceNotReady,
    ServiceOverloaded,
)
from .framed_chunks import FramedChunks
from .joined_writes import JoinedWrites
from .principal import current_tenant
from .problems import problem_response

_BLANK_LINE = re.compile(rb"\n\r?\n")
_PACE_WINDOW = 64
_LONGEST_PAUSE_S = 600


async def read_body(request: Request, *, max_bytes: int, max_seconds: float) -> bytes:
    """Read the body; stops as soon as it exceeds `max_bytes`.

    Raises:
        InvalidBody: the body is compressed.
        BodyTooLarge: the body exceeds the limit; if `content-length` already does, nothing was read.
        BodyTooSlow: the body did not arrive in time.
        ClientDisconnected: the client disconnected.
    """
    coding = request.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity"):
        raise InvalidBody(
            f"the body is compressed ({coding[:20]}), and no compressed bodies are read",
            param="Content-Encoding",
            hint="send it as it is, without Content-Encoding",
        )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise _too_large(max_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(max_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > max_bytes:
                    raise _too_large(max_bytes)
    except TimeoutError:
        raise BodyTooSlow(f"the body did not arrive within {max_seconds:g} s") from None
    except ClientDisconnect:
        raise ClientDisconnected("the client disconnected before its body had arrived") from None
    return bytes(body)


def _too_large(max_bytes: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"the body is larger than {max_bytes} bytes",
        hint="send less text per request, or raise the server's max_body_bytes",
    )


class RequestGate:
    """Counts requests in flight, refuses those beyond the limit, and refuses all once closed.

    `notify` gets the number in flight whenever it changes. The last `reserved` places are for tenants that hold
    less than an equal share, so that no tenant can fill the server alone.
    """

    def __init__(
        self,
        limit: int,
        clock: Callable[[], float] = time.monotonic,
        notify: Callable[[int], None] = lambda _: None,
        reserved: int = 0,
    ) -> None:
        self._limit = limit
        self._reserved = reserved
        self._of_tenant = Counter[str]()
        self._clock = clock
        self._notify = notify
        self._ends: deque[float] = deque((clock(),), maxlen=_PACE_WINDOW)
        self._in_flight = 0
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def in_flight(self) -> int:
        """The number of requests in flight."""
        return self._in_flight

    @property
    def is_closed(self) -> bool:
        """Whether new requests are refused."""
        return self._closed

    @property
    def retry_after_s(self) -> int:
        """Estimated whole seconds until the requests in flight are answered, from the rate of the last answers."""
        answered = len(self._ends) - 1
        seconds_each = (self._clock() - self._ends[0]) / max(1, answered)
        return min(_LONGEST_PAUSE_S, max(1, math.ceil(seconds_each * self._in_flight)))

    def close(self) -> None:
        """Refuse new requests; those in flight continue."""
        self._closed = True

    async def idle(self) -> None:
        """Wait until no request is in flight."""
        await self._idle.wait()

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Count one request for the duration of the context.

        Raises:
            ServiceNotReady: the gate is closed.
            ServiceOverloaded: the limit of requests in flight is reached.
        """
        if self._closed:
            raise ServiceNotReady("the server is stopping", hint="send the request elsewhere")
        tenant = current_tenant()
        if not self._has_place(tenant):
            raise ServiceOverloaded(
                f"{self._in_flight} requests are in flight already",
                hint="try again after Retry-After",
            )
        # Measure the rate of answers while requests are in flight, not idle time.
        if not self._in_flight:
            self._ends.clear()
            self._ends.append(self._clock())
        self._in_flight += 1
        self._of_tenant[tenant] += 1
        self._notify(self._in_flight)
        self._idle.clear()
        try:
            yield
        finally:
            self._in_flight -= 1
            self._of_tenant[tenant] -= 1
            if not self._of_tenant[tenant]:
                del self._of_tenant[tenant]
            self._notify(self._in_flight)
            self._ends.append(self._clock())
            if not self._in_flight:
                self._idle.set()

    def _has_place(self, tenant: str) -> bool:
        if self._in_flight < self._limit - self._reserved:
            return True
        tenants = len(self._of_tenant) + (tenant not in self._of_tenant)
        share = self._limit // (tenants + 1)
        return self._in_flight < self._limit and self._of_tenant[tenant] < share


class BoundedHeaderProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with time limits; answers malformed requests with an error document.

    A client must send its headers within `header_timeout_s`. The connection of a client that leaves a full write buffer
    full for `write_timeout_s` is aborted, which ends its request. Request line and headers have at most
    `max_header_bytes`, also if they arrive at once: h11 bounds only what it has to wait for.
    """

    header_timeout_s = 10.0
    max_header_bytes = 16 * 1024
    write_timeout_s = 60.0
    _headers_due: asyncio.TimerHandle | None = None
    _reading_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        self.conn = FramedChunks(h11.SERVER, self.max_header_bytes)
        super().connection_made(cast("asyncio.Transport", JoinedWrites(transport, self.loop)))
        self._watch_headers()

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE and self._has_long_head(data):
            self.send_400_response("the headers are too long")
            return
        super().data_received(data)
        self._watch_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        self._stop_waiting()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_waiting()
        self._reading_due = self.loop.call_later(self.write_timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_waiting()
        super().resume_writing()

    def _stop_waiting(self) -> None:
        if self._reading_due is not None:
            self._reading_due.cancel()
            self._reading_due = None

    def _has_long_head(self, data: bytes) -> bool:
        """Whether a request that has not begun yet would have too long a head with `data`."""
        before = len(self.conn.trailing_data[0])
        if before + len(data) <= self.max_header_bytes:
            return False
        end = _BLANK_LINE.search(data)
        return before + (len(data) if end is None else end.start()) > self.max_header_bytes

    def send_400_response(self, msg: str) -> None:
        error = problem_response(InvalidBody(msg, hint="send a valid HTTP/1.1 request"))
        body = error.body()
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()

    def _watch_headers(self) -> None:
        """Run the timer exactly while the headers of a request are incomplete."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._headers_due is None:
            self._headers_due = self.loop.call_later(self.header_timeout_s, self._close_late)

    def _stop_watching(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()
            self._headers_due = None

    def _close_late(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
