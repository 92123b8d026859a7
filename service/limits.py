"""Bounds on what a client may make the service hold: bodies, headers, requests at once.

Does: read a body within a size and a time, count requests in hand, drop connections whose headers dawdle, answer
malformed HTTP with the usual document. Does not: know users or quotas.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from .errors import BodyTooLarge, BodyTooSlow, ClientGone, InvalidBody, NotReady, Overloaded, answer

_PACE_OVER = 64
_LONGEST_PAUSE_S = 600


async def read_body(request: Request, *, most_bytes: int, most_seconds: float) -> bytes:
    """The body, no more of it read than `most_bytes` and what was on its way.

    Raises:
        BodyTooLarge: it has more bytes; where `content-length` says so, nothing was read.
        BodyTooSlow: it did not arrive in time.
        ClientGone: the client hung up.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most_bytes:
        raise _too_large(most_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(most_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most_bytes:
                    raise _too_large(most_bytes)
    except TimeoutError:
        raise BodyTooSlow(f"the body did not arrive within {most_seconds:g} s") from None
    except ClientDisconnect:
        raise ClientGone("the client hung up before its body had arrived") from None
    return bytes(body)


def _too_large(most_bytes: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"the body is larger than {most_bytes} bytes",
        hint="send less text a request, or raise the server's max_body_bytes",
    )


class Gate:
    """Counts the requests in hand, turns away those beyond a bound, and everybody once it is shut."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._ends: deque[float] = deque((clock(),), maxlen=_PACE_OVER)
        self._inside = 0
        self._shut = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def inside(self) -> int:
        """Requests in hand."""
        return self._inside

    @property
    def is_shut(self) -> bool:
        """Whether nobody is let in any more."""
        return self._shut

    @property
    def pause_s(self) -> int:
        """Whole seconds until the requests in hand are answered, at the pace of the last answers."""
        answered = len(self._ends) - 1
        seconds_each = (self._clock() - self._ends[0]) / max(1, answered)
        return min(_LONGEST_PAUSE_S, max(1, math.ceil(seconds_each * self._inside)))

    def shut(self) -> None:
        """Let nobody in any more; those inside stay."""
        self._shut = True

    async def idle(self) -> None:
        """Wait until nobody is inside."""
        await self._idle.wait()

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Be counted for the length of a request.

        Raises:
            NotReady: the gate is shut.
            Overloaded: as many as are bearable are inside.
        """
        if self._shut:
            raise NotReady("the server is stopping", hint="send the request elsewhere")
        if self._inside >= self._most:
            raise Overloaded(
                f"{self._inside} requests are in hand already", hint="try again after Retry-After"
            )
        if not self._inside:  # the pace is that of requests in hand, not of idle hours
            self._ends.clear()
            self._ends.append(self._clock())
        self._inside += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._inside -= 1
            self._ends.append(self._clock())
            if not self._inside:
                self._idle.set()


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, patient for `header_timeout_s` and no longer; malformed requests get an error document."""

    header_timeout_s = 10.0
    _headers_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        error = answer(InvalidBody(msg, hint="send a valid HTTP/1.1 request"))
        body = error.body()
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()

    def _watch_headers(self) -> None:
        """Run the clock exactly while a request has not been read up to the end of its headers."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._headers_due is None:
            self._headers_due = self.loop.call_later(self.header_timeout_s, self._give_up)

    def _stop_watching(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()
            self._headers_due = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
