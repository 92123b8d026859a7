"""Bounds how many requests begin in one turn of the event loop, so that the streams in hand get their tokens meanwhile.

Does: let requests begin in the order of their arrival, some in each turn. Does not: refuse requests or bound those in
hand (`RequestGate`).

A request takes a millisecond until it is with the engine: its body is read, its prompt rendered and encoded. A thousand
that arrive together would begin within one turn of the event loop, in which no stream gets a token for over a second.
"""

import asyncio
from collections import deque
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

STARTS: Final = 8  # in one turn: some ten milliseconds


class PacedStarts:
    """The ASGI application `app`, in which at most `most` requests begin in one turn. For one event loop."""

    def __init__(self, app: ASGIApp, most: int = STARTS) -> None:
        self._app = app
        self._most = most
        self._left = most
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        if self._left == self._most:
            loop.call_soon(self._next_turn)
        if self._left:
            self._left -= 1
        else:
            place = loop.create_future()
            self._waiting.append(place)
            await place
        await self._app(scope, receive, send)

    def _next_turn(self) -> None:
        self._left = self._most
        while self._waiting and self._left:
            place = self._waiting.popleft()
            if not place.done():  # its request was cancelled
                place.set_result(None)
                self._left -= 1
        if self._left < self._most:
            asyncio.get_running_loop().call_soon(self._next_turn)
